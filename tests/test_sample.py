"""The sample holds what the demo promises to find in it."""

import re
from collections import Counter

import pytest

from sakuin.app.sample import sample_sources

KANA = re.compile(r"[\u3041-\u30ff]")


def paragraphs() -> list[str]:
    return [text for source in sample_sources() for text in source.paragraphs]


def in_japanese() -> list[str]:
    return [text for text in paragraphs() if KANA.search(text)]


def test_sources_come_in_order_each_with_its_language() -> None:
    names = [source.name for source in sample_sources()]
    assert names == sorted(set(names))
    assert {name.rpartition("_")[2] for name in names} == {"ja", "en"}
    for source in sample_sources():
        for text in source.paragraphs:
            assert bool(KANA.search(text)) == source.name.endswith("_ja"), text


def test_there_is_enough_and_two_thirds_are_japanese() -> None:
    count = len(paragraphs())
    assert count >= 240
    assert 0.6 <= len(in_japanese()) / count <= 0.72


def test_every_paragraph_is_a_real_one() -> None:
    for text in paragraphs():
        assert 40 <= len(text) <= 250, text
        assert text == text.strip()
        assert text.replace("\u3000", " ").isprintable(), text


def test_no_paragraph_is_cut_from_the_pattern_of_another() -> None:
    """No run of 14 Japanese or 30 English characters stands in two paragraphs."""
    for texts, width in (
        (in_japanese(), 14),
        ([text for text in paragraphs() if not KANA.search(text)], 30),
    ):
        seen = Counter(
            run for text in texts for run in {text[i : i + width] for i in range(len(text) - width)}
        )
        assert [run for run, times in seen.items() if times > 1] == []


@pytest.mark.parametrize(("word", "at_least"), [("人間", 12), ("殺し", 5), ("残酷", 5)])
def test_the_words_of_the_demo_occur(word: str, at_least: int) -> None:
    assert sum(word in text for text in paragraphs()) >= at_least


def test_some_paragraphs_hold_all_three_words() -> None:
    together = [text for text in paragraphs() if all(w in text for w in ("人間", "殺し", "残酷"))]
    assert len(together) >= 2


@pytest.mark.parametrize(
    "pattern",
    [
        "iPhone15",
        "H2O",
        "[Ａ-Ｚ]",
        "[０-９]",
        "[ｦ-ﾟ]{3,}",
        "圖書館",
        "國",
        "\N{RICE BALL}",
        "\u3000",
    ],
)
def test_characters_that_ask_for_folding_occur(pattern: str) -> None:
    assert any(re.search(pattern, text) for text in paragraphs())
