"""What folding must give, computed the naive way: the whole text at once (promise S2).

Shares no code with the indexer.
"""

import unicodedata
from functools import cache
from pathlib import Path

from sakuin.indexer import fold
from sakuin.indexer.fold import DEFAULT_FOLDING, Folding

# Default_Ignorable_Code_Point of Unicode 14 (DerivedCoreProperties.txt).
_IGNORABLE = frozenset(
    code
    for first, last in (
        (0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C), (0x115F, 0x1160), (0x17B4, 0x17B5),
        (0x180B, 0x180F), (0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164),
        (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF), (0xFFA0, 0xFFA0), (0xFFF0, 0xFFF8),
        (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF),
    )
    for code in range(first, last + 1)
)  # fmt: skip


def oracle_fold(text: str, folding: Folding = DEFAULT_FOLDING) -> str:
    """Fold the whole text at once; the options one character after another."""
    kept = "".join(
        "\ufffd" if 0xD800 <= ord(c) <= 0xDFFF else c
        for c in text
        if ord(c) not in _IGNORABLE and not _is_noncharacter(ord(c))
    )
    first = unicodedata.normalize("NFKC", kept.replace("〜", "~"))
    folded = unicodedata.normalize("NFKC", first.casefold())
    if folding.variants:
        folded = "".join(_variants().get(c, c) for c in folded)
    if folding.kana:
        folded = "".join(map(_hiragana, folded))
    if folding.long_vowels:
        ends = range(1, len(folded) + 1)
        folded = "".join(
            c for c, end in zip(folded, ends, strict=True) if c != "ー" or _is_mark(folded[end:])
        )
    return folded


def settle(text: str, folding: Folding = DEFAULT_FOLDING) -> str:
    """Fold, trim, and make every run of blanks one blank."""
    return " ".join(oracle_fold(text, folding).split())


@cache
def _variants() -> dict[str, str]:
    """Read the shipped table: facts, proved in test_fold_variants.py, not a computation."""
    table = Path(fold.__file__).with_name("kanji_variants.txt").read_text(encoding="utf-8")
    lines = [line for line in table.split("\n") if line and line[0] != "#"]
    return {variant: line[0] for line in lines for variant in line[1:]}


def _hiragana(character: str) -> str:
    """Look the character of the same name up, as Unicode's names have it."""
    name = unicodedata.name(character, "")
    if not name.startswith("KATAKANA "):
        return character
    try:
        found = unicodedata.lookup(name.replace("KATAKANA", "HIRAGANA", 1))
    except KeyError:
        return character
    return found


def _is_mark(text: str) -> bool:
    """Tell whether a text begins with what combines with something before it."""
    if not text:
        return False
    is_jamo = 0x1160 <= ord(text[0]) <= 0x11FF  # vowels and finals; the later ones never compose
    return unicodedata.category(text[0])[0] == "M" or is_jamo


def _is_noncharacter(code: int) -> bool:
    return 0xFDD0 <= code <= 0xFDEF or code & 0xFFFE == 0xFFFE
