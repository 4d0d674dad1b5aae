"""robots.txt and the built-in web_fetch: obeyed, warned of or ignored, as the account's setting says, before each address."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from webseam.accounts.store import Store
from webseam.accounts.vault import Vault
from webseam.actions import engines
from webseam.call import LOCAL, Call
from webseam.egress.client import Egress
from webseam.egress.robots import PRODUCT
from webseam.errors import ArgumentError, DoorError, ProviderError
from webseam.reader.builtin import BuiltinReader
from webseam.seam.contract import Page
from webseam.switchboard import Switchboard
from webseam.workers.pool import WorkerPool

if TYPE_CHECKING:
    from tests.reader.conftest import Site

    Fetch = Callable[..., tuple[Page | BaseException, Call]]

HTML = "text/html; charset=utf-8"
RULES = "User-agent: *\nDisallow: /private\n"
NOTE = (
    "robots.txt of 127.0.0.1 disallows this page for webseam; it was fetched all the same, as the setting `robots` (warn) says."
)


@pytest.fixture
def page(site: Site) -> str:
    """A page that robots.txt disallows."""
    site.says("/robots.txt", RULES, content_type="text/plain")
    return site.says("/private/page", "<p>words", content_type=HTML)


def paths(site: Site) -> list[str]:
    return [path for path, _ in site.asked]


def refused(found: Page | BaseException) -> DoorError:
    assert isinstance(found, DoorError), found
    assert found.kind == "robots"
    return found


def read(found: Page | BaseException) -> Page:
    assert isinstance(found, Page), found
    return found


def test_obeyed_it_refuses_in_words_that_name_the_setting_and_the_page_is_never_asked_for(
    site: Site, fetch: Fetch, page: str
) -> None:
    error = refused(fetch(page, robots="obey")[0])
    assert str(error) == (
        "robots.txt of 127.0.0.1 disallows this page for webseam: respect that, or, if you have the site's permission, "
        "run `webseam set builtin robots warn`."
    )
    assert paths(site) == ["/robots.txt"]


def test_obeyed_it_lets_through_what_it_allows_after_one_question(site: Site, fetch: Fetch, page: str) -> None:
    found, call = fetch(site.says("/open", "<p>words", content_type=HTML), robots="obey")
    assert read(found).notes == ()
    assert paths(site) == ["/robots.txt", "/open"]
    assert [step.name for step in call.steps] == ["http", "http", "document"]


def test_a_reader_that_is_told_nothing_obeys(site: Site, page: str) -> None:
    call = Call()
    assert BuiltinReader(Egress().door(call, "reading"), WorkerPool(), call)._robots == "obey"


def test_a_warning_is_a_note_on_the_page(site: Site, fetch: Fetch, page: str) -> None:
    found = read(fetch(page, robots="warn")[0])
    assert (found.content, found.notes) == ("words", (NOTE,))
    assert paths(site) == ["/robots.txt", "/private/page"]
    assert read(fetch(site.says("/open", "<p>words", content_type=HTML), robots="warn")[0]).notes == ()


def test_ignored_it_is_not_even_asked(site: Site, fetch: Fetch, page: str) -> None:
    assert read(fetch(page, robots="ignore")[0]).notes == ()
    assert paths(site) == ["/private/page"]


def test_robots_txt_itself_can_always_be_read(site: Site, fetch: Fetch) -> None:
    url = site.says("/robots.txt", "User-agent: *\nDisallow: /\n", content_type="text/plain")
    assert "Disallow" in read(fetch(url, robots="obey")[0]).content


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_into_what_it_disallows_is_never_followed(site: Site, fetch: Fetch, page: str, status: int) -> None:
    start = site.says("/open", status=302, location="/between")
    site.says("/between", status=status, location="/private/page")
    refused(fetch(start, robots="obey")[0])
    assert paths(site) == ["/robots.txt", "/open", "/between"]


def test_a_redirect_is_followed_and_noted_with_a_warning(site: Site, fetch: Fetch, page: str) -> None:
    start = site.says("/private/start", status=302, location="/private/page")
    found = read(fetch(start, robots="warn")[0])
    assert found.final_url == page
    assert found.notes == (NOTE,)


def test_a_server_error_for_robots_txt_refuses_and_is_told_apart(site: Site, fetch: Fetch) -> None:
    site.says("/robots.txt", status=503)
    page = site.says("/", "<p>words", content_type=HTML)
    assert str(refused(fetch(page, robots="obey")[0])) == (
        "robots.txt of 127.0.0.1 answered with status 503, which counts as a refusal (RFC 9309). Try again later, or, if you "
        "have the site's permission, run `webseam set builtin robots warn`."
    )
    [note] = read(fetch(page, robots="warn")[0]).notes
    assert note.startswith("robots.txt of 127.0.0.1 answered with status 503")


# ------------------------------------------------------------------------------------------------ the account's setting


@pytest.fixture
def board(tmp_path: Path) -> Any:
    """`board(robots_ignore=...)`: a switchboard over one store."""
    store = Store(tmp_path / "settings.sqlite3", Vault(tmp_path / "vault.key"))
    egress = Egress()

    def made(*, robots_ignore: bool = True) -> Switchboard:
        return Switchboard(
            store, egress=lambda: egress, pool=WorkerPool, indexes=tmp_path / "indexes", robots_ignore=robots_ignore
        )

    yield made
    store.close()


def policy_of(switchboard: Switchboard, account: str) -> str:
    async def main() -> str:
        reader, _ = switchboard.reader(Call(account), "https://example.com/")
        assert isinstance(reader, BuiltinReader)
        return reader._robots

    return asyncio.run(main())


def test_each_account_and_each_of_the_two_engines_has_its_own(board: Any) -> None:
    switchboard = board()
    engines.set_field(switchboard, LOCAL, "builtin", "robots", "warn")
    engines.set_field(switchboard, LOCAL, "index", "robots", "ignore")
    assert policy_of(switchboard, LOCAL) == "warn"
    assert switchboard.robots(LOCAL, "index") == "ignore"
    assert policy_of(switchboard, "other") == switchboard.robots("other", "index") == "obey"
    engines.unset_field(switchboard, LOCAL, "builtin", "robots")
    assert policy_of(switchboard, LOCAL) == "obey"


def test_only_the_three_are_taken(board: Any) -> None:
    with pytest.raises(ArgumentError, match="obey, warn, ignore"):
        engines.set_field(board(), LOCAL, "builtin", "robots", "never")


@pytest.mark.parametrize("engine", ["builtin", "index"])
def test_what_the_operator_forbids_cannot_be_chosen(board: Any, engine: str) -> None:
    switchboard = board(robots_ignore=False)
    with pytest.raises(ArgumentError, match="WEBSEAM_ROBOTS_IGNORE"):
        engines.set_field(switchboard, LOCAL, engine, "robots", "ignore")
    assert switchboard.robots(LOCAL, engine) == "obey"
    engines.set_field(switchboard, LOCAL, engine, "robots", "warn")


def test_a_choice_that_was_forbidden_since_is_refused_and_not_swapped_for_another(board: Any) -> None:
    engines.set_field(board(), LOCAL, "builtin", "robots", "ignore")
    forbidding = board(robots_ignore=False)
    with pytest.raises(ProviderError, match="webseam set builtin robots obey"):
        policy_of(forbidding, LOCAL)
    assert policy_of(forbidding, "other") == "obey"
    assert "WEBSEAM_ROBOTS_IGNORE" in engines.missing(forbidding, LOCAL, forbidding.facts("builtin"))
    assert engines.missing(board(), LOCAL, forbidding.facts("builtin")) == ""


def test_the_user_agent_is_the_one_that_robots_txt_is_read_for(site: Site, fetch: Fetch) -> None:
    site.says("/robots.txt", "User-agent: *\nAllow: /\n\nUser-agent: webseam\nDisallow: /\n", content_type="text/plain")
    refused(fetch(site.says("/", "<p>words", content_type=HTML), robots="obey")[0])
    assert site.asked[0][1]["user-agent"].startswith(f"{PRODUCT}/")
