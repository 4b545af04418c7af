"""Documents that hold words near each other: both engines and brute force agree (S1, S4, S5)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracle import matching, row_of
from sakuin.indexer.document import Document, Fields
from sakuin.indexer.engine import Order, Searcher
from sakuin.indexer.engines import ENGINE_NAMES, engine_named
from sakuin.indexer.errors import NearTooCommon, QueryTooLarge
from sakuin.indexer.fold import Folding
from sakuin.indexer.parse import parse
from sakuin.indexer.query import And, Near, Not, Or, Phrase, Query, Value
from small_index import build, change, found_ids

FIELDS = Fields(("title", "本文"), weights=(3.0, 1.0), text_ids=True)
PIECES = (
    "東京",
    "京都の",
    "東",
    "abc",
    "ab",
    " ab ",
    "a-b",
    "都",
    "。",
    " ",
    "カ\u3099",
    "ー",
    "𠮷",
)
PARTS = (
    "東京",
    "京都",
    "都の",
    "東",
    "京",
    "abc",
    "ab",
    "b",
    "a-b",
    "。",
    "ガ",
    "の",
    "ＡＢ",
    "吉",
    "\u200b",
)


@dataclass(frozen=True, slots=True)
class Both:
    """The same documents in both engines, some replaced and some deleted."""

    rows: Sequence[Document]
    searchers: Sequence[Searcher]


def row(number: int, title: str, body: str) -> Document:
    return Document(f"d {number}", 0, number, number, {"title": title, "本文": body})


def text(number: int) -> str:
    return "".join(
        PIECES[(number * step + step * step) % len(PIECES)] for step in range(1, 2 + number % 9)
    )


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    rows = [row(n, text(n // 3), text(n + 1)) for n in range(120)]
    earlier = [row(n, "東京 abc ab", "京都の。") for n in range(20)]
    searchers = []
    for engine in map(engine_named, ENGINE_NAMES):
        root = tmp_path_factory.mktemp(engine.name)
        place = build(engine, root, earlier + rows[20:], batch=45, fields=FIELDS)
        place = change(engine, place, rows[:20], ["d 30", "d 119"], fields=FIELDS)
        searchers.append(engine.open_searcher(place, FIELDS))
    yield Both([each for each in rows if each.id not in ("d 30", "d 119")], searchers)
    for searcher in searchers:
        searcher.close()


NEARS = st.builds(
    Near,
    st.lists(st.sampled_from(PARTS).map(Phrase), min_size=2, max_size=3).map(tuple),
    st.sampled_from((0, 1, 2, 4, 9)),
    st.sampled_from((None, None, "title", "本文")),
)
LEAVES = NEARS | st.sampled_from(PARTS).map(Phrase) | st.just(Value("id", "d 1", open_end=True))
QUERIES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, min_size=1, max_size=3).flatmap(
        lambda some: st.sampled_from((And(tuple(some)), Or(tuple(some)), Not(some[0])))
    ),
    max_leaves=5,
)


@settings(derandomize=True, max_examples=120)
@given(QUERIES)
def test_trees_with_near_find_what_brute_force_finds(both: Both, query: Query) -> None:
    """S1: in one field, in any order, none overlapping; within AND, OR and NOT too."""
    expected = matching(query, [row_of(row, FIELDS) for row in both.rows])
    for searcher in both.searchers:
        assert set(found_ids(searcher, query)) == expected
        in_order = found_ids(searcher, query, order=Order.ID)
        assert set(in_order) == expected
        found = searcher.search(query, order=Order.ID, offset=1, limit=2, after="d 2")
        assert found.total == len(expected)
        assert [hit.document.id for hit in found.hits] == [i for i in in_order if i > "d 2"][1:3]


@settings(derandomize=True, max_examples=40)
@given(NEARS)
def test_the_score_is_that_of_the_parts(both: Both, near: Near) -> None:
    """S4: as with AND, for those documents alone."""
    parts = And(tuple(Phrase(part.text, near.field) for part in near.parts))
    for searcher in both.searchers:
        wanted = scores(searcher, parts)
        for one, score in scores(searcher, near).items():
            assert score == pytest.approx(wanted[one])


def scores(searcher: Searcher, query: Query) -> dict[str, float]:
    found = searcher.search(query, order=Order.RELEVANCE, offset=0, limit=1_000)
    return {hit.document.id: hit.score for hit in found.hits}


def test_words_are_counted_among_what_is_near(both: Both) -> None:
    """S4: whatever takes a query takes a near one."""
    near = Near((Phrase("東京"), Phrase("ab")), 3)
    for searcher in both.searchers:
        found = found_ids(searcher, near)
        (first,) = searcher.words("ab", among=near, most=1)
        assert (first.word, 0 < first.documents <= len(found)) == ("ab", True)


def test_what_cannot_be_asked_is_told(both: Both, monkeypatch: pytest.MonkeyPatch) -> None:
    """S3: the limit counts documents of all near words together, equal ones once."""
    one, other = Near((Phrase("東"), Phrase("京")), 0), Near((Phrase("ab"), Phrase("。")), 4)
    for searcher in both.searchers:
        counts = [
            len(
                found_ids(searcher, Or(tuple(And(phrases(each, name)) for name in FIELDS.searched)))
            )
            for each in (one, other)
        ]
        assert all(counts)
        monkeypatch.setattr("sakuin.indexer.near_documents.MOST_NEAR", sum(counts))
        assert found_ids(searcher, Or((one, Not(other), one)))
        monkeypatch.setattr("sakuin.indexer.near_documents.MOST_NEAR", sum(counts) - 1)
        assert found_ids(searcher, Or((one, Not(one), one)))
        with pytest.raises(NearTooCommon, match=r"hold ab, 。, too many .* rarer"):
            found_ids(searcher, Or((one, Not(other))))
        monkeypatch.setattr("sakuin.indexer.near_documents.MOST_NEAR_CHARACTERS", 50)
        with pytest.raises(NearTooCommon, match=r"50 characters, too many .* rarer"):
            found_ids(searcher, one)
        monkeypatch.undo()
        monkeypatch.setattr("sakuin.indexer.near_documents.MOST_NEAR_STEPS", 3)
        with pytest.raises(NearTooCommon, match=r"places, for 3 steps, too many .* rarer"):
            found_ids(searcher, one)
        monkeypatch.undo()
        with pytest.raises(QueryTooLarge, match="use fewer"):
            found_ids(searcher, Near((Phrase("a"),) * 9, 1))
        for wrong in (Near((Phrase("a"),), 1), Near((), 1), Near(one.parts, -1)):
            with pytest.raises(ValueError, match="two parts"):
                found_ids(searcher, wrong)
        with pytest.raises(ValueError, match="no searched field"):
            found_ids(searcher, Near(one.parts, 1, "source"))


def phrases(near: Near, name: str) -> tuple[Query, ...]:
    return tuple(Phrase(part.text, name) for part in near.parts)


@pytest.mark.parametrize("name", ENGINE_NAMES)
def test_what_is_near_is_folded_as_the_index_is(name: str, tmp_path: Path) -> None:
    """S2: kana and long vowels are one spelling where the index says so."""
    query = parse('"さーば カメラ"~3').query
    row = Document("1", 1, 1, 1, {"body": "サーバの横のかめら"})
    for folding, found in ((Folding(), []), (Folding(kana=True, long_vowels=True), ["1"])):
        fields = Fields(("body",), folding=folding)
        engine = engine_named(name)
        place = build(engine, tmp_path / str(folding.kana), [row], fields=fields)
        searcher = engine.open_searcher(place, fields)
        assert found_ids(searcher, query) == found
        searcher.close()


@pytest.mark.parametrize("name", ENGINE_NAMES)
def test_very_long_words_are_one_unit_each(name: str, tmp_path: Path) -> None:
    """S1: of several tokens, but a word all the same."""
    long = "x" * 700
    engine = engine_named(name)
    row = Document("1", 1, 1, 1, {"body": f"a {long} b {long}"})
    searcher = engine.open_searcher(build(engine, tmp_path, [row]), Fields(("body",)))
    for parts, distance, found in (("a b", 1, 1), ("a b", 0, 0), (f"{long} a", 0, 1)):
        assert len(found_ids(searcher, parse(f'"{parts}"~{distance}').query)) == found
    searcher.close()
