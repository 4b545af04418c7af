"""Stars: what stands for any letters at the edges of a word, and within one."""

import re
from dataclasses import dataclass

from sakuin.indexer.fold import fold
from sakuin.indexer.tokens import is_spaced

STARS = "*＊"
_GAPS = re.compile(f"[{STARS}]+")


@dataclass(frozen=True, slots=True)
class Starred:
    """A word without the stars at its edges."""

    text: str
    open_start: bool
    open_end: bool


def cut_stars(word: str) -> Starred:
    """Take one star off either end; where more stars, or nothing else, are there, all is text."""
    open_start, open_end = word[:1] in STARS, word[-1:] in STARS
    text = word[open_start : len(word) - open_end]
    if not text or text[0] in STARS or text[-1] in STARS:
        return Starred(word, open_start=False, open_end=False)
    return Starred(text, open_start, open_end)


def pieces(word: Starred) -> tuple[str, ...]:
    """Return the pieces between the stars in a word; none where a star there can only be text.

    A star within a word stands for letters only where each piece is nothing but letters, marks
    and numbers of scripts that part words by blanks.
    """
    parts = _GAPS.split(word.text)
    if len(parts) == 1 or not all(_is_spaced(part) for part in parts):
        return ()
    return (*[""] * word.open_start, *parts, *[""] * word.open_end)


def _is_spaced(text: str) -> bool:
    folded = fold(text)
    return bool(folded) and all(is_spaced(character) for character in folded)
