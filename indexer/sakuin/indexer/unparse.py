"""Write a query tree as a query again: the one normal spelling of what was understood."""

from sakuin.indexer.query import And, Everything, Not, Nothing, Or, Phrase, Query
from sakuin.indexer.scan import CLOSING, MINUS, OPENING, OPERATORS, QUOTES, STARS

_SYNTAX = frozenset(OPENING + CLOSING + STARS + MINUS + "".join(QUOTES) + ":")


def unparse(query: Query) -> str:
    """Return a query text that `parse` reads as exactly this tree.

    Holds for the trees that `parse` makes, unless a term holds both straight and curly quotation
    marks (there is none left to enclose it). `Everything` has no spelling: ValueError.
    """
    match query:
        case Phrase(text):
            return _term(text) + "*" * query.open_end
        case Not(child):
            return f"NOT {_within(child, (And, Or))}"
        case And(children):
            return " ".join(_within(child, (Or,)) for child in children)
        case Or(children):
            return " OR ".join(unparse(child) for child in children)
        case Nothing():
            return ""
        case Everything():
            raise ValueError("no query text finds everything")


def _within(child: Query, looser: tuple[type[Query], ...]) -> str:
    return f"({unparse(child)})" if isinstance(child, looser) else unparse(child)


def _term(text: str) -> str:
    plain = text not in OPERATORS and not any(c.isspace() or c in _SYNTAX for c in text)
    if plain:
        return text
    if '"' not in text and "＂" not in text:
        return f'"{text}"'
    return f"“{text}”" if "”" not in text else text
