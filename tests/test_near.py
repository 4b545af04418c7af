"""Words near each other in a text: all that brute force finds, and nothing else (S1, S3)."""

import random
import time
from collections.abc import Sequence
from itertools import chain

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from oracle import near_choices, units
from oracle_fold import settle
from sakuin.indexer.errors import NearTooCommon
from sakuin.indexer.highlight import highlight
from sakuin.indexer.near import NearParts
from sakuin.indexer.near_documents import MOST_NEAR_STEPS
from sakuin.indexer.near_places import Steps
from sakuin.indexer.query import Near, Not, Phrase, Query
from sakuin.indexer.tokens import count_units

PIECES = (
    *"abab人間人の。、-ー😀",
    "ab",
    "ＡB",
    " ",
    " ",
    "か\u3099",
    "e\u0301",
    "𠮷",
    "가",
    "\u0301",
)
TEXTS = st.lists(st.sampled_from(PIECES), max_size=14).map("".join)
PARTS = st.lists(
    st.sampled_from(
        ("a", "b", "ab", "人", "人間", "間人", "の", "。", "a-b", "-", "aの", "ー", "e\u0301")
    ),
    min_size=2,
    max_size=4,
)


@settings(derandomize=True, max_examples=600)
@given(TEXTS, PARTS, st.integers(0, 5))
@example("a b a b", ["a", "a", "b"], 1)
@example("人間間人", ["人間", "間人", "人"], 3)
@example("a x-b", ["a", "b"], 2)
def test_any_text_is_near_where_brute_force_says(
    text: str, parts: list[str], distance: int
) -> None:
    """S1: the words' own edges, no overlap, any order; blanks count for nothing."""
    body, settled = settle(text), [settle(part) for part in parts]
    assert NearParts(settled, distance).are_in(body, Steps(1_000_000)) == any(
        near_choices(settled, body, distance)
    )
    wanted = set(chain.from_iterable(near_choices(settled, body, distance)))
    assert NearParts(settled, distance).spans_in(body) == sorted(wanted)


@settings(derandomize=True, max_examples=200)
@given(TEXTS | st.text(max_size=30))
def test_units_are_words_and_other_characters(text: str) -> None:
    """S1: every visible character of an unspaced script is one, a word is one."""
    assert count_units(settle(text)) == units(settle(text))


@pytest.mark.parametrize("distance", [0, 1, 7, 40])
def test_long_texts_are_looked_at_in_parts_that_lose_nothing(distance: int) -> None:
    """S1: one place near enough among thousands that are one unit too far from each other."""
    chance = random.Random(distance)
    parts = ["東京", "word", "の"]
    fillers = ["x" * 70, "wor", "words", "東", "京", "ー", "、", "😀"]

    def filling(count: int) -> str:
        return "".join(f" {chance.choice(fillers)} " for _ in range(count))

    def group(apart: int) -> str:
        gaps = sorted(chance.choices(range(apart + 1), k=1))
        first, second, third = chance.sample(parts, 3)
        between = filling(gaps[0]), filling(apart - gaps[0])
        return f"{first}{between[0]} {second}{between[1]} {third}"

    before, behind = (
        "".join(
            group(distance + 1) + filling(distance + 5)
            for _ in range(40_000 // (distance + 20) ** 2 + 10)
        )
        for _ in "ab"
    )
    planted = group(distance)
    body = settle(before + planted + filling(distance + 5) + behind)
    alone = settle(before + behind)
    assert NearParts(parts, distance).are_in(body, Steps(1_000_000))
    assert not NearParts(parts, distance).are_in(alone, Steps(1_000_000))
    first = len(settle(before)) + (before[-1] == " ")
    found = NearParts(parts, distance).spans_in(body)
    assert sorted(body[start:end] for start, end in found) == sorted(parts)
    assert (found[0][0], found[-1][1]) == (first, first + len(settle(planted)))
    assert NearParts(parts, distance).spans_in(alone) == []


def test_marks_are_those_that_are_near() -> None:
    """S3: a word further away is not marked, nor is what is near by in what is excluded."""
    near = Near((Phrase("a"), Phrase("b")), 1)
    assert marked("a x b x x a", near) == ["a", "b"]
    assert marked("b x x a b x x b", near) == ["a", "b"]
    assert marked("a x x b", near) == []
    assert marked("a b", Not(near)) == []
    assert marked("Ａ　。\nＢ", near) == ["Ａ", "Ｂ"]


def marked(text: str, query: Query) -> list[str]:
    """Return what is marked of a text."""
    return [piece.text for piece in highlight(text, query) if piece.hit]


@pytest.mark.parametrize("count", [2, 4, 8])
def test_a_mebibyte_is_marked_in_bounded_time(count: int) -> None:
    """S2: very many places of very common words."""
    text = "".join(random.Random(5).choices("あのはがを東京大、。 ", k=350_000))
    near = Near(tuple(map(Phrase, "のはがを東京大、"[:count])), 20)
    start = time.process_time()
    assert any(piece.hit for piece in highlight(text, near))
    assert time.process_time() - start < 3


OVERLAPPING = ["あ" * count for count in range(1, 9)]
HOPELESS = {
    "one is too far": (
        "あいうえおかきく",
        8,
        ("あいうえおかき" * 6 + "。" * 25 + "く" + "。" * 25),
    ),
    "all overlap": (OVERLAPPING, 0, "あ" * 35 + "。"),
    "all overlap in wide windows": (OVERLAPPING, 100, "あ" * 8 + "。" * 20 + "いうえ"),
    "equal": (["あ"] * 8, 0, "ああああああ。"),
    "words": (list("abcdefgh"), 0, "a b c d e f g x " * 3 + "x " * 20 + "h " + "x " * 20),
    "scripts change": (["無", "有"], 100, "無" + "のaa" * 150 + "有" + "のa" * 200),
    "no word edge": (list("abcdefgh"), 0, "abcdefgh" * 30 + " "),
}


@pytest.mark.parametrize(("parts", "distance", "piece"), HOPELESS.values(), ids=HOPELESS)
def test_what_takes_long_is_refused(parts: Sequence[str], distance: int, piece: str) -> None:
    """S3: about a second of work at most, counted in steps; never an answer in part."""
    steps = Steps(MOST_NEAR_STEPS)
    near = NearParts(list(parts), distance)
    body = piece * (200_000 // len(piece))
    start = time.process_time()
    with pytest.raises(NearTooCommon, match="400,000 steps"):
        assert any(near.are_in(body, steps) for _ in range(100))
    assert time.process_time() - start < 3


@pytest.mark.parametrize(("parts", "distance", "piece"), HOPELESS.values(), ids=HOPELESS)
def test_marks_are_bounded_too(parts: Sequence[str], distance: int, piece: str) -> None:
    """S2: whatever the text is, a little of it is looked at."""
    near = NearParts(list(parts), distance)
    start = time.process_time()
    near.spans_in(piece * (1_000_000 // len(piece)))
    assert time.process_time() - start < 0.5


def test_what_is_near_is_marked_behind_much_that_is_not() -> None:
    """S3: places that cannot be near enough do not use up the places that are marked."""
    body = ("のはが" * 5 + "。" * 9) * 100 + "のはを"
    found = NearParts(["の", "は", "を"], 0).spans_in(body)
    assert [body[start:end] for start, end in found] == ["の", "は", "を"]
    assert found[-1][1] == len(body)
