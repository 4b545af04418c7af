"""Any text is a query, in every dialect (promise S3): no error, bounded time, a stable print."""

import re
import statistics
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import corpus
from any_text import FIELDS, TEXTS, long_text
from sakuin.indexer.dialect import Dialect
from sakuin.indexer.document import Fields
from sakuin.indexer.fold import fold
from sakuin.indexer.limits import DEFAULT_LIMITS, Limits
from sakuin.indexer.parse import parse
from sakuin.indexer.query import And, Not, Nothing, Or, Phrase, Query
from sakuin.indexer.unparse import unparse

UNLIMITED = Limits(length=10**6, leaves=10**6, depth=200)


@settings(derandomize=True, max_examples=700)
@given(TEXTS, st.sampled_from(Dialect), st.sampled_from([None, FIELDS]))
def test_any_text_gives_a_tree_that_prints_and_reads_as_itself(
    text: str, dialect: Dialect, fields: Fields | None
) -> None:
    """S3: never raises; limits hold; parse → print → parse gives the same tree."""
    check(text, dialect, fields)


@pytest.mark.parametrize("dialect", Dialect)
def test_long_texts_are_read_quickly_and_print_as_they_are_read(dialect: Dialect) -> None:
    """S3: 1,000 characters, however many terms: the median is below 5 ms."""
    seconds = []
    for seed in range(40):
        text, fields = long_text(seed), (None, FIELDS)[seed % 2]
        start = time.process_time()
        parse(text, UNLIMITED, fields=fields, dialect=dialect)
        seconds.append(time.process_time() - start)
        check(text, dialect, fields)
        check(text, dialect, fields, UNLIMITED)
    assert statistics.median(seconds) < 0.005


def test_printing_deep_alternatives_takes_linear_time() -> None:
    """S3: each level is printed once; twice would be 2^100 times here."""
    text = "a (b OR " * 100 + "c" + ")" * 100
    parsed = parse(text, UNLIMITED)
    assert unparse(parsed.query) == text


def check(
    text: str, dialect: Dialect, fields: Fields | None, limits: Limits = DEFAULT_LIMITS
) -> None:
    """Parse, print and parse again."""
    parsed = parse(text, limits, fields=fields, dialect=dialect)
    for remark in parsed.diagnostics:
        assert 0 <= remark.start <= remark.end <= len(text)
        assert remark.message
    assert len(parsed.diagnostics) <= 3 * limits.leaves + 1
    if parsed.refused:
        assert (parsed.query, len(parsed.diagnostics)) == (Nothing(), 1)
    assert height(parsed.query) <= 3 * (limits.depth + 1) + 1
    printed = unparse(parsed.query, fields)
    assert parse(printed, UNLIMITED, fields=fields).query == parsed.query


def height(query: Query) -> int:
    """Return how many nodes stand above each other."""
    if isinstance(query, Not):
        return 1 + height(query.child)
    if isinstance(query, And | Or):
        return 1 + max(map(height, query.children))
    return 1


def test_every_tricky_probe_can_be_asked_for_as_it_stands() -> None:
    """S3: in quotation marks it is one phrase, and without them too where nothing is syntax."""
    probes = {str(probe["q"]) for case in corpus.tricky() for probe in probes_of(case)}
    plain = 0
    for probe in probes:
        if len(probe) > DEFAULT_LIMITS.length // 2 or not fold(probe).strip():
            continue
        if re.search("[\0-\x08\x7f\ud800-\udfff]", probe):
            continue  # that no query can hold
        assert parse(unparse(Phrase(probe))).query == Phrase(probe)
        if not re.search(r"[\s\"＂“”()（）*＊]|^[-－]", probe):
            assert parse(probe).query == Phrase(probe)
            plain += 1
    assert plain > len(probes) // 2


def probes_of(case: dict[str, object]) -> list[dict[str, object]]:
    """Return the probes of a tricky case."""
    probes = case["probes"]
    assert isinstance(probes, list)
    return probes
