"""Brave Search, web results: https://api-dashboard.search.brave.com/api-reference/web/search/get

    webseam set brave api_key          (or BRAVE_API_KEY)
    webseam use search brave

Traps. `country` and `search_lang` are closed lists with spellings of their own (`jp`); another value is a 422. A wrong key is a
422 too, with the code SUBSCRIPTION_TOKEN_INVALID, and a missing one a 422 VALIDATION about a header. 429 is both "too fast"
(RATE_LIMITED) and "the plan's month is used up" (QUOTA_LIMITED). The query may have 400 characters and 50 words, and operators
count. The older `errors: [..]` is still in the reference beside today's `error: {..}`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from webseam.engines.replies import Complaint, hits
from webseam.engines.vendor import Vendor
from webseam.errors import ProviderError
from webseam.seam.facts import Facts, Setting
from webseam.seam.failures import Kind
from webseam.seam.waiting import clamped

if TYPE_CHECKING:
    from collections.abc import Mapping

    from webseam.seam.contract import HttpReply, HttpRequest, Query, SearchResult

QUERY_CHARS = 400
QUERY_WORDS = 50
_A_DAY = 86_400

COUNTRIES = "AR AU AT BE BR CA CL CN DK FI FR DE GR HK IN ID IT JP KR MY MX NL NZ NO PH PL PT RU SA ZA ES SE CH TW TR GB US ALL"
"""As `country` takes them; ALL is the whole world."""

_SPELT_ALIKE = (
    "ar eu bn bg ca hr cs da nl en et fi fr gl de el gu he hi hu is it kn ko lv lt ms ml mr nb pl pa ro ru sr sk sl es sv ta "
    "te th tr uk vi"
)
LANGUAGES = {language: language for language in _SPELT_ALIKE.split()} | {
    "en-GB": "en-gb",
    "ja": "jp",
    "no": "nb",
    "pt": "pt-br",  # as CLDR's likely subtags have it
    "pt-BR": "pt-br",
    "pt-PT": "pt-pt",
    "zh": "zh-hans",
    "zh-Hans": "zh-hans",
    "zh-Hant": "zh-hant",
    "zh-HK": "zh-hant",
    "zh-TW": "zh-hant",
}
"""BCP 47 -> `search_lang`."""

FRESHNESS = {"day": "pd", "week": "pw", "month": "pm", "year": "py"}


class Brave(Vendor):
    """Brave's web search."""

    FACTS: ClassVar = Facts(
        name="brave",
        title="Brave Search",
        description="Web search from Brave's own index.",
        search=True,
        max_count=20,
        query_chars=QUERY_CHARS,
        query_words=QUERY_WORDS,
        filters=frozenset({"freshness", "country", "language", "include_domains", "exclude_domains"}),
        countries=frozenset(COUNTRIES.split()),
        languages=frozenset(LANGUAGES),
        settings=(
            Setting(
                "api_key",
                "API key",
                "From https://api-dashboard.search.brave.com/app/keys",
                type="secret",
                required=True,
                variables=("BRAVE_API_KEY",),
            ),
            Setting(
                "base_url",
                "Address of the API",
                "Change it only for a proxy of your own, or a test.",
                type="url",
                default="https://api.search.brave.com",
            ),
        ),
        home="https://brave.com/search/api/",
        key_page="https://api-dashboard.search.brave.com/app/keys",
        price_page="https://api-dashboard.search.brave.com/app/plans",
        index_owner="brave",
        checked="docs",
        checked_on="2026-11-30",
    )

    KINDS: ClassVar = {
        "SUBSCRIPTION_TOKEN_INVALID": Kind.KEY_REJECTED,
        "SUBSCRIPTION_TOKEN_MISSING": Kind.KEY_REJECTED,
        "SUBSCRIPTION_NOT_FOUND": Kind.KEY_REJECTED,
        "OPTION_NOT_IN_PLAN": Kind.REFUSED,
        "QUOTA_LIMITED": Kind.OUT_OF_CREDIT,
        "RATE_LIMITED": Kind.RATE_LIMITED,
        "VALIDATION": Kind.BAD_PARAMETER,
    }

    def request(self, query: Query, settings: Mapping[str, str]) -> HttpRequest:
        """GET /res/v1/web/search."""
        from urllib.parse import urlencode

        from webseam.seam.contract import HttpRequest

        parameters = {
            "q": _with_domains(query),
            "count": query.count,
            "text_decorations": "false",
            "result_filter": "web",
        }
        if query.country:
            parameters["country"] = query.country
        if query.language:
            parameters["search_lang"] = LANGUAGES[query.language]
        if query.freshness:
            parameters["freshness"] = FRESHNESS.get(query.freshness) or query.freshness.replace("..", "to")
        return HttpRequest(
            f"{settings['base_url']}/res/v1/web/search?{urlencode(parameters)}",
            headers={"Accept": "application/json", "X-Subscription-Token": settings["api_key"]},
            secrets=(settings["api_key"],),
        )

    def results(self, body: Any, reply: HttpReply) -> list[SearchResult]:  # noqa: ARG002 - all of it is in the body
        """`web.results`; a search without web results has no `web` at all."""
        if body.get("web") is None and body["type"] == "search":
            return []
        return hits(body["web"]["results"], snippet="description", age=("age", "page_age"))

    def complaint(self, body: Any, reply: HttpReply) -> Complaint | None:
        """As everybody's, with the two cases that the code alone does not tell."""
        found = super().complaint(body, reply)
        if found is None:
            return None
        if found.code == "VALIDATION" and _about_the_key(body):
            return found._replace(code="SUBSCRIPTION_TOKEN_MISSING")
        if reply.status == 429 and any(left == 0 and seconds > _A_DAY for left, _, seconds in _windows(reply)):
            return found._replace(code="QUOTA_LIMITED")
        return found

    def retry_after(self, reply: HttpReply) -> float | None:
        """Until the window that is used up opens again, by `X-RateLimit-*`."""
        said = super().retry_after(reply)
        if said is not None:
            return said
        waits = [reset for left, reset, _ in _windows(reply) if left == 0]
        return clamped(max(waits)) if waits else None


def _about_the_key(body: Any) -> bool:
    """Whether the parameter that did not validate is the header with the key."""
    try:
        return any("x-subscription-token" in problem["loc"] for problem in body["error"]["meta"]["errors"])
    except (KeyError, TypeError):
        return False


def _with_domains(query: Query) -> str:
    """The query with its domains as operators. Raises ProviderError when that makes it too long for Brave."""
    sites = " OR ".join(f"site:{domain}" for domain in query.include_domains)
    included = f"({sites})" if len(query.include_domains) > 1 else sites
    whole = " ".join([query.text, *([included] if included else []), *(f"-site:{domain}" for domain in query.exclude_domains)])
    for size, limit, what in ((len(whole), QUERY_CHARS, "characters"), (len(whole.split()), QUERY_WORDS, "words")):
        if size > limit:
            raise ProviderError(
                f"Together with its domains the query has {size} {what}, and Brave Search takes at most {limit}: "
                "name fewer domains, or shorten the query.",
                kind=Kind.BAD_PARAMETER,
                engine="brave",
            )
    return whole


def _windows(reply: HttpReply) -> list[tuple[int, int, int]]:
    """The rate limits in force: (requests left, seconds until it opens again, its length in seconds), shortest first.

    `X-RateLimit-Policy: 1;w=1, 15000;w=2592000`, `-Remaining: 1, 1000`, `-Reset: 1, 1419704`.
    """

    def numbers(name: str) -> list[int]:
        return [int(part) for part in reply.headers.get(name, "").split(",")]

    try:
        lengths = [int(part.rpartition("w=")[2]) for part in reply.headers.get("x-ratelimit-policy", "").split(",")]
        return list(zip(numbers("x-ratelimit-remaining"), numbers("x-ratelimit-reset"), lengths, strict=True))
    except ValueError:
        return []
