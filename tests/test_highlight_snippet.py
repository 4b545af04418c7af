"""Snippets: short windows of a long text around what was found."""

import time
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import corpus
from sakuin.indexer.highlight import Fragment, Snippet, highlight, snippet
from sakuin.indexer.query import And, Not, Or, Phrase, Query, Wildcard, prefix

FOX = "The quick brown fox jumps over the lazy dog. "
KANA = "いろはにほへとちりぬるを。"


def shown(found: Snippet) -> str:
    return "".join(f"[{piece.text}]" if piece.hit else piece.text for piece in found.pieces)


def text_of(fragment: Fragment) -> str:
    return "".join(piece.text for piece in fragment.pieces)


def width_of(text: str) -> int:
    shown = [c for c in text if unicodedata.category(c) not in ("Mn", "Cf")]
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in shown)


def test_a_short_text_is_shown_whole() -> None:
    """No ellipsis where nothing is left out."""
    for text in ("", "人間失格", "x" * 300, "人" * 150):
        found = snippet(text, Phrase("人間"))
        assert found.fragments == (
            Fragment(highlight(text, Phrase("人間")), cut_before=False, cut_after=False),
        )


def test_without_a_hit_the_beginning_is_shown() -> None:
    """At most the width, cut at a word's edge."""
    found = snippet(FOX * 20, Phrase("cat"), 50)
    assert shown(found) == "The quick brown fox jumps over the lazy dog. The …"
    assert shown(snippet(KANA * 20, Not(Phrase("い")), 20)) == "いろはにほへとちりぬ …"


def test_one_window_around_one_hit() -> None:
    """Context before and after, in whole words, with both ellipses."""
    found = snippet(FOX * 20 + "needle in hay " + FOX * 20, Phrase("needle"), 60)
    assert shown(found) == "… the lazy dog. [needle] in hay The quick brown fox jumps …"
    (fragment,) = found.fragments
    assert (fragment.cut_before, fragment.cut_after) == (True, True)


def test_each_term_gets_a_window_before_any_gets_two() -> None:
    """Terms first; windows in the order of the text."""
    text = "東京" * 3 + KANA * 30 + "人間" + KANA * 30 + "東京" + KANA * 30 + "残酷" + KANA * 30
    query = And((Phrase("残酷"), Phrase("人間"), Or((Phrase("東京"), Not(Phrase("いろは"))))))
    found = snippet(text, query, 90)
    assert len(found.fragments) == 3
    for word, fragment in zip(("東京東京東京", "人間", "残酷"), found.fragments, strict=True):
        assert [piece.text for piece in fragment.pieces if piece.hit] == [word]
        assert width_of(text_of(fragment)) <= 30
    assert not found.fragments[0].cut_before
    assert shown(found).count(" … ") == 2


def test_windows_that_meet_become_one() -> None:
    """No text is shown twice."""
    text = KANA * 20 + "人間" + KANA * 2 + "東京" + KANA * 20
    (fragment,) = snippet(text, And((Phrase("人間"), Phrase("東京"))), 120).fragments
    assert "人間" + KANA * 2 + "東京" in text_of(fragment)


def test_a_hit_at_the_edge_leaves_the_room_to_the_other_side() -> None:
    """The width is used where there is text."""
    for text in ("人間" + KANA * 20, KANA * 20 + "人間"):
        (fragment,) = snippet(text, Phrase("人間"), 60).fragments
        assert width_of(text_of(fragment)) == 60


def test_a_hit_longer_than_the_width_is_cut() -> None:
    """It starts with the hit, and all of it is marked."""
    (fragment,) = snippet(KANA * 3 + "人" * 80 + KANA, Phrase("人" * 80), 40).fragments
    assert [(piece.text, piece.hit) for piece in fragment.pieces] == [("人" * 20, True)]


WORDS = [
    "人間",
    "cat",
    "Ａ",
    "ｶﾞ",
    "e\u0301",
    "👩\u200d👧",
    "。",
    " ",
    "\n",
    "㌕",
    "\u200b",
    "いろは",
    "x" * 9,
]
TEXTS = st.lists(st.sampled_from(WORDS), max_size=120).map("".join)
TERMS = st.sampled_from(["人間", "cat", "a", "ガ", "é", "👧", "ログ", "いろは 。", "x"])


@settings(derandomize=True, max_examples=400, deadline=None)
@given(TEXTS, TERMS, TERMS, st.integers(12, 120))
def test_windows_hold_what_they_promise(text: str, one: str, other: str, width: int) -> None:
    """Parts of the text in order, not wider than asked, no split character, a hit if there is."""
    query: Query = Or((Phrase(one), prefix(other)))
    found = snippet(text, query, width)
    at = 0
    for fragment in found.fragments:
        part = text_of(fragment)
        start = text.find(part, at)
        assert start >= at
        assert fragment.cut_before or text.startswith(part)
        assert fragment.cut_after or text.endswith(part)
        assert not part.startswith(("\u0301", "\u200d", "ﾞ"))
        at = start + len(part)
    assert width_of("".join(map(text_of, found.fragments))) <= width
    assert _has_hit(found) == any(piece.hit for piece in highlight(text, query))


@settings(derandomize=True, max_examples=300, deadline=None)
@given(TEXTS, TERMS, TERMS, st.integers(12, 120))
def test_a_window_is_marked_as_the_whole_text_is(
    text: str, one: str, other: str, width: int
) -> None:
    """What is found for the windows only is what is found for all of the text."""
    query = Or((Phrase(one), Phrase(other, open_start=True), Wildcard(("c", "t"))))
    whole = [piece.hit for piece in highlight(text, query) for _ in piece.text]
    for fragment in snippet(text, query, width).fragments:
        part = text_of(fragment)
        marks = [piece.hit for piece in fragment.pieces for _ in piece.text]
        starts = [at for at in range(len(text) + 1) if text.startswith(part, at)]
        assert any(whole[at : at + len(part)] == marks for at in starts)


def _has_hit(found: Snippet) -> bool:
    return any(piece.hit for piece in found.pieces)


MIB = 1 << 20
BODIES = [
    FOX * 23_300 + "needle",
    (KANA * 30_000)[: MIB // 3] + "needle",
    "a" * MIB,
    "a " * (MIB // 2),
]
BODIES += [" " * MIB + "a", "a" + "\u0301" * 500_000, "👩\u200d" * 150_000, "ab " * (MIB // 3)]


def test_a_page_of_large_bodies_is_quick() -> None:
    """1 MiB of Japanese takes 12 ms, 100 of them about a second; found near the end or not."""
    text = "\n".join(corpus.paragraphs("aozora_10k"))[: MIB // 3] + "針"
    start = time.process_time()
    for word in ("針", "の", "人間", "無") * 5:
        snippet(text, Or((Phrase(word), Phrase("人間"))))
    assert time.process_time() - start < 1.5


@pytest.mark.parametrize("number", range(len(BODIES)))
def test_bodies_of_a_mebibyte_take_bounded_time(number: int) -> None:
    """Whatever is in them and whatever is asked; seconds are generous, the cost is tenths."""
    terms = tuple(Phrase(word) for word in ["needle", "a", "い", "\u0301", "a a " * 100])
    queries: list[Query] = [terms[0], And(terms)]
    for query in queries:
        start = time.process_time()
        found = snippet(BODIES[number], query)
        assert time.process_time() - start < 5
        assert sum(len(text_of(fragment)) for fragment in found.fragments) <= 4 * 300 + 300
