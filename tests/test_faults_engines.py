"""What search engines were reported to do wrong, and these must not.

Each test is named for its fault; tests/known_faults.py is the whole list, by number.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import tantivy

from sakuin.indexer.clone import clone_segments
from sakuin.indexer.document import Document, Fields
from sakuin.indexer.engine import Engine, Order, Searcher
from sakuin.indexer.engines import ENGINE_NAMES, engine_named
from sakuin.indexer.query import And, Everything, Not, Or, Phrase, Query
from sakuin.indexer.tantivy_writer import TantivyWriter
from small_index import BODY, build, change, document, documents, found_ids


@pytest.fixture(params=ENGINE_NAMES)
def engine(request: pytest.FixtureRequest) -> Engine:
    return engine_named(request.param)


@contextmanager
def opened(
    engine: Engine, root: Path, rows: list[Document], *, batch: int = 1_000, fields: Fields = BODY
) -> Iterator[Searcher]:
    searcher = engine.open_searcher(build(engine, root, rows, batch=batch, fields=fields), fields)
    yield searcher
    searcher.close()


class Unhurried:
    """tantivy's writer, which does not wait for the merges that a commit begins."""

    def __init__(self, writer: tantivy.IndexWriter) -> None:
        self.writer = writer

    def __getattr__(self, name: str) -> Any:
        return getattr(self.writer, name)

    def wait_merging_threads(self) -> None:
        """Leave them alone."""


def test_no_deletion_is_lost_when_segments_merge_after_opening(tmp_path: Path) -> None:
    """33, I2: a copy taken while segments merge, then changed, held the first 256 documents twice.

    tantivy gives the first deletion after opening the stamp of the commit before it.
    """
    engine, size, segments = engine_named("tantivy"), 1_500, 8
    rows = [document(n, f"w{n % 97} w{n % 89} w{n % 83} 語") for n in range(segments * size)]
    tried = 0
    for turn in range(3):
        first, clone = tmp_path / f"first-{turn}", tmp_path / f"clone-{turn}"
        first.mkdir()
        engine.create(first, BODY)
        index = tantivy.Index.open(str(first))
        raw = Unhurried(index.writer(50_000_000, 1))

        def with_ids(ids: Any, schema: tantivy.Schema = index.schema) -> tantivy.Query:
            return tantivy.Query.term_set_query(schema, "id", ids)

        for start in range(0, len(rows), size):
            index.reload()
            writer = TantivyWriter(raw, BODY, tantivy.Document, with_ids, index.searcher())
            writer.upsert(rows[start : start + size])
            if start == 7 * size:
                writer.delete([str(n) for n in (*range(3_005, 3_025), *range(6_005, 6_025))])
            writer.commit()
        try:
            clone_segments(engine, first, clone)
        except FileNotFoundError:  # the merge was quicker
            continue
        finally:
            raw.writer.wait_merging_threads()
        tried += 1
        with engine.open_writer(clone, BODY, bulk=False) as changes:
            changes.upsert(rows[100::50])
            changes.commit()
        searcher = engine.open_searcher(clone, BODY)
        assert searcher.document_count == len(rows) - 40
        searcher.close()
    assert tried


def check(engine: Engine, root: Path, texts: list[str], expected: dict[str, set[int]]) -> None:
    """Look for words, alone and each beside a word that stands everywhere."""
    rows = documents([f"{text} everywhere" for text in texts])
    with opened(engine, root, rows, batch=2) as searcher:
        for word, numbers in expected.items():
            ids = {str(number) for number in numbers}
            assert set(found_ids(searcher, Phrase(word))) == ids, word
            both = And((Phrase("everywhere"), Phrase(word)))
            assert set(found_ids(searcher, both)) == ids, word


def test_japanese_finds_anything_at_all(engine: Engine, tmp_path: Path) -> None:
    """1: a folding to ASCII took all of it away; a field of bigrams was written and never asked."""
    check(
        engine,
        tmp_path,
        ["東京の図書館", "library"],
        {"東京": {0}, "図書": {0}, "館": {0}, "library": {1}},
    )


def test_not_excludes_the_first_document_too(engine: Engine, tmp_path: Path) -> None:
    """whoosh let the first pass if what is excluded begins with an earlier document."""
    texts = ["x", "y", "x y", "y", "x y", "z"]
    with opened(engine, tmp_path, documents(texts)) as searcher:
        for wanted, unwanted, expected in (
            ("y", "x", {"1", "3"}),
            ("x", "y", {"0"}),
            ("z", "y", {"5"}),
            ("y", "y", set()),
        ):
            query: Query = And((Phrase(wanted), Not(Phrase(unwanted))))
            assert set(found_ids(searcher, query)) == expected
            nested = And((Or((Phrase("x"), Phrase("y"), Phrase("z"))), query))
            assert set(found_ids(searcher, nested)) == expected


def test_both_open_ends_of_a_phrase_are_read_where_they_stand(
    engine: Engine, tmp_path: Path
) -> None:
    """Joining what matches the two ends beforehand lost where in the text each of them is."""
    texts = ["1+0", "x", "31+05", "0+1", "9+31+07", "1+2 3+0", "2+0", "11+00 1+3"]
    with opened(engine, tmp_path, documents(texts)) as searcher:
        ends = Phrase("1+0", open_start=True, open_end=True)
        assert set(found_ids(searcher, ends)) == {"0", "2", "4", "7"}


def test_a_word_is_not_found_in_pieces(engine: Engine, tmp_path: Path) -> None:
    """5: リング found グリーン and スクリーンショット, whose single characters agree."""
    texts = ["グリーン", "スクリーンショット", "クリーニング", "ボーリング", "京都の東寺"]
    check(engine, tmp_path, texts, {"リング": {3}, "ング": {2, 3}, "東京": set(), "リーン": {0, 1}})


def test_short_words_are_neither_lost_nor_ignored(engine: Engine, tmp_path: Path) -> None:
    """7, 8: below three characters nothing matched, and beside a longer word they were left out."""
    texts = ["本 人間失格", "人間失格", "本", "a 人間失格"]
    check(engine, tmp_path, texts, {"本": {0, 2}, "a": {3}, "人間": {0, 1, 3}, "人": {0, 1, 3}})
    with opened(engine, tmp_path / "more", documents(texts)) as searcher:
        assert found_ids(searcher, And((Phrase("人間失格"), Phrase("本")))) == ["0"]


def test_there_are_no_stop_words(engine: Engine, tmp_path: Path) -> None:
    """12: every n-gram with `a` or `i` in it was dropped, and `east` could not be found."""
    texts = ["east of eden", "the who", "to be or not to be", "a", "i"]
    expected = {
        "east": {0},
        "the who": {1},
        "to be or not to be": {2},
        "a": {3},
        "i": {4},
        "of": {0},
    }
    check(engine, tmp_path, texts, expected)


def test_totals_and_pages_know_no_ten_thousand(engine: Engine, tmp_path: Path) -> None:
    """27: totals stuck at 10,000, and there was no page beyond."""
    rows = [document(number, "x") for number in range(10_100)]
    with opened(engine, tmp_path, rows, batch=20_000) as searcher:
        for order in (Order.RELEVANCE, Order.ID, Order.NEWEST):
            page = searcher.search(Phrase("x"), order=order, offset=10_050, limit=100)
            assert (page.total, len(page.hits)) == (10_100, 50)
        assert {hit.document.number for hit in page.hits} == set(range(50))
        walked = searcher.search(Phrase("x"), order=Order.ID, offset=0, limit=3, after="10090")
        assert [hit.document.number for hit in walked.hits] == [10_091, 10_092, 10_093]


def test_a_reader_holds_no_lock_of_a_writer(engine: Engine, tmp_path: Path) -> None:
    """30: a reader that had opened the index for writing kept everybody from writing."""
    place = build(engine, tmp_path, documents(["one"]))
    searchers = [engine.open_searcher(place, BODY) for _ in range(3)]
    with engine.open_writer(place, BODY, bulk=False) as writer:
        writer.upsert([document(1, "two")])
        assert found_ids(searchers[0], Everything()) == ["0"]
        writer.commit()
    for searcher in searchers:
        searcher.close()


def test_what_is_committed_is_seen_by_the_next_reader(engine: Engine, tmp_path: Path) -> None:
    """37: a commit was not visible until some later reload."""
    place = build(engine, tmp_path, [])
    for number in range(12):
        place = change(engine, place, [document(number, f"語{number}")], [str(number - 3)])
        searcher = engine.open_searcher(place, BODY)
        assert found_ids(searcher, Phrase(f"語{number}")) == [str(number)]
        assert searcher.document_count == min(number + 1, 3)
        searcher.close()
