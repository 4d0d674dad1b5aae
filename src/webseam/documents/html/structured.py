"""What a page says of itself in JSON-LD: author, date, site, and the price and specification of a product.

It is read for every page that has some. Writing a whole text out of it is another matter (`from_data`).
"""

from __future__ import annotations

import re
from html import unescape
from typing import TYPE_CHECKING, Any, NamedTuple

from webseam.documents.dates import iso_date
from webseam.documents.extract import is_nobody
from webseam.documents.html.scripts import decoded
from webseam.documents.html.tree import Element

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Node = dict[str, Any]

MAX_NODES = 500
"""Things that JSON-LD speaks of, and items of one list."""

SPECIFICATIONS = 40
BESIDE = ("Brand", "SKU", "Rating")
SPECIFICATION_CHARS = 120
"""Nobody who looks at a page sees its data, so what is taken from it has room for facts, not for sermons."""

ARTICLES = frozenset(
    {
        "AdvertiserContentArticle", "AnalysisNewsArticle", "Article", "AskPublicNewsArticle", "BackgroundNewsArticle",
        "BlogPosting", "DiscussionForumPosting", "HowTo", "JobPosting", "LiveBlogPosting", "MedicalScholarlyArticle",
        "NewsArticle", "OpinionNewsArticle", "Question", "Recipe", "Report", "ReportageNewsArticle", "Review",
        "ReviewNewsArticle", "ScholarlyArticle", "SocialMediaPosting", "TechArticle", "VideoObject",
    }
)  # fmt: skip
PAGES = frozenset(
    {"AboutPage", "CollectionPage", "FAQPage", "ItemPage", "ProfilePage", "QAPage", "SearchResultsPage", "WebPage"}
)
PRODUCTS = frozenset({"IndividualProduct", "Product", "ProductGroup", "ProductModel", "SoftwareApplication", "Vehicle"})

MARKUP = re.compile(
    r"</?(?:a|b|blockquote|br|code|div|em|h[1-6]|i|img|li|ol|p|pre|section|span|strong|table|td|tr|ul)(?:\s[^<>]*)?/?>",
    re.IGNORECASE,
)
_SURROGATE = re.compile("[\ud800-\udfff]")
_RATING = re.compile(r"[0-9]{1,3}(?:[.,][0-9]{1,9})?")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")


class Said(NamedTuple):
    """What JSON-LD says about the page itself; "" for what it does not say. `date` and `changed` are ISO 8601."""

    author: str = ""
    date: str = ""
    site: str = ""
    language: str = ""
    changed: str = ""


class LinkedData:
    """The things that a page's JSON-LD speaks of, in order, and those among them that others refer to by `@id`."""

    __slots__ = ("_by_id", "nodes")

    def __init__(self, nodes: list[Node]) -> None:
        self.nodes = nodes
        self._by_id: dict[str, Node] = {}
        for node in nodes:
            if isinstance(name := node.get("@id"), str) and len(node) > 1:
                self._by_id.setdefault(name, node)

    def of(self, value: Any) -> list[Node]:
        """The things that a property's value is: one or several, written there or referred to. Strings are none."""
        found: list[Node] = []
        for item in (value if isinstance(value, list) else [value])[:MAX_NODES]:
            if isinstance(item, dict):
                name = item.get("@id")
                found.append(self._by_id.get(name, item) if len(item) == 1 and isinstance(name, str) else item)
        return found

    def first(self, types: frozenset[str]) -> Node | None:
        """The first thing of one of `types`, or what the page says it is mainly about."""
        for node in self.nodes:
            if not types.isdisjoint(types_of(node)):
                return node
        for node in self.nodes:
            if "FAQPage" in types_of(node):
                continue  # each of its questions is one among many
            for entity in self.of(node.get("mainEntity")):
                if not types.isdisjoint(types_of(entity)):
                    return entity
        return None

    def names(self, value: Any) -> str:
        """The names of people or organisations: "A, B"."""
        found: dict[str, None] = {}
        for item in (value if isinstance(value, list) else [value])[:20]:
            thing = next(iter(self.of(item)), None)
            name = line(thing.get("name")) if thing is not None else line(item)
            if name and len(name) <= 100 and "://" not in name and not is_nobody(name):
                found[name] = None
        return ", ".join([*found][:5])


def linked_data(scripts: Iterable[str]) -> LinkedData:
    """The JSON-LD in the scripts of a page. What cannot be read is passed over."""
    nodes: list[Node] = []
    for script in scripts:
        waiting = [decoded(script)]
        while waiting and len(nodes) < MAX_NODES:
            value = waiting.pop()
            if isinstance(value, list):
                waiting.extend(reversed(value[:MAX_NODES]))
            elif isinstance(value, dict):
                if isinstance(value.get("@graph"), list):
                    waiting.append(value["@graph"])
                if "@type" in value:
                    nodes.append(value)
    return LinkedData(nodes)


def types_of(node: Node) -> list[str]:
    """The types of a thing, without the address of their vocabulary."""
    value = node.get("@type")
    return [item.rpartition("/")[2] for item in (value if isinstance(value, list) else [value])[:10] if isinstance(item, str)]


def line(value: Any) -> str:
    """A property's value as one line of text; "" when it is none. Of several the first; of translations any."""
    if isinstance(value, list):
        value = value[0] if value else ""
    if isinstance(value, dict):
        value = value.get("@value") or value.get("name")
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    text = whole_characters(unescape(str(value)[:2_000]))
    return " ".join(MARKUP.sub(" ", text).split()) if "<" in text else " ".join(text.split())


def said_by(data: LinkedData) -> Said:
    """What the page's JSON-LD says about the page."""
    node = data.first(ARTICLES) or data.first(PAGES)
    site = next((line(one.get("name")) for one in data.nodes if "WebSite" in types_of(one)), "")
    if node is None:
        return Said(site=site)
    dates = ("datePublished", "dateCreated", "datePosted", "uploadDate", "dateModified")
    language = node.get("inLanguage")
    return Said(
        author=data.names(node.get("author") or node.get("creator")),
        date=next((date for name in dates if (date := iso_date(line(node.get(name))))), ""),
        site=site or data.names(node.get("publisher")),
        changed=iso_date(line(node.get("dateModified"))),
        language=line(language.get("alternateName") if isinstance(language, dict) else language),
    )


def whole_characters(value: str) -> str:
    """A string of JSON without the halves of surrogate pairs that it may hold."""
    return _SURROGATE.sub("\ufffd", value)


# ------------------------------------------------------------------------------------------------ products


def the_product(data: LinkedData) -> list[Node]:
    """What is said of the one product that a page is about, its variants perhaps; empty when it is about several."""
    products = [node for node in data.nodes if not PRODUCTS.isdisjoint(types_of(node))]
    if not products and (node := data.first(PRODUCTS)) is not None:
        products = [node]
    return products[:20] if len({line(product.get("name")) for product in products}) == 1 else []


def product_facts(data: LinkedData) -> list[tuple[str, str]]:
    """Price, availability, specification, brand, number and rating of the one product that a page is about."""
    facts: dict[str, str] = {}
    for product in the_product(data):
        for name, value in facts_of(data, product):
            facts.setdefault(name, value)
    return list(facts.items())


def missing_from(text: str, facts: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """The facts of a product that `text` does not hold: the price as a number however it is written, others by their words.

    Availability is said beside a price that is missing, and not without one; brand, number and rating beside anything.
    """
    found: list[tuple[str, str]] = []
    beside: list[tuple[str, str]] = []
    folded = " ".join(text.lower().split())
    price_missing = False
    for name, value in facts:
        if name == "Price":
            price_missing = not all(_amount(number).search(text) for number in re.findall("[0-9][0-9.]*", value)[:2])
            missing = price_missing
        elif name in BESIDE:
            beside += [(name, value)] if _first_word(value) not in folded else []
            continue
        else:
            missing = price_missing if name == "Availability" else value.lower() not in folded
        if missing:
            found.append((name, value))
    return [*found, *beside] if found else []


def _first_word(value: str) -> str:
    """What of a brand, a number or a rating is looked for in a text: "4.6" of "4.6 of 5 (120 ratings)"."""
    return value.lower().partition(" of ")[0]


def list_of_facts(facts: Iterable[tuple[str, str]]) -> Element:
    """Facts as a list: "Price: 24.99 EUR"."""
    return Element("ul", children=[Element("li", children=[f"{name}: {value}"]) for name, value in facts])


def facts_of(data: LinkedData, product: Node) -> Iterator[tuple[str, str]]:
    price, availability = _offer(data, product)
    if price:
        yield "Price", price
    if availability:
        yield "Availability", availability
    for extra in data.of(product.get("additionalProperty"))[:SPECIFICATIONS]:
        name, value, unit = line(extra.get("name")), line(extra.get("value")), line(extra.get("unitText"))
        if name and value and len(name) + len(value) <= SPECIFICATION_CHARS:
            yield name, f"{value} {unit}".strip()
    for name, value in zip(BESIDE, (line(product.get("brand")), _number_of(product), _rating(data, product)), strict=True):
        if value and len(value) <= SPECIFICATION_CHARS:
            yield name, value


def _number_of(product: Node) -> str:
    return next((number for name in ("sku", "mpn", "gtin13", "gtin") if (number := line(product.get(name)))), "")


def _rating(data: LinkedData, product: Node) -> str:
    """What buyers thought: "4.6 of 5 (120 ratings)"."""
    rating: Node = next(iter(data.of(product.get("aggregateRating"))), {})
    value = line(rating.get("ratingValue"))
    if not _RATING.fullmatch(value):
        return ""
    best, count = line(rating.get("bestRating")), line(rating.get("ratingCount")) or line(rating.get("reviewCount"))
    best = f" of {best}" if _RATING.fullmatch(best) else " of 5" if float(value.replace(",", ".")) <= 5 else ""
    rounded = f"{float(value.replace(',', '.')):.2f}".rstrip("0").rstrip(".")
    return f"{rounded}{best}" + (f" ({count} ratings)" if count.isdecimal() and len(count) < 10 else "")


def _offer(data: LinkedData, product: Node) -> tuple[str, str]:
    prices: list[float] = []
    currency = availability = ""
    offers = data.of(product.get("offers"))
    for variant in data.of(product.get("hasVariant"))[:50]:
        offers += data.of(variant.get("offers"))[:20]
    for offer in offers[:100]:
        specified = next(iter(data.of(offer.get("priceSpecification"))), {})
        for name in ("price", "lowPrice", "highPrice"):
            number = _number(line(offer.get(name)) or (line(specified.get("price")) if name == "price" else ""))
            if number:
                prices.append(number)
        currency = currency or line(offer.get("priceCurrency")) or line(specified.get("priceCurrency"))
        availability = availability or line(offer.get("availability")).rpartition("/")[2][:40]
    if not prices:
        return "", ""
    low, high = min(prices), max(prices)
    amount = _written(low) if low == high else f"{_written(low)} to {_written(high)}"
    return f"{amount} {currency[:10]}".strip(), _CAMEL.sub(" ", availability).lower()


def _number(written: str) -> float:
    """A price as people put it into data: "1299.00", "1,299.00", "24,99", "$24.99"; 0 for none."""
    match = re.search("[0-9][0-9.,]{0,20}", written[:100])
    if match is None:
        return 0.0
    digits = match.group().rstrip(".,")
    if re.fullmatch(r"\d+,\d{1,2}|\d{1,3}(?:\.\d{3})+,\d{1,2}", digits):
        digits = digits.replace(".", "").replace(",", ".")
    digits = digits.replace(",", "")
    if digits.count(".") > 1 or re.fullmatch(r"\d{1,3}\.\d{3}", digits):  # "1.299" is one price here and another there
        return 0.0
    return float(digits)


def price_of(amount: str, currency: str) -> str:
    """A price that is written anyhow as "1299.00 USD"; "" when it is none."""
    number = _number(amount)
    return f"{_written(number)} {currency[:10]}".strip() if number else ""


def _written(price: float) -> str:
    return f"{price:.0f}" if price == int(price) else f"{price:.2f}"


_THOUSANDS = re.compile(r"(?<=[0-9])(?=(?:[0-9]{3})+$)")
_CURRENCY = r"(?:[$€£¥₹₩₽₺]|[A-Z]{3}\b|kr\b|zł|Kč|,-|元|円|원)"


def _amount(number: str) -> re.Pattern[str]:
    """A pattern for a price in a text: "1299.50" as "1,299.50", "1 299,50", "1.299,50"; a short round one with its currency."""
    whole, _, cents = number.partition(".")
    groups = _THOUSANDS.sub("[.,'’ \u00a0\u202f]?", whole)
    before, after = r"(?<!\d)(?<!\d[.,])", r"(?!\d)"
    if cents.strip("0"):
        # Stores split the cents off: "24" and "99" in elements of their own.
        return re.compile(rf"{before}{groups}\s?[.,]?\s?{cents}{after}")
    if len(whole) > 3:
        return re.compile(rf"{before}{groups}{after}")
    return re.compile(rf"{_CURRENCY}\s?{before}{groups}{after}|{before}{groups}(?:[.,]00{after}|\s?{_CURRENCY})")
