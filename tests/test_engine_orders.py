"""Orders that are total, the same in every engine, and quick far from their start (promise S4)."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracle import in_order
from sakuin.indexer.document import Document, Fields, Filter, FilterKind
from sakuin.indexer.engine import Engine, Order, Searcher, orders
from sakuin.indexer.engines import ENGINE_NAMES, engine_named
from sakuin.indexer.order_page import Column, sorted_page
from sakuin.indexer.query import Everything, Phrase
from small_index import BODY, build, change, documents, found_ids

FIELDS = Fields(
    ("body",),
    filters=(Filter("file", FilterKind.KEYWORD), Filter("line", FilterKind.NUMBER)),
    place=("file", "line"),
)
FILES = ["a", "a\0", "a\0\0b", "aa", "A", "", "\uffff", "𠮷", "b" * 300, "b" * 300 + "a"]
LINES = [-(2**63), 2**63 - 1, -1, 0, 1, 2, 2]
WHEN = [-(2**63), 2**63 - 1, 0, 0, 7]


@pytest.fixture(params=ENGINE_NAMES)
def engine(request: pytest.FixtureRequest) -> Engine:
    return engine_named(request.param)


def rows(count: int, *, text_ids: bool) -> list[Document]:
    chance = random.Random(count)
    made = []
    for number in range(count):
        values: dict[str, str | int] = {}
        if chance.random() < 0.8:
            values["file"] = chance.choice(FILES[: chance.choice([1, 10])])
        if chance.random() < 0.8:
            values["line"] = chance.choice(LINES)
        one = f"{chance.choice(FILES)[:40]}{number}" if text_ids else str(number)
        body = {"body": "x" if number % 3 else "x y"}
        made.append(Document(one, 0 if text_ids else number, chance.choice(WHEN), 0, body, values))
    chance.shuffle(made)
    return made


@dataclass(frozen=True, slots=True)
class Opened:
    searcher: Searcher
    fields: Fields
    rows: Sequence[Document]


@pytest.fixture(params=[False, True], ids=["numbers", "texts"])
def opened(engine: Engine, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Opened]:
    """300 documents in some segments, of which the last changes earlier ones."""
    fields = replace(FIELDS, text_ids=request.param)
    made = rows(300, text_ids=fields.text_ids)
    before = [replace(each, at=3, values={"file": "z", "line": 5}) for each in made[:50]]
    place = build(engine, tmp_path, before + made[50:], batch=110, fields=fields)
    searcher = engine.open_searcher(change(engine, place, made[:50], (), fields=fields), fields)
    yield Opened(searcher, fields, made)
    searcher.close()


@pytest.mark.parametrize("order", [Order.ID, Order.NEWEST, Order.OLDEST, Order.SOURCE])
def test_orders_are_those_of_the_values(opened: Opened, order: Order) -> None:
    """S4: missing values first, texts by code point, numbers of 64 bits, ties by id."""
    for query, ids in (
        (Everything(), {each.id for each in opened.rows}),
        (Phrase("y"), {each.id for each in opened.rows if "y" in each.text["body"]}),
    ):
        expected = in_order(opened.rows, ids, order, opened.fields)
        assert found_ids(opened.searcher, query, order=order) == expected
        for offset in range(0, len(expected) + 10, 13):
            page = opened.searcher.search(query, order=order, offset=offset, limit=13)
            assert [hit.document.id for hit in page.hits] == expected[offset : offset + 13]
            assert page.total == len(expected)


def test_after_begins_behind_an_id(opened: Opened) -> None:
    """S4: whether it is still there, or never was; the total stays that of the search."""
    ids = found_ids(opened.searcher, Everything(), order=Order.ID)

    def behind(after: str, offset: int = 0) -> list[str]:
        found = opened.searcher.search(
            Everything(), order=Order.ID, offset=offset, limit=7, after=after
        )
        assert found.total == 300
        return [hit.document.id for hit in found.hits]

    for at in (0, 5, 150, 292, 298, 299):
        assert behind(ids[at]) == ids[at + 1 : at + 8]
        assert behind(ids[at], 3) == ids[at + 4 : at + 11]
    assert behind(ids[-1]) == []
    if opened.fields.text_ids:
        for other in ("", "a", "a1", "b" * 39 + "~", "zz", "\U0010ffff" * 9):
            assert behind(other) == [one for one in ids if one > other][:7]
    else:
        assert behind("-1") == behind("-" + "9" * 50) == ids[:7]
        assert behind("9" * 50) == behind(str(2**63 - 1)) == []
        for none in ("seventeen", "１", "1_0", "+5", " 5", "05", "-0", ""):
            with pytest.raises(ValueError, match=repr(none).replace("+", r"\+")):
                behind(none)


def test_an_order_that_the_index_does_not_know_is_refused(engine: Engine, tmp_path: Path) -> None:
    place = build(engine, tmp_path, documents(["x"]))
    plain = replace(BODY, timed=False)
    searcher = engine.open_searcher(place, plain)
    for order in Order:
        if order not in orders(plain):
            with pytest.raises(ValueError, match=f"{order}.*relevance, id"):
                searcher.search(Everything(), order=order, offset=0, limit=1)
    with pytest.raises(ValueError, match="after"):
        searcher.search(Everything(), order=Order.RELEVANCE, offset=0, limit=1, after="1")
    searcher.close()


Rows = list[tuple[Any, ...]]


class InMemory:
    """A sorter over tuples: a query is the list of those that match."""

    def __init__(self, every: Rows, columns: Sequence[Column], step: int) -> None:
        self._every, self._columns, self._step = every, columns, step
        self.longest_skip_by_text = 0

    def count(self, query: Rows) -> int:
        return len(query)

    def sorted(self, query: Rows, column: Column, offset: int, limit: int) -> Any:
        if column.is_text:
            self.longest_skip_by_text = max(self.longest_skip_by_text, offset)
        at = self._columns.index(column)
        ordered = sorted(query, key=lambda row: row[at], reverse=column.is_descending)
        return [(row[at], row) for row in ordered[offset : offset + limit]]

    def within(self, query: Rows, column: Column, low: Any, high: Any) -> Rows:
        at = self._columns.index(column)
        return [r for r in query if low <= r[at] and (high is None or r[at] <= high)]

    def beyond(self, query: Rows, column: Column, value: Any) -> Rows:
        at = self._columns.index(column)
        return [r for r in query if (r[at] < value if column.is_descending else r[at] > value)]

    def some_values(self, column: Column) -> list[str]:
        at = self._columns.index(column)
        return sorted({row[at] for row in self._every})[:: self._step]


COLUMNS = (Column("text", is_text=True), Column("number", is_descending=True), Column("id"))
rows_of_columns = st.lists(
    st.tuples(st.sampled_from("abcdefgh"), st.integers(0, 3)), min_size=1, max_size=400
)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(rows_of_columns, st.integers(1, 3), st.integers(0, 400), st.integers(1, 40))
def test_a_page_is_a_cut_of_the_whole(
    pairs: list[tuple[str, int]], step: int, offset: int, limit: int
) -> None:
    """S4: whatever is equal in how many columns, and however few values are known."""
    every = [(*pair, number) for number, pair in enumerate(pairs)]
    asked = [row for row in every if row[2] % 5]
    expected = sorted(asked, key=lambda row: (row[0], -row[1], row[2]))[offset : offset + limit]
    sorter = InMemory(every, COLUMNS, step)
    assert sorted_page(sorter, asked, COLUMNS, offset, limit) == expected


def test_far_pages_sort_little_by_text() -> None:
    """S4: a sort by text costs each hit before the page; it is given few to skip."""
    for columns, row in (
        ((Column("text", is_text=True),), lambda n: (f"{n:05}",)),
        ((Column("text", is_text=True), Column("id")), lambda n: (f"{n // 5000}", n)),
    ):
        every = [row(number) for number in range(20_000)]
        sorter = InMemory(every, columns, 100 if len(columns) == 1 else 1)
        for offset in (50, 65, 4_999, 5_000, 9_997, 19_999):
            assert sorted_page(sorter, every, columns, offset, 10) == every[offset : offset + 10]
        assert sorter.longest_skip_by_text < 101
