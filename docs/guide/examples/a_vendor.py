"""A search vendor, complete: facts, a request, the results of a reply. Copy it to `src/webseam/engines/vendors/`."""

from urllib.parse import urlencode

from webseam.engines.vendor import Vendor
from webseam.seam.contract import HttpReply, HttpRequest, Query
from webseam.seam.facts import Facts, Setting


class Acme(Vendor):
    """Acme Search (an invented one)."""

    FACTS = Facts(
        name="acme",
        title="Acme Search",
        search=True,
        max_count=20,
        filters=frozenset({"language"}),
        settings=(
            Setting("api_key", "API key", type="secret", required=True, variables=("ACME_API_KEY",)),
            Setting("base_url", "Address of the API", type="url", default="https://api.acme.example"),
        ),
        key_page="https://acme.example/keys",
        checked="unverified",
    )

    def request(self, query, settings):
        """One GET; the key in a header, and named as a secret so that it is never shown."""
        parameters = {"q": query.text, "n": query.count} | ({"lang": query.language} if query.language else {})
        key = settings["api_key"]
        url = f"{settings['base_url']}/v1/search?{urlencode(parameters)}"
        return HttpRequest(url, headers={"X-Api-Key": key}, secrets=(key,))

    def results(self, body, reply):
        """The hits, under our names. Whatever goes wrong in here is told as an unreadable reply."""
        return [{"title": hit["name"], "url": hit["link"], "snippet": hit.get("text", "")} for hit in body["hits"]]


def main():
    """What a saved reply gives, and how a rejected key is told."""
    acme, query = Acme(), Query("sea shells", count=2)
    print(acme.request(query, {"api_key": "k", "base_url": "https://api.acme.example"}).url)
    saved = HttpReply(200, {}, b'{"hits": [{"name": "Shells", "link": "https://shells.example/", "text": "By the sea."}]}', "")
    print(acme.reply(saved, query)[0]["title"])
    try:
        acme.reply(HttpReply(401, {}, b'{"error": "bad key"}', ""), query)
    except Exception as error:
        print(str(error).splitlines()[0])


if __name__ == "__main__":
    main()
