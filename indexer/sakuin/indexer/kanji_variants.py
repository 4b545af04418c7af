"""Kanji that are one character to a Japanese reader: 髙 = 高, 國 = 国, 邉 = 辺.

The table is in kanji_variants.txt, one character to one; it says where it comes from. It merges
old forms with new ones and forms of names with the usual ones, as the sources do (藝 = 芸;
辨, 瓣 and 辯 = 弁), but not words of their own (着 and 著, 斎 and 斉), nor a simplified Chinese
character with a look-alike. Iteration marks and kana are left alone.
"""

import re
from functools import cache
from importlib.resources import files
from typing import Final

# What is beyond the first plane is rare and would make the pattern slow, so all of it counts.
_ASTRAL_KANJI: Final = "\U00020000-\U0003ffff"


def unify_kanji(normalized: str) -> str:
    """Return NFKC text with each variant as the character that stands for it, one for one."""
    parts = _variant().split(normalized)
    if len(parts) == 1:
        return normalized
    found = parts[1::2]
    parts[1::2] = map(kanji_variants().get, found, found)
    return "".join(parts)


@cache
def kanji_variants() -> dict[str, str]:
    """Return the character that each variant is folded to; read from the file once."""
    text = files("sakuin.indexer").joinpath("kanji_variants.txt").read_text(encoding="utf-8")
    lines = (line for line in text.splitlines() if not line.startswith("#"))
    return {variant: line[0] for line in lines for variant in line[1:]}


@cache
def _variant() -> re.Pattern[str]:
    near = "".join(each for each in kanji_variants() if each < "\U00010000")
    return re.compile(f"([{near}{_ASTRAL_KANJI}])")
