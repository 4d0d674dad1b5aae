"""Addresses in which there is nothing to do are passed on without `urljoin`, which is asked here whether there was not."""

from __future__ import annotations

import random
import re
from urllib.parse import urljoin, urlsplit

import pytest

from webseam.config import LIMITS
from webseam.documents.html.links import _PLAIN_HOST, Base

PARTS = [
    "a", "b-c", "~d", "index.html", "%20", "/", "//", "./", "../", "..", ".", ":", ";p", "?", "?x=1", "?a/b", "#", "#f", "@",
    "&y=2", "=", "https://other.example", "http://h:80", "HTTPS://Upper.example/", "https:", "(", "é", " ", "\t", "\\", "[",
    "mailto:", "x:y",
]  # fmt: skip
BASES = ["https://site.example/dir/page?q=1#here", "http://site.example", "https://site.example:8443/a//./b/../c;d/e;f?g"]


@pytest.mark.parametrize("base", BASES)
def test_easy_addresses_are_what_urljoin_makes_of_them(base: str) -> None:
    dice = random.Random(5)
    easy = 0
    resolve = Base(base).resolve
    for _ in range(20_000):
        href = "".join(dice.choices(PARTS, k=dice.randint(1, 6)))
        found = resolve(href)
        if re.match("(?i)(?:https?:)?/{3}", href.replace("\\", "/")):
            continue  # a browser takes what follows for a host, urljoin does not
        if found and href.isascii() and not set(href) & set(" \t\\[("):  # what is written otherwise in an address
            parts = urlsplit(urljoin(base, href))
            if _PLAIN_HOST.fullmatch(parts.netloc.lower()):
                assert found == parts._replace(netloc=parts.netloc.lower()).geturl(), href
                easy += 1
    assert easy > 2_000


@pytest.mark.parametrize("href", ["///other.example/x", "https:////other.example/x", "HTTPS:\\\\/other.example/x"])
def test_after_any_number_of_slashes_comes_a_host(href: str) -> None:
    assert Base("https://site.example/a").resolve(href) == "https://other.example/x"


def test_a_base_that_is_nearly_too_long_makes_no_address_that_is() -> None:
    base = Base("https://site.example/" + "a" * (LIMITS.url_chars - 100) + "/")
    assert base.resolve("b" * 50).endswith("/" + "b" * 50)
    assert base.resolve("b" * 200) == ""
