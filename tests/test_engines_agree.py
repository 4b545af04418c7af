"""Two engines, one set of answers: the same ids, totals and orders for queries of every kind.

5,000 seeded queries over five corpora with SAKUIN_STRESS=1, otherwise a tenth of them over fewer
rows. A tenth of what is asked is compared with the oracle too.
"""

import random
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from conftest import Stress
from oracle import in_order, matching, row_of
from query_kinds import CORPORA, Queries, fields_for, rows_of
from sakuin.indexer.document import Document, Fields
from sakuin.indexer.engine import Order, Searcher
from sakuin.indexer.engines import ENGINE_NAMES, engine_named
from sakuin.indexer.errors import QueryTooLarge
from sakuin.indexer.query import Query
from small_index import build, change

QUERIES, ORDERS = 1_000, (Order.ID, Order.NEWEST, Order.OLDEST, Order.SOURCE)


@dataclass(frozen=True, slots=True)
class Both:
    """One set of documents, opened by both engines."""

    fields: Fields
    rows: Sequence[Document]
    searchers: Sequence[Searcher]

    def ask(self, query: Query, order: Order, offset: int, limit: int) -> tuple[int, list[str]]:
        """Return the total and the ids of a page, which must be the same by both engines."""
        answers = [_page(each, query, order, offset, limit) for each in self.searchers]
        assert answers[0] == answers[1], (query, order, offset, limit)
        return answers[0]


def _page(
    searcher: Searcher, query: Query, order: Order, offset: int, limit: int
) -> tuple[int, list[str]]:
    try:
        found = searcher.search(query, order=order, offset=offset, limit=limit)
    except QueryTooLarge:
        return -1, []
    ids = [hit.document.id for hit in found.hits]
    return found.total, sorted(ids) if order is Order.RELEVANCE else ids


@contextmanager
def both(name: str, root: Path, whole: bool, chance: random.Random) -> Iterator[Both]:
    """Index a corpus in several batches, of which the last replaces and deletes."""
    fields = fields_for(name)
    rows = rows_of(name, *((2_000, 200_000) if whole else (200, 20_000)), chance)
    gone = [row.id for row in rows[10:20]]
    earlier = [
        replace(row, text={**row.text, "本文": "before zzz9 " + row.text["title"]})
        for row in rows[:40]
    ]
    with ExitStack() as stack:
        searchers = []
        for engine in map(engine_named, ENGINE_NAMES):
            place = build(
                engine,
                root / engine.name,
                earlier + rows[40:],
                batch=len(rows) // 3 + 1,
                fields=fields,
            )
            place = change(engine, place, rows[:40], gone, fields=fields)
            searchers.append(engine.open_searcher(place, fields))
            stack.callback(searchers[-1].close)
        yield Both(fields, rows[:10] + rows[20:], searchers)


@pytest.mark.parametrize("name", CORPORA)
def test_both_engines_give_the_same(name: str, tmp_path: Path, stress: Stress) -> None:
    """S1, S4, S5: ids and totals of all kinds of queries, lists of all orders, page by page."""
    chance = random.Random(f"{stress.seed} {name}")
    with both(name, tmp_path, stress.is_whole, chance) as opened:
        queries = Queries(opened.rows, opened.fields, chance)
        rows = [row_of(each, opened.fields) for each in opened.rows]
        found = 0
        for number in range(stress.count(QUERIES)):
            query, order = queries.one(), ORDERS[number % len(ORDERS)]
            total, ids = opened.ask(query, Order.RELEVANCE, 0, 10_000)
            found += total > 0
            if total < 0:
                continue
            assert total == len(ids)
            offset, limit = chance.randrange(total + 2), chance.choice([1, 3, 10, 100])
            whole = opened.ask(query, order, 0, 10_000)[1]
            assert opened.ask(query, order, offset, limit) == (
                total,
                whole[offset : offset + limit],
            )
            if number % 10 == 0:
                assert set(ids) == matching(query, rows), query
                assert whole == in_order(opened.rows, set(ids), order, opened.fields), (
                    query,
                    order,
                )
        assert found > stress.count(QUERIES) // 3


@pytest.mark.parametrize("name", ["aozora_10k", "mixed_tech"])
def test_walks_by_after_give_everything_in_order(name: str, tmp_path: Path, stress: Stress) -> None:
    """S4: order=id goes on behind the last id, with numbers and with texts, in both engines."""
    chance = random.Random(f"{stress.seed} {name}")
    with both(name, tmp_path, False, chance) as opened:
        queries = Queries(opened.rows, opened.fields, chance)
        for _ in range(stress.count(100)):
            query, limit = queries.one(), chance.choice([3, 17, 80])
            total, whole = opened.ask(query, Order.ID, 0, 10_000)
            for searcher in opened.searchers if total >= 0 else ():
                assert _walk(searcher, query, limit) == whole


def _walk(searcher: Searcher, query: Query, limit: int) -> list[str]:
    walked: list[str] = []
    while True:
        after = walked[-1] if walked else None
        page = searcher.search(query, order=Order.ID, offset=0, limit=limit, after=after)
        walked += [hit.document.id for hit in page.hits]
        if len(page.hits) < limit:
            assert page.total == len(walked)
            return walked
