"""Whether a text is only what a page says until its scripts have run: "Loading...", "You need to enable JavaScript".

Structure decides first: what is asked about is short, comes from a page with scripts, and is a notice line by line. What stands
in `<noscript>` is one, unless it leads elsewhere without a word of scripts; any other line has to be a known sentence. So a
short page of its own ("Hello world", a status, JSON in `<pre>`) is none, and neither is one that says anything beside a notice.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from webseam.documents.html.tree import first, text_of

if TYPE_CHECKING:
    from webseam.documents.html.tree import Element

NOTICE_CHARS = 300
"""Characters of a page's text, at most, for it to be a notice. Those of create-react-app and Vue have 44 and 97 and a name."""

_SCRIPTS = re.compile(r"<(?:no)?script[\s/>]", re.IGNORECASE)
# What is to run, and that it does not. Nearly all languages write "JavaScript" in these letters.
_SCRIPT_WORDS = re.compile(r"java\s?script|\bjs\b|脚本|腳本|スクリプト|스크립트", re.IGNORECASE)
_NEEDED = re.compile(
    r"\b(?:en|dis)abl|\brequire[ds]?\b|\bneeds?\b|turn(?:ed)? (?:on|off)|without|not (?:available|supported|work)"
    r"|n['’]t (?:work|support|run)|\b(?:de|in)?aktiv|benötigt|erforderlich|schalte|ingeschakeld|nodig|kräv"
    r"|\b(?:des|dés|de|re)?activ(?:ad[oa]|ar|ate|ated|e|é|er|ez)\b|nécessaire|necesit|\brequer|necess[aá]ri"
    r"|\b(?:des)?ativ(?:ad[oa]|ar|e)\b|\b(?:dis)?attiv(?:a|are|ato)\b|\b(?:des|dis|h)?abilit(?:a|ad[oa]|are|ar|ato|e)\b|\brichie"
    r"|włącz|wymaga|включ|необходим|требу|увімк|etkin|gerek|povol|zapn|bật|aktif|启用|啟用|开启|開啟|打开|打開|需要|禁用|停用"
    r"|有効|必要|無効|활성|필요",
    re.IGNORECASE,
)
_WAITING = (
    "loading", "please wait", "just a moment", "one moment", "initiali[sz]ing", "wird geladen", "lade", "laden", "lädt",
    "bitte warten", "einen moment", "bitte", "chargement", "en cours", "veuillez patienter", "cargando", "espere", "por favor",
    "carregando", "a carregar", "aguarde", "caricamento", "in corso", "attendere", "prego", "even geduld", "laddar", "indlæser",
    "laster", "ladataan", "ładowanie", "wczytywanie", "proszę czekać", "načítání", "загрузка", "идет загрузка", "идёт загрузка",
    "подождите", "пожалуйста", "завантаження", "yükleniyor", "lütfen bekleyin", "φόρτωση", "جار[ٍي]? التحميل", "טוען",
    "กำลังโหลด", "đang tải", "加载中", "正在加载", "载入中", "正在载入", "載入中", "正在載入", "请稍候", "请稍等", "請稍候",
    "読み込み中(?:です)?", "ロード中", "お待ちください", "로딩 ?중", "불러오는 중", "잠시만 기다려 ?주세요",
)  # fmt: skip
_OF_WHAT = r"(?: (?:the |your |this )?(?:app|application|content|contents|dashboard|data|page|site|website))?"
_WAIT = re.compile(rf"(?:(?:{'|'.join(_WAITING)}){_OF_WHAT}[\s.…!,，。、:%0-9]*+)+", re.IGNORECASE)
_PICTURE = re.compile(r"\b(?:load(?:ing|er)?|logo|spinner)\b|^\W*$", re.IGNORECASE)

_NOT_TEXT = frozenset(
    {"audio", "canvas", "head", "iframe", "object", "script", "select", "style", "svg", "template", "textarea", "video"}
)


def is_only_a_notice(body: Element, source: str, title: str) -> bool:
    """Whether what stands in `body` is a notice. `source` is the whole page's, `title` its title."""
    if not _SCRIPTS.search(source):
        return False
    parts: list[str] = []
    apart: list[Element] = []
    _gather(body, parts, apart)
    lines = [line for part in "".join(parts).split("\n") if (line := part.strip())]
    texts = [text_of(element) for element in apart]
    if sum(map(len, lines)) + sum(map(len, texts)) > NOTICE_CHARS:
        return False
    for element, text in zip(apart, texts, strict=True):
        if first(element, "a") is not None and not _SCRIPT_WORDS.search(text):
            return False
    found = any(texts)
    for line in lines:
        named = line.lower() in title.lower()
        if _WAIT.fullmatch(line) or (not named and _SCRIPT_WORDS.search(line) and _NEEDED.search(line)):
            found = True
        elif not named:
            return False
    return found


def _gather(element: Element, parts: list[str], apart: list[Element]) -> None:
    """The text of `element`, what pictures say too, with a line for each block; what stands in `<noscript>` goes `apart`."""
    for child in element.children:
        if isinstance(child, str):
            parts.append(" ".join(f"_{child}_".split())[1:-1])
        elif child.tag == "noscript":
            apart.append(child)
        elif child.tag == "img":
            alt = " ".join(child.attrs.get("alt", "").split())
            parts.append("" if _PICTURE.search(alt) else f" {alt} ")
        elif child.tag not in _NOT_TEXT:
            border = "\n" if child.blocky or child.tag == "br" else ""
            parts.append(border)
            _gather(child, parts, apart)
            parts.append(border)
