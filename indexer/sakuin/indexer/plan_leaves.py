"""The leaves of a plan: what a query asks of words and values, folded, cut and bounded.

Beside the tokens of a text every engine keeps its words of spaced scripts *backwards*: what ends
with `ing` begins there with `gni`. So `*ing` costs what `gni*` costs.

A word of more than 255 characters is several tokens: `word*` and `*word` are exact still, but what
is open on both sides, has gaps, or opens a phrase, is looked for within one token.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite

from sakuin.indexer.document import Fields, FilterKind
from sakuin.indexer.errors import QueryTooLarge
from sakuin.indexer.exact_values import HIGHEST, LOWEST
from sakuin.indexer.fold import fold
from sakuin.indexer.query import (
    AnyOfTokens,
    Ids,
    Nothing,
    Phrase,
    Range,
    Value,
    Wildcard,
)
from sakuin.indexer.tokens import LONGEST_TOKEN, QueryCut, cut, cut_query, cut_wildcard, is_spaced

MOST_LEAVES = 1_000
MOST_TOKENS = 10_000
MOST_IDS = 10_000


@dataclass(frozen=True, slots=True)
class Leaf:
    """At least one token, to be found in the searched field of this name (None: in any of them).

    A single token has no open start. `backwards`: look at the words written backwards.
    """

    cut: QueryCut
    field: str | None = None
    backwards: bool = False
    depth: int = 0


@dataclass(frozen=True, slots=True)
class Gaps:
    """A word that begins with the first piece, ends with the last, and holds the others between.

    Only an open side has an empty piece. The first piece is empty only if the last is too.
    """

    pieces: tuple[str, ...]
    field: str | None = None
    backwards: bool = False
    depth: int = 0

    def fits(self, word: str) -> bool:
        """Tell whether a word is meant; takes time in proportion to its length."""
        first, *between, last = self.pieces
        at, end = len(first), len(word) - len(last)
        if at > end or not word.startswith(first) or not word.endswith(last):
            return False
        for piece in between:
            found = word.find(piece, at, end)
            if found < 0:
                return False
            at = found + len(piece)
        return True


@dataclass(frozen=True, slots=True)
class Keyword:
    """The value of a keyword filter, as it compares, is this text (open end: begins so)."""

    field: str
    text: str
    open_end: bool
    depth: int = 0


@dataclass(frozen=True, slots=True)
class Between:
    """A number or time filter has a value, and low <= value <= high, both of 64 bits."""

    field: str
    low: int
    high: int
    depth: int = 0


@dataclass(frozen=True, slots=True)
class Tokens:
    """At least `least` (1 or more, and no more than there are) of these tokens, with weights.

    A token counts once, in however many searched fields it stands.
    """

    weighted: tuple[tuple[str, float], ...]
    least: int
    depth: int = 0


@dataclass(frozen=True, slots=True)
class OneOf:
    """The document has one of these ids, of which there is at least one."""

    ids: tuple[str, ...]
    depth: int = 0


Single = Leaf | Gaps | Keyword | Between | Tokens | OneOf
Asked = Phrase | Wildcard | Value | Range | AnyOfTokens | Ids


class Leaves:
    """Makes the leaves of one plan; equal ones are one object."""

    def __init__(self, fields: Fields) -> None:
        self._fields = fields
        self._leaves, self._tokens, self._ids_left = MOST_LEAVES, MOST_TOKENS, MOST_IDS
        self._made: dict[Single, Single] = {}

    def make(self, node: Asked) -> Single | Nothing:
        """Return the leaf; raise QueryTooLarge or, for a name that is none, ValueError."""
        made: Single | Nothing
        if isinstance(node, Phrase):
            made = self._phrase(node)
        elif isinstance(node, Wildcard):
            made = self._wildcard(node)
        elif isinstance(node, Value):
            made = self._value(node)
        elif isinstance(node, AnyOfTokens):
            made = self._tokens_of(node)
        elif isinstance(node, Ids):
            made = self._ids(node)
        else:
            made = self._range(node)
        return self._made.setdefault(made, made) if not isinstance(made, Nothing) else made

    def _phrase(self, node: Phrase) -> Leaf | Gaps | Nothing:
        self._require_searched(node.field)
        found = cut_query(
            node.text, self._fields.folding, open_start=node.open_start, open_end=node.open_end
        )
        self._spend(len(found.tokens))
        if not found.tokens:
            return Nothing()
        if not found.open_start:
            return Leaf(found, node.field)
        word = fold(node.text, self._fields.folding).strip()
        if len(found.tokens) > 1 and not all(map(is_spaced, word)):
            # Words of more tokens than one are out of reach of a phrase that has other words.
            return Leaf(found, node.field) if len(found.tokens[0]) <= LONGEST_TOKEN else Nothing()
        if found.open_end:
            return _gaps(("", word[::-1], ""), node.field, backwards=True)
        backwards = tuple(cut(word[::-1]))  # not folded again: marks would change their letters
        return Leaf(QueryCut(backwards, open_end=True), node.field, backwards=True)

    def _wildcard(self, node: Wildcard) -> Leaf | Gaps | Nothing:
        self._require_searched(node.field)
        first, *between, last = cut_wildcard(node.pieces, self._fields.folding)
        pieces = (first, *filter(None, between), last)
        self._spend(sum(map(len, pieces)))
        if not any(pieces) or not all(is_spaced(one) for piece in pieces for one in piece):
            return Nothing()
        if len(pieces) == 2 and not last:
            return self._phrase(Phrase(first, node.field, open_end=True))
        if len(pieces) == 2 and not first:
            return self._phrase(Phrase(last, node.field, open_start=True))
        if first:
            return _gaps(pieces, node.field, backwards=False)
        return _gaps(tuple(piece[::-1] for piece in reversed(pieces)), node.field, backwards=True)

    def _value(self, node: Value) -> Keyword:
        self._require_filter(node.field, (FilterKind.KEYWORD,), "keyword")
        self._spend(len(node.text))
        text = node.text if node.field == "id" else fold(node.text, self._fields.folding)
        return Keyword(node.field, text, node.open_end)

    def _range(self, node: Range) -> Between | Nothing:
        self._require_filter(node.field, (FilterKind.NUMBER, FilterKind.TIME), "number or time")
        self._spend(1)
        low = LOWEST if node.low is None else max(node.low, LOWEST)
        high = HIGHEST if node.high is None else min(node.high, HIGHEST)
        return Between(node.field, low, high) if low <= high else Nothing()

    def _tokens_of(self, node: AnyOfTokens) -> Tokens | Nothing:
        weighted = tuple((each.text, each.weight) for each in node.tokens)
        if node.least < 1 or len(dict(weighted)) < len(weighted):
            raise ValueError("tokens must differ from each other, and `least` be 1 or more")
        if not all(isfinite(weight) and weight >= 0 for _, weight in weighted):
            raise ValueError("the weight of a token must be a number of at least 0")
        self._spend(len(weighted), leaves=len(weighted))  # each is a term
        return Tokens(weighted, node.least) if node.least <= len(weighted) else Nothing()

    def _ids(self, node: Ids) -> OneOf | Nothing:
        self._spend(0, ids=len(node.ids))
        return OneOf(tuple(dict.fromkeys(node.ids))) if node.ids else Nothing()

    def _require_searched(self, name: str | None) -> None:
        known = self._fields.searched
        if name is not None and name not in known:
            raise ValueError(f"{name!r} is no searched field; there are {', '.join(known)}")

    def _require_filter(self, name: str, kinds: Sequence[FilterKind], what: str) -> None:
        if self._fields.kind_of(name) not in kinds:
            raise ValueError(f"{name!r} is no {what} filter of this index")

    def _spend(self, tokens: int, leaves: int = 1, ids: int = 0) -> None:
        self._leaves -= leaves
        self._tokens -= tokens
        self._ids_left -= ids
        if self._leaves < 0 or self._tokens < 0 or self._ids_left < 0:
            raise QueryTooLarge(
                f"the query has more than {MOST_LEAVES} terms, {MOST_TOKENS} characters or "
                f"{MOST_IDS} ids: look for less at once"
            )


def _gaps(pieces: tuple[str, ...], field: str | None, *, backwards: bool) -> Gaps | Nothing:
    """Return the leaf, unless a piece is longer than a token: gaps reach as far as one token."""
    if max(map(len, pieces)) > LONGEST_TOKEN:
        return Nothing()
    return Gaps(pieces, field, backwards)
