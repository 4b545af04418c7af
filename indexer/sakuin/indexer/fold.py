"""Folding (promise S2): one spelling for what a reader takes to be the same text.

Unicode's part is in `normalize`. Then comes what a `Folding` asks for: kanji, kana and long
vowels are mapped character by character, so a folding that asks for more finds no less. Folding
twice changes nothing more.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from typing import Final

from sakuin.indexer.kana import LONG_VOWELS, to_hiragana, without_long_vowels
from sakuin.indexer.kanji_variants import kanji_variants, unify_kanji
from sakuin.indexer.normalize import is_dropped, joins, normalize

BLANK = "\ufdd0"
"""A noncharacter, never in folded text: what `tokens` puts where a run of blanks stood."""

# Characters that fold to themselves, whatever is beside them, but for what `joins`. Most of most
# texts is of these, and nothing else is looked at: 4 to 12 times faster than the whole text.
_STABLE: Final = (
    "\0-@\\[-\x7fà-öø-ÿα-ρσ-ωа-я\u2014\u2015\u2018-\u201d"
    "\u3001-\u301b\u301d-\u3020ぁ-ゖゝゞ\u30a0-\u30fe가-힣"
)
_KANJI: Final = ((0x3400, 0x4DBF), (0x4E00, 0x9FFF))
_SHORT_RUN = 16


@dataclass(frozen=True, slots=True)
class Folding:
    """What an index takes to be one spelling, beyond NFKC and case.

    `variants`: 髙 = 高, 﨑 = 崎, 國 = 国; `kana`: カ = か; `long_vowels`: サーバー = サーバ.
    Each makes more texts one spelling, never fewer.
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
    text = _fold_runs(text, folding.variants)
    if folding.kana:
        text = to_hiragana(text)
    if folding.long_vowels:
        text = without_long_vowels(text)
    return text


def fold_with_map(text: str, folding: Folding = DEFAULT_FOLDING) -> Folded:
    """Return the same folded text as `fold`, with the span of the original for each character."""
    if text.isascii():
        return Folded(text.lower(), tuple((at, at + 1) for at in range(len(text))))
    parts = _unstable(folding.variants).split(text)
    goes_on = _goes_on(folding.long_vowels)
    if folding.long_vowels or any(goes_on(one) for run in set(parts[1::2]) for one in run):
        return _map_clusters(text, folding)
    return _map_characters(parts, folding)


def _map_clusters(text: str, folding: Folding) -> Folded:
    pieces: list[str] = []
    spans: list[tuple[int, int]] = []
    fold_character = _fold_character(folding)
    for start, end in _clusters(text, folding):
        part = text[start:end]
        piece = fold_character(part) if len(part) == 1 else fold(part, folding)
        pieces.append(piece)
        spans.extend([(start, end)] * len(piece))
    return Folded("".join(pieces), tuple(spans))


def _map_characters(parts: list[str], folding: Folding) -> Folded:
    """Map a text in which every character is a cluster: stable parts, and runs between them."""
    pieces: list[str] = []
    spans: list[tuple[int, int]] = []
    fold_character = _fold_character(folding)
    at = 0
    for number, part in enumerate(parts):
        if number % 2 == 0:
            end = at + len(part)
            pieces.append(to_hiragana(part) if folding.kana else part)
            spans.extend(zip(range(at, end), range(at + 1, end + 1), strict=True))
            at = end
            continue
        for character in part:
            piece = fold_character(character)
            pieces.append(piece)
            spans.extend([(at, at + 1)] * len(piece))
            at += 1
    return Folded("".join(pieces), tuple(spans))


def _fold_runs(text: str, variants: bool) -> str:
    """Fold what is not stable; the whole text if something in it joins what is before it."""
    parts = _unstable(variants).split(text)
    if len(parts) == 1:
        return text
    runs = parts[1::2]
    folded: dict[str, str] = {}
    fold_run = _fold_run(variants)
    for run in set(runs):
        found = fold_run(run) if len(run) <= _SHORT_RUN else _unless_joined(run, variants)
        if found is None:
            return _fold_whole(text, variants)
        folded[run] = found
    parts[1::2] = map(folded.__getitem__, runs)
    return "".join(parts)


@cache
def _fold_run(variants: bool) -> Callable[[str], str | None]:
    return lru_cache(maxsize=8192)(partial(_unless_joined, variants=variants))


def _unless_joined(run: str, variants: bool) -> str | None:
    return None if any(map(joins, run)) else _fold_whole(run, variants)


def _fold_whole(text: str, variants: bool) -> str:
    return unify_kanji(normalize(text)) if variants else normalize(text)


@cache
def _unstable(variants: bool) -> re.Pattern[str]:
    """Return what splits a text at its runs of characters that may not fold to themselves."""
    gaps = sorted(map(ord, kanji_variants())) if variants else []
    return re.compile(f"([^{_STABLE}{''.join(_ranges_between(gaps))}]+)")


def _ranges_between(gaps: list[int]) -> Iterator[str]:
    """Yield the kanji that are stable, but those in the gaps, as ranges of a character set."""
    for start, last in _KANJI:
        for gap in (*(each for each in gaps if start <= each <= last), last + 1):
            if start < gap:
                yield f"{chr(start)}-{chr(gap - 1)}"
            start = gap + 1


def _clusters(text: str, folding: Folding) -> Iterator[tuple[int, int]]:
    """Cut where nothing after the cut can combine with what is before it, or goes with it."""
    start = 0
    goes_on = _goes_on(folding.long_vowels)
    for at, character in enumerate(text):
        if at > start and not goes_on(character):
            yield start, at
            start = at
    if text:
        yield start, len(text)


@cache
def _goes_on(long_vowels: bool) -> Callable[[str], bool]:
    taken_along = LONG_VOWELS if long_vowels else ""

    @lru_cache(maxsize=8192)
    def goes_on(character: str) -> bool:
        return is_dropped(character) or joins(character) or character in taken_along

    return goes_on


@cache
def _fold_character(folding: Folding) -> Callable[[str], str]:
    return lru_cache(maxsize=8192)(partial(fold, folding=folding))
