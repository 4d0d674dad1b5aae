"""What are these bytes? What HTTP calls them, what their address ends in, and what they begin with, in that order of trust.

Servers look types up by the ending, in tables that know other things by it (`.rs` "application/rls-services+xml", `.ts`
"video/mp2t"): of source code its own ending says more than a type that is none of ours.

Except that bytes win over words where words are commonly wrong: a PDF is a PDF whatever it is called, and so is what the names
in a zip archive show to be an Office file; an error page in HTML is read although it is called a picture (MIME Sniffing
Standard, sections 6 and 7, for the signatures).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePosixPath
from urllib.parse import urlsplit

from webseam.errors import DocumentError


class Form(StrEnum):
    """The forms that are read: of text, and of documents that hold text."""

    HTML = "html"
    MARKDOWN = "markdown"
    PLAIN = "plain"
    JSON = "json"
    CSV = "csv"
    XML = "xml"
    CODE = "code"
    PDF = "pdf"
    WORD = "word"
    SHEETS = "sheets"
    SLIDES = "slides"
    OPEN_DOCUMENT = "open document"
    EPUB = "epub"


@dataclass(frozen=True, slots=True)
class Judged:
    """What the bytes are: a form, the media type to show, and for source code its language."""

    form: Form
    content_type: str
    language: str = ""


_SIGNATURES: tuple[tuple[int, bytes, str, str], ...] = (
    (0, b"%PDF-", "a PDF document", "application/pdf"),
    (0, b"\x89PNG\r\n\x1a\n", "a picture", "image/png"),
    (0, b"\xff\xd8\xff", "a picture", "image/jpeg"),
    (0, b"GIF8", "a picture", "image/gif"),
    (8, b"WEBP", "a picture", "image/webp"),
    (8, b"WAVE", "a sound", "audio/wav"),
    (8, b"AVI ", "a film", "video/x-msvideo"),
    (4, b"ftypavif", "a picture", "image/avif"),
    (4, b"ftyp", "a film", "video/mp4"),
    (0, b"II*\x00", "a picture", "image/tiff"),
    (0, b"MM\x00*", "a picture", "image/tiff"),
    (0, b"\x00\x00\x01\x00", "an icon", "image/x-icon"),
    (
        0,
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
        "an Office document of the old kind, or one with a password",
        "application/x-ole-storage",
    ),
    (0, b"{\\rtf", "an RTF document", "application/rtf"),
    (0, b"%!PS", "a PostScript document", "application/postscript"),
    (0, b"\x1f\x8b", "a gzip archive", "application/gzip"),
    (0, b"BZh", "a bzip2 archive", "application/x-bzip2"),
    (0, b"\xfd7zXZ\x00", "an xz archive", "application/x-xz"),
    (0, b"\x28\xb5\x2f\xfd", "a zstd archive", "application/zstd"),
    (0, b"7z\xbc\xaf\x27\x1c", "a 7z archive", "application/x-7z-compressed"),
    (0, b"Rar!\x1a\x07", "a RAR archive", "application/vnd.rar"),
    (0, b"ID3", "a sound", "audio/mpeg"),
    (0, b"OggS", "a sound", "application/ogg"),
    (0, b"fLaC", "a sound", "audio/flac"),
    (0, b"\x1a\x45\xdf\xa3", "a film", "video/webm"),
    (0, b"wOFF", "a font", "font/woff"),
    (0, b"wOF2", "a font", "font/woff2"),
    (0, b"\x7fELF", "a program", "application/x-executable"),
    (0, b"MZ\x90\x00", "a program", "application/vnd.microsoft.portable-executable"),
    (0, b"\x00asm", "a WebAssembly module", "application/wasm"),
    (0, b"\xca\xfe\xba\xbe", "a program", "application/java-vm"),
    (0, b"SQLite format 3\x00", "a database", "application/vnd.sqlite3"),
)
_OFFICE = "application/vnd.openxmlformats-officedocument."
_OPEN_DOCUMENT = b"application/vnd.oasis.opendocument."
_ZIPS = (
    # The name of a part, or a type that stands first in the archive (EPUB and OpenDocument say themselves what they are).
    (b"application/epub+zip", "an e-book", "application/epub+zip"),
    (_OPEN_DOCUMENT + b"text", "an OpenDocument text", "application/vnd.oasis.opendocument.text"),
    (_OPEN_DOCUMENT + b"spreadsheet", "an OpenDocument spreadsheet", "application/vnd.oasis.opendocument.spreadsheet"),
    (_OPEN_DOCUMENT + b"presentation", "an OpenDocument presentation", "application/vnd.oasis.opendocument.presentation"),
    (b"word/document", "a Word document", _OFFICE + "wordprocessingml.document"),
    (b"xl/workbook", "a spreadsheet", _OFFICE + "spreadsheetml.sheet"),
    (b"ppt/presentation", "a presentation", _OFFICE + "presentationml.presentation"),
    (b"META-INF/container.xml", "an e-book", "application/epub+zip"),
)
_READ = {
    "application/pdf": Form.PDF,
    "application/epub+zip": Form.EPUB,
    _OFFICE + "wordprocessingml.document": Form.WORD,
    _OFFICE + "spreadsheetml.sheet": Form.SHEETS,
    _OFFICE + "presentationml.presentation": Form.SLIDES,
    "application/vnd.oasis.opendocument.text": Form.OPEN_DOCUMENT,
    "application/vnd.oasis.opendocument.spreadsheet": Form.OPEN_DOCUMENT,
    "application/vnd.oasis.opendocument.presentation": Form.OPEN_DOCUMENT,
}
"""Of what the bytes show themselves to be, what is read."""

DOCUMENT_TYPES = frozenset(_READ)
"""The types of documents that are not text and are read: PDF, Office, OpenDocument, EPUB."""

_ZIP_END = b"PK\x05\x06"
_UNREAD_GROUPS = {"image": "a picture", "audio": "a sound", "video": "a film", "font": "a font", "model": "a 3D model"}
_UNREAD_TYPES = {"application/zip": "a zip archive"}
_CALLED = {"application/pdf": "a PDF document"} | {content_type: name for _, name, content_type in _ZIPS}
"""Types whose documents always begin with a signature: what is called so and has none is something else."""

_HTML_START = re.compile(
    rb"(?:<!doctype\s+html|<(?:html|head|body|title|script|style|meta|link|iframe|h1|h2|div|p|table|font|a|b|br|span|ul|ol|main|"
    rb"article|section|header|nav|form|center|frameset|noscript)[\s>/])",
    re.IGNORECASE,
)
_COMMENT_START = b"<!--"
_XML_START = re.compile(rb"<\?xml[\s?]", re.IGNORECASE)
_FEED = re.compile(rb"<(?:rss|feed|rdf:RDF)[\s>]", re.IGNORECASE)
_XHTML = re.compile(rb"<(?:!doctype\s+html|html)[\s>]", re.IGNORECASE)
_TEXT_CONTROLS = bytes([0x09, 0x0A, 0x0C, 0x0D, 0x1B])
_CONTROLS = bytes(set(range(0x20)) - set(_TEXT_CONTROLS)) + b"\x7f"

_TYPES: dict[str, Form] = {
    "text/html": Form.HTML,
    "application/xhtml+xml": Form.HTML,
    "text/markdown": Form.MARKDOWN,
    "text/x-markdown": Form.MARKDOWN,
    "application/json": Form.JSON,
    "text/json": Form.JSON,
    "application/x-ndjson": Form.JSON,
    "application/jsonl": Form.JSON,
    "text/csv": Form.CSV,
    "text/tab-separated-values": Form.CSV,
    "text/xml": Form.XML,
    "application/xml": Form.XML,
}
_VAGUE = frozenset(
    {"", "text/plain", "application/octet-stream", "binary/octet-stream", "application/x-unknown", "unknown/unknown"}
)
_SUFFIXES: dict[str, tuple[Form, str]] = {
    ".html": (Form.HTML, "text/html"),
    ".htm": (Form.HTML, "text/html"),
    ".xhtml": (Form.HTML, "text/html"),
    ".md": (Form.MARKDOWN, "text/markdown"),
    ".markdown": (Form.MARKDOWN, "text/markdown"),
    ".mdx": (Form.MARKDOWN, "text/markdown"),
    ".txt": (Form.PLAIN, "text/plain"),
    ".text": (Form.PLAIN, "text/plain"),
    ".rst": (Form.PLAIN, "text/plain"),
    ".log": (Form.PLAIN, "text/plain"),
    ".json": (Form.JSON, "application/json"),
    ".jsonl": (Form.JSON, "application/jsonl"),
    ".ndjson": (Form.JSON, "application/x-ndjson"),
    ".ipynb": (Form.JSON, "application/x-ipynb+json"),
    ".geojson": (Form.JSON, "application/geo+json"),
    ".jsonld": (Form.JSON, "application/ld+json"),
    ".csv": (Form.CSV, "text/csv"),
    ".tsv": (Form.CSV, "text/tab-separated-values"),
    ".xml": (Form.XML, "application/xml"),
    ".rss": (Form.XML, "application/rss+xml"),
    ".atom": (Form.XML, "application/atom+xml"),
}
_LANGUAGES = {
    ".py": "python", ".js": "javascript", ".mjs": "javascript", ".ts": "typescript", ".tsx": "tsx", ".jsx": "jsx", ".c": "c",
    ".h": "c", ".cpp": "cpp", ".cc": "cpp", ".hpp": "cpp", ".rs": "rust", ".go": "go", ".java": "java", ".kt": "kotlin",
    ".rb": "ruby", ".php": "php", ".cs": "csharp", ".swift": "swift", ".sh": "sh", ".bash": "bash", ".zsh": "zsh",
    ".ps1": "powershell", ".sql": "sql", ".r": "r", ".jl": "julia", ".lua": "lua", ".pl": "perl", ".scala": "scala",
    ".css": "css", ".scss": "scss", ".yaml": "yaml", ".yml": "yaml", ".toml": "toml", ".ini": "ini", ".cfg": "ini",
    ".diff": "diff", ".patch": "diff", ".tex": "tex", ".vue": "vue", ".dart": "dart", ".ex": "elixir", ".hs": "haskell",
    ".clj": "clojure", ".zig": "zig", ".nix": "nix", ".proto": "protobuf", ".graphql": "graphql", ".tf": "hcl",
    ".mts": "typescript", ".cts": "typescript", ".cjs": "javascript", ".cxx": "cpp", ".hxx": "cpp", ".hh": "cpp", ".d": "d",
    ".kts": "kotlin", ".exs": "elixir", ".pyi": "python", ".fs": "fsharp", ".ml": "ocaml", ".erl": "erlang", ".el": "elisp",
    ".lisp": "lisp", ".scm": "scheme", ".groovy": "groovy", ".gradle": "groovy", ".bat": "bat", ".tcl": "tcl", ".vb": "vb",
    ".f90": "fortran", ".pas": "pascal", ".sol": "solidity", ".svelte": "svelte", ".less": "less", ".sass": "sass",
    ".cmake": "cmake", ".mk": "makefile", ".vim": "vim", ".mm": "objectivec", ".m": "",  # Objective-C or MATLAB
}  # fmt: skip
_PROGRAMS = frozenset({".php", ".pl", ".py", ".rb", ".lua"})
"""Endings of source code, and of addresses at which it runs."""

_CODE_TYPES = {
    "text/javascript": "javascript", "application/javascript": "javascript", "application/x-javascript": "javascript",
    "text/css": "css", "application/yaml": "yaml", "text/yaml": "yaml", "application/x-yaml": "yaml",
    "application/toml": "toml", "application/x-sh": "sh", "text/x-python": "python", "application/x-python": "python",
    "text/x-c": "c", "text/x-rust": "rust", "application/typescript": "typescript", "application/sql": "sql",
    "text/x-diff": "diff", "text/x-patch": "diff",
}  # fmt: skip


def judge(data: bytes, *, url: str = "", content_type: str = "") -> Judged:
    """What `data` is. Raises `DocumentError` (unsupported_type) for what is not text, naming its type and size."""
    declared = media_type(content_type)
    head = data[:4096]
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n\x0c")
    if (found := _signature(head, data)) is not None:
        if found[1] in _READ:
            return Judged(_READ[found[1]], found[1])
        raise _refusal(*found, data)
    is_html = _HTML_START.match(start) is not None
    if declared in _CALLED and not is_html:
        raise DocumentError(
            f"This is called {_CALLED[declared]} ({declared}, {size_of(len(data))}) but does not begin like one, and is not "
            "read: look for another copy.",
            kind="unsupported_type",
        )
    group = declared.partition("/")[0]
    suffix = _suffix(url)
    is_code = suffix in _LANGUAGES and not _says_more(declared, suffix, start) and not _XML_START.match(start)
    if (group in _UNREAD_GROUPS or declared in _UNREAD_TYPES) and not is_html and (not is_code or _looks_binary(head)):
        raise _refusal(_UNREAD_TYPES.get(declared) or _UNREAD_GROUPS[group], declared, data)
    if _looks_binary(head):
        raise _refusal("binary data", declared if declared not in _VAGUE else "application/octet-stream", data)
    if is_html and (group in _UNREAD_GROUPS or declared in _UNREAD_TYPES or declared in _CALLED):
        return Judged(Form.HTML, "text/html")
    if is_code:
        return Judged(Form.CODE, declared if group == "text" else "text/plain", _LANGUAGES[suffix])
    return _by_name(declared, suffix) or _by_start(start, is_html=is_html)


def media_type(content_type: str) -> str:
    """The type and subtype of a Content-Type, lower case; "" when it is none (RFC 9110, section 8.3)."""
    name = content_type.split(";", 1)[0].split(",", 1)[0].strip().lower()
    return name if re.fullmatch(r"[a-z0-9!#$&^_.+-]{1,60}/[a-z0-9!#$&^_.+-]{1,100}", name) else ""


def charset_of(content_type: str) -> str:
    """The charset parameter of a Content-Type; "" when there is none."""
    match = re.search(r";\s{0,9}charset\s{0,9}=\s{0,9}\"?([^\s\";,]{1,40})", content_type[:500], re.IGNORECASE)
    return match[1] if match else ""


def _suffix(url: str) -> str:
    try:
        return PurePosixPath(urlsplit(url).path).suffix.lower()
    except ValueError:
        return ""


def _says_more(declared: str, suffix: str, start: bytes) -> bool:
    """Whether a type says more than an ending of source code: it is known here, or is XML and looks like it, or is what a
    program sent whose ending that is."""
    if declared in _TYPES or declared in _CODE_TYPES or declared.endswith("+json"):
        return True
    return declared not in _VAGUE and (suffix in _PROGRAMS or (declared.endswith("+xml") and start.startswith(b"<")))


def _by_name(declared: str, suffix: str) -> Judged | None:
    """What a type that says something says; or else what the end of the address does."""
    if declared in _TYPES:
        return Judged(_TYPES[declared], "text/html" if _TYPES[declared] is Form.HTML else declared)
    if declared.endswith("+json"):
        return Judged(Form.JSON, declared)
    if declared.endswith("+xml"):
        return Judged(Form.XML, declared)
    if declared in _CODE_TYPES:
        return Judged(Form.CODE, declared, _CODE_TYPES[declared])
    if declared not in _VAGUE:
        return Judged(Form.PLAIN, declared)
    if suffix in _SUFFIXES and not (declared == "text/plain" and _SUFFIXES[suffix][0] is Form.HTML):
        return Judged(*_SUFFIXES[suffix])
    return Judged(Form.PLAIN, "text/plain") if declared == "text/plain" else None


def _by_start(start: bytes, *, is_html: bool) -> Judged:
    """What the first bytes say, when nothing else does."""
    if is_html or start.startswith(_COMMENT_START):
        return Judged(Form.HTML, "text/html")
    if _XML_START.match(start) or _FEED.match(start):
        return Judged(Form.HTML, "text/html") if _XHTML.search(start) else Judged(Form.XML, "application/xml")
    if start[:1] in (b"{", b"[") and re.match(rb"[{\[]\s*[\"{\[\]}\d]", start):
        return Judged(Form.JSON, "application/json")
    return Judged(Form.PLAIN, "text/plain")


def _signature(head: bytes, data: bytes) -> tuple[str, str] | None:
    for offset, mark, name, content_type in _SIGNATURES:
        if head.startswith(mark, offset) and (offset == 0 or mark.startswith(b"ftyp") or head.startswith(b"RIFF")):
            return name, content_type
    if b"%PDF-" in head[:1024] and not _HTML_START.match(head.lstrip()):
        return "a PDF document", "application/pdf"
    if head.startswith(b"PK\x03\x04"):
        names = head + _directory(data)
        return next(((name, kind) for mark, name, kind in _ZIPS if mark in names), ("a zip archive", "application/zip"))
    return None


def _directory(data: bytes) -> bytes:
    """The directory at the end of a zip archive, at most 1 MB of it; b"" when it is missing."""
    end = data.rfind(_ZIP_END, max(0, len(data) - 65_557))
    size = int.from_bytes(data[end + 12 : end + 16], "little") if end >= 0 else 0
    return data[max(0, end - size) : end][:1_000_000] if size else b""


def _looks_binary(head: bytes) -> bool:
    """Whether the first bytes hold more control characters than text does; UTF-16 and UTF-32 are text."""
    if head.startswith((b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")):
        return False
    half = len(head) // 2
    even, odd = head[0::2].count(0), head[1::2].count(0)
    if half >= 4 and max(even, odd) > 0.6 * half and min(even, odd) < 0.05 * half:
        return False
    controls = len(head) - len(head.translate(None, _CONTROLS))
    return controls > 0.05 * len(head)


def _refusal(name: str, content_type: str, data: bytes) -> DocumentError:
    return DocumentError(
        f"This is {name} ({content_type}, {size_of(len(data))}), a type that is not read: look for the same content as a page, "
        "Markdown or plain text.",
        kind="unsupported_type",
    )


def size_of(count: int) -> str:
    """A number of bytes as people write it."""
    if count < 1_000:
        return f"{count} bytes"
    return f"{count / 1_000:.0f} KB" if count < 1_000_000 else f"{count / 1_000_000:.1f} MB"
