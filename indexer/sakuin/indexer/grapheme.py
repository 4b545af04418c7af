"""Where a text may be cut without splitting what a reader sees as one character.

The rules of Unicode's extended grapheme clusters that folding leaves open: marks, variation
selectors, joined emoji, skin tones, flags. (Conjoining Hangul is one cluster of folding already.)
"""

import unicodedata

_ZERO_WIDTH_JOINER = "\u200d"
_MOST_STEPS = 64


def cut_before(text: str, at: int) -> int:
    """Return the nearest place at or before `at` that splits no character (64 code points far)."""
    for place in range(at, max(at - _MOST_STEPS, -1), -1):
        if _may_cut(text, place):
            return place
    return at


def cut_after(text: str, at: int) -> int:
    """Return the nearest place at or after `at` that splits no character (64 code points far)."""
    for place in range(at, min(at + _MOST_STEPS, len(text) + 1)):
        if _may_cut(text, place):
            return place
    return at


def columns(character: str) -> int:
    """Return how wide a character is shown: 2 for East Asian wide ones, 0 for marks, else 1."""
    if character.isascii():
        return 1
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "FW" else 1


def _may_cut(text: str, at: int) -> bool:
    if at <= 0 or at >= len(text):
        return True
    before, after = text[at - 1], text[at]
    if after.isascii():
        return not (before == "\r" and after == "\n")
    if _extends(after) or (before == _ZERO_WIDTH_JOINER and unicodedata.category(after) == "So"):
        return False
    return not (_is_flag_half(after) and _flag_halves_before(text, at) % 2)


def _extends(character: str) -> bool:
    return (
        unicodedata.category(character)[0] == "M"
        or character in "\u200c\u200d\uff9e\uff9f"
        or "\U0001f3fb" <= character <= "\U0001f3ff"
        or "\U000e0020" <= character <= "\U000e007f"
    )


def _is_flag_half(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def _flag_halves_before(text: str, at: int) -> int:
    start = at
    while start > 0 and at - start < _MOST_STEPS and _is_flag_half(text[start - 1]):
        start -= 1
    return at - start
