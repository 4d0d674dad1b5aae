"""The language of a text that does not say it, where its letters are those of one language only."""

from __future__ import annotations

import re

SAMPLE_CHARS = 4_000
ENOUGH = 20
"""Letters of a script under which nothing is said."""

_LETTERS = re.compile(r"[^\W\d_]")
_KANA = re.compile("[\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff]")
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_OWN = {
    "ko": re.compile("[\u1100-\u11ff\u3130-\u318f\uac00-\ud7af]"),
    "el": re.compile("[\u0370-\u03ff\u1f00-\u1fff]"),
    "he": re.compile("[\u05d0-\u05ea]"),
    "th": re.compile("[\u0e01-\u0e2e]"),
    "hy": re.compile("[\u0531-\u0587]"),
    "ka": re.compile("[\u10d0-\u10ff]"),
}


def by_script(text: str) -> str:
    """The language (BCP 47) in whose letters most of the beginning of `text` is written; "" where several share them.

    Han with a tenth of kana is Japanese, and Chinese with next to none: what lies between is not guessed.
    """
    sample = text[:SAMPLE_CHARS]
    if sample.isascii():
        return ""
    half = max(ENOUGH, len(_LETTERS.findall(sample)) / 2)
    kana, han = len(_KANA.findall(sample)), len(_HAN.findall(sample))
    if kana + han > half:
        return "ja" if kana * 10 >= kana + han else "zh" if kana * 50 < han else ""
    return next((language for language, letters in _OWN.items() if len(letters.findall(sample)) > half), "")
