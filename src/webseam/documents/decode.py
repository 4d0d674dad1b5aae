"""From bytes to text: which encoding, and how sure we are of it.

In this order: a byte-order mark; what HTTP said; what the document says of itself (`<meta charset>`, an XML declaration); UTF-8
when every byte fits it; a statistical guess from a bounded sample. Names mean what browsers mean by them (WHATWG Encoding
Standard: "latin1" is windows-1252), and only encodings of that Standard are used: Python's codecs know stranger things.

A declaration is checked. Text that is UTF-8 throughout is no accident (each character beyond ASCII would have to fit its
pattern), so a declared single-byte encoding yields to it; and a declared encoding that the bytes contradict is not used.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

SAMPLE_BYTES = 32 * 1024
PRESCAN_BYTES = 4 * 1024
FEW_BYTES = 8
FEW_BAD = 0.01
"""The share of undecodable characters among those beyond ASCII that a declared encoding may have."""

_META = re.compile(rb"<meta[^>]{0,200}?charset\s{0,9}=\s{0,9}[\"']?\s{0,9}([A-Za-z0-9_:.-]{2,40})", re.IGNORECASE)
_XML = re.compile(rb"\s{0,9}<\?xml[^>]{0,100}?encoding\s{0,9}=\s{0,9}[\"']([A-Za-z0-9_:.-]{2,40})", re.IGNORECASE)
_DECLARES = re.compile(rb"charset|coding", re.IGNORECASE)
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)

# Encoding Standard, section 4.2: what a label means, where Python's codec of that name means less or something else.
_MEANT = {
    "ascii": "cp1252", "us-ascii": "cp1252", "latin1": "cp1252", "latin-1": "cp1252", "l1": "cp1252", "iso8859-1": "cp1252",
    "iso-8859-1": "cp1252", "iso_8859-1": "cp1252", "iso88591": "cp1252", "cp1252": "cp1252", "x-cp1252": "cp1252",
    "gb2312": "gb18030", "gbk": "gb18030", "x-gbk": "gb18030", "cp936": "gb18030", "gb_2312-80": "gb18030",
    "shift_jis": "cp932", "shift-jis": "cp932", "sjis": "cp932", "x-sjis": "cp932", "windows-31j": "cp932", "ms_kanji": "cp932",
    "euc-kr": "cp949", "ks_c_5601-1987": "cp949", "ksc5601": "cp949", "korean": "cp949", "windows-949": "cp949",
    "big5": "big5hkscs", "big5-hkscs": "big5hkscs", "cn-big5": "big5hkscs", "x-x-big5": "big5hkscs",
    "tis-620": "cp874", "windows-874": "cp874", "iso-8859-11": "cp874", "dos-874": "cp874",
    "iso-8859-9": "cp1254", "latin5": "cp1254", "x-euc-jp": "euc_jp", "unicode-1-1-utf-8": "utf-8", "x-mac-roman": "mac-roman",
    "macintosh": "mac-roman", "mac": "mac-roman", "x-mac-cyrillic": "mac-cyrillic", "iso-8859-8-i": "iso8859-8",
    "unicode": "utf-16-le", "utf-16": "utf-16-le", "ucs-2": "utf-16-le",
}  # fmt: skip
_KNOWN = frozenset(
    {
        "utf-8", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be", "cp866", "cp874", "cp932", "cp949", "cp1250", "cp1251",
        "cp1252", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "cp1258", "iso8859-2", "iso8859-3", "iso8859-4",
        "iso8859-5", "iso8859-6", "iso8859-7", "iso8859-8", "iso8859-10", "iso8859-13", "iso8859-14", "iso8859-15",
        "iso8859-16", "koi8-r", "koi8-u", "mac-roman", "mac-cyrillic", "gb18030", "big5hkscs", "euc_jp", "iso2022_jp",
    }
)  # fmt: skip
_SHOWN = {
    "cp932": "shift_jis",
    "cp949": "euc-kr",
    "big5hkscs": "big5",
    "euc_jp": "euc-jp",
    "iso2022_jp": "iso-2022-jp",
    "cp866": "ibm866",
}


@dataclass(frozen=True, slots=True)
class Decoded:
    """Text, the encoding it was read with, and a sentence about it when there is something to say. No NUL is in `text`."""

    text: str
    encoding: str
    note: str = ""


def decode(data: bytes, *, charset: str = "", markup: bool = False) -> Decoded:
    """The text of `data`. `charset` is what HTTP said; `markup` reads what HTML or XML says of itself. Never raises."""
    for mark, name in _BOMS:
        if data.startswith(mark):
            text = data[len(mark) :].decode(name, "replace")
            return _decoded(data, text, name)
    declared = _codec(charset)
    if not declared and markup:
        declared = _inside(data)
    wide = _wide(data)
    if wide:
        return _decoded(
            data, data.decode(wide, "replace"), wide, f"The encoding was not declared: {_shown(wide)} was recognised."
        )
    utf8 = _strict(data, "utf-8")
    if declared in ("", "utf-8"):
        if utf8 is not None:
            return _decoded(data, utf8, "utf-8")
    elif utf8 is not None and _is_wrong(declared, data):
        return _decoded(data, utf8, "utf-8", f"The page says it is {_shown(declared)}, but it is UTF-8 and was read as such.")
    if declared and (tolerated := _tolerant(data, declared)) is not None:
        return _decoded(data, tolerated, declared)
    guessed = _guess(data)
    text = data.decode(guessed, "replace")
    reason = f"the bytes are not the {_shown(declared)} they are said to be" if declared else "no encoding was declared"
    return _decoded(
        data, text, guessed, f"The encoding was guessed as {_shown(guessed)} ({reason}); odd characters may be wrong."
    )


def _is_wrong(declared: str, data: bytes) -> bool:
    """Whether bytes that are UTF-8 cannot well be what they are said to be: UTF-16 without one NUL has no space and no tag."""
    if declared.startswith("utf-"):
        return b"\x00" not in data
    return not data.isascii() and not declared.startswith("iso2022")


def _decoded(data: bytes, text: str, codec: str, note: str = "") -> Decoded:
    if b"\x00" in data and "\x00" in text:
        text = text.replace("\x00", "")
        note = (note + " NUL characters were dropped.").strip()
    return Decoded(text, _shown(codec), note)


def _codec(label: str) -> str:
    """The Python codec that a label of the Encoding Standard means; "" when it is none of them."""
    name = label.strip().strip("\"'").lower()
    if not name or len(name) > 40:
        return ""
    if name in _MEANT:
        return _MEANT[name]
    try:
        found = codecs.lookup(name).name
    except (LookupError, ValueError):
        return ""
    found = _MEANT.get(found, found)
    return found if found in _KNOWN else ""


def _inside(data: bytes) -> str:
    """What the first bytes of HTML or XML say. They were read as ASCII, so they are not UTF-16 (HTML Standard, 13.2.3.2)."""
    head = data[:PRESCAN_BYTES]
    match = _XML.match(head)
    lower = head.lower()
    at = lower.find(b"<meta") if b"charset" in lower else -1
    while match is None and at >= 0:
        match = _META.match(head, at)
        at = lower.find(b"<meta", at + 1)
    codec = _codec(match[1].decode("ascii")) if match else ""
    return "utf-8" if codec.startswith(("utf-16", "utf-32")) else codec


def _wide(data: bytes) -> str:
    """UTF-16 without its mark: text of Latin script has a NUL in every second place, and hardly one in the others."""
    head = data[: PRESCAN_BYTES & ~1]
    half = len(head) // 2
    if half < 4:
        return ""
    even, odd = head[0::2].count(0), head[1::2].count(0)
    if odd > 0.6 * half and even < 0.05 * half:
        return "utf-16-le"
    if even > 0.6 * half and odd < 0.05 * half:
        return "utf-16-be"
    return ""


def _strict(data: bytes, codec: str) -> str | None:
    try:
        return data.decode(codec)
    except UnicodeDecodeError:
        return None


def _tolerant(data: bytes, codec: str) -> str | None:
    """`data` in a declared encoding, when few of its characters beyond ASCII do not fit (a page cut short, a stray byte)."""
    text = data.decode(codec, "replace")
    bad = text.count("\ufffd")
    beyond = sum(1 for byte in data[: SAMPLE_BYTES * 4] if byte > 0x7F)
    return text if bad <= max(3, FEW_BAD * beyond) else None


def _guess(data: bytes) -> str:
    """The likeliest encoding of a sample around the first bytes beyond ASCII; windows-1252 when nothing is likely."""
    beyond = re.search(rb"[\x80-\xff]", data)
    start = max(0, beyond.start() - SAMPLE_BYTES // 4) if beyond else 0
    sample = data[start : start + SAMPLE_BYTES]
    count = sum(1 for byte in sample if byte > 0x7F)
    if count < FEW_BYTES:
        return "cp1252"  # too little to go by: an accent in a text of Latin script
    if sample.decode("utf-8", "replace").count("\ufffd") <= 1 + FEW_BAD * count:
        return "utf-8"  # with a stray byte in it
    from webseam.documents.html.parse import likely_encoding

    # Whoever guesses would believe what the sample declares, and that was tried and is wrong.
    guessed = _codec(likely_encoding(_DECLARES.sub(b" ", sample)))
    return guessed if guessed and not guessed.startswith("utf") else "cp1252"


def _shown(codec: str) -> str:
    """A codec by the name that the Encoding Standard gives it."""
    if codec in _SHOWN:
        return _SHOWN[codec]
    if codec.startswith("cp"):
        return "windows-" + codec[2:]
    return codec.replace("iso8859", "iso-8859")
