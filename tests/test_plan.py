"""Plans of searches: flat, bounded, without constant parts (promises S3, S5)."""

import sys

import pytest

from sakuin.indexer.document import Fields, Filter, FilterKind
from sakuin.indexer.engine import Order
from sakuin.indexer.engines import ENGINE_NAMES, engine_named
from sakuin.indexer.errors import QueryTooLarge
from sakuin.indexer.expand import MOST_EXPANSIONS, End, expand
from sakuin.indexer.fold import BLANK
from sakuin.indexer.merge_policy import AT_ONCE, to_merge
from sakuin.indexer.plan import DEEPEST, AllOf, AnyOf, Plan
from sakuin.indexer.plan import plan as plan_in
from sakuin.indexer.plan_leaves import MOST_LEAVES, Between, Gaps, Keyword, Leaf
from sakuin.indexer.query import (
    And,
    Everything,
    Not,
    Nothing,
    Or,
    Phrase,
    Query,
    Range,
    Value,
    Wildcard,
    prefix,
)
from sakuin.indexer.tokens import QueryCut
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


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (Phrase("Ab", "body"), Leaf(QueryCut(("ab",)), "body")),
        (Phrase("ab", None, True), Leaf(QueryCut(("ba",), open_end=True), None, backwards=True)),
        (Phrase("ab", None, True, True), Gaps(("", "ba", ""), None, backwards=True)),
        (Phrase("ab 東", None, True), Leaf(QueryCut(("ab", BLANK, "東"), True), None)),
        (Phrase("東ab", None, True), Leaf(QueryCut(("東", "ab")))),
        (Phrase("東", None, True, True), Leaf(QueryCut(("東",), open_end=True))),
        (Wildcard(("a", "b")), Gaps(("a", "b"))),
        (Wildcard(("a", "", "b", "", "")), Gaps(("a", "b", ""))),
        (Wildcard(("", "ab", "cd")), Gaps(("dc", "ba", ""), None, backwards=True)),
        (Wildcard(("ab", "")), Leaf(QueryCut(("ab",), open_end=True))),
        (Wildcard(("", "ab")), Leaf(QueryCut(("ba",), open_end=True), None, backwards=True)),
        (Wildcard(("", "x" * 300, "")), Nothing()),
        (Wildcard(("\u200b", "")), Nothing()),
        (Value("file", "Ａ", True), Keyword("file", "a", open_end=True)),
        (Range("id", -(10**40), None), Between("id", -(2**63), 2**63 - 1)),
        (Range("id", 5, 4), Nothing()),
    ],
)
def test_leaves(query: Query, expected: object) -> None:
    fields = Fields(("body",), filters=(Filter("file", FilterKind.KEYWORD),))
    assert plan_in(query, fields) == expected


def test_ends_of_phrases_are_counted_once_and_pairs_as_pairs() -> None:
    """S5: the budget, whatever the engine."""
    counts = {End("a"): 40, End("a", backwards=True): 50, End("b"): 30, End("c"): 1_000}

    def words(end: End, most: int) -> list[str]:
        return [str(n) for n in range(min(counts[end], most))]

    pair, single = Phrase("a a", None, True, True), prefix("x c")
    assert set(expand(plan(And((pair, pair))), words)) == {End("a"), End("a", backwards=True)}
    assert len(expand(plan(Or((single, Phrase("y c", open_end=True)))), words)) == 1
    with pytest.raises(QueryTooLarge, match="end with 'a'"):
        expand(plan(Or((pair, Phrase("a x", open_start=True)))), words)
    wide = Or((prefix("x b"), single, prefix("y b"), Phrase("a c", None, True, True)))
    with pytest.raises(QueryTooLarge, match="begin with 'c'"):
        expand(plan(wide), words)


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
