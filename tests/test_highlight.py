"""Highlights: marked pieces cut from the original text (promises S1, S2)."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracle import has_edges, matches_settled, oracle_fold, settle
from sakuin.indexer.fold import Folding, fold_with_map
from sakuin.indexer.highlight import Piece, highlight
from sakuin.indexer.locate import Located
from sakuin.indexer.query import (
    And,
    Everything,
    Not,
    Nothing,
    Or,
    Phrase,
    Query,
    Range,
    Value,
    Wildcard,
    prefix,
)


def marked(text: str, query: Query) -> str:
    """Return the text with its hits in [ ]."""
    return "".join(
        f"[{piece.text}]" if piece.hit else piece.text for piece in highlight(text, query)
    )


@pytest.mark.parametrize(
    ("text", "word", "expected"),
    [
        ("人間失格と人間", "人間", "[人間]失格と[人間]"),
        ("あああい", "ああ", "[あああ]い"),
        ("cat concat Cat", "cat", "[cat] concat [Cat]"),
        ("iPhone15で", "iphone15", "[iPhone15]で"),
        ("a b\n\n c", "b c", "a [b\n\n c]"),
        ("a　ＭｙＳＱＬ b", "mysql", "a　[ＭｙＳＱＬ] b"),
        ("20℃です", "°c", "20[℃]です"),
        ("5㌕", "ログ", "5[㌕]"),
        ("㋀の日", "月の", "[㋀の]日"),
        ("ｶﾞﾗｽ", "ガ", "[ｶﾞ]ﾗｽ"),
        ("か\u3099ラス", "が", "[か\u3099]ラス"),
        ("か\u3099ラス", "か", "か\u3099ラス"),
        ("Straße", "STRASSE", "[Straße]"),
        ("葛\U000e0100城", "葛", "[葛\U000e0100]城"),
        ("cafe\u0301", "café", "[cafe\u0301]"),
        ("co\u00adoperate", "cooperate", "[co\u00adoperate]"),
        ("👨\u200d👩\u200d👧!", "👩", "[👨\u200d👩\u200d👧]!"),
        ("🇯🇵🇺🇸", "🇺", "🇯🇵[🇺🇸]"),
        ("👍🏽👍", "👍🏽", "[👍🏽]👍"),
        ("1️⃣と2", "1\u20e3", "[1️⃣]と2"),
        ("\U00020bb7野家", "\U00020bb7", "[\U00020bb7]野家"),
        ("<b>x</b>", "<b>", "[<b>]x</b>"),
        ("(a+)+$", "(a+)+$", "[(a+)+$]"),
    ],
)
def test_marks_are_cut_from_the_original(text: str, word: str, expected: str) -> None:
    """S2: width, ligatures, composed and decomposed characters, ignorables, emoji; no shift."""
    assert marked(text, Phrase(word)) == expected


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (prefix("cat"), "[cat]alog, concat"),
        (Phrase("cat"), "catalog, concat"),
        (And((Phrase("catalog"), Not(Phrase("concat")))), "[catalog], concat"),
        (Not(Or((Phrase("catalog"), Not(Phrase("concat"))))), "catalog, [concat]"),
        (Or((Phrase("catalog,"), Phrase(", concat"))), "[catalog, concat]"),
        (Phrase("\u200b"), "catalog, concat"),
        (Everything(), "catalog, concat"),
        (Phrase("cat", open_start=True), "catalog, con[cat]"),
        (Phrase("cat", open_start=True, open_end=True), "[cat]alog, con[cat]"),
        (Phrase("log, con", open_start=True, open_end=True), "cata[log, con]cat"),
        (Wildcard(("c", "t")), "catalog, [concat]"),
        (Wildcard(("c", "t", "")), "[catalog], [concat]"),
        (Wildcard(("", "a", "a", "g")), "[catalog], concat"),
        (Wildcard(("catal", "log")), "catalog, concat"),
        (Wildcard(("", "", "")), "catalog, concat"),
        (Wildcard(("c", "t", ","), None), "catalog, concat"),
        (Value("source", "catalog"), "catalog, concat"),
        (Range("id", 1, None), "catalog, concat"),
        (Nothing(), "catalog, concat"),
    ],
)
def test_what_a_query_asks_for_is_marked_and_nothing_else(query: Query, expected: str) -> None:
    """What is excluded is never marked, twice excluded is; meeting marks become one."""
    assert marked("catalog, concat", query) == expected


def test_what_is_asked_of_another_field_is_not_marked() -> None:
    """A leaf of no field is marked in each; without a field all are."""
    query = Or(
        (Phrase("a", "title"), Phrase("b", "body"), Phrase("c"), Wildcard(("", "d"), "body"))
    )

    def marked_in(field: str | None) -> str:
        pieces = highlight("a b c ed", query, field=field)
        return "".join(f"[{each.text}]" if each.hit else each.text for each in pieces)

    assert marked_in("title") == "[a] b [c] ed"
    assert marked_in("body") == "a [b] [c] [ed]"
    assert marked_in(None) == "[a] [b] [c] [ed]"


@pytest.mark.parametrize(
    ("folding", "text", "word", "expected"),
    [
        (Folding(), "髙橋の國語", "国", "髙橋の[國]語"),
        (Folding(variants=False), "髙橋の國語", "国", "髙橋の國語"),
        (Folding(kana=True), "カタカナ", "たか", "カ[タカ]ナ"),
        (Folding(long_vowels=True), "サーバーの", "サーバ", "[サーバー]の"),
        (Folding(long_vowels=True), "サバの", "サーバー", "[サバ]の"),
        (Folding(kana=True, long_vowels=True), "ﾗｰﾒﾝ屋", "らあめん", "ﾗｰﾒﾝ屋"),
        (Folding(kana=True, long_vowels=True), "ﾗｰﾒﾝ屋", "らめん", "[ﾗｰﾒﾝ]屋"),
    ],
)
def test_marks_follow_the_folding_of_the_index(
    folding: Folding, text: str, word: str, expected: str
) -> None:
    pieces = highlight(text, Phrase(word), folding=folding)
    assert "".join(f"[{each.text}]" if each.hit else each.text for each in pieces) == expected


PLAIN = st.text("ab1人あ。 ", max_size=12)


@settings(derandomize=True, max_examples=800)
@given(PLAIN, st.text("ab1人あ。 ", min_size=1, max_size=3))
def test_marks_are_exactly_the_places_of_the_search(text: str, word: str) -> None:
    """S1 rule 6, by brute force on text that folds to itself: every place, and no other."""
    text, word = " ".join(text.split()), " ".join(word.split())
    hit = [False] * len(text)
    for at in range(len(text) - len(word) + 1 if word else 0):
        end = at + len(word)
        inside = (at > 0 and has_edges(word[0]) and has_edges(text[at - 1])) or (
            end < len(text) and has_edges(word[-1]) and has_edges(text[end])
        )
        if text[at:end] == word and not inside:
            hit[at:end] = [True] * len(word)
    found = [piece.hit for piece in highlight(text, Phrase(word)) for _ in piece.text]
    assert found == hit


WILD_PIECES = [
    "a",
    "B",
    "ｶ",
    "ﾞ",
    "か",
    "\u3099",
    "e",
    "\u0301",
    "㌕",
    "ﬁ",
    "ß",
    "İ",
    "\u200b",
    "\u200d",
]
WILD_PIECES += [
    "👩",
    "🏽",
    "🇯",
    "🇵",
    "\ufe0f",
    " ",
    "\u3000",
    "\n",
    "\r\n",
    "한",
    "\u1112\u1161\u11ab",
    "ก็",
]
WILD_PIECES += ["\ufdfa", "\u0345", "〜", "～", "\ud800", "\0", "ᾳ", "\U000e0100", "1", "。", "ς"]
WILD = st.lists(st.sampled_from(WILD_PIECES), max_size=14).map("".join)
QUERIES = WILD.filter(bool).map(Phrase) | WILD.filter(bool).map(prefix)


@settings(derandomize=True, max_examples=700)
@given(WILD, QUERIES)
def test_a_text_has_a_mark_exactly_if_the_search_finds_it(text: str, query: Phrase) -> None:
    """S1, S2: highlight and search agree; the pieces are the text; marks are whole characters."""
    pieces = highlight(text, query)
    assert "".join(piece.text for piece in pieces) == text
    assert all(piece.text for piece in pieces)
    word = settle(query.text)
    found = matches_settled(word, settle(text), prefix=query.open_end)
    assert any(piece.hit for piece in pieces) == found
    for piece in pieces:
        assert not re.match("[\u0301\u3099\ufe0f\u200d🏽]", piece.text) or piece is pieces[0]
        assert not piece.hit or word in settle(piece.text)


@settings(derandomize=True, max_examples=50, deadline=None)
@given(st.lists(WILD, min_size=1, max_size=5), st.integers(1, 120))
def test_a_long_text_is_located_as_if_in_one_piece(parts: list[str], times: int) -> None:
    """S2: folding in pieces changes nothing, and every place leads back to the same span."""
    text = "".join(parts) * times + "x" * 3_990 + "".join(parts) * times
    located = Located(text)
    assert located.settled == re.sub(r"\s+", " ", oracle_fold(text))
    whole = fold_with_map(text)
    spans = [
        (whole.spans[run.start()][0], whole.spans[run.end() - 1][1])
        for run in re.finditer(r"\s+|\S", whole.text)
    ]
    step = 1 + len(spans) // 50
    for at in range(0, len(spans), step):
        assert located.original_span(at, at + 1) == spans[at]


def test_marks_of_a_very_long_text_are_limited() -> None:
    """Time and size stay bounded: the first 20,000 places; nothing of the text is lost."""
    text = "a " * 50_000
    pieces = highlight(text, Phrase("a"))
    assert sum(piece.hit for piece in pieces) == 20_000
    assert pieces[-1] == Piece(text[2 * 20_000 - 1 :], hit=False)
