"""Derives kanji_variants.txt, the table of kanji that are one character to a Japanese reader.

    python tests/derive_variants.py

writes the file anew; test_fold_variants.py proves that the shipped one is what this derives.
The sources, as their packages carry them: `opencc` (old forms and new forms) and `jntajis-python`
(two official maps of rare forms to common ones, and the family registers' rules for names).

What counts:
- an old form is its new form, as in OpenCC, also where the new form stands for several (弁);
- a character of JIS X 0213's levels 3 and 4 is what the tax agency's map makes of it;
- any character is what JIS and Unicode hold to be the same as it (𠮷 = 吉);
- a character that an encoding of Japan has is what the family registers' rules make of it
  (邉 = 辺), where they name one character and that is one of JIS X 0208;
- what the later rules say gives way to the earlier ones.
But never: a simplified Chinese character that stands for another one (关 is 関, not 笑), two that
are both common in Chinese (嗎, 罵), and those of APART.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from unicodedata import normalize

import jntajis
import opencc

TABLE = Path(__file__).parents[1] / "indexer/sakuin/indexer/kanji_variants.txt"

APART = frozenset("着書師傅功吊娼玉宍屓燗敞耒夂泠剌汎匝樮娚鬻鐚逑乢你您俼倞洤吃皀瞹")
"""Words of their own in Japanese, though a map merges each with another (着 with 著)."""

NOTICE = """\
# Kanji that are one character to a Japanese reader: in each line the first stands for all.
# Made by tests/derive_variants.py, which says by which rules; do not edit.
#
# Adapted from
# - OpenCC, dictionary JPShinjitaiCharacters, (c) the OpenCC authors, Apache License 2.0
#   (https://www.apache.org/licenses/LICENSE-2.0);
# - JIS shrink conversion map (JIS縮退マップ), (c) National Tax Agency of Japan, CC BY 4.0
#   (https://creativecommons.org/licenses/by/4.0/);
# - MJ shrink conversion map (MJ縮退マップ), (c) Character Information Technology Promotion
#   Council and Information-technology Promotion Agency, Japan, CC BY-SA 2.1 JP
#   (https://creativecommons.org/licenses/by-sa/2.1/jp/).
# This file, unlike the program that reads it, is licensed under CC BY-SA 4.0
# (https://creativecommons.org/licenses/by-sa/4.0/).
"""

_Rule = Callable[[str], set[str]]
_BLOCKS = ((0x2E80, 0x2FE0), (0x3400, 0x4DC0), (0x4E00, 0xA000), (0xF900, 0xFB00),
           (0x20000, 0x323B0))  # fmt: skip
_UNIFIED = jntajis.MJShrinkSchemeCombo.JIS_INCORPORATION_UCS_UNIFICATION_RULE
_REGISTERED = jntajis.MJShrinkSchemeCombo.MOJ_FAMILY_REGISTER_ACT_RELATED_NOTICE


def derive() -> dict[str, str]:
    """Return the character that each variant is folded to; none of these is a variant itself."""
    step = {c: new for c in _kanji() if (new := _converted("t2jp", c)) != c}
    new_forms = set(step.values())
    for rule in (_tax_agency, _unified, _registered):
        for character in _kanji():
            ends = {_end(step, each) for each in rule(character)}
            if character not in step and character not in new_forms and len(ends) == 1:
                (end,) = ends
                if end != character and _may_merge(character, end, rule):
                    step[character] = end
    return {each: _end(step, each) for each in sorted(step)}


def _end(step: Mapping[str, str], character: str) -> str:
    while character in step:
        character = step[character]
    return character


def _kanji() -> Iterator[str]:
    """Yield every kanji that folding leaves as it is."""
    for first, last in _BLOCKS:
        for character in map(chr, range(first, last)):
            if normalize("NFKC", character) == character:
                yield character


def _tax_agency(character: str) -> set[str]:
    return _others(character, [jntajis.jnta_shrink_translit(character, passthrough=True)])


def _unified(character: str) -> set[str]:
    return _others(character, jntajis.mj_shrink_candidates(character, _UNIFIED))


def _registered(character: str) -> set[str]:
    if not _is_encoded(character, "euc_jis_2004", "cp932"):
        return set()
    return _others(character, jntajis.mj_shrink_candidates(character, _REGISTERED))


def _others(character: str, found: Iterable[str]) -> set[str]:
    return {normalize("NFKC", each) for each in found} - {character}


def _may_merge(character: str, end: str, rule: _Rule) -> bool:
    if {character, end} & APART or (rule is _registered and not _is_encoded(end, "iso2022_jp")):
        return False
    if rule is not _unified and _is_common_chinese(character) and _is_common_chinese(end):
        return False
    full = _converted("s2t", character)
    return full == character or _converted("jp2t", full) == _converted("jp2t", end)


def _converted(rules: str, character: str) -> str:
    converted: str = _converter(rules).convert(character)
    return converted


@cache
def _converter(rules: str) -> opencc.OpenCC:
    return opencc.OpenCC(rules)


def _is_encoded(character: str, *encodings: str) -> bool:
    for encoding in encodings:
        try:
            character.encode(encoding)
        except UnicodeEncodeError:
            continue
        return True
    return False


def _is_common_chinese(character: str) -> bool:
    """Tell whether it is among the 5,401 common characters of Big5."""
    encoded = character.encode("big5", "ignore")
    return len(encoded) == 2 and b"\xa4\x40" <= encoded <= b"\xc6\x7e"


def table_text(variants: Mapping[str, str]) -> str:
    """Return the file: a line for each character that stands for others, with them."""
    lines: dict[str, str] = {}
    for variant, target in sorted(variants.items()):
        lines[target] = lines.get(target, target) + variant
    return NOTICE + "".join(f"{lines[target]}\n" for target in sorted(lines))


if __name__ == "__main__":
    TABLE.write_text(table_text(derive()), encoding="utf-8")
