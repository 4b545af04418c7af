"""Cutting folded text into tokens (promise S1): the one analysis that every engine shares.

Tokens hold no blank, so an engine needs only an analyser that splits at blanks, one position a
token; a query is then one phrase without slop, or one term.
"""

import re
import unicodedata
from array import array
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from functools import cache
from operator import add

from sakuin.indexer.fold import BLANK, DEFAULT_FOLDING, Folding, fold

ANALYSIS_VERSION = 3
"""Changes whenever tokens or words of some text change: indexes made before must be rebuilt."""

LONGEST_TOKEN = 255
"""Characters of a word in one token; a longer word takes several tokens."""

_GOES_ON = "\ufdd1"  # a noncharacter as BLANK is: stands where a long word was parted
_SHORT_RUN = 12
_ONE_BLANK = re.compile(r"\s")
_FOUR_BYTE_BLANK = b"\x20\0\0\0"

# The scripts that put no blank between words, in blocks (Thai, Lao, Tibetan, Myanmar, Hangul,
# Khmer, Han, kana, Bopomofo, Yi): their letters, marks and numbers, with 々 〇 ー 〱 among them.
_UNSPACED_BLOCKS = (
    (0x0E00, 0x109F),
    (0x1100, 0x11FF),
    (0x1780, 0x17FF),
    (0x3001, 0xA4CF),
    (0xA960, 0xA97F),
    (0xA9E0, 0xA9FF),
    (0xAA60, 0xAA7F),
    (0xAC00, 0xD7FF),
    (0xF900, 0xFAFF),
    (0xFF65, 0xFFDC),
    (0x116D0, 0x116FF),
    (0x16FE2, 0x16FE3),
    (0x16FF0, 0x16FF1),
    (0x1AFF0, 0x1B16F),
)
# Above the first two planes there is only Han, and nothing that folding leaves.
_PLANE = 0x10000
_ASTRAL = re.compile("[\U00010000-\U0010ffff]")


@dataclass(frozen=True, slots=True)
class QueryCut:
    """A query text as tokens that must follow each other; no token matches nothing.

    With `open_end` the last token stands for every token of the dictionary that begins with it:
    a word that may go on, or one character of an unspaced script. With `open_start` the first
    token stands for every token that ends with it: a word that may begin before. One token may
    have both, and then stands for every token that holds it.
    """

    tokens: tuple[str, ...]
    open_start: bool = False
    open_end: bool = False

    def places(self) -> dict[str, list[int]]:
        """Return where each token stands, without those at the ends that stand for others."""
        places: dict[str, list[int]] = {}
        for place, token in enumerate(self.tokens):
            if not (self.open_start and place == 0) and not (
                self.open_end and place == len(self.tokens) - 1
            ):
                places.setdefault(token, []).append(place)
        return places


def cut(text: str) -> list[str]:
    """Return the tokens of a document's folded text, in order, one position each."""
    return token_text(text).split()


def token_text(text: str) -> str:
    """Return the tokens of a document's folded text, parted by single blanks."""
    return _joined_tokens(_spaced(text).split(text.strip()))


def token_texts(text: str) -> tuple[str, str, list[str]]:
    """Return the tokens of a folded text, those of its words backwards, and its words.

    (Backwards for `*word`; the words are those of spaced scripts, whole, as they come.)
    """
    parts = _spaced(text).split(text.strip())
    if len(parts) == 1:
        return _unspaced_tokens(parts[0]) if parts[0] else "", "", []
    words = " ".join(parts[1::2]).split()
    backwards = " ".join(words)[::-1]
    if any(len(word) > LONGEST_TOKEN for word in words):
        backwards = token_text(backwards)
    return _joined_tokens(parts), backwards, words


def _joined_tokens(parts: Sequence[str]) -> str:
    """Join the tokens of a text that was split at its runs of words and blanks."""
    pieces: list[str] = []
    for at, part in enumerate(parts):
        if not part:
            continue
        if at % 2 == 0:
            pieces.append(_unspaced_tokens(part))
        elif part == " ":
            pieces.append(BLANK)
        else:
            pieces += _spaced_tokens(part, before=parts[at - 1], after=parts[at + 1])
    return " ".join(pieces)


def cut_query(
    text: str,
    folding: Folding = DEFAULT_FOLDING,
    *,
    open_start: bool = False,
    open_end: bool = False,
) -> QueryCut:
    """Fold and cut what is looked for; with an open end its last word may go on.

    With an open start its first word may begin before. An end that is no word is open always.

    The outermost single characters of an unspaced script are left out: there the match may
    begin or end anywhere.
    """
    folded = fold(text, folding).strip()
    if not folded:
        return QueryCut(())
    tokens = cut(folded)
    begins_in_word, ends_in_word = is_spaced(folded[0]), is_spaced(folded[-1])
    kept = tokens[0 if begins_in_word else 1 : None if ends_in_word else -1]
    if not kept:
        return QueryCut((folded,), open_end=True)
    return QueryCut(
        tuple(kept),
        open_start=open_start and begins_in_word,
        open_end=open_end and ends_in_word,
    )


def cut_wildcard(pieces: Sequence[str], folding: Folding = DEFAULT_FOLDING) -> tuple[str, ...]:
    """Return the folded pieces of a word with gaps in it."""
    return tuple(fold(piece, folding) for piece in pieces)


def follow_each_other(found: Sequence[tuple[Set[int], Sequence[int]]]) -> bool:
    """Tell whether tokens stand in a text as they stand in a phrase.

    For each token `found` has its positions in the text, and its places in the phrase.
    """
    rarest, (first, *_) = min(found, key=lambda each: len(each[0]))
    steps = [(place - first, positions) for positions, places in found for place in places]
    return any(all(start + step in positions for step, positions in steps) for start in rarest)


def is_spaced(character: str) -> bool:
    """Tell whether a folded character is a letter, mark or number of a script with word edges."""
    return not character.isspace() and _spaced(character).fullmatch(character) is not None


def count_units(text: str) -> int:
    """Return how many words of spaced scripts, and other visible characters, a text is made of."""
    return units_before(text)[-1]


def units_before(text: str) -> list[int]:
    """Return how many units begin before each character, and before the end.

    Within a word, whose unit goes on, what is before the word.
    """
    before: list[int] = []
    count = 0
    for at, part in enumerate(_spaced(text).split(text)):
        if at % 2 == 0:
            before.extend(range(count, count + len(part)))
            count += len(part)
            continue
        for blanks, word in enumerate(_ONE_BLANK.split(part)):
            before.extend([count] * (len(word) + (blanks > 0)))
            count += word != ""
    before.append(count)
    return before


def _unspaced_tokens(run: str) -> str:
    """Return c1 c1c2 c2c3 … cn; long runs by 4-byte units, 4 times faster than joining strings."""
    if len(run) < _SHORT_RUN:
        return " ".join((run[0], *map(add, run, run[1:]), run[-1]))
    units = array("I", run.encode("utf-32-le"))
    pairs = array("I", _FOUR_BYTE_BLANK) * (3 * len(units) - 3)
    pairs[0::3], pairs[1::3] = units[:-1], units[1:]
    return f"{run[0]} {pairs.tobytes().decode('utf-32-le')}{run[-1]}"


def _spaced_tokens(part: str, *, before: str, after: str) -> list[str]:
    """Return the words of a part, and BLANK where blanks touch the unspaced text around it."""
    words = part.split()
    if len(part) > LONGEST_TOKEN:
        words = [token for word in words for token in _parted(word)]
    head = [BLANK] if before and part[0].isspace() else []
    tail = [BLANK] if after and part[-1].isspace() and words else []
    return head + words + tail


def _parted(word: str) -> list[str]:
    """Cut a long word into tokens of which none but the last could end a word."""
    starts = range(0, len(word), LONGEST_TOKEN)
    return [
        f"{_GOES_ON if at else ''}{word[at : at + LONGEST_TOKEN]}"
        f"{_GOES_ON if at + LONGEST_TOKEN < len(word) else ''}"
        for at in starts
    ]


def _spaced(text: str) -> re.Pattern[str]:
    """Return what splits this text at its runs of words and blanks."""
    return _astral_pattern() if _ASTRAL.search(text) else _plain_pattern()


@cache
def _plain_pattern() -> re.Pattern[str]:
    return re.compile(f"([{_ranges(0)}]+)")


@cache
def _astral_pattern() -> re.Pattern[str]:
    # The look-ahead spares all other characters the long list of ranges: 10 times faster.
    return re.compile(f"((?:[{_ranges(0)}]|(?=[\U00010000-\U0001ffff])[{_ranges(1)}])+)")


def _ranges(plane: int) -> str:
    """Return the spaced letters, marks and numbers, and the blanks, of a plane of Unicode.

    Read from the running Python's tables when first needed (5 ms), so that both agree.
    """
    ranges: list[list[int]] = []
    for code in _codes_outside_blocks(plane * _PLANE, (plane + 1) * _PLANE):
        character = chr(code)
        if unicodedata.category(character)[0] in "LMN" or character.isspace():
            if ranges and ranges[-1][1] == code - 1:
                ranges[-1][1] = code
            else:
                ranges.append([code, code])
    return "".join(f"{re.escape(chr(a))}-{re.escape(chr(b))}" for a, b in ranges)


def _codes_outside_blocks(start: int, end: int) -> Iterator[int]:
    for first, last in _UNSPACED_BLOCKS:
        if last >= start:
            yield from range(start, min(first, end))
            start = max(start, min(last + 1, end))
    yield from range(start, end)
