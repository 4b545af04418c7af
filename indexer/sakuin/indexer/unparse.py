"""Write a query tree as a query again: the one normal spelling of what was understood."""

from collections.abc import Iterator
from dataclasses import dataclass

from sakuin.indexer.document import Fields, FilterKind
from sakuin.indexer.leaf import gaps_of
from sakuin.indexer.query import (
    And,
    AnyOfTokens,
    Everything,
    Ids,
    Near,
    Not,
    Nothing,
    Or,
    Phrase,
    Query,
    Range,
    Value,
    Wildcard,
)
from sakuin.indexer.ranges import write_range
from sakuin.indexer.stars import STARS
from sakuin.indexer.syntax import CLOSING, COLONS, OPENING, QUOTES, SAKUIN

_SYNTAX = frozenset((*OPENING, *CLOSING, *STARS, *COLONS, *QUOTES, *SAKUIN.signs))


def unparse(query: Query, fields: Fields | None = None) -> str:
    """Return a query text that `parse` reads, in Sakuin's own dialect, as exactly this tree.

    Holds for the trees that `parse` makes of any dialect, with the same `fields`. `Everything`,
    `AnyOfTokens`, `Ids`, and a range of a filter that `fields` do not have, have no spelling:
    ValueError.
    """
    return _Printer(fields).text(query)


@dataclass(frozen=True, slots=True)
class _Printer:
    fields: Fields | None

    def text(self, query: Query) -> str:
        match query:
            case Not(child):
                return f"NOT {self._within(child, (And, Or))}"
            case And(children):
                return " ".join(self._within(child, (Or,)) for child in children)
            case Or(children):
                return " OR ".join(self._alternatives(children))
            case Nothing():
                return ""
            case Everything() | AnyOfTokens() | Ids():
                raise ValueError("no query text finds everything, or asks for tokens or for ids")
            case leaf:
                return self._leaf(leaf)

    def _leaf(self, leaf: Phrase | Wildcard | Near | Value | Range) -> str:
        match leaf:
            case Phrase(text, field, open_start, open_end):
                return _starred(field, _quoted(text), open_start, open_end)
            case Wildcard(pieces, field):
                return _name(field) + "*".join(pieces)
            case Near(parts, distance, field):
                text = _in_quotes(" ".join(part.text for part in parts))
                return f"{_name(field)}{text}~{distance}"
            case Value(field, text, open_end):
                return _starred(
                    field, _quoted(text) if text or not open_end else "", False, open_end
                )
            case Range(field, low, high):
                return _name(field) + write_range(low, high, self._kind(field))

    def _within(self, child: Query, looser: tuple[type[Query], ...]) -> str:
        printed = self.text(child)
        return f"({printed})" if isinstance(child, looser) and not _is_word(child) else printed

    def _alternatives(self, children: tuple[Query, ...]) -> Iterator[str]:
        """Print each child; a phrase and the wildcard behind it that are one word, as one."""
        skip = False
        for child, following in zip(children, (*children[1:], None), strict=True):
            if skip:
                skip = False
            elif isinstance(child, Phrase) and following == _gaps(child):
                skip = True
                yield _starred(child.field, child.text, child.open_start, child.open_end)
            else:
                yield self.text(child)

    def _kind(self, field: str) -> FilterKind:
        kind = self.fields.kind_of(field) if self.fields else None
        if kind is None:
            raise ValueError(f"{field!r} is no filter of these fields: give the index's own")
        return kind


def _is_word(query: Query) -> bool:
    """Tell whether the alternatives are two readings of one word with stars in it."""
    match query:
        case Or((Phrase() as phrase, Wildcard() as wildcard)):
            return wildcard == _gaps(phrase)
    return False


def _gaps(phrase: Phrase) -> Wildcard:
    return Wildcard(gaps_of(phrase), phrase.field)


def _name(field: str | None) -> str:
    return "" if field is None else f"{field}:"


def _starred(field: str | None, text: str, open_start: bool, open_end: bool) -> str:
    return _name(field) + "*" * open_start + text + "*" * open_end


def _quoted(text: str) -> str:
    """Return the text as it is, or in quotation marks where some of it would be syntax."""
    if text and text not in SAKUIN.operators and not any(c.isspace() or c in _SYNTAX for c in text):
        return text
    return _in_quotes(text)


def _in_quotes(text: str) -> str:
    if '"' not in text and "＂" not in text:
        return f'"{text}"'
    return f"“{text.replace('”', '””')}”"
