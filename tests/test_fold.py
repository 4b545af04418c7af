"""Folding (promise S2)."""

import sys
import time
import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import corpus
from oracle import oracle_fold
from sakuin.indexer.fold import fold, fold_with_map

# Characters that are put together, taken apart, reordered or dropped, beside any others.
TRICKY = (
    "aAéÉßẞıİﬁΣςµÅK½①Ⅷ㌕㍿㎡℃ｶﾞﾊﾟｱｰかがゔガ゛゜ー〜～~\u3099\u309a\u0301\u0323\u0345\u0344\u0308"
    "\u0f71\u0f72\u1112\u1161\u11ab한\uffa1\uffc2\uffa0\u1160각\u0dd9\u0dca\u0dcf\u0958\u093c葛"
    "\U000e0100\ufe0f\u200b\u200d\u00ad\ufdd0\ufffe\uffff\U0001ffff\ud800\udfff𝒜𠮷😀👍🏽\u0300"
    "\u0327\u05b0\u0591\u0e33\u0eb3กำ \u3000\n\x00"
)
texts = st.text(
    st.one_of(st.sampled_from(TRICKY), st.characters(codec=None, exclude_categories=())),
    max_size=20,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        ("ABC", "abc"),
        ("ＡＢＣ１２", "abc12"),
        ("ｶﾞﾗｽ ﾊﾟｿｺﾝ", "ガラス パソコン"),
        ("か\u3099", "が"),
        ("か\u200d\u3099", "が"),
        ("㌕㍿㎡", "キログラム株式会社m2"),
        ("Straße ΣΑΣ", "strasse σασ"),
        ("ﬁ①½", "fi11⁄2"),
        ("葛\U000e0100城", "葛城"),
        ("10〜20～30~", "10~20~30~"),
        ("全角\u3000スペース", "全角 スペース"),
        ("👨\u200d👩\u200d👧\ufe0f", "👨👩👧"),
        ("a\u00adb\ufeffc\ufdd0\uffffd", "abcd"),
        ("髙﨑𠮷國", "高崎吉国"),
        ("\ud800x", "\ufffdx"),
        ("İ", "i\u0307"),
    ],
)
def test_examples(text: str, expected: str) -> None:
    assert fold(text) == expected
    assert fold_with_map(text).text == expected


def test_every_character_folds_as_the_standard_says_and_to_itself_again() -> None:
    for code in range(sys.maxunicode + 1):
        character = chr(code)
        if unicodedata.category(character) in ("Cn", "Co"):
            continue
        folded = fold(character)
        assert folded == oracle_fold(character), hex(code)
        assert fold(folded) == folded, hex(code)


@settings(max_examples=20_000 if corpus.STRESS else 1_500, deadline=None, derandomize=True)
@given(texts)
def test_folding_whole_by_cluster_and_twice_are_the_same(text: str) -> None:
    folded = fold(text)
    assert folded == oracle_fold(text)
    assert fold(folded) == folded
    assert fold_with_map(text).text == folded


@settings(max_examples=20_000 if corpus.STRESS else 1_000, deadline=None, derandomize=True)
@given(texts)
def test_spans_lead_back_to_the_original(text: str) -> None:
    """Spans go forward, never split a cluster, and each folds to just its characters."""
    folded = fold_with_map(text)
    assert len(folded.spans) == len(folded.text)
    spans = list(dict.fromkeys(folded.spans))
    assert all(first[1] <= second[0] for first, second in pairwise(spans))
    for start, end in spans:
        own = "".join(
            character
            for character, span in zip(folded.text, folded.spans, strict=True)
            if span == (start, end)
        )
        assert fold(text[start:end]) == own


def test_whatever_combines_combines_with_what_is_before_it() -> None:
    """Every mark, jamo and half-width voicing, behind bases that are stable when alone."""
    joining = [
        chr(code)
        for code in range(sys.maxunicode + 1)
        if unicodedata.category(chr(code))[0] == "M" or 0x1100 <= code < 0x1200
    ]
    assert len(joining) > 2_000
    for mark in [*joining, "ﾞ", "ﾟ", "ﾤ", "ￂ"]:
        for base in ("e", "E", "か", "ー", "가", "\u1112", "國", "и", "α", "\u0dd9"):
            for text in (f"東{base}{mark}", f"{base}\u200b{mark}x", f"{base}{mark}\u3099"):
                assert fold(text) == oracle_fold(text), ascii(text)


def test_a_span_covers_what_is_seen_as_one_character() -> None:
    folded = fold_with_map("xｶﾞ葛\U000e0100e\u0301㌕")
    assert folded.text == "xガ葛éキログラム"
    assert folded.spans == ((0, 1), (1, 3), (3, 5), (5, 7), *[(7, 8)] * 5)


def test_long_runs_of_marks_are_exact_and_quick() -> None:
    """NFKC alone sorts such a run in quadratic time: hours for a text of 1 MiB."""
    for run in ("\u0301\u0323", "\u0344\u0323\u0345", "\u3099\u0301"):
        short = "e" + run * 300
        assert fold(short) == oracle_fold(short)
        assert fold(fold(short)) == fold(short)
        begun = time.process_time()
        assert len(fold("か" + run * (1_000_000 // len(run)))) > 900_000
        assert time.process_time() - begun < 10


def test_real_text_folds_the_same_by_cluster() -> None:
    for name in corpus.NAMES:
        for line in corpus.paragraphs(name)[:: 1 if corpus.STRESS else 40]:
            assert fold_with_map(line).text == fold(line) == oracle_fold(line)
        whole = "\n".join(corpus.paragraphs(name)[:: 1 if corpus.STRESS else 20])
        assert fold(whole) == oracle_fold(whole)
