"""Folding (promise S2): one spelling for what a reader takes to be the same text.

fold = NFKC(casefold(NFKC(text))), after default-ignorable code points and noncharacters are
dropped and the two wave dashes are made one. Then what a `Folding` asks for: kanji, kana and long
vowels are mapped character by character, so a folding that asks for more finds no less. Folding
twice changes nothing more.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from typing import Final

from sakuin.indexer.kana import LONG_VOWEL, to_hiragana, without_long_vowels
from sakuin.indexer.kanji_variants import may_become_variants, unify_kanji

BLANK = "\ufdd0"
"""A noncharacter, never in folded text: what `tokens` puts where a run of blanks stood."""

_WAVE_DASH, _FULL_WIDTH_TILDE = "\u301c", "\uff5e"

# DerivedCoreProperties.txt, Default_Ignorable_Code_Point, the same from Unicode 14 to 17
# (the property is kept reserved in whole blocks, so new versions add characters, not ranges).
_IGNORABLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_NONCHARACTER = "\ufdd0-\ufdef" + "".join(
    f"{chr(plane + 0xFFFE)}{chr(plane + 0xFFFF)}" for plane in range(0, 0x110000, 0x10000)
)
_DROPPED = re.compile(f"[{_IGNORABLE}{_NONCHARACTER}]")
_SURROGATE = re.compile("[\ud800-\udfff]")
# One cheap pass tells that a text has nothing to drop; a single range for all that is astral
# keeps it 5 times faster than the exact set, and astral characters are rare. What may be a
# variant of a kanji is looked for in the same pass, which then takes no longer.
_SUSPECTS = (
    f"{_IGNORABLE.split(chr(0x1BCA0))[0]}\ud800-\udfff\ufdd0-\ufdef\ufffe-\U0010ffff{_WAVE_DASH}"
)
# `normalize` sorts a run of marks in quadratic time: a run is sorted before it gets there.
_SHORT = 512
_LONG_RUN = 30


@dataclass(frozen=True, slots=True)
class Folding:
    """What an index takes to be one spelling, beyond NFKC and case.

    `variants`: 髙 = 高, 﨑 = 崎, 國 = 国; `kana`: カ = か; `long_vowels`: サーバー = サーバ.
    """

    variants: bool = True
    kana: bool = False
    long_vowels: bool = False


DEFAULT_FOLDING: Final = Folding()


@dataclass(frozen=True, slots=True)
class Folded:
    """Folded text with its way back: `text[i]` came from `original[spans[i][0]:spans[i][1]]`.

    A span covers a whole composition cluster (a base with its marks and what was dropped after
    it), so a highlight cut at spans never splits a character that is seen as one.
    """

    text: str
    spans: tuple[tuple[int, int], ...]


def fold(text: str, folding: Folding = DEFAULT_FOLDING) -> str:
    """Return the folded text; takes any string, lone surrogates become U+FFFD."""
    if text.isascii():
        return text.lower()
    suspect = _suspect(folding.variants).search(text)
    if suspect and _suspect(False).search(text, suspect.start()):
        text = _SURROGATE.sub("\ufffd", _DROPPED.sub("", text))
        text = text.replace(_WAVE_DASH, _FULL_WIDTH_TILDE)
    if len(text) > _SHORT:
        text = _sort_long_runs(text)
    text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    if suspect and folding.variants:
        text = unify_kanji(text)
    if folding.kana:
        text = to_hiragana(text)
    if folding.long_vowels:
        text = without_long_vowels(text)
    return text


def fold_with_map(text: str, folding: Folding = DEFAULT_FOLDING) -> Folded:
    """Return the same folded text as `fold`, with the span of the original for each character."""
    if text.isascii():
        return Folded(text.lower(), tuple((at, at + 1) for at in range(len(text))))
    pieces: list[str] = []
    spans: list[tuple[int, int]] = []
    fold_character = _fold_character(folding)
    for start, end in _clusters(text, folding):
        part = text[start:end]
        piece = fold_character(part) if len(part) == 1 else fold(part, folding)
        pieces.append(piece)
        spans.extend([(start, end)] * len(piece))
    return Folded("".join(pieces), tuple(spans))


def _clusters(text: str, folding: Folding) -> Iterator[tuple[int, int]]:
    """Cut where no character after the cut can compose with one before it."""
    start = 0
    begins_cluster = _begins_cluster(folding.long_vowels)
    for at, character in enumerate(text):
        if at > start and begins_cluster(character):
            yield start, at
            start = at
    if text:
        yield start, len(text)


@cache
def _begins_cluster(long_vowels: bool) -> Callable[[str], bool]:
    """Return what tells whether nothing before a character combines with it or takes it along.

    Every second half of a canonical composition is a mark, or a Hangul vowel or final.
    """

    @lru_cache(maxsize=8192)
    def begins_cluster(character: str) -> bool:
        if _DROPPED.match(character):
            return False
        first = unicodedata.normalize("NFKD", character)[0]
        if first == LONG_VOWEL:
            return not long_vowels
        return unicodedata.category(first)[0] != "M" and not "\u1160" <= first <= "\u11ff"

    return begins_cluster


@cache
def _suspect(variants: bool) -> re.Pattern[str]:
    return re.compile(f"[{_SUSPECTS}{may_become_variants() if variants else ''}]")


@cache
def _fold_character(folding: Folding) -> Callable[[str], str]:
    return lru_cache(maxsize=8192)(partial(fold, folding=folding))


def _sort_long_runs(text: str) -> str:
    """Put long runs of combining marks into canonical order; changes nothing that NFKC sees."""
    marks = [c for c in set(text) if unicodedata.combining(unicodedata.normalize("NFKD", c)[0])]
    if not marks:
        return text
    run = re.compile(f"[{re.escape(''.join(marks))}]{{{_LONG_RUN},}}")
    return run.sub(_sorted_run, text)


def _sorted_run(run: re.Match[str]) -> str:
    decomposed = "".join(unicodedata.normalize("NFKD", mark) for mark in run[0])
    return "".join(sorted(decomposed, key=unicodedata.combining))
