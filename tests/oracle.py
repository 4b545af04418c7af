"""What a search must find, computed the naive way (promise S1, rule 6).

Shares no code with the engines, not even the folding: it looks for substrings, and at what
stands beside them.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping

from sakuin.indexer.query import And, Everything, Not, Nothing, Or, Phrase, Query

# Default_Ignorable_Code_Point of Unicode 14 (DerivedCoreProperties.txt).
_IGNORABLE = frozenset(
    code
    for first, last in (
        (0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C), (0x115F, 0x1160), (0x17B4, 0x17B5),
        (0x180B, 0x180F), (0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164),
        (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF), (0xFFA0, 0xFFA0), (0xFFF0, 0xFFF8),
        (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF),
    )
    for code in range(first, last + 1)
)  # fmt: skip

# The scripts without blanks between words, found by the names of their characters.
_UNSPACED_NAMES = re.compile(
    r"(CJK|HANGZHOU NUMERAL|IDEOGRAPHIC (?!TALLY)|OLD CHINESE|VIETNAMESE ALTERNATE|HIRAGANA|"
    r"KATAKANA|COMBINING KATAKANA|VERTICAL KANA|VERTICAL IDEOGRAPHIC|BOPOMOFO|HANGUL|HALFWIDTH|"
    r"MASU MARK|HENTAIGANA|THAI|LAO|KHMER|MYANMAR|TIBETAN|YI|CIRCLED NUMBER \w+ ON BLACK)\b"
)


def oracle_fold(text: str) -> str:
    """Fold the whole text at once."""
    kept = "".join(
        "\ufffd" if 0xD800 <= ord(c) <= 0xDFFF else c
        for c in text
        if ord(c) not in _IGNORABLE and not _is_noncharacter(ord(c))
    )
    first = unicodedata.normalize("NFKC", kept.replace("〜", "~"))
    return unicodedata.normalize("NFKC", first.casefold())


def settle(text: str) -> str:
    """Fold, trim, and make every run of blanks one blank."""
    return " ".join(oracle_fold(text).split())


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


def _is_noncharacter(code: int) -> bool:
    return 0xFDD0 <= code <= 0xFDEF or code & 0xFFFE == 0xFFFE
