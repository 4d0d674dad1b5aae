"""Markdown as a reader sees it: without marks, link targets and HTML. This is what is searched and what snippets show.

One pass of one expression. It begins with a set of characters, so that ordinary text is skipped at the speed of C, and every
repetition in it is short, possessive, or cannot cross the character that would begin it anew, so that hostile text costs linear
time: a million of any mark is about a second (a test holds it to that by its growth).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from re import Match

_MARK: Final = re.compile(
    r"""
    [\n\\`\[\]!<*_|~]
    (?:
      (?<=\n)(?=[ \t]{0,40}[`~>\#*+|:\[_-])
      (?:
        [ \t]{0,40}(?P<ticks>`{3,8}|~{3,8})[^\n]*(?P<code>(?s:.*?))(?:\n[ \t]{0,40}(?P=ticks)[ \t]*(?=\n|\Z)|\Z)
      | (?P<line>
          [ \t]{0,12}\[[^\]\n]{1,200}\]:[ \t]*\S[^\n]*               # where a reference points
        | [ \t]{0,3}(?=[|:*_-])[ \t|:*_-]{3,}+(?=\n|\Z)              # thematic breaks and the rules of tables
        | (?:[ \t]{0,12}>){1,12}[ \t]{0,12}(?:\#{1,6}[ \t]+|[-*+][ \t]+)?
        | [ \t]{0,12}\#{1,6}[ \t]+
        | [ \t]{0,40}[-*+][ \t]+(?:\[[ xX]\][ \t]+)?
        )
      )
    | (?<=\\)(?P<escaped>[!-/:-@\[-`{-~])
    | (?<=`)(?P<tick>`?)(?!`)(?P<span>[^`\n]{1,1000})`(?P=tick)
    | (?<=\[)(?:(?=[^\[\]\n]{0,200}\][(\[])|(?=!\[))                 # the text of a link stays
    | (?<=!)\[(?=[^\[\]\n]{0,200}\][(\[])
    | (?<=\])(?:\((?:[^()\n]|\([^()\n]{0,500}\)){0,4000}\)|\[[^\[\]\n]{0,200}\])
    | (?<=<)(?P<tag>!--[^<]{0,2000}?-->|/?[A-Za-z][^<>\n]{0,1000}>)
    | (?<=\*)\*{0,2}(?:(?=\S)|(?<=\S)(?<!\s\*)(?<!\s\*\*)(?<!\s\*\*\*))
    | (?<=[^\w]_)(?=[^\W_])
    | (?<=[^\W_]_)(?!\w)
    | (?<=~)~
    | (?<=\|)(?P<cell>(?<=\s\|)|(?=\s|\Z))
    )
    """,
    re.VERBOSE,
)


def _kept(match: Match[str]) -> str:
    kind = match.lastgroup
    if kind == "code":  # of a fence; an unclosed one reaches to the end, as CommonMark has it
        return match["code"]
    if kind == "span":
        return match["span"]
    if kind == "escaped":
        return match["escaped"]
    if kind == "line":
        return "\n"
    return " " if kind in ("tag", "cell") else ""


def plain(markdown: str) -> str:
    """The words of `markdown`, in their lines."""
    return _MARK.sub(_kept, "\n" + markdown)[1:]
