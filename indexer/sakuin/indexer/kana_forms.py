"""The other spelling of a text in kana: hiragana for katakana, katakana for hiragana."""

from typing import Final

from sakuin.indexer.kana import to_hiragana

_KATAKANA: Final = {
    ord(to_hiragana(chr(code))): code for code in (*range(0x30A1, 0x30F7), 0x30FD, 0x30FE)
}


def to_katakana(folded: str) -> str:
    """Return the text with each hiragana as the katakana that sounds the same."""
    return folded.translate(_KATAKANA)
