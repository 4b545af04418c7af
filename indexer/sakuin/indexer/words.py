"""The words of a text as people type them, and the one pass that cuts a text for an engine.

Words are what is offered while somebody types, and what is counted. Where a script puts blanks
between its words they are those; of others they are runs of kanji, of katakana and of Hangul.
"""

import re
from functools import cache
from typing import Final

from sakuin.indexer.fold import DEFAULT_FOLDING, Folding, fold
from sakuin.indexer.tokens import token_texts

LONGEST_WORD: Final = 30
"""Characters of a word of a spaced script, at most."""

_KANJI: Final = "\u3400-\u4dbf\u4e00-\u9fff\ufa0e-\ufa29\U00020000-\U0003ffff々〇"
_KATAKANA: Final = "ァ-ヺヽヾㇰ-ㇿ"
_HANGUL: Final = "가-힣"
_MOST_KANJI, _MOST_KATAKANA, _MOST_HANGUL = 8, 20, 12


def words_of(text: str, folding: Folding = DEFAULT_FOLDING) -> set[str]:
    """Return the different words of a text, folded.

    A word of a spaced script has 2 to 30 characters and is not of digits alone. The others are
    whole runs: of 2 to 8 kanji, 2 to 20 katakana, 2 to 12 syllables of Hangul. A search for the
    word, in an index of this folding, finds the text.
    """
    return cut_text(text, folding)[2]


def cut_text(text: str, folding: Folding) -> tuple[str, str, set[str]]:
    """Return the tokens of a text, those of its words backwards, and its words."""
    if not folding.kana and not folding.long_vowels:
        plain = folded = fold(text, folding)
    else:
        # Katakana are words before they are hiragana, and while long vowels are still marked.
        plain = fold(text, Folding(variants=folding.variants))
        folded = fold(plain, folding)
    tokens, backwards, spaced = token_texts(folded)
    words = set(() if plain.isascii() else _runs().findall(plain))
    if words and max(map(len, words)) > _MOST_KANJI:
        words = {one for one in words if len(one) <= _MOST_KANJI or _fits(one)}
    if folded is not plain:
        words = {one for one in (fold(run, folding) for run in words) if len(one) > 1}
    for one in spaced:
        if 1 < len(one) <= LONGEST_WORD and not one.isdigit():
            words.add(one)
    return tokens, backwards, words


def _fits(run: str) -> bool:
    """Tell whether a run of more characters than any word of kanji has is short enough."""
    if "가" <= run[0] <= "힣":
        return len(run) <= _MOST_HANGUL
    return "ァ" <= run[0] <= "ㇿ" and len(run) <= _MOST_KATAKANA


@cache
def _runs() -> re.Pattern[str]:
    # One set of characters for where any run may begin: so it skips the rest fastest.
    return re.compile(
        f"[{_KANJI}{_KATAKANA}{_HANGUL}]"
        f"(?:(?<=[{_KANJI}])[{_KANJI}]+|(?<=[{_KATAKANA}])[{_KATAKANA}ー]+|(?<=[{_HANGUL}])[{_HANGUL}]+)"
    )
