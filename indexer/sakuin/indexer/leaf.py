"""One word, phrase or value of a query as a leaf of the tree."""

from sakuin.indexer.diagnostic import DiagnosticCode
from sakuin.indexer.document import Fields, FilterKind
from sakuin.indexer.fold import DEFAULT_FOLDING, Folding, fold
from sakuin.indexer.limits import MOST_DISTANCE, MOST_NEAR_PARTS
from sakuin.indexer.query import Near, Or, Phrase, Query, Range, Value, Wildcard
from sakuin.indexer.ranges import read_range, unreadable
from sakuin.indexer.stars import STARS, Starred, pieces
from sakuin.indexer.syntax import Token


class Refused(Exception):
    """The whole query is not searched, because of the code points start..end."""

    def __init__(self, code: DiagnosticCode, start: int, end: int) -> None:
        super().__init__(code)
        self.code, self.start, self.end = code, start, end


def leaf(token: Token, fields: Fields | None) -> Query | None:
    """Return what a term asks for; None if it says nothing at all.

    Raises Refused for the value of a filter that cannot be read: left out or searched as text it
    would widen or empty the result without notice; and for a ~ beyond its limits.
    """
    folding, kind = DEFAULT_FOLDING, None
    if fields is not None:
        folding = fields.folding
        if token.field is not None and token.field not in fields.searched:
            kind = fields.kind_of(token.field)
    if (token.field is None or kind is None) and token.near is not None:
        return _near(token, token.near, folding)
    if token.field is None or kind is None:
        return _words(token) if fold(token.text, folding).strip() else None
    if kind is FilterKind.KEYWORD:
        return _value(token, token.field)
    return _range(token, token.field, kind)


def _words(token: Token) -> Query:
    phrase = Phrase(token.text, token.field, token.open_start, token.open_end)
    gaps = () if token.quoted else gaps_of(phrase)
    return Or((phrase, Wildcard(gaps, token.field))) if gaps else phrase


def _near(token: Token, distance: int, folding: Folding) -> Near | Phrase | None:
    """Return the words of a phrase near each other; one alone is a phrase still."""
    parts = [part for part in token.text.split() if fold(part, folding).strip()]
    if len(parts) < 2:
        return Phrase(parts[0], token.field) if parts else None
    if distance > MOST_DISTANCE:
        raise Refused(DiagnosticCode.NEAR_TOO_FAR, token.start, token.end)
    if len(parts) > MOST_NEAR_PARTS:
        raise Refused(DiagnosticCode.NEAR_TOO_MANY, token.start, token.end)
    return Near(tuple(map(Phrase, parts)), distance, token.field)


def gaps_of(phrase: Phrase) -> tuple[str, ...]:
    """Return the pieces of the wildcard that a phrase with a star in it may be beside."""
    return pieces(Starred(phrase.text, phrase.open_start, phrase.open_end))


def _value(token: Token, field: str) -> Value:
    if _is_star(token):
        return Value(field, "", open_end=True)
    has_stars = not token.quoted and any(star in token.text for star in STARS)
    if has_stars or token.open_start or token.near is not None:
        raise Refused(DiagnosticCode.BAD_KEYWORD, token.start, token.end)
    return Value(field, token.text, token.open_end)


def _range(token: Token, field: str, kind: FilterKind) -> Range:
    if _is_star(token):
        return Range(field, None, None)
    bounds = read_range(token.text, kind)
    if token.open_start or token.open_end or token.near is not None:
        bounds = unreadable(kind)
    if isinstance(bounds, DiagnosticCode):
        raise Refused(bounds, token.start, token.end)
    return Range(field, *bounds)


def _is_star(token: Token) -> bool:
    """Tell whether any value is asked for."""
    return token.text in tuple(STARS) and not token.quoted
