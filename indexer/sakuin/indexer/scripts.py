"""What kind of writing a folded character belongs to: where it changes, a phrase may end."""

import unicodedata
from enum import Enum
from functools import lru_cache

from sakuin.indexer.tokens import is_spaced


class Script(Enum):
    """A kind of writing. Words of SPACED stand between edges, those of the others do not."""

    SPACED = "letters, marks and numbers of scripts with word edges"
    KANJI = "kanji"
    HIRAGANA = "hiragana"
    KATAKANA = "katakana"
    HANGUL = "hangul"
    OTHER = "letters of other scripts without word edges, as Thai"
    BLANK = "blanks"
    SIGN = "punctuation, symbols, emoji"


_BLOCKS = (
    (0x1100, 0x11FF, Script.HANGUL),
    (0x3041, 0x309F, Script.HIRAGANA),
    (0x30A0, 0x30FF, Script.KATAKANA),
    (0x3130, 0x318F, Script.HANGUL),
    (0x31F0, 0x31FF, Script.KATAKANA),
    (0x3400, 0x9FFF, Script.KANJI),
    (0xA960, 0xA97F, Script.HANGUL),
    (0xAC00, 0xD7FF, Script.HANGUL),
    (0xF900, 0xFAFF, Script.KANJI),
    (0x20000, 0x3FFFF, Script.KANJI),
)


@lru_cache(maxsize=8192)
def script_of(character: str) -> Script:
    """Return the kind of writing of one folded character."""
    if character.isspace():
        return Script.BLANK
    if is_spaced(character):
        return Script.SPACED
    if character in "々〇":
        return Script.KANJI
    if unicodedata.category(character)[0] not in "LMN":
        return Script.SIGN
    code = ord(character)
    return next((script for low, high, script in _BLOCKS if low <= code <= high), Script.OTHER)
