"""Plans of searches: flat, bounded, without constant parts (promises S3, S5)."""

import sys

import pytest

from sakuin.indexer.engine import Order
from sakuin.indexer.engines import ENGINE_NAMES, engine_named
from sakuin.indexer.errors import QueryTooLarge
from sakuin.indexer.expand import MOST_EXPANSIONS
from sakuin.indexer.merge_policy import AT_ONCE, to_merge
from sakuin.indexer.plan import DEEPEST, MOST_LEAVES, AllOf, AnyOf, Leaf, Plan
from sakuin.indexer.plan import plan as plan_in
from sakuin.indexer.query import And, Everything, Not, Nothing, Or, Phrase, Query, prefix
from small_index import BODY, build, documents

A, B, C = Phrase("a"), Phrase("b"), Phrase("c")


def plan(query: Query) -> Plan:
    return plan_in(query, BODY)


def leaf(text: str) -> Leaf:
    found = plan(Phrase(text))
    assert isinstance(found, Leaf)
    return found


a, b, c = leaf("a"), leaf("b"), leaf("c")


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (And((A,)), a),
        (Or((Or((A,)), Nothing())), a),
        (And((A, And((B, Not(C))))), AllOf((a, b), (c,), 1)),
        (Or((A, Or((B, C)))), AnyOf((a, b, c), 1)),
        (Not(A), AllOf((), (a,), 1)),
        (Not(Not(A)), a),
        (Not(And((Not(A), Not(B)))), AnyOf((a, b), 1)),
        (And((Not(A), B)), AllOf((b,), (a,), 1)),
        (Or((Not(A), B)), AnyOf((AllOf((), (a,), 1), b), 2)),
        (And((A, Phrase(" "))), Nothing()),
        (Not(Phrase("")), Everything()),
        (Or((A, Everything())), Everything()),
        (And(()), Everything()),
        (Or(()), Nothing()),
    ],
)
def test_shapes(query: Query, expected: object) -> None:
    assert plan(query) == expected


def nested(depth: int) -> Query:
    query: Query = A
    for level in range(depth):
        query = And((B, query)) if level % 2 else Or((C, query))
    return query


def test_depth_is_bounded_and_no_stack_is_used() -> None:
    """S5: 20,000 nested clauses kill the process inside tantivy; here 100,000 are an error."""
    assert plan(nested(DEEPEST))
    for query in (nested(DEEPEST + 1), nested(900)):
        with pytest.raises(QueryTooLarge, match="nested"):
            plan(query)
    alone: Query = A
    for _ in range(100_001):
        alone = Not(alone)
    assert plan(alone) == plan(Not(A))
    chain: Query = A
    for _ in range(100_000):
        chain = And((Or((chain,)),))
    assert plan(chain) == a
    assert sys.getrecursionlimit() < 100_000


def test_leaves_and_tokens_are_bounded() -> None:
    assert plan(Or((A,) * MOST_LEAVES))
    with pytest.raises(QueryTooLarge, match="terms"):
        plan(Or((A,) * (MOST_LEAVES + 1)))
    with pytest.raises(QueryTooLarge, match="characters"):
        plan(Phrase("漢字" * 500_000))


@pytest.mark.parametrize("engine_name", ENGINE_NAMES)
def test_engines_bear_the_largest_plans(
    engine_name: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """S5: neither depth nor breadth ends the process; too many words behind a prefix are told."""
    engine = engine_named(engine_name)
    many = " ".join(f"x{n}" for n in range(MOST_EXPANSIONS + 1))
    rows = documents(["a b c 漢字漢字", f"the {many}"])
    place = build(engine, tmp_path_factory.mktemp("plan"), rows)
    searcher = engine.open_searcher(place, BODY)

    def total(query: Query) -> int:
        return searcher.search(query, order=Order.RELEVANCE, offset=0, limit=1).total

    assert total(nested(DEEPEST)) == 1
    assert total(Or((A, *(Phrase(f"w{n}") for n in range(1, MOST_LEAVES))))) == 1
    assert total(And((A,) * MOST_LEAVES)) == 1
    assert total(Not(Or(tuple(Phrase(f"x{n}") for n in range(MOST_LEAVES))))) == 1
    assert total(Phrase("漢字" * 4_000)) == 0
    assert total(prefix("x")) == 1
    assert total(prefix("the x7")) == 0
    assert total(prefix("x6 x7")) == 1
    with pytest.raises(QueryTooLarge, match="begin with 'x'"):
        total(prefix("x6 x"))
    searcher.close()


def test_merging_is_rare_and_keeps_segments_few() -> None:
    sizes: list[int] = []
    copied = 0
    for _ in range(5_000):
        merged = to_merge(sizes, 1)
        copied += sum(sizes[place] for place in merged)
        new = 1 + sum(sizes[place] for place in merged)
        sizes = [size for place, size in enumerate(sizes) if place not in merged] + [new]
        assert len(sizes) <= (AT_ONCE - 1) * 5
    assert sum(sizes) == 5_000
    assert copied < 5_000 * 5
    assert to_merge([100_000, 0, 5, 5, 5, 5, 5, 5], 0) == []
    assert sorted(to_merge([100_000, 0, 5, 5, 5, 5, 5, 5, 5], 1)) == [2, 3, 4, 5, 6, 7, 8]
