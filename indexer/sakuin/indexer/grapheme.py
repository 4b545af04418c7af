"""Where a text may be cut without splitting what a reader sees as one character.

The rules of Unicode's extended grapheme clusters: marks, variation selectors, joined emoji, skin
tones, flags, conjoining Hangul, Thai and Lao vowels. No character is longer than 1,000 code points.
"""

import unicodedata
from functools import lru_cache

_ZERO_WIDTH_JOINER = "\u200d"
_MOST_STEPS = 1_000


def cut_before(text: str, at: int) -> int:
    """Return the nearest place at or before `at` that splits no character."""
    for place in range(at, max(at - _MOST_STEPS, -1), -1):
        if _may_cut(text, place):
            return place
    return at


def cut_after(text: str, at: int) -> int:
    """Return the nearest place at or after `at` that splits no character."""
    for place in range(at, min(at + _MOST_STEPS, len(text) + 1)):
        if _may_cut(text, place):
            return place
    return at


@lru_cache(maxsize=8192)
def columns(character: str) -> int:
    """Return how wide a character is shown: 2 for East Asian wide ones, 0 for marks, else 1."""
    if character.isascii():
        return 1
    if unicodedata.category(character) in ("Mn", "Me", "Cf") or _is_vowel_or_final(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "FW" else 1


def _may_cut(text: str, at: int) -> bool:
    if at <= 0 or at >= len(text):
        return True
    before, after = text[at - 1], text[at]
    if after.isascii():
        return not (before == "\r" and after == "\n")
    if _extends(after) or _joins_hangul(before, after):
        return False
    if before == _ZERO_WIDTH_JOINER and unicodedata.category(after)[0] in "SP":
        return False
    return not (_is_flag_half(after) and _flag_halves_before(text, at) % 2)


def _extends(character: str) -> bool:
    return (
        unicodedata.category(character)[0] == "M"
        or character in "\u0e33\u0eb3\u200c\u200d\uff9e\uff9f"
        or "\U0001f3fb" <= character <= "\U0001f3ff"
        or "\U000e0020" <= character <= "\U000e007f"
    )


def _joins_hangul(before: str, after: str) -> bool:
    """Tell whether a letter, vowel or final of a Hangul syllable goes on with the next one."""
    if not "\u1100" <= after <= "\ud7fb" or "\u1200" <= after < "\ua960":
        return False
    if _is_leading(before):
        return _is_leading(after) or "\uac00" <= after <= "\ud7a3" or _is_vowel_or_final(after)
    return _is_vowel_or_final(after) and (
        "\uac00" <= before <= "\ud7a3" or _is_vowel_or_final(before)
    )


def _is_leading(character: str) -> bool:
    return "\u1100" <= character <= "\u115f" or "\ua960" <= character <= "\ua97c"


def _is_vowel_or_final(character: str) -> bool:
    return "\u1160" <= character <= "\u11ff" or "\ud7b0" <= character <= "\ud7fb"


def _is_flag_half(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def _flag_halves_before(text: str, at: int) -> int:
    start = at
    while start > 0 and at - start < _MOST_STEPS and _is_flag_half(text[start - 1]):
        start -= 1
    return at - start
