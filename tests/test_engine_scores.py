"""What a hit scores: the sum of what it scores for each part, however an engine joins them."""

import random
from itertools import combinations
from pathlib import Path

import pytest

from sakuin.indexer.document import Document, Fields
from sakuin.indexer.engine import Order, Searcher
from sakuin.indexer.engines import ENGINE_NAMES, engine_named
from sakuin.indexer.query import And, Not, Or, Phrase, Query, Wildcard, prefix
from small_index import build

FIELDS = Fields(("title", "body"), weights=(3.0, 1.0))
PARTS: tuple[Query, ...] = (
    Phrase("東"),  # a lone character: all words that begin so, at a constant score
    Phrase("京"),
    Phrase("東京", "body"),
    Phrase("京都の"),
    prefix("ab"),
    Wildcard(("a", "c"), "title"),
    Phrase("+0", open_end=True),
)


@pytest.mark.parametrize("engine_name", ENGINE_NAMES)
def test_scores_of_parts_add_up(engine_name: str, tmp_path: Path) -> None:
    """S4: for OR those parts that match, for AND all of them; what is excluded changes none."""
    chance = random.Random(7)
    rows = [
        Document(str(n), n, n, n, {name: _text(chance) for name in FIELDS.searched})
        for n in range(60)
    ]
    engine = engine_named(engine_name)
    searcher = engine.open_searcher(build(engine, tmp_path, rows, batch=25, fields=FIELDS), FIELDS)
    alone = {part: _scores(searcher, part) for part in PARTS}
    assert all(alone.values())
    for some in (*combinations(PARTS, 2), *combinations(PARTS, 3), PARTS):
        either = _scores(searcher, Or(some))
        assert either.keys() == set[str]().union(*(alone[part].keys() for part in some))
        for one, score in either.items():
            assert score == pytest.approx(sum(alone[part].get(one, 0) for part in some)), some
        both = _scores(searcher, And(some))
        assert both.keys() == set(either).intersection(*(alone[part].keys() for part in some))
        for one, score in both.items():
            assert score == pytest.approx(sum(alone[part][one] for part in some)), some
        rest = _scores(searcher, And((some[0], Not(Or(some[1:])))))
        excluded = set[str]().union(*(alone[part].keys() for part in some[1:]))
        assert rest.keys() == alone[some[0]].keys() - excluded
        assert all(score == pytest.approx(alone[some[0]][one]) for one, score in rest.items())
    searcher.close()


def _text(chance: random.Random) -> str:
    pieces = ("東京", "京都の", "東", "abc", "ac", "abd", "1+05", "都", "x")
    return " ".join(chance.choices(pieces, k=4))


def _scores(searcher: Searcher, query: Query) -> dict[str, float]:
    found = searcher.search(query, order=Order.RELEVANCE, offset=0, limit=1_000)
    return {hit.document.id: hit.score for hit in found.hits}
