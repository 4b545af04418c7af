"""What folding must give, computed the naive way: the whole text at once (promise S2).

Shares no code with the indexer.
"""

import unicodedata

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


def oracle_fold(text: str) -> str:
    """Fold the whole text at once."""
    kept = "".join(
        "\ufffd" if 0xD800 <= ord(c) <= 0xDFFF else c
        for c in text
        if ord(c) not in _IGNORABLE and not _is_noncharacter(ord(c))
    )
    first = unicodedata.normalize("NFKC", kept.replace("〜", "~"))
    return unicodedata.normalize("NFKC", first.casefold())


def settle(text: str) -> str:
    """Fold, trim, and make every run of blanks one blank."""
    return " ".join(oracle_fold(text).split())


def _is_noncharacter(code: int) -> bool:
    return 0xFDD0 <= code <= 0xFDEF or code & 0xFFFE == 0xFFFE
