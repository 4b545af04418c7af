"""Documents by some of many tokens, and by their ids, alike in both engines (promises S4, S5)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracle import matching, row_of, tokens_of
from sakuin.indexer.document import Document, Fields
from sakuin.indexer.engine import Order, Searcher
from sakuin.indexer.engines import ENGINE_NAMES, engine_named
from sakuin.indexer.errors import QueryTooLarge
from sakuin.indexer.plan_leaves import MOST_IDS, MOST_LEAVES
from sakuin.indexer.query import And, AnyOfTokens, Ids, Not, Or, Phrase, Query, Token
from small_index import build, change, found_ids

FIELDS = Fields(("title", "本文"), weights=(3.0, 1.0), text_ids=True)
PIECES = ("東京", "京都の", "東", "abc", "ac", "1+05", "都", "x", " ", "。", "カタカナ", "\u3000")
TOKENS = sorted(tokens_of(PIECES) | tokens_of(["".join(PIECES)]) | {"東", "never", "zz", "ー"})


@dataclass(frozen=True, slots=True)
class Both:
    """The same documents in both engines, some replaced and some deleted."""

    rows: Sequence[Document]
    searchers: Sequence[Searcher]

    def check(self, query: Query) -> None:
        """Compare the ids and totals of both engines with the oracle's."""
        expected = matching(query, [row_of(row, FIELDS) for row in self.rows])
        for searcher in self.searchers:
            assert set(found_ids(searcher, query)) == expected, query
            found = searcher.search(query, order=Order.NEWEST, offset=1, limit=3)
            assert found.total == len(expected)


def row(number: int, title: str, body: str) -> Document:
    return Document(f"d {number}", 0, number, number, {"title": title, "本文": body})


def body(number: int) -> str:
    return "".join(
        PIECES[(number * step + step) % len(PIECES)] for step in range(1, 2 + number % 7)
    )


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    rows = [row(n, body(n // 3), body(n + 1)) for n in range(90)]
    earlier = [row(n, "zz", "never abc") for n in range(20)]
    searchers = []
    for engine in map(engine_named, ENGINE_NAMES):
        root = tmp_path_factory.mktemp(engine.name)
        place = build(engine, root, earlier + rows[20:], batch=35, fields=FIELDS)
        place = change(engine, place, rows[:20], ["d 30", "d 89"], fields=FIELDS)
        searchers.append(engine.open_searcher(place, FIELDS))
    yield Both([one for one in rows if one.id not in ("d 30", "d 89")], searchers)
    for each in searchers:
        each.close()


def any_of(*texts: str, least: int = 1) -> AnyOfTokens:
    return AnyOfTokens(tuple(map(Token, texts)), least)


@st.composite
def queries(draw: st.DrawFn) -> Query:
    texts = draw(st.lists(st.sampled_from(TOKENS), unique=True, max_size=9))
    weights = st.sampled_from([0.0, 0.5, 1.0, 7.0])
    least = draw(st.integers(1, 4))
    some: Query = AnyOfTokens(tuple(Token(each, draw(weights)) for each in texts), least)
    ids = Ids(tuple(draw(st.lists(st.sampled_from(["d 1", "d 2", "d 30", "d 44", "no", ""])))))
    others: list[Query] = [ids, Phrase("東京"), Not(Phrase("都")), any_of("x", "ac")]
    kind = draw(st.sampled_from([None, And, Or]))
    if kind is None:
        return some
    return kind((some, draw(st.sampled_from(others))))


@settings(derandomize=True, max_examples=150)
@given(query=queries())
def test_any_tokens_and_ids_find_what_they_say(both: Both, query: Query) -> None:
    """S4, S5: the same ids and exact totals in both engines, and those of the oracle."""
    both.check(query)


def test_a_token_counts_once_however_many_fields_have_it(both: Both) -> None:
    for least in (1, 2, 3):
        both.check(any_of("東京", "abc", "x", "never", least=least))
    both.check(any_of("東京", least=2))
    both.check(AnyOfTokens(()))
    both.check(Ids(()))
    both.check(Ids(("d 1", "d 1", "d 77", "unknown")))


def scores(searcher: Searcher, query: Query) -> dict[str, float]:
    found = searcher.search(query, order=Order.RELEVANCE, offset=0, limit=1_000)
    return {hit.document.id: hit.score for hit in found.hits}


def test_scores_are_sums_by_weight(both: Both) -> None:
    """S4: of each token weight times relevance, of fields their weights; ids add nothing."""
    texts = ("東京", "abc", "都", "x")
    tokens = tuple(
        Token(text, weight) for text, weight in zip(texts, (2.0, 1.0, 0.5, 0), strict=True)
    )
    for searcher in both.searchers:
        alone = {token: scores(searcher, any_of(token.text)) for token in tokens}
        for least in (1, 2, 3):
            some = scores(searcher, AnyOfTokens(tokens, least))
            assert some
            for one, score in some.items():
                expected = sum(alone[token].get(one, 0) * token.weight for token in tokens)
                assert score == pytest.approx(expected)
        # A whole word is a phrase of one token: that of an exact search scores the same.
        assert alone[tokens[1]] == pytest.approx(scores(searcher, Phrase("abc")))
        among = scores(searcher, And((any_of("abc"), Ids(tuple(f"d {n}" for n in range(50))))))
        assert among == pytest.approx({one: alone[tokens[1]][one] for one in among})


def test_frequencies_are_the_most_of_any_field(both: Both) -> None:
    """Where nothing was deleted they are exact; unknown tokens have none."""
    rows = [row_of(each, FIELDS) for each in both.rows]
    for searcher in both.searchers:
        found = searcher.frequencies([*TOKENS, "no such"])
        assert found["no such"] == 0
        for token in TOKENS:
            living = max(
                sum(token in tokens_of([one.texts[name]]) for one in rows)
                for name in FIELDS.searched
            )
            assert living <= found[token] <= living + 22  # 20 replaced, 2 deleted
        assert searcher.frequencies([]) == {}
    for searcher in both.searchers:
        searcher.frequencies(["", "a b"])


def test_limits_and_mistakes_are_told(both: Both) -> None:
    """S3: every token is a term of what a query may have; ids have a limit of their own."""
    for searcher in both.searchers:
        assert found_ids(searcher, any_of(*(f"t{n}" for n in range(MOST_LEAVES)))) == []
        assert found_ids(searcher, Ids(tuple(map(str, range(MOST_IDS))))) == []
        for too_much in (
            any_of(*(f"t{n}" for n in range(MOST_LEAVES + 1))),
            Ids(tuple(map(str, range(MOST_IDS + 1)))),
        ):
            with pytest.raises(QueryTooLarge):
                found_ids(searcher, too_much)
        for mistaken in (
            any_of("a", "a"),
            any_of("a", least=0),
            AnyOfTokens((Token("a", -1.0),)),
            AnyOfTokens((Token("a", float("nan")),)),
        ):
            with pytest.raises(ValueError, match="token"):
                found_ids(searcher, mistaken)


@pytest.mark.parametrize("name", ENGINE_NAMES)
def test_frequencies_of_one_batch_are_exact(name: str, tmp_path: Path) -> None:
    engine = engine_named(name)
    rows = [row(n, "abc", "東京 abc"[: 3 * (n % 3)]) for n in range(9)]
    searcher = engine.open_searcher(build(engine, tmp_path, rows, fields=FIELDS), FIELDS)
    assert searcher.frequencies(["東京", "abc", "京"]) == {"東京": 6, "abc": 9, "京": 6}
    searcher.close()
