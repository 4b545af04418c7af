"""Tokens (promise S1, rules 1 to 5)."""

import sys
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import corpus
from oracle import has_edges
from sakuin.indexer.fold import BLANK, Folding, fold
from sakuin.indexer.tokens import (
    LONGEST_TOKEN,
    QueryCut,
    cut,
    cut_query,
    cut_wildcard,
    is_spaced,
    token_text,
)

_ = BLANK


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" \n\u3000", []),
        ("word", ["word"]),
        ("iphone15 x2", ["iphone15", "x2"]),
        ("東", ["東", "東"]),
        ("東京都", ["東", "東京", "京都", "都"]),
        ("東京tower", ["東", "東京", "京", "tower"]),
        ("a。", ["a", "。", "。"]),
        ("a b  c\nd", ["a", "b", "c", "d"]),
        ("a 東", ["a", _, "東", "東"]),
        ("東 a", ["東", "東", _, "a"]),
        ("東 \n 京", ["東", "東", _, "京", "京"]),
        ("東\n京", ["東", "東", _, "京", "京"]),
        ("  東 ", ["東", "東"]),
        ("c++ x", ["c", "+", "++", "+", _, "x"]),
        ("12:30", ["12", ":", ":", "30"]),
        ("々〇ー", ["々", "々〇", "〇ー", "ー"]),
        ("😀👍", ["😀", "😀👍", "👍"]),
        ("한글", ["한", "한글", "글"]),
        ("ไทย", ["ไ", "ไท", "ทย", "ย"]),
        ("x\u0301y", ["x\u0301y"]),
        ("привет мир", ["привет", "мир"]),
        ("𐐨a 𠮷", ["𐐨a", _, "𠮷", "𠮷"]),
        ("a_b", ["a", "_", "_", "b"]),
    ],
)
def test_documents(text: str, expected: list[str]) -> None:
    assert cut(text) == expected
    assert token_text(text) == " ".join(expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", QueryCut(())),
        (" \u200b\n", QueryCut(())),
        ("Ｗord", QueryCut(("word",))),
        ("東", QueryCut(("東",), open_end=True)),
        ("。", QueryCut(("。",), open_end=True)),
        ("東京", QueryCut(("東京",))),
        (" 東京都 ", QueryCut(("東京", "京都"))),
        ("京t", QueryCut(("京", "t"))),
        ("t京", QueryCut(("t", "京"))),
        ("a京b", QueryCut(("a", "京", "京", "b"))),
        ("東  京", QueryCut(("東", _, "京"))),
        ("a  b", QueryCut(("a", "b"))),
        ("。a", QueryCut(("。", "a"))),
    ],
)
def test_queries(text: str, expected: QueryCut) -> None:
    assert cut_query(text) == expected


def test_only_a_word_at_the_end_may_go_on() -> None:
    assert cut_query("New Yor", open_end=True) == QueryCut(("new", "yor"), open_end=True)
    assert cut_query("東京t", open_end=True) == QueryCut(("東京", "京", "t"), open_end=True)
    assert cut_query("t東京", open_end=True) == QueryCut(("t", "東", "東京"))
    assert cut_query(" ", open_end=True) == QueryCut(())


def test_only_a_word_at_the_start_may_begin_before() -> None:
    assert cut_query("ew York", open_start=True) == QueryCut(("ew", "york"), open_start=True)
    assert cut_query("t東京", open_start=True) == QueryCut(("t", "東", "東京"), open_start=True)
    assert cut_query("東京t", open_start=True) == QueryCut(("東京", "京", "t"))
    assert cut_query("東", open_start=True) == QueryCut(("東",), open_end=True)
    assert cut_query("a", open_start=True, open_end=True) == QueryCut(
        ("a",), open_start=True, open_end=True
    )
    both = cut_query("x a y x", open_start=True, open_end=True)
    assert both.places() == {"a": [1], "y": [2]}


def test_queries_are_folded_as_the_index_is() -> None:
    folding = Folding(variants=False, kana=True, long_vowels=True)
    assert cut_query("サーバー國", folding).tokens == ("さば", "ば國")
    assert cut_query("サーバー國").tokens == ("サー", "ーバ", "バー", "ー国")
    assert cut_wildcard(("Ｗom", "", "Ñ"), folding) == ("wom", "", "ñ")


def test_a_long_word_takes_several_tokens_that_cannot_be_mistaken() -> None:
    for length in (1, 254, 255, 256, 510, 511, 2_000):
        word = "ab" * (length // 2) + "a" * (length % 2)
        tokens = cut(word)
        assert len(tokens) == -(-length // LONGEST_TOKEN)
        assert all(len(token) <= LONGEST_TOKEN + 2 for token in tokens)
        assert cut_query(word).tokens == tuple(tokens)
        assert tokens != cut(word + "b")[: len(tokens)] or length % LONGEST_TOKEN


def test_the_classes_are_those_of_the_character_names() -> None:
    """S1 rule 1: read off Unicode's names here, off its blocks and categories there."""
    for code in range(sys.maxunicode + 1):
        character = chr(code)
        if (
            unicodedata.category(character) not in ("Cn", "Co", "Cs")
            and fold(character) == character
        ):
            assert is_spaced(character) == has_edges(character), hex(code)


characters = st.sampled_from("東京ーaé1.。 \n\u3000😀𐐨ก한\u0301")


@settings(max_examples=5_000 if corpus.STRESS else 500, deadline=None, derandomize=True)
@given(st.text(characters, max_size=30))
def test_tokens_are_those_of_the_rules(text: str) -> None:
    """The rules once more, one character after another."""
    settled = fold(text).strip()
    assert cut(settled) == by_the_rules(settled)


def by_the_rules(text: str) -> list[str]:
    tokens: list[str] = []
    last = " "
    word = run = ""
    blank = False
    for character in [*text, " "]:
        kind = "S" if character.isspace() else "W" if has_edges(character) else "R"
        if word and kind != "W":
            tokens.append(word)
            word = ""
        if run and kind != "R":
            tokens += [run[0], *(run[n : n + 2] for n in range(len(run) - 1)), run[-1]]
            run = ""
        if blank and kind != "S":
            tokens += [BLANK] if "R" in (last, kind) else []
            blank = False
        if kind == "S":
            blank = True
            continue
        word += character if kind == "W" else ""
        run += character if kind == "R" else ""
        last = kind
    return tokens


def test_a_large_text_is_cut_in_linear_time() -> None:
    """1 MiB of each kind; a quadratic cut would take minutes."""
    for text in ("漢" * 350_000, "a" * 1_000_000, "a漢" * 250_000, "a " * 500_000, "😀a" * 200_000):
        assert len(cut(text)) >= len(text) // LONGEST_TOKEN
