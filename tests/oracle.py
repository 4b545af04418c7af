"""What a search must find, computed the naive way (promise S1, rule 6).

Shares no code with the engines, not even the folding: it looks for substrings, and at what
stands beside them.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import pairwise, product

from oracle_fold import oracle_fold, settle
from sakuin.indexer.document import Document, Fields
from sakuin.indexer.engine import Order
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

__all__ = [
    "Row",
    "has_edges",
    "in_order",
    "matches",
    "matches_settled",
    "matching",
    "matching_ids",
    "near_choices",
    "oracle_fold",
    "row_of",
    "settle",
    "tokens_of",
    "units",
    "words_between_edges",
]

# The scripts without blanks between words, found by the names of their characters.
_UNSPACED_NAMES = re.compile(
    r"(CJK|HANGZHOU NUMERAL|IDEOGRAPHIC (?!TALLY)|OLD CHINESE|VIETNAMESE ALTERNATE|HIRAGANA|"
    r"KATAKANA|COMBINING KATAKANA|VERTICAL KANA|VERTICAL IDEOGRAPHIC|BOPOMOFO|HANGUL|HALFWIDTH|"
    r"MASU MARK|HENTAIGANA|THAI|LAO|KHMER|MYANMAR|TIBETAN|YI|CIRCLED NUMBER \w+ ON BLACK)\b"
)


@cache
def has_edges(character: str) -> bool:
    """Tell whether a character is a letter, mark or number of a spaced script."""
    if unicodedata.category(character)[0] not in "LMN":
        return False
    return not _UNSPACED_NAMES.match(unicodedata.name(character, ""))


def matches_settled(
    query: str, body: str, *, open_start: bool = False, prefix: bool = False
) -> bool:
    """Tell whether a settled query stands in a settled body, at word edges where it has any."""
    if not query:
        return False
    at = body.find(query)
    while at >= 0:
        end = at + len(query)
        free_before = open_start or at == 0 or not (has_edges(query[0]) and has_edges(body[at - 1]))
        free_after = (
            prefix or end == len(body) or not (has_edges(query[-1]) and has_edges(body[end]))
        )
        if free_before and free_after:
            return True
        at = body.find(query, at + 1)
    return False


def matches(query: str, body: str, *, prefix: bool = False) -> bool:
    """Tell whether a phrase, or a prefix, matches a text."""
    return matches_settled(settle(query), settle(body), prefix=prefix)


@dataclass(frozen=True, slots=True)
class Row:
    """What a search looks at: settled texts by field, and folded values by filter."""

    id: str
    texts: Mapping[str, str]
    values: Mapping[str, str | int]


def row_of(document: Document, fields: Fields) -> Row:
    """Settle a document."""
    values: dict[str, str | int] = {
        name: oracle_fold(value) if isinstance(value, str) else value
        for name, value in document.values.items()
    }
    values["id"] = document.id if fields.text_ids else document.number
    if fields.timed:
        values["created"] = document.at
    return Row(document.id, {name: settle(document.text[name]) for name in fields.searched}, values)


def matching(query: Query, rows: Sequence[Row]) -> set[str]:
    """Return the ids of the rows that match, one after another, whatever the tree says."""
    every = {row.id for row in rows}
    if isinstance(query, And):
        return every.intersection(*(matching(each, rows) for each in query.children))
    if isinstance(query, Or):
        return set().union(*(matching(each, rows) for each in query.children))
    if isinstance(query, Not):
        return every - matching(query.child, rows)
    if isinstance(query, Everything | Nothing):
        return every if isinstance(query, Everything) else set()
    if isinstance(query, Value):
        wanted = query.text if query.field == "id" else oracle_fold(query.text)
        return {row.id for row in rows if _has_value(row, query, wanted)}
    if isinstance(query, Range):
        return {row.id for row in rows if _in_range(row.values.get(query.field), query)}
    if isinstance(query, Ids):
        return every.intersection(query.ids)
    if isinstance(query, AnyOfTokens):
        asked = {token.text for token in query.tokens}
        return {row.id for row in rows if len(asked & tokens_of(row.texts.values())) >= query.least}
    fits = _fitting(query)
    return {row.id for row in rows if any(map(fits, _texts(row, query)))}


def _fitting(query: Phrase | Wildcard | Near) -> Callable[[str], bool]:
    """Return what tells of a settled text whether it is meant."""
    if isinstance(query, Near):
        parts, distance = [settle(part.text) for part in query.parts], query.distance
        return lambda text: any(near_choices(parts, text, distance))
    if isinstance(query, Wildcard):
        pieces = [oracle_fold(piece) for piece in query.pieces]
        pattern = re.compile(".*".join(map(re.escape, pieces)), re.DOTALL)
        return lambda text: any(map(pattern.fullmatch, words_between_edges(text)))
    return partial(
        matches_settled,
        settle(query.text),
        open_start=query.open_start,
        prefix=query.open_end,
    )


def near_choices(parts: Sequence[str], body: str, distance: int) -> Iterator[list[tuple[int, int]]]:
    """Yield each choice of a place for every part that is near enough, as spans of characters."""
    if not all(parts):
        return
    for choice in product(*(list(_standing(part, body)) for part in parts)):
        spans = sorted(choice)
        if all(one[1] <= other[0] for one, other in pairwise(spans)):
            gaps = [body[a[1] : b[0]] for a, b in pairwise(spans)]
            if sum(map(units, gaps)) <= distance:
                yield spans


def units(text: str) -> int:
    """Count words of spaced scripts, and characters of others, in a text cut at edges."""
    spread = "".join(one if has_edges(one) else f" {one.strip()} " for one in text)
    return len(spread.split())


def _standing(part: str, body: str) -> Iterator[tuple[int, int]]:
    for start in range(len(body) - len(part) + 1):
        end = start + len(part)
        cuts = [body[at - 1 : at + 1] for at in (start, end) if 0 < at < len(body)]
        if body[start:end] == part and not any(all(map(has_edges, pair)) for pair in cuts):
            yield start, end


def matching_ids(query: Query, bodies: Mapping[str, Iterable[str]]) -> set[str]:
    """Return the ids of the documents that match; `bodies` holds settled texts of each id."""
    rows = [
        Row(one, {str(at): text for at, text in enumerate(texts)}, {})
        for one, texts in bodies.items()
    ]
    return matching(query, rows)


def in_order(
    documents: Iterable[Document], ids: set[str], order: Order, fields: Fields
) -> list[str]:
    """Return these ids as an order other than relevance must give them."""

    def key(one: Document) -> tuple[object, ...]:
        own = one.id if fields.text_ids else one.number
        if order is Order.ID:
            return (own,)
        if order is Order.SOURCE:
            assert fields.place
            text, number = (one.values.get(name) for name in fields.place)
            return (text is not None, text or "", number is not None, number or 0, own)
        return (-one.at if order is Order.NEWEST else one.at, own)

    return [one.id for one in sorted(documents, key=key) if one.id in ids]


def _texts(row: Row, query: Phrase | Wildcard | Near) -> Iterable[str]:
    return row.texts.values() if query.field is None else [row.texts[query.field]]


@cache
def words_between_edges(text: str) -> frozenset[str]:
    """Return the maximal runs of letters, marks and numbers of spaced scripts."""
    return frozenset("".join(c if has_edges(c) else " " for c in text).split(" ")) - {""}


def tokens_of(texts: Iterable[str]) -> frozenset[str]:
    """Return the tokens of settled texts, but for those that stand for blanks or long words.

    Words; of every other run of visible characters all pairs, and the first and the last one.
    """
    return _tokens(" ".join(texts))


@cache
def _tokens(text: str) -> frozenset[str]:
    others = "".join(" " if has_edges(c) else c for c in text).split(" ")
    pairs = (run[at : at + 2] for run in others for at in range(len(run) - 1))
    ends = (one for run in others if run for one in (run[0], run[-1]))
    return words_between_edges(text).union(pairs, ends)


def _has_value(row: Row, query: Value, wanted: str) -> bool:
    value = row.values.get(query.field)
    if not isinstance(value, str):
        return False
    return value.startswith(wanted) if query.open_end else value == wanted


def _in_range(value: str | int | None, query: Range) -> bool:
    if not isinstance(value, int):
        return False
    return (query.low is None or query.low <= value) and (query.high is None or value <= query.high)
