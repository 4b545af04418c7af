"""How closest matches are weighed and ranked: the numbers that measurements chose, in one value."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Recipe:
    """What terms are worth, and what counts in a text. Made for measuring what each part brings.

    `word` is the worth of a word with word edges, where a pair of characters of one script is
    worth 1; `mixed` that of pairs of hiragana, of mixed scripts or with signs; `kanji` that of a
    kanji by itself, for ranking alone. A run of n pairs of kanji or katakana is worth sqrt(n)
    pairs, n up to `longest_run`. `english`: words that ask count for nothing, and forms of one
    word are one.

    The first `ranked_again` hits are ranked by their texts, by a sum: BM25 with `saturation` (k1)
    and `length_part` (b); `sentence` times what one sentence has; `neighbours` times the pairs
    that are neighbours in question and text; `beginning` times what the text begins with. A term
    that all the first hits have loses the part `common` of its worth.
    """

    word: float = 1.5
    mixed: float = 0.25
    kanji: float = 0.4
    longest_run: int = 8
    english: bool = True
    ranked_again: int = 40
    saturation: float = 0.6
    length_part: float = 0.75
    sentence: float = 1.0
    neighbours: float = 0.25
    beginning: float = 0.25
    common: float = 0.5


DEFAULT_RECIPE: Final = Recipe()
"""Chosen on one half of the questions of six sets, in four languages, and checked on the other."""
