"""Other spellings of a text in kana: the other kana, long vowels marked or not."""

from collections.abc import Iterator
from typing import Final

from sakuin.indexer.kana import to_hiragana

_KATAKANA: Final = {
    ord(to_hiragana(chr(code))): code for code in (*range(0x30A1, 0x30F7), 0x30FD, 0x30FE)
}
_SMALL, _LARGE = (
    "ァィゥェォッャュョヮヵヶぁぃぅぇぉっゃゅょゎ",
    "アイウエオツヤユヨワカケあいうえおつやゆよわ",
)
_SIZES: Final = dict(zip(_SMALL + _LARGE, _LARGE + _SMALL, strict=True))


def to_katakana(folded: str) -> str:
    """Return the text with each hiragana as the katakana that sounds the same."""
    return folded.translate(_KATAKANA)


def kana_forms(folded: str) -> Iterator[str]:
    """Yield the text in either kana, each also with one kana changed, or no long vowel marked.

    Changed is a long vowel (marked or not) or the size of a kana (フアイル, ファイル).
    """
    for form in dict.fromkeys((folded, to_katakana(folded), to_hiragana(folded))):
        yield form
        yield form.replace("ー", "")
        for at, character in enumerate(form):
            before, after = form[:at], form[at + 1 :]
            if character == "ー":
                yield before + after
            elif "ァ" <= character <= "ヺ":
                yield before + character + "ー" + after
            if size := _SIZES.get(character):
                yield before + size + after
