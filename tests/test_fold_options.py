"""Foldings that an index may choose: kana, long vowels, variants of kanji (S2)."""

import itertools
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import corpus
from oracle_fold import oracle_fold
from sakuin.indexer.fold import DEFAULT_FOLDING, Folding, fold, fold_with_map

FOLDINGS = [Folding(*each) for each in itertools.product((False, True), repeat=3)]
EXAMPLES = 3_000 if corpus.STRESS else 300

# What the options change, and what stands beside it and combines, is dropped or comes apart.
PIECES = (
    "サーバーサバｻｰﾊﾞｰカガが゛ｶﾞう゛ゔヴㇰヽヾゝゞヵヶヷわ゙ワヰゐヱゑッっ〱ーｰ㌀㌢~〜髙高﨑崎國国𠮷\uf914\u2fd3"
    "邉\U000e0101\u200b\u3099\u309a\u0301\u0323\u1112\u1161\u11abe\u3000 aA1。😀\U0001b164"
)
texts = st.lists(
    st.one_of(st.sampled_from(PIECES), st.characters(codec=None, exclude_categories=())),
    max_size=16,
).map("".join)


@pytest.mark.parametrize("folding", FOLDINGS, ids=str)
@settings(max_examples=EXAMPLES, deadline=None, derandomize=True)
@given(text=texts)
def test_folding_whole_by_cluster_and_twice_are_the_same(folding: Folding, text: str) -> None:
    """S2: for every combination of options; spans cover the original in order."""
    folded = fold(text, folding)
    assert folded == oracle_fold(text, folding)
    assert fold(folded, folding) == folded
    mapped = fold_with_map(text, folding)
    assert mapped.text == folded
    assert len(mapped.spans) == len(folded)
    spans = list(dict.fromkeys(mapped.spans))
    assert all(first[1] <= second[0] for first, second in pairwise(spans))
    for start, end in spans:
        assert fold(text[start:end], folding) == "".join(
            one for one, span in zip(folded, mapped.spans, strict=True) if span == (start, end)
        )
    for (_, left), (right, _) in pairwise([(0, 0), *spans, (len(text), len(text))]):
        assert fold(text[left:right], folding) == ""


@settings(max_examples=EXAMPLES * 4, deadline=None, derandomize=True)
@given(texts, st.integers(0, 30), st.integers(0, 30))
def test_an_option_never_loses_a_hit(text: str, start: int, length: int) -> None:
    """What stands in a text under a folding stands in it under every folding that asks for more.

    Taken from the folded text, so that a part is there before; whatever its neighbours.
    """
    for less in FOLDINGS:
        there = fold(text, less)
        part = there[start : start + length]
        for more in FOLDINGS:
            if _asks_for_more(more, less):
                assert fold(part, more) in fold(text, more), (less, more)
                assert fold(there, more) == fold(text, more)


def _asks_for_more(more: Folding, less: Folding) -> bool:
    return (
        more.variants >= less.variants
        and more.kana >= less.kana
        and more.long_vowels >= less.long_vowels
    )


@pytest.mark.parametrize(
    ("folding", "text", "expected"),
    [
        (Folding(kana=True), "カタカナ ヽヾ ヴ ｶﾞｯｺｳ", "かたかな ゝゞ ゔ がっこう"),
        (Folding(kana=True), "ヶヵッャㇰヷヰヱー", "ゖゕっゃㇰヷゐゑー"),
        (Folding(long_vowels=True), "サーバー ｻｰﾊﾞｰ ビール ㌀", "サバ サバ ビル アパト"),
        (Folding(long_vowels=True), "らーめん ー", "らめん "),
        (Folding(kana=True, long_vowels=True), "ラーメン らーめん", "らめん らめん"),
        (Folding(variants=False), "髙橋 國", "髙橋 國"),
        (DEFAULT_FOLDING, "カタカナ サーバー ゐ 々ゝ", "カタカナ サーバー ゐ 々ゝ"),
    ],
)
def test_examples(folding: Folding, text: str, expected: str) -> None:
    assert fold(text, folding) == expected
    assert fold_with_map(text, folding).text == expected


@pytest.mark.parametrize("folding", FOLDINGS, ids=str)
def test_voiced_u_is_one_however_it_is_written(folding: Folding) -> None:
    """One code point, two, or half-width."""
    assert fold("う\u3099", folding) == fold("ゔ", folding)
    assert fold("ウ\u3099", folding) == fold("ヴ", folding) == fold("ｳﾞ", folding)
    assert (fold("ゔ", folding) == fold("ヴ", folding)) == folding.kana


def test_a_long_vowel_belongs_to_the_character_before() -> None:
    """So a highlight of サーバ covers all of サーバー; one with marks of its own stays."""
    folded = fold_with_map("ーサーバーに", Folding(long_vowels=True))
    assert folded.text == "サバに"
    assert folded.spans == ((1, 3), (3, 5), (5, 6))
    assert fold("カー\u3099", Folding(long_vowels=True)) == "カー\u3099"
