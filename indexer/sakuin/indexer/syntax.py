"""What scanning cuts a query into, and the marks that count as syntax, in both widths."""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

OPENING, CLOSING, COLONS = "(（", ")）", ":："
# What closes each opening quotation mark; a Japanese keyboard writes ” on both sides. Behind “
# two ” are one that belongs to the phrase, so that every text can be quoted.
_STRAIGHT, _CURLY = re.compile('([^"＂]*)["＂]'), re.compile("([^”]*)”")
_DOUBLED = re.compile("((?:[^”]|””)*+)”")
QUOTES: Final = {'"': _STRAIGHT, "＂": _STRAIGHT, "”": _CURLY, "“": _DOUBLED}


class Kind(StrEnum):
    """What a token is; an operator may still turn out to be text."""

    TERM = "term"
    OPEN = "open"
    CLOSE = "close"
    AND = "and"
    OR = "or"
    NOT = "not"
    MUST = "must"


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of the query: code points start..end, and the text to search if it is text.

    `field` is the one that was named before it; an open side had a star; what was `quoted` is
    taken to the letter; `near` is the number behind a ~.
    """

    kind: Kind
    text: str
    start: int
    end: int
    field: str | None = None
    open_start: bool = False
    open_end: bool = False
    quoted: bool = False
    near: int | None = None


@dataclass(frozen=True, slots=True)
class Syntax:
    """Which signs act before a word and which words act between others, in one dialect.

    `ranks` are signs that elsewhere change the order only: they are left out with a remark.
    `tildes` say behind a phrase that its words are to be near each other.
    """

    signs: dict[str, Kind]
    operators: dict[str, Kind]
    ranks: str = ""
    tildes: str = ""


SAKUIN: Final = Syntax(
    signs={"-": Kind.NOT, "－": Kind.NOT, "\u2212": Kind.NOT},  # the last as macOS types it
    operators={
        "AND": Kind.AND,
        "ＡＮＤ": Kind.AND,
        "OR": Kind.OR,
        "ＯＲ": Kind.OR,
        "NOT": Kind.NOT,
        "ＮＯＴ": Kind.NOT,
    },
    tildes="~～〜",
)
