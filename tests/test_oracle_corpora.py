"""On real text every engine finds exactly what the oracle finds (promise S1).

The benchmark words and random substrings of each corpus, in an index made at once and in one
made by many batches. Unless SAKUIN_STRESS is 1 only a tenth of the substrings, and for whoosh,
which is slow to index, 2,000 paragraphs at most and one index of few batches.
"""

from itertools import accumulate, takewhile
from pathlib import Path

import pytest

import corpus
from oracle import matches_settled, settle
from sakuin.indexer.engines import ENGINE_NAMES, engine_named
from sakuin.indexer.query import Phrase
from small_index import BODY, build, documents, found_ids

SEED = 20080914
SUBSTRINGS = 2_000
WHOOSH_ROWS, WHOOSH_CHARACTERS = 2_000, 200_000


@pytest.mark.parametrize("engine_name", ENGINE_NAMES)
@pytest.mark.parametrize("name", corpus.NAMES)
def test_words_and_substrings_are_found_exactly(
    name: str, engine_name: str, tmp_path: Path
) -> None:
    """S1, S4: the ids and totals of the oracle, whatever the size of the batches."""
    engine = engine_named(engine_name)
    lines = corpus.paragraphs(name)
    few = engine_name == "whoosh" and not corpus.STRESS
    if few:
        lines = first(lines)
    queries = corpus.substrings(lines, SUBSTRINGS, SEED)
    queries = corpus.words(name) + (queries if corpus.STRESS else queries[: SUBSTRINGS // 10])
    settled = [settle(line) for line in lines]
    expected = {query: standing_in(settle(query), settled) for query in queries}
    for batch in [len(lines) // 3] if few else [len(lines), len(lines) // 11]:
        place = build(engine, tmp_path / str(batch), documents(lines), batch=batch)
        searcher = engine.open_searcher(place, BODY)
        for query, ids in expected.items():
            found = set(found_ids(searcher, Phrase(query)))
            assert found == ids, f"{query!r} in batches of {batch}, seed {SEED}"
        searcher.close()


def standing_in(query: str, settled: list[str]) -> set[str]:
    """Return the numbers of the texts in which the oracle finds the query."""
    return {str(number) for number, text in enumerate(settled) if matches_settled(query, text)}


def first(lines: list[str]) -> list[str]:
    """Return the rows from the start that whoosh can index in a few seconds."""
    sizes = accumulate(len(line) for line in lines[:WHOOSH_ROWS])
    return lines[: sum(1 for _ in takewhile(lambda size: size < WHOOSH_CHARACTERS, sizes))]
