"""A page's text in windows: where to cut, which section, which passages, what outline. Over any provider's page.

Theory of operation. The text is never changed. A window is `text[start:end]` and the next one starts at `end`, so windows put
one after the other are the text, whatever their sizes; and the same `start` and size always give the same `end`, for the cut
depends on the text alone. Offsets count characters (Unicode code points) from the beginning of the page.

A `Layout` is read off the text once a page: its headings (ATX, `# Title`, and setext, underlined, as readers such as Jina's
write them), its fenced code blocks (CommonMark 4.5), inside which a `#` is a comment and a blank line no border, and its tables
(GFM 4.10, with bars at the edges). Cuts are tried in the order heading, blank line, line, sentence, word; each only as far back
as what it saves is worth.

A window that begins inside a table or a block says little without the names of its columns. `Layout.beginning` gives the lines
that are worth showing once more in front of it: apart from the window, which stays `text[start:end]`.

A page may be megabytes made to be slow. Whatever goes over a whole text is linear in it, and goes in slices: one call into `re`
keeps every other thread waiting for as long as it lasts.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from itertools import islice
from typing import TYPE_CHECKING, Literal, NamedTuple

from webseam.config import LIMITS
from webseam.tools.clean import clean_line, cut

if TYPE_CHECKING:
    from collections.abc import Iterator

_MARKS_READ = 20_000  # headings and fences of one page: one of nothing else has no layout worth more
_TITLES_READ = 400_000  # characters of headings of one page
_TITLE_CHARS = 400  # of one heading
_SLICE = 64 * 1024
_REPEATED = 2_000  # characters of a header that is shown once more
_HITS = 10_000  # counted by `find`; enough to say "many"
_AROUND = 300  # characters of context on either side of a hit

_MARKS = re.compile(
    r"^ {0,3}(?:(?P<fence>`{3,}|~{3,})(?P<info>[^\n]*)|(?P<level>#{1,6})(?:[ \t]+(?P<title>[^\n]*))?$)"
    r"|^(?P<setext>[^\s#>|`~*+=\-\d][^\n]{0,300}+)\n {0,3}(?P<line>={2,}|-{3,})[ \t]*$",
    re.MULTILINE,
)
_NEEDED = ("#", "```", "~~~", "==", "---")  # one of them is in every mark
_DELIMITERS = re.compile(r"^\|(?:[ \t]*+:?-++:?[ \t]*+\|)++[ \t]*+$", re.MULTILINE)
_NO_ROW = re.compile(r"\n(?!\|)")
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\n]*(?:\([^()\n]*\)[^()\n]*)*\)")
_EMPHASIS = re.compile(r"(?<!\\)[*`]+|(?<![\w\\])_+|(?<!\\)_+(?!\w)")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_SPACES = re.compile(r" \s+|[^\S ]\s*")  # what is not one plain space already
_SENTENCE = re.compile(r"[.!?…][\"'”’)\]]*\s+|[。！？]+[”』」）]*")


class Heading(NamedTuple):
    """One heading: the section under it is `text[start:end]`, up to the next heading of its level or above."""

    level: int
    title: str
    start: int
    end: int


class Passage(NamedTuple):
    """A part of the text around hits: `text[start:end]`."""

    start: int
    end: int


class Found(NamedTuple):
    """What `find` found: passages in order, how many hits there are in all, where the first hit not shown begins (or None)."""

    passages: list[Passage]
    hits: int
    more: int | None


class Beginning(NamedTuple):
    """Lines that a later window is not understood without: `text[start:end]`, and whether of a table or of a code block."""

    start: int
    end: int
    what: Literal["table", "code block"]


class Table(NamedTuple):
    """A table is `text[start:end]`, its header and the line of dashes below it `text[start:rows]`."""

    start: int
    rows: int
    end: int


class Layout:
    """The headings, fenced blocks and tables of one text."""

    __slots__ = ("fences", "headings", "size", "tables")

    def __init__(self, text: str) -> None:
        self.size = len(text)
        self.fences: list[tuple[int, int]] = []
        self.headings: list[Heading] = []
        found: list[tuple[int, str, int]] = []
        opened: tuple[int, str] | None = None
        room = _TITLES_READ
        for match in islice(_marks(text), _MARKS_READ):
            fence = match["fence"]
            if opened is not None:
                if fence and fence[0] == opened[1][0] and len(fence) >= len(opened[1]) and not match["info"].strip():
                    self.fences.append((opened[0], match.end()))
                    opened = None
            elif fence:
                if fence[0] == "~" or "`" not in match["info"]:
                    opened = (match.start(), fence)
            elif room > 0:
                start = match.start()
                if match["level"]:
                    level, title = len(match["level"]), match["title"] or ""
                elif start == 0 or text[max(0, start - 2) : start] == "\n\n":
                    level, title = 1 if match["line"][0] == "=" else 2, match["setext"]
                else:
                    continue
                found.append((level, _title(title), start))
                room -= min(len(title), _TITLE_CHARS)
        if opened is not None:
            self.fences.append((opened[0], self.size))  # CommonMark: an unclosed fence runs to the end
        # From the last heading up: the end of a section is the nearest later start of its level or above.
        nearest = [self.size] * 7
        for level, title, start in reversed(found):
            self.headings.append(Heading(level, title, start, min(nearest[: level + 1])))
            nearest[level] = start
        self.headings.reverse()
        self.tables = list(islice(_tables(text), _MARKS_READ))

    def fence_around(self, at: int) -> tuple[int, int] | None:
        """The fenced block that `at` would cut in two, or None."""
        index = bisect_left(self.fences, (at, 0)) - 1
        if index >= 0 and self.fences[index][0] < at < self.fences[index][1]:
            return self.fences[index]
        return None

    def beginning(self, text: str, at: int, room: int) -> Beginning | None:
        """What to show once more, in at most `room` characters, in front of a window that begins at `at`; None for nothing.

        Of a table its header; of a code block the line that opens it, and of one of CSV the next one, too.
        """
        found: Beginning | None = None
        if (fence := self.fence_around(at)) is not None:
            end = text.find("\n", fence[0], at) + 1
            if end and text[fence[0] : end].strip(" `~\n").lower() in ("csv", "tsv"):
                end = text.find("\n", end, at) + 1
            found = Beginning(fence[0], end, "code block")
        else:
            index = bisect_left(self.tables, at, key=_start_of) - 1
            if index >= 0 and at < self.tables[index].end:
                found = Beginning(self.tables[index].start, self.tables[index].rows, "table")
        if found is None or not found.start < found.end <= at or found.end - found.start > min(room, _REPEATED):
            return None
        return found

    def sections(self, wanted: str) -> list[Heading]:
        """The headings that `wanted` may mean, the best kind of match only: equal, else beginning with it, else holding it."""
        wanted = _folded(_title(wanted.lstrip("#")))
        titles = [(_folded(heading.title), heading) for heading in self.headings]
        for matches in (str.__eq__, str.startswith, str.__contains__):
            hits = [heading for title, heading in titles if title and matches(title, wanted)]
            if hits:
                return hits
        return []

    def outline(self, entries: int = LIMITS.outline_entries) -> str:
        """The headings as an indented list with each section's start and size; the deepest levels go when there are many."""
        headings = [heading for heading in self.headings if heading.title]
        shown = headings
        while len(shown) > entries and len({heading.level for heading in shown}) > 1:
            deepest = max(heading.level for heading in shown)
            shown = [heading for heading in shown if heading.level < deepest]
        shown = shown[:entries]
        top = min((heading.level for heading in shown), default=1)
        lines = [
            f"{'  ' * (level - top)}- {cut(title, 120)} (start {start}, {end - start} chars)"
            for level, title, start, end in shown
        ]
        if len(headings) > len(shown):
            lines.append(f"- ... and {len(headings) - len(shown)} more headings")
        return "\n".join(lines)


def window_end(text: str, start: int, size: int, layout: Layout, stop: int | None = None) -> int:
    """Where the window from `start` ends: at most `size` characters on, at the latest at `stop` (or the text's end)."""
    stop = len(text) if stop is None else stop
    limit = start + size
    if limit >= stop:
        return stop
    for border in (_heading_border, _blank_border, _line_border, _sentence_border, _word_border):
        end = border(text, start, limit, layout)
        if end is not None:
            return end
    return _whole_character(text, start, limit)


def _heading_border(_text: str, start: int, limit: int, layout: Layout) -> int | None:
    floor = start + (limit - start) * 3 // 4
    return next((h.start for h in reversed(layout.headings) if floor <= h.start <= limit and h.start > start), None)


def _blank_border(text: str, start: int, limit: int, layout: Layout) -> int | None:
    floor = start + (limit - start) // 2
    end = limit
    while (at := text.rfind("\n\n", floor, end)) != -1:
        fence = layout.fence_around(at + 2)
        if fence is None:
            return _before_heading(text, at + 2, floor, layout)
        if fence[0] > floor:
            return fence[0]
        end = fence[0]
    return None


def _before_heading(text: str, end: int, floor: int, layout: Layout) -> int:
    """`end`, or where the headings begin that would be left behind at the end of a window, without what they head."""
    while True:
        index = bisect_left(layout.headings, end, key=_start_of) - 1
        if index < 0 or (heading := layout.headings[index]).start <= floor:
            return end
        lines = text[heading.start : end].rstrip().count("\n")
        if lines > (0 if text[heading.start : heading.start + 4].lstrip().startswith("#") else 1):
            return end
        end = heading.start


def _start_of(part: Heading | Table) -> int:
    return part.start


def _line_border(text: str, start: int, limit: int, layout: Layout) -> int | None:
    floor = start + (limit - start) // 2
    fence = layout.fence_around(limit)
    if fence is not None and fence[0] > floor:
        return fence[0]
    at = text.rfind("\n", floor, limit)
    return at + 1 if at != -1 else None


def _sentence_border(text: str, start: int, limit: int, _layout: Layout) -> int | None:
    floor = start + (limit - start) * 2 // 3
    return max((match.end() for match in _SENTENCE.finditer(text, floor, limit)), default=None)


def _word_border(text: str, start: int, limit: int, _layout: Layout) -> int | None:
    floor = max(start + (limit - start) * 3 // 4, limit - 200)
    at = max(text.rfind(" ", floor, limit), text.rfind("\t", floor, limit))
    return at + 1 if at > start else None


def _whole_character(text: str, start: int, limit: int) -> int:
    """`limit`, or a little before it, so that no accent or emoji part is torn from its base."""
    end = limit
    for _ in range(16):
        if end - 1 <= start:
            return limit
        if not _continues(text[end]) and text[end - 1] != "\u200d":
            return end
        end -= 1
    return limit


def _continues(character: str) -> bool:
    return (
        unicodedata.category(character) in ("Mn", "Mc", "Me")
        or character == "\u200d"
        or "\U0001f3fb" <= character <= "\U0001f3ff"  # skin tones
    )


def find(text: str, wanted: str, start: int, stop: int, size: int) -> Found:
    """The passages around every place in `text[start:stop]` where `wanted` stands, whatever its case and white space.

    At most `LIMITS.find_passages` passages and `size` characters in all; passages that touch are one.
    """
    words = wanted.split()
    if not words:
        return Found([], 0, None)
    flat = _Flat(text, start, stop)
    passages: list[Passage] = []
    room = size
    hits = 0
    more: int | None = None
    for at, length in flat.places(_folded_case(" ".join(words))):
        hits += 1
        if hits >= _HITS:
            break
        if more is not None:
            continue
        begin, end = flat.offset(at), flat.offset(at + length - 1) + 1
        # Two passages that share their context are one, and a passage never begins before the end of the last.
        passage = _around(text, begin, end, start, stop, min(_AROUND, size // 2))
        last = passages[-1] if passages else None
        if last is not None and passage.start <= last.end:
            added = max(0, passage.end - last.end)
            if added > room:
                if end > last.end:
                    more = begin
                continue
            passages[-1] = Passage(last.start, max(last.end, passage.end))
        else:
            added = passage.end - passage.start
            if not passages and added > room:
                passage = Passage(begin, min(end, begin + size))  # `size` is smaller than one hit's passage
                added = passage.end - passage.start
            elif added > room or len(passages) == LIMITS.find_passages:
                more = begin
                continue
            passages.append(passage)
        room -= added
    return Found(passages, hits, more)


class _Flat:
    """`text[start:stop]` without case and with one space for white space of any kind and length, and the way back.

    The way back is a mark every `step` characters; between two marks it is worked out again when somebody asks.
    """

    __slots__ = ("_flat", "_known", "_start", "_step", "_steps", "_stop", "_text", "_within")

    def __init__(self, text: str, start: int, stop: int, step: int = 4_096) -> None:
        self._step = step
        self._text, self._start, self._stop = text, start, stop
        self._steps: list[int] = []  # how long the flat text is where each step of the text begins
        self._known = -1
        self._within: list[int] = []
        pieces: list[str] = []
        size = 0
        for at in range(start, stop, step):
            self._steps.append(size)
            piece = _SPACES.sub(" ", text[at : min(stop, at + step)])
            if self._is_space(at - 1) and piece.startswith(" "):
                piece = piece[1:]
            size += len(piece)
            pieces.append(_folded_case(piece))
        self._flat = "".join(pieces)

    def places(self, wanted: str) -> Iterator[tuple[int, int]]:
        """Where `wanted` stands in the flat text, and its length; places do not overlap. `str.find` is linear (two-way)."""
        at = self._flat.find(wanted)
        while at != -1:
            yield at, len(wanted)
            at = self._flat.find(wanted, at + len(wanted))

    def offset(self, place: int) -> int:
        """The offset in the text of the character at `place` of the flat text; of white space, where it begins."""
        number = bisect_right(self._steps, place) - 1
        if number != self._known:
            begin = self._start + number * self._step
            end = min(self._stop, begin + self._step)
            after_space = [self._is_space(begin - 1), *map(str.isspace, self._text[begin : end - 1])]
            self._within = [at for at, follows in enumerate(after_space, begin) if not (follows and self._text[at].isspace())]
            self._known = number
        return self._within[place - self._steps[number]]

    def _is_space(self, at: int) -> bool:
        return at >= self._start and self._text[at].isspace()


def _folded_case(text: str) -> str:
    """`text` without case, character for character: the one that would become two, and the sigma that looks around, do not."""
    return text.replace("\u0130", "i").lower().replace("ς", "σ")


def _marks(text: str, size: int = _SLICE) -> Iterator[re.Match[str]]:
    """The matches of `_MARKS`, in slices that end with a line."""
    at = 0
    while at < len(text):
        border = text.find("\n", at + size) + 1 or len(text)
        # A heading that is underlined is two lines: the line behind the border may belong to the one in front of it.
        beyond = text.find("\n", border)
        beyond = len(text) if beyond == -1 else beyond
        begin, at = at, border
        if not any(text.find(mark, begin, beyond) != -1 for mark in _NEEDED):
            continue
        for match in _MARKS.finditer(text, begin, beyond):
            if match.start() >= border:
                break
            yield match
            at = max(border, match.end())


def _tables(text: str, size: int = _SLICE) -> Iterator[Table]:
    """The tables of a text, in fences too, in slices that end with a line."""
    at = done = 0
    while at < len(text):
        border = text.find("\n", at + size) + 1 or len(text)
        begin, at = at, border
        if text.find("|", begin, border) == -1:
            continue
        for match in _DELIMITERS.finditer(text, begin, border):
            if match.start() <= done:
                continue
            start = text.rfind("\n", done, match.start() - 1) + 1 or done
            if text[start] == "|":
                done = _end_of_rows(text, match.end(), size)
                yield Table(start, min(match.end() + 1, done), done)
        at = max(at, done)


def _end_of_rows(text: str, at: int, size: int) -> int:
    """Where the lines that begin with a bar end, from the end of such a line on."""
    while at < len(text):
        border = text.find("\n", at + size)
        border = len(text) if border == -1 else border
        no_row = _NO_ROW.search(text, at, border)
        if no_row is not None:
            return no_row.end()
        at = border
    return len(text)


def _around(text: str, begin: int, end: int, start: int, stop: int, reach: int) -> Passage:
    """The hit `text[begin:end]` with up to `reach` characters on either side, from the border of a paragraph, line or word."""
    first, last = max(start, begin - reach), min(stop, end + reach)
    if first > start:
        # Back to where the hit's own paragraph begins; without one in reach, to the first whole line or word.
        at = text.rfind("\n\n", first, begin)
        for border in ("\n", " "):
            at = at if at != -1 else text.find(border, first, begin)
        first = at if at != -1 else first
        while first < begin and text[first] in "\n ":
            first += 1
    if last < stop:
        for border in ("\n\n", "\n", " "):
            at = text.rfind(border, end, last)
            if at != -1:
                last = at
                break
    return Passage(first, last)


def _title(text: str) -> str:
    """A heading's text as a reader sees it: without closing #s, links, emphasis and escapes."""
    text = re.sub(r"[ \t]#+[ \t]*$", "", text[:_TITLE_CHARS])
    if "](" in text:
        text = _LINK.sub(r"\1", _LINK.sub(r"\1", text))
    text = _ESCAPED.sub(r"\1", _EMPHASIS.sub("", text))
    return clean_line(text.replace("¶", " "))


def _folded(text: str) -> str:
    return clean_line(text).casefold()
