"""How an inline style keeps text from being seen, if it does: judged by that one attribute, without the rest of the page.

A browser lays the page out; here are only the ways that hide text whatever the rest says. Limits are generous to a page:
what slides or fades in is built with the same properties, on some pages within a few hundred pixels of where it is seen.
"""

from __future__ import annotations

import re
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING

from webseam.documents.html.inline_style import declarations

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Style = dict[str, list[str]]

TINY_TEXT = 2.0
"""Pixels under which letters cannot be read."""

OFF_SCREEN = 500
"""Pixels to the left or top of where it would be, from which a box is off the screen; or 50 em, 100 vw, more than 100%."""

TRANSLATED_OFF_SCREEN = 999
"""As `OFF_SCREEN` for a transform: what slides in stands nearer."""

BEYOND_SCREEN = 3_000
"""Pixels to the right: pages are laid out with offsets of hundreds, and no screen is so wide."""


class Concealment(Enum):
    """How text is hidden: `SCRIPTED` as pages hide what a script will show, `TEXT` by the look of its letters (so that
    what is inside may look otherwise), `BOX` for good."""

    NONE = 0
    SCRIPTED = 1
    TEXT = 2
    BOX = 3


_GLOBAL = frozenset({"inherit", "initial", "unset", "revert", "revert-layer"})
_DISPLAYED = _GLOBAL | {
    "block", "inline", "inline-block", "contents", "flex", "inline-flex", "grid", "inline-grid", "flow-root", "list-item",
    "table", "inline-table", "table-row", "table-cell", "table-caption", "table-row-group", "table-header-group",
    "table-footer-group", "table-column", "table-column-group", "ruby", "math", "box",
}  # fmt: skip
_SIZES = frozenset({"xx-small", "x-small", "small", "medium", "large", "x-large", "xx-large", "xxx-large", "initial"})

_NUMBER = r"[+-]?(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:e[+-]?[0-9]+)?"
_LENGTH = re.compile(rf"({_NUMBER})([a-z]+|%|)")
_FUNCTION = re.compile(r"(?<![a-z0-9])([a-z0-9]{1,20})\(([^()]*(?:\([^()]*\)[^()]*)*)\)")
_PIXELS = {
    "px": 1.0, "em": 16.0, "rem": 16.0, "ex": 8.0, "ch": 8.0, "pt": 4 / 3, "pc": 16.0, "in": 96.0, "cm": 37.8, "mm": 3.78,
    "q": 0.945, "%": 0.16, "vw": 10.0, "vh": 10.0, "vmin": 10.0, "vmax": 10.0,
}  # fmt: skip
_OF_THE_PARENT = frozenset({"em", "ex", "ch", "%"})
_COLORS = {
    "white": "ffffff", "black": "000000", "red": "ff0000", "lime": "00ff00", "blue": "0000ff", "yellow": "ffff00",
    "silver": "c0c0c0", "gray": "808080", "grey": "808080", "maroon": "800000", "green": "008000", "navy": "000080",
    "purple": "800080", "olive": "808000", "teal": "008080", "aqua": "00ffff", "cyan": "00ffff", "fuchsia": "ff00ff",
    "magenta": "ff00ff", "orange": "ffa500", "whitesmoke": "f5f5f5", "snow": "fffafa", "ivory": "fffff0",
}  # fmt: skip


def concealment(style: str) -> Concealment:
    """How an element with this `style` is hidden. Where several ways are used, the first of `SCRIPTED`, `BOX`, `TEXT`."""
    found = declarations(style)
    if _is(found, "display", {"none"}, _DISPLAYED) or _is(found, "visibility", {"hidden", "collapse"}, _GLOBAL | {"visible"}):
        return Concealment.SCRIPTED
    asked = frozenset(found)  # most styles only say how wide a thing is
    for names, hides in _BOXES:
        if not names.isdisjoint(asked) and hides(found):
            return Concealment.BOX
    if not _LETTERS.isdisjoint(asked) and (_unreadably_small(found) or _ink(found) == ""):
        return Concealment.TEXT
    return Concealment.NONE


def readable_within(hidden_by: str) -> Callable[[str], bool]:
    """Given the style of an element whose letters are hidden: whether one inside it, by its own style, can be read."""
    outer = declarations(hidden_by)
    too_small = _unreadably_small(outer)
    hidden = _color_of(outer) if _ink(outer) == "" else None

    def readable(style: str) -> bool:
        inner = declarations(style)
        if too_small and not _first(inner, ("font-size", "font"), _own_size):
            return False
        if hidden is None:
            return True
        ink, paper = _ink(inner), _paper(inner)
        if ink is None:
            return hidden != "transparent" and paper not in (None, hidden, "transparent")
        return bool(ink) and (ink != hidden or paper not in (None, hidden, "transparent"))

    return readable


# ---------------------------------------------------------------------------------------------- ways to hide


def _no_box(style: Style) -> bool:
    """Cut off at next to no height or width, or not rendered."""
    if _is(style, "content-visibility", {"hidden"}, _GLOBAL | {"visible", "auto"}):
        return True
    if _first(style, ("zoom",), _nearly_nothing):
        return True
    if not any(
        re.search(r"hidden|clip|scroll|auto", style[name][0])
        for name in ("overflow", "overflow-x", "overflow-y", "overflow-block", "overflow-inline")
        if name in style
    ):
        return False
    narrow = any(_first(style, (name,), _no_length) for name in ("width", "max-width", "inline-size", "max-inline-size"))
    low = any(_first(style, (name,), _no_length) for name in ("height", "max-height", "block-size", "max-block-size"))
    return narrow or (low and not _padded(style) and not _first(style, ("min-height",), _some_length))


def _padded(style: Style) -> bool:
    """Whether there is padding below, which is not cut off (boxes that keep the proportions of a film)."""
    if "padding-bottom" in style:
        return _first(style, ("padding-bottom",), _some_length)
    values = style.get("padding", [""])[0].split()
    return bool(values) and _some_length(values[2 if len(values) > 2 else 0]) is True  # top, sides, bottom


def _off_screen(style: Style) -> bool:
    fixed = "fixed" in style.get("position", [""])[0]
    for name in ("left", "right", "text-indent", "margin-left", "top", "bottom", "margin-top"):
        if name not in style:
            continue
        near: float = OFF_SCREEN
        if name in ("margin-left", "margin-top") and style.get(name[7:], [""])[0].endswith("%"):
            near = BEYOND_SCREEN  # the old way to centre a box: left: 50%, and back by half of its width
        # What is far below is scrolled to, unless it is fixed.
        beyond = BEYOND_SCREEN if fixed or name not in ("top", "bottom", "margin-top") else None
        if _first(style, (name,), partial(_far, near=near, beyond=beyond)):
            return True
    indent = style.get("text-indent", [""])[0]
    if indent.startswith("100%") and "overflow" in style:  # the Kellum method
        return True
    return _first(style, ("inset",), lambda value: any(_far(part, near=OFF_SCREEN, beyond=None) for part in value.split()))


def _clipped(style: Style) -> bool:
    for value in (*style.get("clip", ())[:1], *style.get("clip-path", ())[:1]):
        for name, arguments in _FUNCTION.findall(value):
            parts = re.split(r"[\s,]+", arguments.strip())
            if name in ("rect", "xywh") and len(parts) >= 4:  # four sides
                if _empty_rectangle(name, parts):
                    return True
            elif (name == "inset" and _closes(re.split(r"\bround\b", arguments)[0].split())) or (
                name in ("circle", "ellipse") and any(_no_length(part) for part in arguments.partition(" at ")[0].split())
            ):
                return True
            elif name == "polygon":
                points = {" ".join(point.split()) for point in arguments.split(",")} - {"evenodd", "nonzero"}
                if len(points) < 3:  # the corners of what has an area
                    return True
    return False


def _empty_rectangle(name: str, parts: list[str]) -> bool:
    sides = [0.0 if part == "auto" and place in (0, 3) else _pixels(part) for place, part in enumerate(parts[:4])]
    pairs = ((sides[2], 0.0), (sides[3], 0.0)) if name == "xywh" else ((sides[2], sides[0]), (sides[1], sides[3]))
    return any(far is not None and near is not None and far - near <= TINY_TEXT for far, near in pairs)


def _closes(values: list[str]) -> bool:
    """Whether `inset()` takes away all: half or more from both sides, or more than there can be."""
    if not values:
        return False
    top, right, bottom, left = (values[0], values[min(1, len(values) - 1)], values[2 if len(values) > 2 else 0], values[-1])
    if len(values) == 3:  # top, sides, bottom
        left = values[1]
    for pair in ((top, bottom), (right, left)):
        lengths = [_LENGTH.fullmatch(side) for side in pair]
        if sum(float(length[1]) for length in lengths if length and length[2] == "%") >= 99:  # per cent
            return True
        if any(length and length[2] != "%" and (_pixels(length[0]) or 0) >= BEYOND_SCREEN for length in lengths):
            return True
    return False


def _transformed(style: Style) -> bool:
    if _first(style, ("filter",), lambda value: bool(re.search(r"opacity\(\s*(?:0*\.?0+%?|\.0+%?)\s*\)", value))):
        return True
    if any(_fraction_is_zero(part) for part in style.get("scale", [""])[0].split()[:2]):
        return True
    moves = style.get("translate", [""])[0].split()
    if moves and _moved(moves):
        return True
    for name, arguments in _FUNCTION.findall(style.get("transform", [""])[0]):
        parts = [part.strip() for part in arguments.split(",")]
        if name in ("scale", "scale3d", "scalex", "scaley"):
            if any(_fraction_is_zero(part) for part in parts[:2]):
                return True
        elif name == "matrix" and all(_fraction_is_zero(part) for part in parts[:4]):
            return True
        elif name in ("translate", "translate3d", "translatex"):
            if _moved(parts):
                return True
        elif (name == "translatey" and _moved(["0", *parts])) or (
            name == "matrix" and len(parts) == 6 and _moved([f"{part}px" for part in parts[4:]])
        ):
            return True
    return False


def _moved(parts: list[str]) -> bool:
    if _far(parts[0], near=TRANSLATED_OFF_SCREEN, beyond=TRANSLATED_OFF_SCREEN):
        return True
    return len(parts) > 1 and bool(_far(parts[1], near=TRANSLATED_OFF_SCREEN, beyond=BEYOND_SCREEN))


def _unreadably_small(style: Style) -> bool:
    return _first(style, ("font-size", "font"), lambda value: None if (size := _size(value)) is None else size < TINY_TEXT)


# What each way of hiding needs at least one of.
_BOXES = (
    (
        frozenset({"content-visibility", "zoom", "overflow", "overflow-x", "overflow-y", "overflow-block", "overflow-inline"}),
        _no_box,
    ),
    (
        frozenset({"left", "right", "text-indent", "margin-left", "top", "bottom", "margin-top", "inset"}),
        _off_screen,
    ),
    (frozenset({"clip", "clip-path"}), _clipped),
    (frozenset({"filter", "scale", "translate", "transform"}), _transformed),
)
_LETTERS = frozenset({"font-size", "font", "color", "text-fill-color"})


# ---------------------------------------------------------------------------------------------- colours


def _ink(style: Style) -> str | None:
    """The colour of the letters; "" when they cannot be told from what is behind them, None when nothing is said."""
    if (
        "text" in " ".join([*style.get("background-clip", ()), *style.get("background", ())])
        or style.get("text-shadow", ["none"])[0] != "none"
    ):
        return None  # letters cut out of a picture, or drawn by their shadow
    color = _color_of(style)
    if color == "transparent" or (color and color == _paper(style)):
        return ""
    return color


def _color_of(style: Style) -> str | None:
    for name in ("text-fill-color", "color"):
        for value in style.get(name, ()):
            if color := _color(value):
                return color
    return None


def _paper(style: Style) -> str | None:
    """The colour of the background, if it is one colour."""
    for value in (*style.get("background-color", ()), *style.get("background", ())):
        if '"' in value or "gradient" in value or "image" in value:
            return None
        for word in re.findall(r"[a-z0-9-]+\([^()]*\)|[^\s()]+", value):
            if color := _color(word):
                return color
    return None


def _color(value: str) -> str | None:
    """A colour as six hexadecimal digits, or "transparent"; None when it is none known here."""
    if value == "transparent":
        return value
    if value in _COLORS:
        return _COLORS[value]
    if digits := re.fullmatch(r"#([0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})", value):
        code = digits[1]
        if len(code) <= 4:  # the short form, of one digit each
            code = "".join([digit * 2 for digit in code])
        return "transparent" if code[6:] == "00" else code[:6]
    if function := re.fullmatch(r"(rgb|hsl|oklch|lab|lch|oklab|hwb)a?\((.*)\)", value):
        parts = [part for part in re.split(r"[\s,/]+", function[2].strip()) if part]
        if len(parts) == 4 and _fraction_is_zero(parts[3]):  # the fourth is alpha
            return "transparent"
        if function[1] == "rgb" and len(parts) >= 3:  # red, green, blue
            return _hexadecimal(parts[:3])
        return value
    return None


def _hexadecimal(parts: Iterable[str]) -> str | None:
    code = ""
    for part in parts:
        number = _LENGTH.fullmatch(part)
        if number is None or number[2] not in ("", "%"):
            return None
        amount = float(number[1]) * (2.55 if number[2] else 1)
        code += f"{round(min(255.0, max(0.0, amount))):02x}"
    return code


# ---------------------------------------------------------------------------------------------- values


def _first(style: Style, names: tuple[str, ...], judge: Callable[[str], bool | None]) -> bool:
    """What `judge` says of the first value that it understands (None: it does not)."""
    for name in names:
        for value in style.get(name, ()):
            verdict = judge(value)
            if verdict is not None:
                return verdict
    return False


def _is(style: Style, name: str, hiding: set[str], other: frozenset[str]) -> bool:
    return _first(style, (name,), lambda value: True if value in hiding else False if value in other else None)


def _unwrapped(value: str) -> str:
    return value[5:-1].strip() if value.startswith("calc(") and value.endswith(")") else value


def _pixels(value: str) -> float | None:
    """A length in pixels, for letters of 16; None when it is none, or depends on something else."""
    match = _LENGTH.fullmatch(_unwrapped(value))
    if match is None:
        return None
    number = float(match[1])
    if number == 0:
        return 0.0
    factor = _PIXELS.get(match[2])
    return None if factor is None else number * factor


def _no_length(value: str) -> bool | None:
    """Whether a side is too short for a letter: one pixel or less. Any other share of the parent than none is room."""
    pixels = _pixels(value)
    if pixels is None:
        return False if value in ("auto", "none", "fit-content", "max-content") or value in _GLOBAL else None
    return pixels <= 1 and (pixels == 0 or not value.endswith("%"))


def _some_length(value: str) -> bool | None:
    pixels = _pixels(value)
    return None if pixels is None else pixels > TINY_TEXT * 2 or (pixels > 0 and value.endswith("%"))


def _size(value: str) -> float | None:
    """The size of letters in `font-size` or `font`, in pixels."""
    if value in _SIZES or value in ("larger", "smaller") or value in _GLOBAL:
        return 16.0
    for word in value.split("/", maxsplit=1)[0].split():
        match = _LENGTH.fullmatch(_unwrapped(word))
        if match and (match[2] or float(match[1]) == 0):  # a number alone is a weight
            return _pixels(word)
    return None


def _own_size(value: str) -> bool | None:
    """Whether a size is readable whatever the parent's is."""
    for word in value.split("/", maxsplit=1)[0].split():
        if word in _SIZES:
            return True
        match = _LENGTH.fullmatch(word)
        if match and match[2]:
            return match[2] not in _OF_THE_PARENT and (_pixels(word) or 0) >= TINY_TEXT
    return None


def _far(value: str, *, near: float, beyond: float | None) -> bool | None:
    """Whether an offset is at least `near` pixels to the left or top, or `beyond` to the right or bottom (None: never)."""
    if value in ("auto", "none") or value in _GLOBAL:
        return False
    lengths = _LENGTH.findall(value) if "(" in value else [match.groups()] if (match := _LENGTH.fullmatch(value)) else []
    if not lengths:
        return None
    for number, unit in lengths:
        amount = float(number)
        if unit == "%":
            low, high = amount < -100, amount >= 150  # rows of slides stand at exactly -100%
        elif unit in ("vw", "vh", "vmin", "vmax"):
            low, high = amount <= -100, amount >= 100  # a whole screen
        elif unit in ("em", "rem"):
            low, high = amount <= -50, amount >= 200  # more letters than a line has
        else:
            pixels = amount * _PIXELS.get(unit, 0.0)
            low, high = pixels <= -near, beyond is not None and pixels >= beyond
        if low or (high and beyond is not None):
            return True
    return False


def _nearly_nothing(value: str) -> bool | None:
    match = _LENGTH.fullmatch(value)
    if match is None or match[2] not in ("", "%"):
        return None
    return 0 < float(match[1]) / (100 if match[2] else 1) < 0.1  # letters of 1.6 px; 0 means 1


def _fraction_is_zero(value: str) -> bool | None:
    match = _LENGTH.fullmatch(value)
    if match is None or match[2] not in ("", "%"):
        return None
    return abs(float(match[1])) / (100 if match[2] else 1) < 0.005  # rounds to nothing
