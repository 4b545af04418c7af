"""What is typed so far: the unfinished piece at its end, and what before it narrows the search."""

from collections.abc import Sequence
from dataclasses import dataclass

from sakuin.indexer.diagnostic import DiagnosticCode
from sakuin.indexer.document import Fields
from sakuin.indexer.fold import fold
from sakuin.indexer.limits import DEFAULT_LIMITS
from sakuin.indexer.parse import parse
from sakuin.indexer.query import And, Phrase, Query
from sakuin.indexer.scan import scan
from sakuin.indexer.scripts import Script, script_of
from sakuin.indexer.syntax import SAKUIN, Kind, Token

_LONGEST_PIECE = 64


@dataclass(frozen=True, slots=True)
class Opening:
    """One way to go on: `head` stays as it is typed, `piece` (folded) is what is unfinished.

    `narrow` is what a document must match besides (None: nothing). A piece that ends in a blank
    has a last word that is finished. `field` is the one that is named (None: any); `said` are
    the words (folded) that stand before.
    """

    head: str
    piece: str
    narrow: Query | None = None
    field: str | None = None
    said: frozenset[str] = frozenset()

    def query(self) -> Query:
        """Return a query for the documents that may hold what the piece begins.

        The finished words of the piece need only be there: a phrase whose last word is open
        would stand for as many phrases as there are words that begin so.
        """
        before, _, last = self.piece.rpartition(" ")
        wanted: list[Query] = [self.narrow] if self.narrow else []
        if before:
            wanted.append(Phrase(before, self.field))
        if last:
            wanted.append(Phrase(last, self.field, open_end=True))
        return wanted[0] if len(wanted) == 1 else And(tuple(wanted))


def openings(typed: str, fields: Fields) -> tuple[Opening | None, Opening | None]:
    """Return the ways to go on: from the last piece, and from all of it as one phrase."""
    if len(typed) > DEFAULT_LIMITS.length:
        return None, None
    tokens, remarks = scan(typed, SAKUIN, fields)
    quotes = [each.start for each in remarks if each.code is DiagnosticCode.UNCLOSED_QUOTE]
    ways = (_last_piece(typed, tokens, quotes, fields), _whole(typed, tokens, fields))
    last, whole = (way if way and 0 < len(way.piece) <= _LONGEST_PIECE else None for way in ways)
    return last, whole


def _last_piece(
    typed: str, tokens: Sequence[Token], quotes: Sequence[int], fields: Fields
) -> Opening | None:
    """Return the way from the last piece: a word without a blank behind it, or an open quote."""
    last = tokens[-1] if tokens else None
    if last is None or last.kind is not Kind.TERM or last.end < len(typed) or last.open_start:
        return None
    if last.field is not None and last.field not in fields.searched:
        return None
    if last.quoted and not quotes:
        return None
    begins = quotes[-1] if last.quoted else len(typed) - len(last.text) - last.open_end
    piece = _settle(typed[begins + 1 :] if last.quoted else last.text, fields)
    narrow = _narrow(typed[: last.start], tokens[:-1], fields)
    said = frozenset(fold(token.text, fields.folding) for token in tokens[:-1])
    return Opening(typed[:begins], piece, narrow, last.field, said)


def _whole(typed: str, tokens: Sequence[Token], fields: Fields) -> Opening | None:
    """Return all words as one phrase, where blanks part words of a script that has such."""
    plain = bool(tokens) and all(
        token.kind is Kind.TERM
        and not (token.quoted or token.field or token.open_start or token.open_end)
        for token in tokens
    )
    piece = _settle(typed, fields).lstrip()
    at = piece.find(" ")
    if not plain or at < 1 or script_of(piece[at - 1]) not in (Script.SPACED, Script.HANGUL):
        return None
    return Opening("", piece)


def _narrow(head: str, before: Sequence[Token], fields: Fields) -> Query | None:
    """Return what stands before the piece, unless it is no condition beside it."""
    loose = (Kind.OR, Kind.OPEN, Kind.CLOSE, Kind.NOT)
    if not before or any(token.kind in loose for token in before):
        return None
    parsed = parse(head, fields=fields)
    return None if parsed.refused else parsed.query


def _settle(text: str, fields: Fields) -> str:
    """Fold a text, each run of blanks one blank."""
    folded = fold(text, fields.folding)
    return " ".join(folded.split()) + (" " if folded[-1:].isspace() and folded.strip() else "")
