"""The contract of `sakuin.indexer.engine`, which every engine keeps (promises S1, S4, S5)."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sakuin.indexer.document import Document, Fields
from sakuin.indexer.engine import Engine, Order, Searcher, orders
from sakuin.indexer.engines import ENGINE_NAMES, engine_named
from sakuin.indexer.query import And, Everything, Not, Nothing, Or, Phrase, Query, prefix
from small_index import BODY, build, change, document, documents, found_ids

Opening = Callable[..., Searcher]


@pytest.fixture(params=ENGINE_NAMES)
def engine(request: pytest.FixtureRequest) -> Engine:
    return engine_named(request.param)


@pytest.fixture
def opened(engine: Engine, tmp_path: Path) -> Iterator[Opening]:
    """Build an index and open it; closed at the end."""
    searchers: list[Searcher] = []

    def opening(rows: list[Document], *, fields: Fields = BODY, batch: int = 10_000) -> Searcher:
        root = tmp_path / str(len(searchers))
        place = build(engine, root, rows, batch=batch, fields=fields)
        searchers.append(engine.open_searcher(place, fields))
        return searchers[-1]

    yield opening
    for each in searchers:
        each.close()


def total(searcher: Searcher, query: Query) -> int:
    return searcher.search(query, order=Order.RELEVANCE, offset=0, limit=0).total


def test_an_empty_index_answers(opened: Opening) -> None:
    searcher = opened([])
    assert searcher.document_count == 0
    for order in orders(BODY):
        for query in (Everything(), Phrase("東"), Phrase("東京"), prefix("a b"), Not(Phrase("x"))):
            assert searcher.search(query, order=order, offset=0, limit=10).total == 0
    assert searcher.documents(["1"]) == {}
    assert searcher.digests(["1"]) == {}


def test_documents_come_back_as_they_were_given(opened: Opening) -> None:
    """S6: the original text of every field, and all numbers to their limits."""
    fields = Fields(("title", "本文"), ("author",))
    rows = [
        Document(
            "17", 0, -1, 0, {"title": "Ｔｉｔｌｅ", "本文": "か\u3099 x\r\n\ty ", "author": "A&B"}
        ),
        Document(
            '["a",1]', 2**63 - 1, -(2**62), 2**64 - 1, {"title": "", "本文": "\0", "author": "𠮷"}
        ),
        Document("", 5, 2**62, 1, {"title": " ", "本文": "\ufdd0\uffff\u200b", "author": ""}),
    ]
    searcher = opened(rows, fields=fields)
    everything = searcher.search(Everything(), order=Order.OLDEST, offset=0, limit=9)
    assert [hit.document for hit in everything.hits] == [rows[1], rows[0], rows[2]]
    wanted = ["17", "", "not there", '["a",1]', "17"]
    assert searcher.documents(wanted) == {row.id: row for row in rows}
    assert searcher.digests(wanted) == {row.id: row.digest for row in rows}
    assert not searcher.documents([])
    assert not searcher.digests([])


IDS = [
    "a b", "A", "東京 (大阪)", "x" * 255, "漢" * 255, " ", "\t", "a\0b", "“q” OR *", "é", "e\u0301",
    "𠮷", '["a", 2]', "-1", "NOT", "",
]  # fmt: skip


@pytest.mark.parametrize("one", IDS)
def test_any_id_is_replaced_and_deleted_exactly(engine: Engine, tmp_path: Path, one: str) -> None:
    near = [one + "x", "x" + one, one + " ", one.upper() + "Y", one * 2 + "z"]
    rows = [Document(each, n, n, n, {"body": f"語{n}"}) for n, each in enumerate([one, *near])]
    first = build(engine, tmp_path, rows)
    second = change(engine, first, [Document(one, 9, 9, 9, {"body": "新"})], [])
    third = change(engine, second, [], [one, "never there"])
    for place, expected in ((second, {one, *near}), (third, set(near))):
        searcher = engine.open_searcher(place, BODY)
        assert searcher.document_count == len(expected)
        assert set(found_ids(searcher, Everything())) == expected
        assert found_ids(searcher, Phrase("新")) == ([one] if one in expected else [])
        assert set(searcher.digests([one, *near])) == expected
        searcher.close()


def test_the_last_change_of_an_id_wins(engine: Engine, tmp_path: Path) -> None:
    place = build(engine, tmp_path, documents(["zero", "one"]))
    with engine.open_writer(place, BODY, bulk=False) as writer:
        writer.upsert([document(1, "first"), document(2, "kept"), document(1, "second")])
        writer.upsert([document(1, "third")])
        writer.upsert([document(3, "gone")])
        writer.delete(["3", "0", "0"])
        writer.delete(["2"])
        writer.upsert([document(2, "again")])
        writer.commit()
    searcher = engine.open_searcher(place, BODY)
    stored = searcher.search(Everything(), order=Order.ID, offset=0, limit=9)
    assert [hit.document.text["body"] for hit in stored.hits] == ["third", "again"]
    assert [total(searcher, Phrase(w)) for w in ("one", "first", "second", "third", "kept")] == [
        0, 0, 0, 1, 0,
    ]  # fmt: skip
    searcher.close()


def test_leaving_a_writer_without_commit_changes_nothing(engine: Engine, tmp_path: Path) -> None:
    place = build(engine, tmp_path, documents(["one"]))
    with engine.open_writer(place, BODY, bulk=False) as writer:
        writer.upsert([document(1, "two")])
        writer.delete(["0"])
    with pytest.raises(KeyError), engine.open_writer(place, BODY, bulk=True) as writer:
        writer.upsert([document(5, "five"), Document("6", 6, 6, 6, {})])
    threads = threading.active_count()
    with engine.open_writer(place, BODY, bulk=False) as writer:  # the lock was freed
        writer.upsert([document(2, "three")])
        writer.commit()
    assert threading.active_count() == threads
    searcher = engine.open_searcher(place, BODY)
    assert found_ids(searcher, Everything(), order=Order.ID) == ["0", "2"]
    searcher.close()


def test_a_closed_writer_or_searcher_says_so(engine: Engine, tmp_path: Path) -> None:
    place = build(engine, tmp_path, documents(["one"]))
    writer = engine.open_writer(place, BODY, bulk=False)
    writer.commit()
    with pytest.raises(ValueError, match="closed"):
        writer.upsert([document(1, "two")])
    searcher = engine.open_searcher(place, BODY)
    searcher.close()
    searcher.close()
    with pytest.raises(ValueError, match="closed"):
        searcher.search(Everything(), order=Order.ID, offset=0, limit=1)


def test_a_searcher_stays_with_what_it_opened(engine: Engine, tmp_path: Path) -> None:
    """I1: neither a later batch nor the removal of the directory disturbs a search."""
    place = build(engine, tmp_path, documents(["one", "two"]))
    searcher = engine.open_searcher(place, BODY)
    change(engine, place, [document(7, "one")], ["0"])
    for file in place.iterdir():
        file.unlink()
    place.rmdir()
    assert found_ids(searcher, Phrase("one")) == ["0"]
    assert searcher.documents(["1"])["1"].text["body"] == "two"
    searcher.close()


ORDERED = [
    document(n, "a" * (n % 3 + 1) + " word" * (n % 5), at=(n * 7) % 4 - 2) for n in range(60)
]


@pytest.mark.parametrize("batch", [1000, 7])
@pytest.mark.parametrize("order", orders(BODY))
def test_pages_join_to_the_whole_in_order(opened: Opening, order: Order, batch: int) -> None:
    """S4: ties in one fixed order, so no hit stands on two pages and none is lost."""
    searcher = opened(ORDERED, batch=batch)
    for query in (Everything(), Phrase("word"), Or((Phrase("a"), Phrase("aa")))):
        whole = searcher.search(query, order=order, offset=0, limit=100)
        pages = [
            searcher.search(query, order=order, offset=offset, limit=7)
            for offset in range(0, 70, 7)
        ]
        assert [hit for page in pages for hit in page.hits] == list(whole.hits)
        assert {page.total for page in pages} == {whole.total} == {len(whole.hits)}
        rows = [hit.document for hit in whole.hits]
        if order is Order.RELEVANCE:
            scores = [hit.score for hit in whole.hits]
            assert scores == sorted(scores, reverse=True)
        else:
            assert {hit.score for hit in whole.hits} == {0.0}
        if order is Order.ID:
            assert [row.number for row in rows] == sorted(row.number for row in rows)
        if order in (Order.NEWEST, Order.OLDEST):
            times = [row.at for row in rows]
            assert times == sorted(times, reverse=order is Order.NEWEST)


def test_more_of_a_rarer_word_ranks_higher(opened: Opening) -> None:
    searcher = opened(
        documents(["多い語 多い語", "多い語 珍しい語 珍しい語", "多い語 珍しい語 長い長い文"])
    )
    either = Or((Phrase("多い"), Phrase("珍しい")))
    assert found_ids(searcher, either) == ["1", "2", "0"]


def test_offsets_and_limits_at_their_ends(opened: Opening) -> None:
    searcher = opened(documents(["x"] * 12))
    for order in orders(BODY):
        for offset, limit, length in ((0, 0, 0), (12, 5, 0), (11, 5, 1), (10**12, 10, 0),
                                      (0, 10**12, 12), (5, 0, 0), (10**30, 10**30, 0)):  # fmt: skip
            page = searcher.search(Phrase("x"), order=order, offset=offset, limit=limit)
            assert (page.total, len(page.hits)) == (12, length)


def test_trees(opened: Opening) -> None:
    searcher = opened(documents(["東京 大阪", "東京", "大阪", "京都", ""]))
    tokyo, osaka = Phrase("東京"), Phrase("大阪")
    for query, expected in (
        (And((tokyo, osaka)), {"0"}),
        (Or((tokyo, osaka)), {"0", "1", "2"}),
        (And((tokyo, Not(osaka))), {"1"}),
        (Not(tokyo), {"2", "3", "4"}),
        (Not(Not(tokyo)), {"0", "1"}),
        (Or((Not(tokyo), Not(osaka))), {"1", "2", "3", "4"}),
        (And((Not(tokyo), Not(osaka))), {"3", "4"}),
        (Not(And((tokyo, osaka))), {"1", "2", "3", "4"}),
        (Not(Or((tokyo, osaka))), {"3", "4"}),
        (And((tokyo, Or((osaka, Not(osaka))))), {"0", "1"}),
        (Everything(), {"0", "1", "2", "3", "4"}),
        (Not(Everything()), set()),
        (Nothing(), set()),
        (Not(Nothing()), {"0", "1", "2", "3", "4"}),
        (And(()), {"0", "1", "2", "3", "4"}),
        (Or(()), set()),
        (Not(Or(())), {"0", "1", "2", "3", "4"}),
        (And((tokyo, Nothing())), set()),
        (Or((tokyo, Everything())), {"0", "1", "2", "3", "4"}),
        (And((tokyo, Everything())), {"0", "1"}),
        (And((Not(Nothing()), tokyo)), {"0", "1"}),
        (Phrase("  "), set()),
        (Not(Phrase("\u200b")), {"0", "1", "2", "3", "4"}),
    ):
        assert set(found_ids(searcher, query)) == expected, query


def test_a_leaf_matches_in_any_searched_field_but_never_across(opened: Opening) -> None:
    fields = Fields(("title", "body"), ("note",))
    rows = [
        Document("1", 1, 1, 1, {"title": "東京", "body": "大阪", "note": "京都"}),
        Document("2", 2, 2, 2, {"title": "京", "body": "都", "note": ""}),
        Document("3", 3, 3, 3, {"title": "new", "body": "york", "note": "york"}),
    ]
    searcher = opened(rows, fields=fields)
    assert found_ids(searcher, Phrase("東京")) == ["1"]
    assert found_ids(searcher, And((Phrase("東京"), Phrase("大阪")))) == ["1"]
    assert found_ids(searcher, Phrase("京都")) == []
    assert found_ids(searcher, Phrase("new york")) == []
    assert found_ids(searcher, prefix("new y")) == []
    assert set(found_ids(searcher, Phrase("京"))) == {"1", "2"}
    assert set(found_ids(searcher, Not(Phrase("大")))) == {"2", "3"}
    assert found_ids(searcher, prefix("yo")) == ["3"]


def test_prefixes_know_no_limit_of_expansions(opened: Opening) -> None:
    """S5: an engine's own prefix stops at 50 words and does not say so."""
    searcher = opened([document(n, f"to word{n:04d}x new") for n in range(300)], batch=170)
    assert total(searcher, prefix("word")) == 300
    assert total(searcher, prefix("to word")) == 300
    assert total(searcher, prefix("to word02")) == 100
    assert total(searcher, prefix("word0299x n")) == 1
    assert total(searcher, prefix("word0299x to")) == 0
    assert total(searcher, prefix("o word")) == 0


def test_long_words_are_exact(opened: Opening) -> None:
    """S1 rule 2: a word beyond one token is neither cut off nor confused with another."""
    lengths = (254, 255, 256, 509, 510, 511, 70_000)
    searcher = opened([document(n, "x " + "a" * n + " y") for n in lengths])
    for n in lengths:
        assert found_ids(searcher, Phrase("a" * n)) == [str(n)]
        assert found_ids(searcher, Phrase("x " + "a" * n + " y")) == [str(n)]
        longer = sorted(str(each) for each in lengths if each >= n)
        assert sorted(found_ids(searcher, prefix("a" * n))) == longer
        assert sorted(found_ids(searcher, prefix("x " + "a" * n))) == longer
    assert total(searcher, Phrase("a" * 300)) == 0
    assert total(searcher, Phrase("a" * 255 + "b")) == 0


def test_a_very_long_document(opened: Opening) -> None:
    searcher = opened(documents(["漢字" * 250_000 + "終", "word " * 100_000 + "終", "終"]))
    assert set(found_ids(searcher, Phrase("終"))) == {"0", "1", "2"}
    assert found_ids(searcher, Phrase("字終")) == ["0"]
    assert found_ids(searcher, Phrase("word 終")) == ["1"]
    assert found_ids(searcher, Phrase("漢字" * 100)) == ["0"]


def test_threads_share_a_searcher(opened: Opening) -> None:
    searcher = opened([document(n, f"語{n % 7} word{n % 5}") for n in range(200)], batch=60)
    queries: list[Query] = [prefix("wor"), Phrase("語"), Everything()]
    queries += [Phrase(f"語{n}") for n in range(7)]
    expected = [found_ids(searcher, query) for query in queries]
    failures: list[str] = []

    def search(turn: int) -> None:
        for step in range(40):
            at = (turn * 3 + step) % len(queries)
            if found_ids(searcher, queries[at]) != expected[at]:
                failures.append(f"{queries[at]}")

    threads = [threading.Thread(target=search, args=(turn,)) for turn in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
