"""What the bytes are, and which letters they stand for."""

from __future__ import annotations

import gzip
import io
import zipfile

import pytest

from webseam.documents.document import Document
from webseam.documents.read import read
from webseam.errors import DocumentError

RUSSIAN = "Привет, мир! Это обычный русский текст, который мы хотим прочитать без ошибок."
JAPANESE = "日本語のテキストです。これは宣言のない文字コードで書かれています。"
KOREAN = "조석은 달과 태양의 인력 때문에 바닷물의 높이가 주기적으로 변하는 현상이다."
CHINESE = "你好，这是一个没有声明编码的中文网页，我们想要正确地读取它的内容。"


def document(data: bytes, content_type: str = "", url: str = "https://example.com/x") -> Document:
    return read(data, url=url, content_type=content_type)


@pytest.mark.parametrize(
    ("data", "content_type", "url", "form", "content"),
    [
        (b"<p>a", "text/html", "x", "text/html", "a"),
        (b"<p>a", "application/xhtml+xml", "x", "text/html", "a"),
        (b"\n <!DOCTYPE HTML><p>a", "", "x", "text/html", "a"),
        (b"<html><p>a", "application/octet-stream", "x", "text/html", "a"),
        (b"<html><p>a", "image/png", "x.png", "text/html", "a"),
        (b"<p>a", "text/plain", "x.html", "text/plain", "<p>a"),
        (b"<?xml version='1.0'?><html xmlns='x'><body>a</body></html>", "", "x", "text/html", "a"),
        (b"# A\n\n[b](c)", "text/markdown", "x", "text/markdown", "# A\n\n[b](c)"),
        (b"# A", "text/plain", "x.md", "text/markdown", "# A"),
        (b"# A", "", "x.md", "text/markdown", "# A"),
        (b"a\r\nb\r", "text/plain", "x", "text/plain", "a\nb"),
        (b"plain words", "", "x", "text/plain", "plain words"),
        (b"words", "text/x-unheard-of", "x", "text/x-unheard-of", "words"),
        (b'{"a": 1}', "application/json", "x", "application/json", '```json\n{"a":1}\n```'),
        (b'{\n"a":1}', "application/json", "x", "application/json", '```json\n{\n"a":1}\n```'),
        (b"{broken", "application/json", "x", "application/json", "```json\n{broken\n```"),
        (b'{"a": 1}', "application/ld+json", "x", "application/ld+json", '```json\n{"a":1}\n```'),
        (b"[1]", "", "x", "application/json", "```json\n[1]\n```"),
        (b'{"cells":[]}', "text/plain", "x.ipynb", "application/x-ipynb+json", '```json\n{"cells":[]}\n```'),
        (b"a,b\n1,2\n", "text/csv", "x", "text/csv", "| a | b |\n|---|---|\n| 1 | 2 |"),
        (b"a,b\n1,2\n", "text/plain", "x.csv", "text/csv", "| a | b |\n|---|---|\n| 1 | 2 |"),
        (b"a,b\n1\n", "text/csv", "x", "text/csv", "```csv\na,b\n1\n```"),
        (b"a;b\n1,5;'2'\n", "text/csv", "x", "text/csv", "| a | b |\n|---|---|\n| 1,5 | '2' |"),
        (b"a\tb\n1\t\"x\ny|z\"\n", "", "x.tsv", "text/tab-separated-values", "| a | b |\n|---|---|\n| 1 | x y\\|z |"),
        (b"<a><rss/></a>", "application/rss+xml", "x", "application/rss+xml", "```xml\n<a><rss/></a>\n```"),
        (b"<?xml version='1.0'?><a/>", "", "x", "application/xml", "```xml\n<?xml version='1.0'?><a/>\n```"),
        (b"print(1)\n", "text/plain", "x.py", "text/plain", "```python\nprint(1)\n```"),
        (b"x()", "application/javascript", "x", "application/javascript", "```javascript\nx()\n```"),
        (b"fn main() {}", "application/rls-services+xml", "x.rs", "text/plain", "```rust\nfn main() {}\n```"),
        (b"<a/>", "application/rls-services+xml", "x.rs", "application/rls-services+xml", "```xml\n<a/>\n```"),
        (b"let a = 1", "video/mp2t", "x.ts", "text/plain", "```typescript\nlet a = 1\n```"),
        (b"let a = 1", "video/vnd.dlna.mpeg-tts", "x.ts?raw=1", "text/plain", "```typescript\nlet a = 1\n```"),
        (b"let a = 1", "model/vnd.mts", "x.mts", "text/plain", "```typescript\nlet a = 1\n```"),
        (b"<?xml version='1.0'?><TS/>", "", "x.ts", "application/xml", "```xml\n<?xml version='1.0'?><TS/>\n```"),
        (b"x = 1;", "text/x-objcsrc", "x.m", "text/x-objcsrc", "```\nx = 1;\n```"),
        (b"<p>a", "text/html; charset=utf-8", "x.rs", "text/html", "a"),
        (b"BEGIN:VCALENDAR", "text/calendar", "x.php", "text/calendar", "BEGIN:VCALENDAR"),
        (b"a: 1", "text/css", "x.yaml", "text/css", "```css\na: 1\n```"),
    ],
)  # fmt: skip
def test_text_is_taken_for_what_it_is(data: bytes, content_type: str, url: str, form: str, content: str) -> None:
    found = document(data, content_type, "https://example.com/" + url)
    assert (found.content_type, found.content) == (form, content)


def archive(*names: str) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as writer:
        for name in names:
            writer.writestr(name, "x")
    return file.getvalue()


@pytest.mark.parametrize(
    ("data", "content_type", "words"),
    [
        (b"\x89PNG\r\n\x1a\n....", "text/html", "a picture (image/png"),
        (b"\xff\xd8\xff\xe0", "", "a picture (image/jpeg"),
        (b"GIF89a", "", "a picture (image/gif"),
        (b"RIFF....WEBPVP8 ", "", "a picture (image/webp"),
        (b"RIFF....WAVEfmt ", "", "a sound (audio/wav"),
        (b"\x00\x00\x00\x20ftypisom", "", "a film (video/mp4"),
        (b"words", "image/svg+xml", "a picture (image/svg+xml"),
        (b"words", "video/mp4", "a film (video/mp4"),
        (b"words", "application/pdf", "a PDF document (application/pdf"),
        (b"G@\x00\x10\x00\x00\xb0\r\x00\x01" * 30, "video/mp2t", "a film (video/mp2t"),
        (b"words", "application/epub+zip", "an e-book (application/epub+zip"),
        (archive("xlsx.txt"), "", "a zip archive"),
        (archive("a.txt"), "text/plain", "a zip archive"),
        (gzip.compress(b"x" * 3_000_000), "", "a gzip archive"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "", "an Office document"),
        (b"{\\rtf1 x}", "", "an RTF document"),
        (b"\x7fELF\x02", "", "a program"),
        (bytes(range(256)) * 20, "text/plain", "binary data (application/octet-stream, 5 KB)"),
        (b"\x00" * 100 + b"a" * 100, "text/html", "binary data (text/html"),
    ],
)
def test_what_is_not_text_is_refused_with_its_type_and_size(data: bytes, content_type: str, words: str) -> None:
    with pytest.raises(DocumentError) as raised:
        document(data, content_type)
    assert raised.value.kind == "unsupported_type"
    assert words in raised.value.message.splitlines()[0]
    assert "not read" in raised.value.message


@pytest.mark.parametrize(("content_type", "url"), [("image/gif", "x.php"), ("video/mp2t", "x"), ("image/png", "x.png")])
def test_words_that_are_called_a_picture_or_a_film_are_refused(content_type: str, url: str) -> None:
    with pytest.raises(DocumentError, match=f"\\({content_type}"):
        document(b"words", content_type, f"https://example.com/{url}")


@pytest.mark.parametrize("data", [b"", b"  \n\r\n", b"\xef\xbb\xbf", b"\x00\x00"])
def test_nothing_is_an_error(data: bytes) -> None:
    with pytest.raises(DocumentError) as raised:
        document(data)
    assert raised.value.kind == "empty"


def test_too_much_is_an_error() -> None:
    with pytest.raises(DocumentError, match=r"at most 10\.5 MB are read") as raised:
        document(b"a" * (10 * 1024 * 1024 + 1))
    assert raised.value.kind == "too_large"


@pytest.mark.parametrize(
    ("data", "content_type", "encoding", "text"),
    [
        ("<p>héé".encode(), "text/html", "utf-8", "héé"),
        (b"\xef\xbb\xbf<p>x", "text/html; charset=windows-1251", "utf-8", "x"),
        ("<p>héé".encode("utf-16"), "text/html", "utf-16-le", "héé"),
        (b"\xfe\xff" + "<p>héé".encode("utf-16-be"), "text/html; charset=utf-8", "utf-16-be", "héé"),
        ("<p>héé".encode("utf-32"), "text/html", "utf-32-le", "héé"),
        ("<p>a page without a mark".encode("utf-16-le"), "text/html", "utf-16-le", "a page without a mark"),
        ("<p>a page without a mark".encode("utf-16-be"), "text/html", "utf-16-be", "a page without a mark"),
        (f"<p>{RUSSIAN}".encode("cp1251"), "text/html; charset=windows-1251", "windows-1251", RUSSIAN),
        (f"<p>{RUSSIAN}".encode("koi8-r"), 'text/html; charset="KOI8-R"', "koi8-r", RUSSIAN),
        (f"<meta charset=windows-1251><p>{RUSSIAN}".encode("cp1251"), "text/html", "windows-1251", RUSSIAN),
        (
            f"<meta http-equiv=Content-Type content='text/html; charset=windows-1251'><p>{RUSSIAN}".encode("cp1251"),
            "text/html", "windows-1251", RUSSIAN,
        ),
        (f"<?xml version='1.0' encoding='windows-1251'?><html><p>{RUSSIAN}".encode("cp1251"), "", "windows-1251", RUSSIAN),
        (f"<meta charset=gb2312><p>{CHINESE}".encode("gbk"), "text/html", "gb18030", CHINESE),
        (f"<meta charset=shift_jis><p>{JAPANESE}".encode("shift_jis"), "text/html", "shift_jis", JAPANESE),
        (f"<meta charset=x-sjis><p>{JAPANESE}".encode("shift_jis"), "text/html", "shift_jis", JAPANESE),
        (b"<p>caf\xe9 \x80 \x93q\x94", "text/html; charset=iso-8859-1", "windows-1252", "café € “q”"),
        (b"<meta charset=utf-16><p>x", "text/html", "utf-8", "x"),
        (b"<meta charset=utf-7><p>+ADw-b+AD4-", "text/html", "utf-8", "+ADw-b+AD4-"),
        (b"<p>x", "text/html; charset=zip", "utf-8", "x"),
        (b"<p>x", "text/html; charset=unicode_escape", "utf-8", "x"),
    ],
)  # fmt: skip
def test_declared_encodings_are_read(data: bytes, content_type: str, encoding: str, text: str) -> None:
    found = document(data, content_type)
    assert (found.encoding, found.content) == (encoding, text)


@pytest.mark.parametrize(
    ("text", "codec"),
    [(RUSSIAN, "cp1251"), (RUSSIAN, "koi8-r"), (JAPANESE, "shift_jis"), (JAPANESE, "euc_jp"), (CHINESE, "gbk")],
)
def test_an_undeclared_encoding_is_guessed_and_said(text: str, codec: str) -> None:
    found = document((text * 3).encode(codec), "text/html")
    assert found.content == text * 3
    assert "guessed" in found.notes[0]


def test_a_declaration_that_utf_8_belies_is_not_believed() -> None:
    found = document(f"<meta charset=iso-8859-1><p>{RUSSIAN}".encode(), "text/html; charset=iso-8859-1")
    assert found.content == RUSSIAN
    assert "it is UTF-8" in found.notes[0]


@pytest.mark.parametrize(
    ("text", "codec", "encoding"),
    [
        (RUSSIAN, "cp1251", "windows-1251"),
        (JAPANESE, "shift_jis", "shift_jis"),
        (CHINESE, "gbk", "gb18030"),
        (KOREAN, "euc_kr", "euc-kr"),
    ],
)
@pytest.mark.parametrize(
    ("start", "content_type"),
    [
        ("<p>", "text/html; charset=utf-8"),
        ("<!doctype html><meta charset='utf-8'><p>", "text/html"),
        ("<meta http-equiv=Content-Type content='text/html; charset=UTF-8'><p>", "text/html; charset=UTF-8"),
        ("<?xml version='1.0' encoding='utf-8'?><html><p>", "application/xhtml+xml"),
    ],
)
def test_a_declaration_of_utf_8_that_the_bytes_belie_is_not_believed(
    text: str, codec: str, encoding: str, start: str, content_type: str
) -> None:
    found = document((start + text * 3).encode(codec), content_type)
    assert (found.content, found.encoding) == (text * 3, encoding)
    assert "(the bytes are not the utf-8 they are said to be)" in found.notes[0]


def test_a_declaration_that_is_another_script_is_not_believed() -> None:
    found = document(f"<meta charset=euc-kr><p>{JAPANESE * 3}".encode("shift_jis"), "text/html")
    assert (found.content, found.encoding) == (JAPANESE * 3, "shift_jis")


def test_a_stray_byte_does_not_change_the_encoding() -> None:
    data = RUSSIAN.encode() * 3 + b"\xff" + RUSSIAN.encode()
    found = document(data, "text/html; charset=utf-8")
    assert found.encoding == "utf-8"
    assert found.content.count("\ufffd") == 1


def test_nuls_in_text_are_dropped_and_said() -> None:
    found = document(b"a\x00b" + b" words" * 100, "text/plain")
    assert found.content.startswith("ab words")
    assert "NUL" in found.notes[0]


def test_markdown_is_taken_at_its_word_but_what_it_hides_is_not_shown() -> None:
    source = (
        "---\ntitle: 'The title'\n---\nSee [a](/a) and <https://b.example/#x>.\n<!-- ignore\nall -->end\n"
        "```\n<!-- code -->\n```\n"
    )
    found = document(source.encode(), "text/markdown; charset=utf-8")
    assert found.title == "The title"
    assert "ignore" not in found.content
    assert "<!-- code -->" in found.content
    assert found.hidden == len(" ignore\nall ")
    assert found.links == ("https://example.com/a", "https://b.example/")


def test_a_markdown_heading_is_its_title() -> None:
    assert document(b"Words.\n\n# The `title` #\n", "text/markdown").title == "The `title`"


def test_a_long_text_is_cut_and_said() -> None:
    found = document(b"word " * 1_500_000, "text/plain")
    assert found.truncated
    assert len(found.content) <= 5_000_000
    assert "longer than is read" in found.notes[0]


def test_a_long_text_in_a_fence_keeps_its_fence() -> None:
    found = document(b"1,2,3\n" * 1_500_000, "text/csv")
    assert found.content.endswith("\n```")
    assert len(found.content) <= 5_000_000


def test_deep_json_is_not_indented() -> None:
    deep = b"[" * 900 + b"1," * 100_000 + b"1" + b"]" * 900
    assert len(document(deep, "application/json").content) < len(deep) + 100
