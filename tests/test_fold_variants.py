"""Kanji variants: the shipped table is derived from kept sources, and folds as it must (S2)."""

import unicodedata

import pytest

from derive_variants import TABLE, derive, table_text
from sakuin.indexer.fold import Folding, fold
from sakuin.indexer.kanji_variants import kanji_variants

PLAIN = Folding(variants=False)


def test_the_shipped_table_is_what_its_sources_give() -> None:
    """Derived anew from the two packages, character for character, notice included."""
    derived = derive()
    assert TABLE.read_text(encoding="utf-8") == table_text(derived)
    assert kanji_variants() == derived


def test_the_table_keeps_folding_idempotent() -> None:
    """One character to one, both as they are under NFKC and case; no target is a source."""
    table = kanji_variants()
    assert len(table) > 1_500
    assert not set(table) & set(table.values())
    for variant, target in table.items():
        assert len(variant) == len(target) == 1
        for one in (variant, target):
            assert fold(one, PLAIN) == one
            assert unicodedata.category(one) == "Lo"
        assert fold(variant) == target


@pytest.mark.parametrize(
    "same",
    [
        "高髙", "崎﨑嵜", "吉𠮷", "辺邊邉", "浜濱濵", "沢澤", "斉齊", "斎齋", "桜櫻", "国國圀",
        "学學斈斅", "体體躰軆", "芸藝", "弁辨瓣辯", "缶罐", "予豫", "欠缺", "余餘", "糸絲", "虫蟲",
        "富冨", "島嶋嶌", "館舘", "峰峯", "竜龍", "柳栁", "橋𣘺", "徳德", "桑桒", "鴎鷗", "叱𠮟",
        "間閒", "清淸", "青靑", "野埜", "群羣", "剣劍劔劒釼", "闘鬪鬭", "曽曾", "鉄鐵銕", "麺麵",
    ],
)  # fmt: skip
def test_what_a_reader_takes_to_be_one_character(same: str) -> None:
    """Forms of names, old and new forms: each is folded to the first."""
    assert {fold(each) for each in same} == {same[0]}
    assert len({fold(each, PLAIN) for each in same}) == len(same)


@pytest.mark.parametrize(
    "apart",
    [
        "着著", "師帥", "斎斉", "伝傅", "宍肉", "燗爛", "吊弔", "鬻粥", "書昼", "关笑", "养美",
        "後后", "干乾幹", "里裏", "机機", "叶葉", "只隻", "嗎罵", "你尓", "孩咳", "做作", "谷穀",
        "面麵", "々ゝ", "〇零", "ヶケ", "ゐい", "関关",
    ],
)  # fmt: skip
def test_words_of_their_own_stay_apart(apart: str) -> None:
    """Different words in Japanese, and simplified Chinese forms of other characters."""
    assert len({fold(each) for each in apart}) == len(apart)


def test_variants_that_normalization_makes_are_folded_too() -> None:
    """Compatibility kanji, radicals, and kanji with a selector or in a circle."""
    assert fold("\uf914\u2fd3\u9089\U000e0101\u3298") == "楽竜辺労"
