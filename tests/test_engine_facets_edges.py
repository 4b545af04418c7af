"""Facets at their ends: of 64 bits, of years, of steps; odd values; what is no facet (S4)."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from conftest import Stress
from sakuin.indexer import tantivy_facets
from sakuin.indexer.document import Document, Fields, Filter, FilterKind
from sakuin.indexer.engine import Engine, Order, Searcher
from sakuin.indexer.engines import ENGINE_NAMES, engine_named
from sakuin.indexer.errors import TooManySteps
from sakuin.indexer.facet import MOST_STEPS, Bucket, Counts, Facet, Step, filter_of
from sakuin.indexer.moments import read_moment
from sakuin.indexer.parse import parse
from sakuin.indexer.query import Everything, Phrase
from small_index import build

FIELDS = Fields(
    ("body",),
    filters=(
        Filter("source", FilterKind.KEYWORD),
        Filter("頁", FilterKind.NUMBER),
        Filter("at", FilterKind.TIME),
    ),
)
DAY = 86_400_000_000
Opening = Callable[[Sequence[Document]], Searcher]


@pytest.fixture(params=ENGINE_NAMES)
def engine(request: pytest.FixtureRequest) -> Engine:
    return engine_named(request.param)


@pytest.fixture
def opened(engine: Engine, tmp_path: Path) -> Iterator[Opening]:
    searchers: list[Searcher] = []

    def opening(rows: Sequence[Document]) -> Searcher:
        place = build(engine, tmp_path / str(len(searchers)), rows, batch=40_000, fields=FIELDS)
        searchers.append(engine.open_searcher(place, FIELDS))
        return searchers[-1]

    yield opening
    for each in searchers:
        each.close()


def row(number: int, created: int = 0, **values: str | int) -> Document:
    return Document(
        str(number), number, created, number, {"body": "a" if number % 2 else "b"}, values
    )


def one(searcher: Searcher, facet: Facet) -> Counts:
    (counts,) = searcher.count(Everything(), [facet])
    return counts


def pairs(counts: Counts) -> list[tuple[str, int]]:
    return [(bucket.value, bucket.count) for bucket in counts.buckets]


def microsecond(text: str) -> int:
    found = read_moment(text)
    assert found
    return found[0]


def test_numbers_to_the_limits_of_64_bits(opened: Opening) -> None:
    """S4: no number is taken for its neighbour, and equal counts go by number."""
    numbers = [2**63 - 1, 2**63 - 2, -(2**63), -(2**63) + 1, 2**53, 2**53 + 1, 0, -1, 10, 9]
    searcher = opened([row(n, 頁=number) for n, number in enumerate([*numbers, 9, 2**63 - 1])])
    ordered = sorted(numbers, key=lambda each: (each not in (9, 2**63 - 1), each))
    for most in (0, 1, 3, 5, 10, 11, 10**9):
        counts = one(searcher, Facet("頁", most))
        expected = [(str(each), 2 if each in (9, 2**63 - 1) else 1) for each in ordered[:most]]
        assert pairs(counts) == expected
        assert counts.others == 12 - sum(count for _, count in expected)
        for bucket in counts.buckets:
            parsed = parse(filter_of(counts.facet, bucket) or "", fields=FIELDS).query
            assert searcher.search(parsed, order=Order.ID, offset=0, limit=0).total == bucket.count


@pytest.mark.parametrize("name", ["created", "at"])
def test_steps_begin_at_midnight_to_the_microsecond(opened: Opening, name: str) -> None:
    """S4: every step holds its first and its last microsecond; leap years too."""
    starts = ("1970-01-01", "2024-03-01", "2024-02-29", "1900-03-01", "2000-01-01")
    for start in starts:
        first = microsecond(start)
        moments = [first - 1, first, first + DAY - 1, first + DAY]
        searcher = opened([row(n, at, at=at) for n, at in enumerate(moments)])
        by_day = pairs(one(searcher, Facet(name, step=Step.DAY)))
        assert [count for _, count in by_day] == [1, 2, 1]
        assert by_day[1][0] == start
        for step in Step:
            assert sum(count for _, count in pairs(one(searcher, Facet(name, step=step)))) == 4
    ends = [microsecond("0001"), microsecond("9999-12-31T23:59:59.999999")]
    searcher = opened([row(n, at, at=at) for n, at in enumerate(ends[:1] * 2)])
    assert pairs(one(searcher, Facet(name, step=Step.DAY))) == [("0001-01-01", 2)]
    assert pairs(one(searcher, Facet(name, step=Step.YEAR))) == [("0001", 2)]
    searcher = opened([row(n, at, at=at) for n, at in enumerate(ends)])
    with pytest.raises(TooManySteps, match="9,999 steps of a year"):
        one(searcher, Facet(name, step=Step.YEAR))


@pytest.mark.parametrize("name", ["created", "at"])
def test_times_beyond_the_calendar_are_among_the_others(opened: Opening, name: str) -> None:
    moments = [-(2**62), 2**62, microsecond("0001") - 1, microsecond("2024-05")]
    searcher = opened([row(n, at, at=at) for n, at in enumerate(moments)])
    for step, value in ((Step.YEAR, "2024"), (Step.MONTH, "2024-05"), (Step.DAY, "2024-05-01")):
        facet = Facet(name, step=step)
        assert one(searcher, facet) == Counts(facet, (Bucket(value, value, 1),), 3, 0)
    searcher = opened([row(1, 2**62, at=2**62)])
    assert one(searcher, Facet(name, step=Step.DAY)).others == 1


def test_steps_without_a_document_are_there_too(opened: Opening) -> None:
    days = ("2023-11-30", "2024-02-01", "2024-02-29")
    searcher = opened([row(n, microsecond(day)) for n, day in enumerate(days)])
    months = [("2023-11", 1), ("2023-12", 0), ("2024-01", 0), ("2024-02", 2)]
    assert pairs(one(searcher, Facet("created", most=1, step=Step.MONTH))) == months
    assert pairs(one(searcher, Facet("created", step=Step.YEAR))) == [("2023", 1), ("2024", 2)]
    assert len(one(searcher, Facet("created", step=Step.DAY)).buckets) == 92
    (odd,) = searcher.count(Phrase("a"), [Facet("created", step=Step.MONTH)])
    assert pairs(odd) == [("2024-02", 1)]


def test_as_many_steps_as_there_may_be(opened: Opening) -> None:
    """The error says how many there are; it is of what is found, not of the index."""
    searcher = opened(
        [row(0, 5), row(1, 0), row(2, (MOST_STEPS - 1) * DAY), row(3, MOST_STEPS * DAY)]
    )
    facet = Facet("created", step=Step.DAY)
    (even,) = searcher.count(Phrase("b"), [facet])
    assert [len(even.buckets), even.buckets[0].count, even.buckets[-1].count] == [MOST_STEPS, 1, 1]
    with pytest.raises(TooManySteps, match=f"created: {MOST_STEPS + 1:,} steps of a day"):
        one(searcher, facet)


def test_very_many_days_and_months_are_refused_with_their_number(
    opened: Opening, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beyond what is looked at, too (there the limit is lowered: 12,000 days take long to make)."""
    monkeypatch.setattr(tantivy_facets, "_MOST_BUCKETS", 20)
    rows = [row(n, n * 40 * DAY) for n in range(50)]
    searcher = opened([*rows, row(50, 1_100 * 366 * DAY)])
    for step, number in ((Step.DAY, 402_601), (Step.MONTH, 13_228), (Step.YEAR, 1_103)):
        with pytest.raises(TooManySteps, match=f"{number:,} steps of a {step}"):
            one(searcher, Facet("created", step=step))


SPELLINGS = ['Ａ"b', "“x”", "a*", "*", "(b", "OR", "-5", "007", "a:b", " b  c ", "", "ｶﾞ", "a~5",
             "東京", "x\ny", "＂", "“\"”", "―", "c" * 980]  # fmt: skip


def test_every_value_is_found_by_its_filter(opened: Opening) -> None:
    """S3: whatever signs it holds; labels are as the first document spells them."""
    rows = [row(2 * n + 1, source=text) for n, text in enumerate(SPELLINGS)]
    rows += [row(2 * n, source=text.upper() + "\u200b") for n, text in enumerate(SPELLINGS)]
    searcher = opened(rows)
    counts = one(searcher, Facet("source", most=100))
    assert {bucket.label for bucket in counts.buckets} == {
        text.upper() + "\u200b" for text in SPELLINGS
    }
    for bucket in counts.buckets:
        parsed = parse(filter_of(counts.facet, bucket) or "", fields=FIELDS)
        assert not parsed.diagnostics, bucket
        assert searcher.search(parsed.query, order=Order.ID, offset=0, limit=9).total == 2, bucket


def test_what_no_query_can_hold_is_said() -> None:
    for value in ("a\0b", "\x1b", "\x9f", "c" * 1_000):
        assert filter_of(Facet("source"), Bucket(value, value, 1)) is None


def test_many_values_are_counted_whatever_an_engine_looks_at_first(
    opened: Opening, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S4: where equal counts go on beyond the first look, and beyond the second."""
    rows = [row(n, source=f"s{n // 2 % 70:02}", 頁=n // 2 % 70 - 35) for n in range(300)]
    searcher = opened(rows)
    for first, alone in ((12_000, 60_000), (8, 60_000), (8, 20)):
        monkeypatch.setattr(tantivy_facets, "_MOST_BUCKETS", first)
        monkeypatch.setattr(tantivy_facets, "_MOST_ALONE", alone)
        for most in (1, 5, 7, 10, 12, 69, 70, 71):
            counts = searcher.count(Everything(), [Facet("source", most), Facet("頁", most)])
            expected = [6] * min(most, 10) + [4] * (min(most, 70) - 10)
            for each, name in zip(counts, ("s{:02}", "{}"), strict=True):
                names = [name.format(n - 35 * (name == "{}")) for n in range(70)]
                assert pairs(each) == list(zip(names, expected, strict=False))
                assert each.others == 300 - sum(expected)


def test_more_values_than_tantivy_answers_with(tmp_path: Path, stress: Stress) -> None:
    """S4: its aggregations end at 65,000 values (reached with SAKUIN_STRESS=1)."""
    engine, number = engine_named("tantivy"), stress.count(70_000)
    rows = [row(n, n * DAY, source=f"{n:05}", 頁=n, at=n) for n in range(number)]
    searcher = engine.open_searcher(build(engine, tmp_path, rows, fields=FIELDS), FIELDS)
    for name, value in (("source", "{:05}"), ("頁", "{}")):
        counts = one(searcher, Facet(name, most=3))
        assert pairs(counts) == [(value.format(n), 1) for n in range(3)]
        assert counts.others == number - 3
    with pytest.raises(TooManySteps, match=f"{number:,} steps of a day"):
        one(searcher, Facet("created", step=Step.DAY))
    searcher.close()


def test_the_same_facet_twice_none_at_all_and_very_many(opened: Opening) -> None:
    searcher = opened([row(n, n * DAY, source="x", 頁=n % 3) for n in range(9)])
    assert searcher.count(Everything(), []) == ()
    facets = [Facet("source"), Facet("頁"), Facet("created", step=Step.DAY)] * 7
    assert searcher.count(Everything(), facets) == tuple(one(searcher, each) for each in facets)


def test_nothing_found_counts_nothing(opened: Opening) -> None:
    for searcher in (opened([]), opened([row(1, source="x")])):
        for facet in (Facet("source"), Facet("頁"), Facet("at", step=Step.DAY)):
            assert searcher.count(Phrase("never"), [facet]) == (Counts(facet, (), 0, 0),)
    assert one(searcher, Facet("頁")) == Counts(Facet("頁"), (), 0, 1)


@pytest.mark.parametrize(
    ("facet", "message"),
    [
        (Facet("body"), "'body' is no filter to count by; there are source, 頁, at, created"),
        (Facet("id"), "'id' is no filter"),
        (Facet("source", step=Step.DAY), "'source' is no time"),
        (Facet("頁", step=Step.YEAR), "'頁' is no time"),
        (Facet("created"), "'created' is a time: count it by a step, one of year, month, day"),
    ],
)
def test_what_is_no_facet_is_said(opened: Opening, facet: Facet, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        one(opened([]), facet)


def test_without_times_there_is_no_created(engine: Engine, tmp_path: Path) -> None:
    fields = Fields(("body",), timed=False)
    searcher = engine.open_searcher(build(engine, tmp_path, [], fields=fields), fields)
    with pytest.raises(ValueError, match="'created' is no filter"):
        one(searcher, Facet("created", step=Step.DAY))
    searcher.close()
    with pytest.raises(ValueError, match="closed"):
        searcher.count(Everything(), [])
