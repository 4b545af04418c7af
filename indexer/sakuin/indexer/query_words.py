"""The bare words of a query as it is typed, and the query with some of them changed.

Operators, quotation marks, stars and filters stay where they are.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from sakuin.indexer.document import Fields
from sakuin.indexer.query import Phrase
from sakuin.indexer.scan import scan
from sakuin.indexer.syntax import CLOSING, OPENING, SAKUIN, Kind, Token


@dataclass(frozen=True, slots=True)
class BareWord:
    """A word that is searched as text: code points start..end of the query, and its field.

    With what stands before it (`title:`) it begins at `begins`.
    """

    text: str
    field: str | None
    begins: int
    start: int
    end: int

    @property
    def query(self) -> Phrase:
        """What it asks for."""
        return Phrase(self.text, self.field)


@dataclass(frozen=True, slots=True)
class QueryWords:
    """A query text and those of its bare words that something is to be found for, in order."""

    text: str
    words: tuple[BareWord, ...]
    tokens: tuple[Token, ...]

    @property
    def is_plain(self) -> bool:
        """Tell whether it is nothing but bare words."""
        return len(self.words) == len(self.tokens)

    def are_neighbours(self, one: BareWord, other: BareWord) -> bool:
        """Tell whether nothing but blanks is between two words."""
        places = (one.begins, other.begins)
        return any((a.start, b.start) == places for a, b in pairwise(self.tokens))

    def changed(self, changes: Mapping[BareWord, str | None]) -> str:
        """Return the query with other texts in the place of some words; None leaves one out.

        An operator, or parentheses, that would be left with nothing go with what they held.
        """
        left = list(self.tokens)
        spans: list[tuple[int, int, str]] = []
        for word, text in changes.items():
            if text is not None:
                spans.append((word.start, word.end, text))
                continue
            at = next(n for n, token in enumerate(left) if token.start == word.begins)
            first, last = _emptied(left, at)
            spans.append((left[first].start, left[last].end, ""))
            del left[first : last + 1]
        text = self.text
        for start, end, new in sorted(spans, reverse=True):
            text = text[:start] + new + text[end:]
        return _tidied(text) if None in changes.values() else text


def query_words(text: str, fields: Fields) -> QueryWords:
    """Return the bare words of a query text; not those behind a NOT, with a star or in quotes."""
    tokens, _ = scan(text, SAKUIN, fields)
    words: list[BareWord] = []
    negated = [False]
    is_next_negated = False
    for token in tokens:
        if token.kind is Kind.OPEN:
            negated.append(negated[-1] or is_next_negated)
        elif token.kind is Kind.CLOSE and len(negated) > 1:
            negated.pop()
        elif _is_bare(token, fields) and not (negated[-1] or is_next_negated):
            start = token.end - len(token.text)
            words.append(BareWord(token.text, token.field, token.start, start, token.end))
        is_next_negated = token.kind is Kind.NOT
    return QueryWords(text, tuple(words), tuple(tokens))


def _tidied(text: str) -> str:
    """Take away the blanks around what was left out."""
    text = re.sub(rf"([{OPENING}])\s+", r"\1", text)
    return " ".join(re.sub(rf"\s+([{CLOSING}])", r"\1", text).split())


def _is_bare(token: Token, fields: Fields) -> bool:
    is_text = token.field is None or token.field in fields.searched
    return (
        token.kind is Kind.TERM
        and is_text
        and not (token.quoted or token.open_start or token.open_end)
    )


def _emptied(tokens: Sequence[Token], at: int) -> tuple[int, int]:
    """Return the first and the last token that say nothing without the one in this place."""
    first = last = at
    while (
        first > 0
        and last + 1 < len(tokens)
        and (tokens[first - 1].kind, tokens[last + 1].kind) == (Kind.OPEN, Kind.CLOSE)
    ):
        first, last = first - 1, last + 1
    before = tokens[first - 1].kind if first else Kind.OPEN
    after = tokens[last + 1].kind if last + 1 < len(tokens) else Kind.CLOSE
    if before is Kind.AND or (before is Kind.OR and after in (Kind.OR, Kind.CLOSE)):
        return first - 1, last
    if after is Kind.AND or (after is Kind.OR and before is Kind.OPEN):
        return first, last + 1
    return first, last
