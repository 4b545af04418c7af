"""Words that come up (promise S4: the counts are exact)."""

import random
from collections import Counter
from pathlib import Path

import pytest

import corpus
from sakuin.indexer.document import Fields
from sakuin.indexer.engine import Searcher
from sakuin.indexer.engines import ENGINE_NAMES, engine_named
from sakuin.indexer.query import Phrase, Range
from sakuin.indexer.rising_words import Bounds, RisingWord, rising_words
from sakuin.indexer.words import words_of
from small_index import BODY, build, documents

ALL = 10_000


def opened(root: Path, name: str, texts: list[str], fields: Fields = BODY) -> Searcher:
    engine = engine_named(name)
    rows = documents(texts)
    return engine.open_searcher(build(engine, root / name, rows, fields=fields), fields)


@pytest.fixture(scope="module")
def texts() -> list[str]:
    lines = corpus.paragraphs("aozora_10k")[:250] + corpus.paragraphs("mixed_tech")[:150]
    chance = random.Random(6)
    chance.shuffle(lines)
    return [
        line + (" 新語" if number > 300 and number % 3 else "") for number, line in enumerate(lines)
    ]


@pytest.mark.parametrize("name", ENGINE_NAMES)
def test_rising_words_by_the_formula(name: str, texts: list[str], tmp_path: Path) -> None:
    """All words of all documents, counted and ranked by hand."""
    searcher = opened(tmp_path, name, texts)
    for since, within in ((300, None), (150, None), (250, Phrase("の"))):
        rows = [
            (at, words_of(text))
            for at, text in enumerate(texts)
            if within is None or within.text in text
        ]
        recent = Counter(word for at, words in rows if at >= since for word in words)
        before = Counter(word for at, words in rows if at < since for word in words)
        growth = sum(at >= since for at, _ in rows) / sum(at < since for at, _ in rows)
        ranked = sorted(
            (-(count + 1) / (before[word] * growth + 1), word, count)
            for word, count in recent.items()
            if count >= 3
        )
        expected = [
            RisingWord(word, count, before[word])
            for _, word, count in ranked[:10]
            if count > before[word] * growth
        ]
        assert list(rising_words(searcher, BODY, since=since, within=within, most=10)) == expected
    assert rising_words(searcher, BODY, since=300, most=1)[0].word == "新語"
    searcher.close()


@pytest.mark.parametrize("name", ENGINE_NAMES)
def test_nothing_rises_without_a_before_or_a_since(name: str, tmp_path: Path) -> None:
    searcher = opened(tmp_path, name, ["alpha beta"] * 4 + ["alpha"] * 4)
    assert rising_words(searcher, BODY, since=100) == ()
    assert rising_words(searcher, BODY, since=4) == ()
    assert rising_words(searcher, BODY, since=0) == (
        RisingWord("alpha", 8, 0),
        RisingWord("beta", 4, 0),
    )
    with pytest.raises(ValueError, match="no time"):
        rising_words(searcher, Fields(("body",), timed=False), since=0)
    searcher.close()


def test_words_beyond_those_read_at_once_are_asked_for(texts: list[str], tmp_path: Path) -> None:
    """Missing may only be what was not read, and is beyond those that are asked for; none wrong."""
    searcher = opened(tmp_path, "tantivy", texts)

    def rising(before: int, asked: int) -> list[RisingWord]:
        bounds = Bounds(before=before, asked=asked)
        return list(rising_words(searcher, BODY, since=300, most=ALL, bounds=bounds))

    whole = rising(ALL, 0)
    assert rising(20, ALL) == whole
    read = {each.word for each in searcher.words("", among=Range("id", 0, 299), most=20)}
    some = rising(20, 5)
    assert some == [each for each in whole if each in some]
    missing = {each.word for each in whole} - {each.word for each in some}
    assert missing
    assert not missing & read
    assert 0 < len({each.word for each in some} - read) <= 5
    searcher.close()
