"""Facets: how many of what a search finds have which value, exactly, in both engines (S4, S5).

500 seeded queries over five corpora with SAKUIN_STRESS=1, otherwise 100 of them over fewer
rows; all are counted by brute force.
"""

import random
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from conftest import Stress
from oracle import matching, oracle_fold, row_of
from query_kinds import CORPORA, Queries
from sakuin.indexer.document import Document, Fields
from sakuin.indexer.engine import Order, Searcher
from sakuin.indexer.errors import QueryTooLarge, TooManySteps
from sakuin.indexer.facet import Bucket, Counts, Facet, Step, filter_of
from sakuin.indexer.parse import parse
from sakuin.indexer.query import And, Everything, Or, Query
from test_engines_agree import both

QUERIES = 100
FACETS = (
    Facet("source"),
    Facet("source", most=3),
    Facet("n"),
    Facet("n", most=1),
    Facet("n", most=1_000_000),
    Facet("n", most=0),
    Facet("at", step=Step.DAY),
    Facet("at", step=Step.MONTH),
    Facet("created", step=Step.YEAR),
    Facet("created", step=Step.MONTH),
)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def naive(facet: Facet, found: Sequence[Document], every: Sequence[Document], f: Fields) -> Counts:
    """Count one document after another; times by the calendar of the standard library."""
    values = [one.at if facet.name == "created" else one.values.get(facet.name) for one in found]
    having = [value for value in values if value is not None]
    missing = len(values) - len(having)
    if facet.step:
        return _naive_steps(facet, [int(each) for each in having], missing)
    folded = [oracle_fold(each) if isinstance(each, str) else each for each in having]
    counts = sorted(Counter(folded).items(), key=lambda each: (-each[1], each[0]))
    first = counts[: max(0, facet.most)]
    buckets = tuple(
        Bucket(str(value), _spelling(facet.name, value, every, f), count) for value, count in first
    )
    return Counts(facet, buckets, len(having) - sum(n for _, n in first), missing)


def _naive_steps(facet: Facet, having: Sequence[int], missing: int) -> Counts:
    length = {Step.YEAR: 4, Step.MONTH: 7, Step.DAY: 10}[facet.step or Step.DAY]
    days = [(EPOCH + timedelta(microseconds=each)).date() for each in having]
    counts = Counter(day.isoformat()[:length] for day in days)
    names: list[str] = []
    day = min(days, default=None)
    while day and day <= max(days):
        if day.isoformat()[:length] not in names[-1:]:
            names.append(day.isoformat()[:length])
        day += timedelta(days=1)
    return Counts(facet, tuple(Bucket(n, n, counts[n]) for n in names), 0, missing)


def _spelling(name: str, value: object, every: Sequence[Document], fields: Fields) -> str:
    """Return the value as the document with the smallest id has it."""
    if not isinstance(value, str):
        return str(value)
    in_order = sorted(every, key=lambda one: one.id if fields.text_ids else one.number)
    return next(
        text
        for one in in_order
        if isinstance(text := one.values.get(name), str) and oracle_fold(text) == value
    )


def count(searcher: Searcher, query: Query, facets: Sequence[Facet]) -> tuple[Counts, ...] | None:
    """Return None for a query that is too large, or a facet of too many steps."""
    try:
        return searcher.count(query, facets)
    except (QueryTooLarge, TooManySteps):
        return None


@pytest.mark.parametrize("name", CORPORA)
def test_counts_are_those_of_brute_force(name: str, tmp_path: Path, stress: Stress) -> None:
    """S4, S5: of all kinds of queries, several facets at once, by both engines."""
    chance = random.Random(f"{stress.seed} {name}")
    with both(name, tmp_path, stress.is_whole, chance) as opened:
        queries = Queries(opened.rows, opened.fields, chance)
        rows = [row_of(each, opened.fields) for each in opened.rows]
        counted, number = 0, max(20, stress.count(QUERIES))
        for _ in range(number):
            query = Or(tuple(queries.one() for _ in range(chance.choice([1, 1, 4]))))
            facets = chance.sample(FACETS, chance.randint(1, 5))
            answers = [count(each, query, facets) for each in opened.searchers]
            assert answers[0] == answers[1], (query, facets)
            if answers[0] is None:
                continue
            ids = matching(query, rows)
            found = [row for row in opened.rows if row.id in ids]
            for got, facet in zip(answers[0], facets, strict=True):
                assert got == naive(facet, found, opened.rows, opened.fields), (query, facet)
                assert sum(each.count for each in got.buckets) + got.others + got.missing == len(
                    ids
                )
                counted += bool(got.buckets)
        assert counted > number // 5


@pytest.mark.parametrize("name", ["aozora_10k", "korean"])
def test_a_bucket_as_a_filter_finds_its_documents(
    name: str, tmp_path: Path, stress: Stress
) -> None:
    """S3, S4: `name:value`, read as a query, finds as many as the bucket counts."""
    chance = random.Random(f"{stress.seed} {name}")
    with both(name, tmp_path, stress.is_whole, chance) as opened:
        queries = Queries(opened.rows, opened.fields, chance)
        tried = Counter[str]()
        for query in (Everything(), *(queries.one() for _ in range(stress.count(60)))):
            for searcher in opened.searchers:
                for counts in count(searcher, query, FACETS[2:8] + FACETS[:1]) or ():
                    for bucket in counts.buckets[:8]:
                        _check(searcher, opened.fields, query, counts.facet, bucket)
                        tried[counts.facet.name] += 1
        assert set(tried) == {"source", "n", "at"}


def _check(searcher: Searcher, fields: Fields, query: Query, facet: Facet, bucket: Bucket) -> None:
    narrower = filter_of(facet, bucket)
    assert (narrower is None) == ("\0" in bucket.value), bucket
    if narrower is None:
        return
    parsed = parse(narrower, fields=fields)
    assert not parsed.diagnostics, bucket
    found = searcher.search(And((query, parsed.query)), order=Order.ID, offset=0, limit=0)
    assert found.total == bucket.count, (bucket, narrower)
