"""Foreign strings, made safe to show: to a model, a terminal and a log.

Whatever comes from outside (titles, snippets, pages, vendors' error texts) passes here once. What is removed can hide text
from people, move a terminal's cursor, or turn the reading direction:

- ANSI escape sequences whole (ECMA-48: CSI, OSC and the other control strings), then every other control character;
- bidi controls (UAX #9: embeddings, overrides, isolates, the three marks) and the deprecated U+206A..206F;
- tag characters (U+E0000..E007F), the usual way to smuggle ASCII past a reader; the flags of Scotland and Wales are the price;
- characters that draw nothing: zero-width space and no-break space, word joiner, soft hyphen, invisible operators, fillers;
- variation selectors beyond the first after a character, and all of the supplementary ones (bytes are smuggled in them);
- lone surrogates (U+FFFD in their place) and noncharacters.

ZWJ and ZWNJ stay where they carry meaning, between two characters of a script that joins or between emoji; anywhere else they
are invisible ink and go.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_ESCAPES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # CSI ... final byte
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x90\x98\x9c-\x9f\n]*+(?:\x07|\x1b\\|\x9c)"  # OSC, DCS ...
    r"|\x1b[ -/]*[0-~]"  # the other two- and three-character sequences
)
_LINE_BREAKS = re.compile("\r\n|[\r\x0b\x0c\x85\u2028\u2029]")

# Joining scripts (Hebrew and Arabic to Myanmar, Khmer, Mongolian), their presentation forms, symbols and emoji, VS16.
_JOINS = "\u0590-\u109f\u1780-\u18af\u2190-\u2bff\ufb1d-\ufdcf\ufdf0-\ufdff\ufe0f\ufe70-\ufefc\U0001f000-\U0001faff"
_SELECTORS = "\ufe00-\ufe0f"
_NEVER = (
    "\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f"  # all controls but \t and \n, and the line breaks dealt with before
    "\u00ad\u034f\u061c\u180b-\u180f\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufdd0-\ufdef\ufeff\uffa0\ufff0-\ufffc"
    "\u115f\u1160\u17b4\u17b5\ufffe\uffff\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_INVISIBLE = re.compile(
    f"[{_NEVER}]|(?<![{_JOINS}])[\u200c\u200d]|[\u200c\u200d](?![{_JOINS}])|(?<=[{_SELECTORS}])[{_SELECTORS}]"
)
# One class, so that clean text (nearly all of it) is passed over at the speed of a scan.
_SUSPECT = re.compile(f"[\r\x0b\x0c\x85\u2028\u2029\ud800-\udfff\u200c\u200d{_SELECTORS}{_NEVER}]")
_SURROGATE = re.compile("[\ud800-\udfff]")


_SLACK = 4_096  # characters behind a first, rough cut that are still searched for secrets


def clean_block(text: str) -> str:
    """`text` of several lines, cleaned; every line break is "\\n". Tabs and other white space stay."""
    if _SUSPECT.search(text) is None:
        return text
    text = _ESCAPES.sub("", text)
    text = _LINE_BREAKS.sub("\n", text)
    text = _SURROGATE.sub("\ufffd", text)
    return _INVISIBLE.sub("", text)


def clean_line(text: str) -> str:
    """`text` on one line, cleaned; white space of any kind becomes single spaces."""
    return " ".join(clean_block(text).split())


def is_visible_line(text: str) -> bool:
    """Whether `text` is one line of visible characters as it stands: for names and URLs, which are refused, not mended."""
    return text.isprintable() and _SUSPECT.search(text) is None


def cut(text: str, limit: int) -> str:
    """`text` of at most `limit` characters, an ellipsis in the place of what was cut; between words where one ends nearby."""
    if len(text) <= limit:
        return text
    kept = text[: limit - 1]
    space = kept.rfind(" ")
    if space >= len(kept) - min(40, limit // 4):
        kept = kept[:space]
    return kept.rstrip() + "…"


# ---------------------------------------------------------------------------------------------- HTML in titles and snippets

# Only real elements are tags: a plain-text snippet about `List<String>` keeps its words.
_BLOCK = (
    "address|article|aside|blockquote|br|center|dd|details|div|dl|dt|fieldset|figcaption|figure|footer|form|h[1-6]|header|hr|li|"
    "main|nav|ol|p|pre|section|summary|table|tbody|td|tfoot|th|thead|tr|ul"
)
_INLINE = (
    "a|abbr|acronym|applet|area|audio|b|base|bdi|bdo|big|body|button|canvas|caption|cite|code|col|colgroup|data|datalist|del|dfn|"
    "dialog|em|embed|font|frame|frameset|head|html|i|iframe|img|input|ins|kbd|label|legend|link|map|mark|marquee|math|meta|meter|"
    "noscript|object|optgroup|option|output|param|picture|progress|q|rp|rt|ruby|s|samp|script|select|slot|small|source|span|strike|"
    "strong|style|sub|sup|svg|template|textarea|time|title|track|tt|u|var|video|wbr"
)
_BLOCK_TAG = re.compile(rf"</?(?:{_BLOCK})(?:[\s/][^<>]*)?>", re.IGNORECASE)
_INLINE_TAG = re.compile(rf"</?(?:{_INLINE})(?:[\s/][^<>]*)?>", re.IGNORECASE)
_CODE = re.compile(r"<(script|style)\b[^>]*>.*?</\1\s*>|<!--.*?-->", re.IGNORECASE | re.DOTALL)
_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,31});")


def _as_it_is(text: str) -> str:
    return text


def plain(text: str, limit: int, redact: Callable[[str], str] = _as_it_is) -> str:
    """A title or snippet as one line of plain text of at most `limit` characters: HTML to text, entities decoded, cleaned.

    Tags first, entities after: `&lt;div&gt;` is somebody writing about a tag, and stays as the text `<div>`. `redact` takes
    secrets out, before each cut: in front of one, half a secret could not be found any more.
    """
    # A hostile engine may send megabytes; what lies far behind the cut cannot be shown, and the patterns stay cheap.
    far = limit * 8
    long = len(text) > far
    text = redact(text[: far + _SLACK])[:far]
    if "<" in text:
        text = _CODE.sub(" ", text)
        text = _BLOCK_TAG.sub(" ", text)
        text = _INLINE_TAG.sub("", text)
    if "&" in text:
        from html import unescape

        text = _ENTITY.sub(lambda match: unescape(match[0]), text)
    line = redact(clean_line(text))
    if long and len(line) <= limit:
        # Nearly all of it was markup. Its end may be half a secret that tags kept apart: the last word goes.
        head = line[:-500] + line[-500:].rpartition(" ")[0]
        line = head + "…" if head else ""
    return cut(line, limit)


def line_of(text: str, limit: int, redact: Callable[[str], str] = _as_it_is) -> str:
    """`text` as one cleaned line of at most `limit` characters, secrets taken out before the cut."""
    return cut(redact(clean_line(redact(text[: limit * 8 + _SLACK]))), limit)
