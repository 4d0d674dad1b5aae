"""The two tools, `web_search` and `web_fetch`: what agents see, and everything that holds whichever engine answers."""
