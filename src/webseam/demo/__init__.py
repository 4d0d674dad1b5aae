"""`webseam demo`: the main job, done for real, with nothing from outside the package.

A small site that ships beside this file is served on loopback, crawled into a private index, and then searched and read by
an MCP client through a server process of our own. Settings and index live in a temporary directory unless one is given.
"""

from webseam.demo.run import run

__all__ = ["run"]
