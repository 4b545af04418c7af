"""Queries find, from text to ids, exactly what a plain reading of the text finds (S1, S3)."""

import random
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import pytest

import corpus
import naive_dialects
import naive_query
from naive_query import Row
from sakuin.indexer.dialect import Dialect
from sakuin.indexer.document import Document, Fields, Filter, FilterKind
from sakuin.indexer.engines import ENGINE_NAMES, engine_named
from sakuin.indexer.parse import parse
from small_index import build, found_ids

FIELDS = Fields(("title", "body"), filters=(Filter("source", FilterKind.KEYWORD),))
SEED, ROWS, QUERIES = 20081130, 60, 2_000 if corpus.STRESS else 120

Found = Callable[[str, list[Row]], set[int]]
Making = Callable[[random.Random], str]
READINGS: dict[Dialect, tuple[Making, Found]] = {
    Dialect.SAKUIN: (
        naive_query.query,
        lambda text, among: naive_query.Reading(text, among).found(),
    ),
    Dialect.ESTRAIER: (naive_dialects.estraier_query, naive_dialects.estraier_found),
    Dialect.TRITONN: (
        naive_dialects.boolean_query,
        lambda text, among: naive_dialects.Boolean(text, among).found(),
    ),
}


@pytest.mark.parametrize("engine_name", ENGINE_NAMES)
def test_queries_find_what_they_say(engine_name: str, tmp_path: Path) -> None:
    """S1, S3: words, stars, phrases, fields, filters, ranges and operators in every dialect."""
    random_ = random.Random(SEED)
    rows = naive_query.rows(random_, ROWS)
    engine = engine_named(engine_name)
    place = build(engine, tmp_path, list(map(document, rows)), batch=ROWS // 3, fields=FIELDS)
    searcher = engine.open_searcher(place, FIELDS)
    some = 0
    for dialect, (make, read) in READINGS.items():
        for _ in range(QUERIES):
            text = make(random_)
            parsed = parse(text, fields=FIELDS, dialect=dialect)
            assert not parsed.refused, (text, parsed.diagnostics)
            found = {int(each) for each in found_ids(searcher, parsed.query)}
            assert found == read(text, rows), f"{dialect}: {text!r}, seed {SEED}"
            some += 0 < len(found) < ROWS
    searcher.close()
    assert some > QUERIES  # most queries tell rows apart


def document(row: Row) -> Document:
    """Make the document of a row."""
    created = int(datetime.fromisoformat(f"{row.created}+00:00").timestamp()) * 1_000_000
    text = {"title": row.title, "body": row.body}
    return Document(str(row.id), row.id, created, row.id, text, {"source": row.source})
