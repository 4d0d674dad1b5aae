"""Secrets are found in whatever spelling they come back, and texts without one stay as they are."""

from __future__ import annotations

import html
import json
import random
import re
from collections.abc import Callable
from urllib.parse import quote

import pytest

from webseam.redaction import without_secrets

SECRETS = ["SECRETKEY-abcdef0123456789-ZYX", "a&b\"c<d>e'f/g%h é+=", "back\\slash", "x" * 200 + "-" + "y" * 200, "ключ-😀-key"]


def every_other(one: Callable[[str], str]) -> Callable[[str], str]:
    return lambda text: "".join(one(character) if at % 2 else character for at, character in enumerate(text))


def percent(text: str) -> str:
    return "".join(f"%{byte:02x}" for byte in text.encode())


def in_json(text: str) -> str:
    units = text.encode("utf-16-be").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


SPELLINGS: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "in another case": str.swapcase,
    "quoted": lambda text: quote(text, safe=""),
    "quoted, lower case": lambda text: quote(text, safe="").lower(),
    "quoted twice": lambda text: quote(quote(text, safe=""), safe=""),
    "percent-encoded": percent,
    "partly percent-encoded": every_other(percent),
    "in JSON": lambda text: json.dumps(text)[1:-1],
    "in JSON, slashes escaped": lambda text: json.dumps(text)[1:-1].replace("/", "\\/"),
    "in JSON in JSON": lambda text: json.dumps(json.dumps(text)[1:-1])[1:-1],
    "as JSON escapes": in_json,
    "partly as JSON escapes": every_other(in_json),
    "in HTML": html.escape,
    "in HTML twice": lambda text: html.escape(html.escape(text)),
    "as entities": lambda text: "".join(f"&#{ord(character)};" for character in text),
    "as long hexadecimal entities": lambda text: "".join(f"&#X00{ord(character):X};" for character in text),
    "as entities without their semicolons": lambda text: "".join(f"&#x{ord(character):x}" for character in text),
    "with what nobody sees": "\u200b".join,
    "with a mix": every_other(lambda one: percent(one) if one.isalpha() else f"&#{ord(one)};"),
}


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_secret_is_found_in_every_spelling(spelling: str, secret: str) -> None:
    spelt = SPELLINGS[spelling](secret)
    found = without_secrets(f"<<{spelt}>> and <<{spelt}>>", [secret])
    # A long secret is replaced in parts.
    assert re.sub("(?:\\[secret\\]\u200b?)+", "[secret]", found) == "<<[secret]>> and <<[secret]>>"


def test_texts_without_the_secret_stay_as_they_are() -> None:
    for text in ("", "plain", "%41 &amp; \\u0041 SECRETKEY-abcdef", "SECRETKEY-" * 10_000, "%" * 100_000, "é" * 100_000):
        assert without_secrets(text, [*SECRETS, ""]) is text


@pytest.mark.parametrize("filler", ["words ", "слово ", "a%20b&amp;\\n ", "SECRETKEY"])
@pytest.mark.parametrize("spelling", ["as it is", "percent-encoded", "as entities", "with what nobody sees"])
def test_a_secret_is_found_wherever_it_stands_in_a_long_text(filler: str, spelling: str) -> None:
    spelt = SPELLINGS[spelling](SECRETS[0])
    for size in (1_000, 65_536 - 20, 65_536, 81_920 - 5, 200_000):
        before = (filler * (size // len(filler) + 1))[:size]
        assert without_secrets(before + spelt + filler, SECRETS[:1]) == before + "[secret]" + filler


def test_several_secrets_are_taken_out_of_one_text() -> None:
    assert without_secrets("one two three", ["one", "three"]) == "[secret] two [secret]"


def test_a_long_secret_has_no_short_part_that_is_found_everywhere() -> None:
    for size in (127, 128, 129, 257, 1_000):
        secret = "".join(random.Random(size).choices("abcdefghijklmnopqrstuvwxyz", k=size))
        assert without_secrets("abcdefghijklmnopqrstuvwxyz", [secret]) == "abcdefghijklmnopqrstuvwxyz"
        assert set(without_secrets(secret, [secret]).split("[secret]")) == {""}
