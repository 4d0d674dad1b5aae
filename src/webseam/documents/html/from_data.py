"""A text for a page that shows next to nothing, out of the data in it: its JSON-LD, or the state that its scripts start from.

`body_of` writes out what JSON-LD says of an article, a product, a recipe, questions, posts or a list; `state_of` gathers from
`__NEXT_DATA__` and its like the strings that read like prose. Both give elements of our own tree, so that what is in them, HTML
too, becomes Markdown in the same way as a page's own text, hidden parts dropped.
"""

from __future__ import annotations

import re
from html import unescape
from itertools import islice
from typing import TYPE_CHECKING, Any

from webseam.documents.dates import iso_date
from webseam.documents.html.hidden import drop_hidden
from webseam.documents.html.parse import parse
from webseam.documents.html.scripts import decoded, scripts
from webseam.documents.html.structured import (
    ARTICLES,
    MARKUP,
    MAX_NODES,
    PAGES,
    PRODUCTS,
    facts_of,
    line,
    list_of_facts,
    types_of,
    whole_characters,
)
from webseam.documents.html.tree import Element

if TYPE_CHECKING:
    from collections.abc import Callable

    from webseam.documents.html.structured import LinkedData, Node
    from webseam.documents.html.tree import Child

STATE_CHARS = 3_000_000
"""Of all state of a page."""

STATE_DEPTH = 36
STATE_VALUES = 100_000
"""Values of a page's state that are looked at."""

TEXT_CHARS = 1_000_000
"""Characters of all texts taken from data."""

MAX_FRAGMENTS = 300
"""Strings of HTML that are parsed; what comes after them is written as text."""

MAX_BLOCKS = 5_000
"""What is written out of JSON-LD: things may refer to one another, and to themselves."""

PROSE_CHARS = 60

_BREAKS = re.compile(r"\n[ \t]*\n\s*")


def body_of(data: LinkedData) -> Element | None:
    """What JSON-LD says that the page is about, written out; None when it says nothing that is worth reading."""
    texts = _Texts()
    for types, write in _WAYS:
        about = data.first(types)
        for node in [node for node in data.nodes if not types.isdisjoint(types_of(node))] or ([about] if about else []):
            writer = _Writer(data, texts)
            if write(writer, node):
                return writer.body
    return None


_OF_A_RECIPE = (("Yield", "recipeYield"), ("Preparation", "prepTime"), ("Cooking", "cookTime"), ("Total", "totalTime"))


class _Writer:
    """Elements out of data. Every method says whether it wrote anything beyond a title."""

    def __init__(self, data: LinkedData, texts: _Texts) -> None:
        self.data = data
        self.body = Element("div")
        self.texts = texts
        self.left = MAX_BLOCKS

    def add(self, tag: str, text: str) -> bool:
        self.left -= 1
        if self.left < 0:
            return False
        if text:
            self.body.children.append(Element(tag, children=[text]))
        return bool(text)

    def prose(self, value: Any) -> bool:
        written = self.texts.blocks(value)
        self.body.children.extend(written)
        return bool(written)

    def byline(self, node: Node, extra: str = "") -> None:
        names = self.data.names(node.get("author") or node.get("creator"))
        date = iso_date(line(node.get("datePublished") or node.get("dateCreated")))
        self.add("p", ", ".join([part for part in (names, date, extra) if part]))

    def article(self, node: Node) -> bool:
        self.add("h1", line(node.get("headline") or node.get("title") or node.get("name")))
        self.byline(node)
        written = False
        for name in ("startDate", "endDate"):
            if date := iso_date(line(node.get(name))):
                self.add("p", f"{'From' if name == 'startDate' else 'To'} {date}")
        for name in ("hiringOrganization", "location", "jobLocation"):
            written |= self.add("p", _place(self.data, node.get(name)))
        for name in ("articleBody", "text", "reviewBody", "transcript"):
            if self.prose(node.get(name)):
                return True
        return self.prose(node.get("description")) or written

    def product(self, node: Node) -> bool:
        self.add("h1", line(node.get("name")))
        written = self.add("p", line(node.get("brand")))
        written |= self.prose(node.get("description"))
        if facts := list({name: (name, value) for name, value in facts_of(self.data, node) if name != "Brand"}.values()):
            self.body.children.append(list_of_facts(facts))
            written = True
        return written

    def recipe(self, node: Node) -> bool:
        self.add("h1", line(node.get("name")))
        self.byline(node)
        written = self.prose(node.get("description"))
        facts = [(title, line(node.get(name))) for title, name in _OF_A_RECIPE]
        if facts := [(title, value) for title, value in facts if value]:
            self.body.children.append(list_of_facts(facts))
        listed = _list(node.get("recipeIngredient") or node.get("ingredients"))
        if ingredients := [text for item in listed if (text := line(item))]:
            self.add("h2", "Ingredients")
            self.body.children.append(Element("ul", children=[Element("li", children=[text]) for text in ingredients]))
            written = True
        instructions = node.get("recipeInstructions")
        if instructions:
            self.add("h2", "Instructions")
            written |= self.steps(instructions, 0)
        return written

    def steps(self, value: Any, depth: int) -> bool:
        if isinstance(value, str):
            return self.prose(value)
        steps: list[Child] = []
        written = False
        for item in _list(value):
            if isinstance(item, dict) and "itemListElement" in item and depth < 3:
                self.add("h3", line(item.get("name")))
                written |= self.steps(item["itemListElement"], depth + 1)
            elif blocks := self.texts.blocks(item.get("text") or item.get("name") if isinstance(item, dict) else item):
                steps.append(Element("li", children=blocks))
        if steps:
            self.body.children.append(Element("ol", children=steps))
        return written or bool(steps)

    def questions(self, node: Node) -> bool:
        questions = [node] if "Question" in types_of(node) else self.data.of(node.get("mainEntity"))
        several = len(questions) > 1
        written = False
        for question in questions:
            if self.left < 0:
                break
            self.add("h2" if several else "h1", line(question.get("name")))
            self.byline(question)
            written |= self.prose(question.get("text"))
            for name, title in (("acceptedAnswer", "Accepted answer"), ("suggestedAnswer", "Answer")):
                for answer in self.data.of(question.get(name)):
                    if self.left < 0:
                        break
                    if not several:
                        self.add("h2", title)
                    votes = line(answer.get("upvoteCount"))
                    self.byline(answer, f"{votes} votes" if votes else "")
                    written |= self.prose(answer.get("text"))
        return written

    def posts(self, node: Node) -> bool:
        self.add("h1", line(node.get("headline") or node.get("name")))
        return self.post(node, 0)

    def post(self, node: Node, depth: int) -> bool:
        self.byline(node)
        written = self.prose(node.get("text") or node.get("articleBody"))
        if depth < 5:
            for comment in self.data.of(node.get("comment")):
                if self.left < 0:
                    break
                self.body.children.append(Element("hr"))
                written |= self.post(comment, depth + 1)
        return written

    def items(self, node: Node) -> bool:
        items: list[Child] = []
        for entry in _list(node.get("itemListElement")):
            one = entry if isinstance(entry, dict) else {"name": entry}
            thing = next(iter(self.data.of(one.get("item"))), one)
            address = line(thing.get("url") or one.get("url") or thing.get("@id"))
            name = line(thing.get("name") or thing.get("headline") or one.get("name")) or address
            if not name:
                continue
            link: Child = Element("a", {"href": address}, [name]) if address else name
            extra = [line(thing.get("description"))[:300], *[value for _, value in facts_of(self.data, thing)][:2]]
            items.append(Element("li", children=[link, "".join(f" {text}" for text in extra if text)]))
        self.add("h1", line(node.get("name")))
        if items:
            self.body.children.append(Element("ul", children=items))
        return bool(items)


_WAYS: tuple[tuple[frozenset[str], Callable[[_Writer, Node], bool]], ...] = (
    (frozenset({"QAPage", "Question"}), _Writer.questions),
    (frozenset({"Recipe"}), _Writer.recipe),
    (frozenset({"DiscussionForumPosting", "SocialMediaPosting"}), _Writer.posts),
    (PRODUCTS, _Writer.product),
    (ARTICLES, _Writer.article),
    (frozenset({"FAQPage"}), _Writer.questions),
    (frozenset({"ItemList", "OfferCatalog"}), _Writer.items),
    (PAGES | {"Book", "Course", "Event", "LocalBusiness", "Movie", "Organization", "Person"}, _Writer.article),
)
"""How to write out what: the first that gives a text is taken."""


def _place(data: LinkedData, value: Any) -> str:
    """The name and address of a place or an organisation."""
    node = next(iter(data.of(value)), None)
    if node is None:
        return line(value)
    address = next(iter(data.of(node.get("address"))), None)
    parts = [line(node.get("name"))]
    if address is None:
        parts.append(line(node.get("address")))
    else:
        parts += [line(address.get(name)) for name in ("streetAddress", "postalCode", "addressLocality", "addressCountry")]
    return ", ".join([part for part in dict.fromkeys(parts) if part])


def _list(value: Any) -> list[Any]:
    return (value if isinstance(value, list) else [value] if value else [])[:MAX_NODES]


# ------------------------------------------------------------------------------------------------ the state of scripts

_STATES = ("__NEXT_DATA__", "__NUXT", "__INITIAL_STATE__", "__PRELOADED_STATE__", "__APOLLO_STATE__", "__remixContext")
_NEXT_PIECES = re.compile(r"__next_f\.push\(\[1,\s?(\"(?:[^\"\\]|\\.)*+\")\]\)")
_LONG_TEXTS = re.compile(r"\b[0-9a-f]{1,4}:T([0-9a-f]{1,6}),")
_LITERALS = re.compile(r"\"((?:[^\"\\\n]|\\.)*+)\"")
_TITLES = ("title", "headline", "heading", "name", "question", "label")
# What is said to a person, but not by the page: keys of translations, consent, search engines.
_ASIDE = re.compile(
    r"i18n|locale|translation|messages|seo|meta|cookie|consent|privacy|config|env|theme|schema|query$", re.IGNORECASE
)
_NOT_PROSE = re.compile(r"[{}\\;=<>$|_]|https?:")


def state_of(source: str) -> Element | None:
    """The prose in the state that the page's scripts start from, in its order; None when there is none."""
    gathered = _Gathered()
    room = STATE_CHARS
    for script in scripts(source, ("application/json", *_STATES), STATE_CHARS):
        if room <= 0:
            break
        room -= len(script)
        begin = min((at for mark in "{[" if (at := script.find(mark)) != -1), default=-1)
        state = decoded(script[begin:]) if begin != -1 else None
        if state is not None:
            gathered.walk(state, 0)
        else:
            gathered.literals(script)
    if "__next_f.push" in source:
        pieces = [decoded(match[1]) for match in _NEXT_PIECES.finditer(source[-STATE_CHARS:])]
        gathered.components("".join([piece for piece in pieces if isinstance(piece, str)])[:STATE_CHARS])
    return gathered.body if gathered.chars else None


class _Gathered:
    """Prose as it is met, each once."""

    def __init__(self) -> None:
        self.body = Element("div")
        self.chars = 0
        self.texts = _Texts()
        self._seen: set[str] = set()
        self._left = STATE_VALUES

    def walk(self, value: Any, depth: int) -> None:
        """Gather from one JSON value and those inside it."""
        self._left -= 1
        if self._left < 0 or depth > STATE_DEPTH:
            return
        if isinstance(value, str):
            if is_prose(value):
                self.take(value)
        elif isinstance(value, list):
            for item in value:
                self.walk(item, depth + 1)
        elif isinstance(value, dict):
            title = next((key for key in _TITLES if isinstance(value.get(key), str)), "")
            if title and any(isinstance(item, str) and is_prose(item) for key, item in value.items() if key != title):
                self.title(value[title])
            for key, item in value.items():
                if key != title and not _ASIDE.search(key[:100]):
                    self.walk(item, depth + 1)
            if title and is_prose(value[title]):
                self.take(value[title])

    def literals(self, script: str) -> None:
        """Gather from the strings of a script that is no JSON."""
        for number, match in enumerate(_LITERALS.finditer(script)):
            if number >= STATE_VALUES:
                break
            if len(match[1]) >= PROSE_CHARS and isinstance(text := decoded(match[0]), str) and is_prose(text):
                self.take(text)

    def components(self, stream: str) -> None:
        """Gather from the stream of React's server components: lines of JSON, and texts with their length in bytes before."""
        self.literals(stream)
        for match in islice(_LONG_TEXTS.finditer(stream), MAX_FRAGMENTS):
            size = int(match[1], 16)
            text = stream[match.end() : match.end() + size].encode("utf-8", "replace")[:size].decode("utf-8", "ignore")
            if is_prose(text):
                self.take(text)

    def title(self, text: str) -> None:
        text = line(text)
        if 2 < len(text) <= 200 and text not in self._seen:
            self._seen.add(text)
            self.body.children.append(Element("h2", children=[text]))

    def take(self, text: str) -> None:
        if text in self._seen:
            return
        self._seen.add(text)
        blocks = self.texts.blocks(text)
        self.body.children.extend(blocks)
        self.chars += len(text) if blocks else 0


def is_prose(text: str) -> bool:
    """Whether a string of a page's state reads like something written for people: sentences, or HTML that holds some."""
    if len(text) < PROSE_CHARS // 3:
        return False
    sample = text[:2_000]
    if MARKUP.search(sample):
        sample = MARKUP.sub(" ", sample)
    letters = sum(map(str.isalpha, sample))
    wide = sum(character > "\u2e80" for character in sample)
    size = len(sample.strip()) + wide * 2
    if size < PROSE_CHARS or letters < len(sample.strip()) * 0.6:
        return False
    if wide < len(sample) // 4 and len(sample.split()) < 8:
        return False
    return len(_NOT_PROSE.findall(sample)) <= len(sample) // 150


# ------------------------------------------------------------------------------------------------ texts


class _Texts:
    """Texts of data as elements, within bounds for all of them together."""

    def __init__(self) -> None:
        self._room = TEXT_CHARS
        self._fragments = MAX_FRAGMENTS

    def blocks(self, value: Any) -> list[Child]:
        """A string, or several, as paragraphs; HTML as what it is."""
        if isinstance(value, list):
            return [block for item in value[:MAX_NODES] if isinstance(item, str) for block in self.blocks(item)]
        if not isinstance(value, str) or self._room <= 0:
            return []
        text = whole_characters(value[: self._room])
        self._room -= len(text)
        if not MARKUP.search(text):
            text = unescape(text)  # to HTML perhaps: it is escaped twice in many a description
        if MARKUP.search(text) and self._fragments > 0:
            self._fragments -= 1
            fragment = parse(text)
            drop_hidden(fragment)
            return [Element("div", children=fragment.body.children)] if fragment.body.children else []
        return [
            Element("p", children=_lines(paragraph)) for paragraph in _BREAKS.split(text.replace("\r", "")) if paragraph.strip()
        ]


def _lines(paragraph: str) -> list[Child]:
    """A paragraph with a `<br>` for each of its line breaks."""
    children: list[Child] = []
    for number, text in enumerate(paragraph.strip().split("\n")):
        if number:
            children.append(Element("br"))
        children.append(text)
    return children
