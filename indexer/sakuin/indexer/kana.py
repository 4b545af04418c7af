"""Two foldings of kana that an index may choose; both take text that is folded otherwise.

Each maps character by character or drops one, whatever stands around it: so what was found
without it is found with it. ゐ stays apart from い, ッ from ツ, and ヷ has no hiragana.
"""

import re
from typing import Final

from sakuin.indexer.normalize import joins

LONG_VOWELS: Final = "ーｰ"
"""The mark that makes a vowel long, and its half-width form, which is folded before."""

_KATAKANA = re.compile("[ァ-ヶヽヾ\U0001b164-\U0001b166]")
_HIRAGANA: Final = (
    {code: code - 0x60 for code in (*range(0x30A1, 0x30F7), 0x30FD, 0x30FE)}
    | {code: code - 0x14 for code in range(0x1B164, 0x1B167)}  # small wi, we, wo
)


def to_hiragana(folded: str) -> str:
    """Return the text with each katakana as the hiragana that sounds the same."""
    return folded.translate(_HIRAGANA) if _KATAKANA.search(folded) else folded


def without_long_vowels(folded: str) -> str:
    """Return the text without ー, but for one that carries marks of its own.

    (Without it the marks would go over to another character.)
    """
    first, *others = folded.split("ー")
    return first + "".join("ー" + part if part and joins(part[0]) else part for part in others)
