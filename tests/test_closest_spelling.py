"""A question with slips in its Latin words finds what the right words find."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from sakuin.indexer.closest import closest_search, search_closest
from sakuin.indexer.closest_spelling import MOST_WORDS
from sakuin.indexer.engine import Order, Searcher
from sakuin.indexer.engines import ENGINE_NAMES, engine_named
from sakuin.indexer.query import Range
from small_index import BODY, build, documents

TEXTS = (
    "Machine learning needs data.",
    "The library of the river town",
    "A garden of old roses",
    "図書館のデータベース",
)


@pytest.fixture(params=ENGINE_NAMES)
def searcher(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Searcher]:
    engine = engine_named(request.param)
    made = engine.open_searcher(build(engine, tmp_path, documents(TEXTS)), BODY)
    yield made
    made.close()


def first(searcher: Searcher, text: str) -> list[str]:
    found = search_closest(searcher, BODY, text, offset=0, limit=10)
    assert found.total == len(found.hits)
    return [hit.document.id for hit in found.hits]


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("machien learing", ["0"]),
        ("which libraly is by a rivr?", ["1"]),
        ("gardne", ["2"]),
        ("xyzzy", []),
        ("zq", []),
    ],
)
def test_a_slip_finds_the_word_that_was_meant(
    searcher: Searcher, text: str, ids: list[str]
) -> None:
    assert first(searcher, text) == ids


def test_a_word_that_texts_hold_is_not_taken_for_another(searcher: Searcher) -> None:
    assert first(searcher, "old") == ["2"]
    assert first(searcher, "learning river") == first(searcher, "river learning")


def test_no_word_is_taken_from_a_document_that_may_not_be_seen(searcher: Searcher) -> None:
    shown = closest_search(searcher, BODY, "gardne", within=Range("id", 2, 2))
    hidden = closest_search(searcher, BODY, "gardne", within=Range("id", 0, 1))
    assert [token.text for token in shown.question.tokens] == ["garden"]
    assert not hidden.question.tokens


def test_only_some_unknown_words_are_looked_up(searcher: Searcher) -> None:
    slips = " ".join([*["qqqq", "wwww", "zzzz", "jjjj"][:MOST_WORDS], "gardne"])
    assert first(searcher, slips) == []


def test_the_query_finds_what_the_search_finds(searcher: Searcher) -> None:
    for text in ("machien", "図書館 libraly", "木", ""):
        query = closest_search(searcher, BODY, text).query
        found = searcher.search(query, order=Order.ID, offset=0, limit=10)
        assert sorted(hit.document.id for hit in found.hits) == sorted(first(searcher, text))
