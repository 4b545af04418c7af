"""What a search must find, computed the naive way (promise S1, rule 6).

Shares no code with the engines, not even the folding: it looks for substrings, and at what
stands beside them.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping

from oracle_fold import oracle_fold, settle
from sakuin.indexer.query import And, Everything, Not, Nothing, Or, Phrase, Query

__all__ = ["has_edges", "matches", "matches_settled", "matching_ids", "oracle_fold", "settle"]

# The scripts without blanks between words, found by the names of their characters.
_UNSPACED_NAMES = re.compile(
    r"(CJK|HANGZHOU NUMERAL|IDEOGRAPHIC (?!TALLY)|OLD CHINESE|VIETNAMESE ALTERNATE|HIRAGANA|"
    r"KATAKANA|COMBINING KATAKANA|VERTICAL KANA|VERTICAL IDEOGRAPHIC|BOPOMOFO|HANGUL|HALFWIDTH|"
    r"MASU MARK|HENTAIGANA|THAI|LAO|KHMER|MYANMAR|TIBETAN|YI|CIRCLED NUMBER \w+ ON BLACK)\b"
)


def has_edges(character: str) -> bool:
    """Tell whether a character is a letter, mark or number of a spaced script."""
    if unicodedata.category(character)[0] not in "LMN":
        return False
    return not _UNSPACED_NAMES.match(unicodedata.name(character, ""))


def matches_settled(query: str, body: str, *, prefix: bool = False) -> bool:
    """Tell whether a settled query stands in a settled body, at word edges where it has any."""
    if not query:
        return False
    at = body.find(query)
    while at >= 0:
        end = at + len(query)
        free_before = at == 0 or not (has_edges(query[0]) and has_edges(body[at - 1]))
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


def matching_ids(query: Query, bodies: Mapping[str, Iterable[str]]) -> set[str]:
    """Return the ids of the documents that match; `bodies` holds settled texts of each id."""
    if isinstance(query, Phrase):
        wanted, prefix = settle(query.text), query.open_end
        return {
            each
            for each, texts in bodies.items()
            if any(matches_settled(wanted, text, prefix=prefix) for text in texts)
        }
    if isinstance(query, And):
        return set(bodies).intersection(*(matching_ids(each, bodies) for each in query.children))
    if isinstance(query, Or):
        return set().union(*(matching_ids(each, bodies) for each in query.children))
    if isinstance(query, Not):
        return set(bodies) - matching_ids(query.child, bodies)
    if isinstance(query, Everything):
        return set(bodies)
    assert isinstance(query, Nothing)
    return set()
