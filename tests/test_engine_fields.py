"""What a leaf of the query tree can ask for: fields, open ends, gaps, filters (promises S1, S5)."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from oracle import matching, row_of
from sakuin.indexer.document import Document, Fields, Filter, FilterKind
from sakuin.indexer.engine import Engine, Order, Searcher
from sakuin.indexer.engines import ENGINE_NAMES, engine_named
from sakuin.indexer.errors import QueryTooLarge
from sakuin.indexer.expand import MOST_EXPANSIONS
from sakuin.indexer.fold import Folding
from sakuin.indexer.query import (
    And,
    Everything,
    Not,
    Or,
    Phrase,
    Query,
    Range,
    Value,
    Wildcard,
    prefix,
)
from small_index import BODY, build, change, document, documents, found_ids

# Names that engines use themselves, in every place where a user may use them.
FIELDS = Fields(
    ("text", "題", "n"),
    ("digest", "id", "at"),
    weights=(1.0, 4.0, 1.0),
    filters=(
        Filter("source", FilterKind.KEYWORD),
        Filter("digest", FilterKind.NUMBER),
        Filter("at", FilterKind.TIME),
        Filter("numbers", FilterKind.KEYWORD),
    ),
    place=("source", "digest"),
)
LOW, HIGH = -(2**63), 2**63 - 1


def row(
    number: int, text: str, title: str = "", values: dict[str, str | int] | None = None
) -> Document:
    texts = {"text": text, "題": title, "n": "", "digest": "d", "id": "東京", "at": "x"}
    return Document(str(number), number, number * 10, number, texts, values or {})


ROWS = [
    row(0, "東京タワー tower", "京都の寺", {"source": "Ａ", "digest": LOW, "at": 0}),
    row(1, "京都タワー", "東京タワー", {"source": "a", "digest": HIGH, "numbers": ""}),
    row(2, "a woman, women; wombat", "Woman-hood", {"source": "ab", "digest": -1, "at": HIGH}),
    row(3, "walking talking king", "kings", {"source": "a\0b", "at": LOW}),
    row(4, "iphone15 x15y 15", "naïve façade", {"source": "が", "digest": 0, "numbers": "00"}),
    row(5, "東京の woman", "", {"source": "か\u3099く", "digest": 7}),
    row(6, "привет мир नमस्ते", "日本語womanだ", {"source": "*.txt [x] (y)"}),
    row(7, "", "", {}),
]


@pytest.fixture(params=ENGINE_NAMES)
def engine(request: pytest.FixtureRequest) -> Engine:
    return engine_named(request.param)


@dataclass(frozen=True, slots=True)
class Opened:
    searcher: Searcher

    def ids(self, query: Query) -> set[str]:
        """Return what is found; the oracle must find the same."""
        found = set(found_ids(self.searcher, query))
        assert found == matching(query, [row_of(each, FIELDS) for each in ROWS]), query
        return found


@pytest.fixture
def opened(engine: Engine, tmp_path: Path) -> Iterator[Opened]:
    searcher = engine.open_searcher(build(engine, tmp_path, ROWS, batch=3, fields=FIELDS), FIELDS)
    yield Opened(searcher)
    searcher.close()


def test_a_field_is_looked_at_alone(opened: Opened) -> None:
    """S3: `field:word`, with any name that is an identifier."""
    assert opened.ids(Phrase("東京")) == {"0", "1", "5"}
    assert opened.ids(Phrase("東京", "text")) == {"0", "5"}
    assert opened.ids(Phrase("東京", "題")) == {"1"}
    assert opened.ids(Phrase("東京", "n")) == set()
    assert opened.ids(And((Phrase("タワー", "題"), Phrase("京都", "text")))) == {"1"}
    assert opened.ids(Phrase("京", "題")) == {"0", "1"}
    assert opened.ids(Not(Phrase("woman", "text"))) == {"0", "1", "3", "4", "6", "7"}
    assert opened.ids(Phrase("wom", "題", open_end=True)) == {"2", "6"}


def test_open_starts_and_ends(opened: Opened) -> None:
    """S1: an open side needs no word edge; a side that is no word never needed one."""
    assert opened.ids(Phrase("king", open_start=True)) == {"3"}
    assert opened.ids(Phrase("king")) == {"3"}
    assert opened.ids(Phrase("king", "題", open_start=True, open_end=True)) == {"3"}
    assert opened.ids(Phrase("15", open_start=True)) == {"4"}
    assert opened.ids(Phrase("5y", open_start=True)) == {"4"}
    assert opened.ids(Phrase("one1", open_start=True, open_end=True)) == {"4"}
    assert opened.ids(Phrase("one1", open_start=True)) == set()
    assert opened.ids(Phrase("oman", "題", open_start=True)) == {"2", "6"}
    assert opened.ids(Phrase("語woman", open_start=True)) == {"6"}
    assert opened.ids(Phrase("ïve", open_start=True)) == {"4"}
    assert opened.ids(Phrase("ивет", open_start=True)) == {"6"}
    assert opened.ids(Phrase("स्ते", open_start=True)) == {"6"}
    assert opened.ids(Phrase("京", open_start=True, open_end=True)) == {"0", "1", "5"}
    assert opened.ids(Phrase("alking tal", open_start=True, open_end=True)) == {"3"}
    assert opened.ids(Phrase("lking king", open_start=True)) == {"3"}
    assert opened.ids(Phrase("alking king", open_start=True)) == {"3"}
    assert opened.ids(Phrase("ower", open_start=True)) == {"0"}
    assert opened.ids(Phrase("oman-hoo", open_start=True, open_end=True)) == {"2"}


def test_gaps_in_words(opened: Opened) -> None:
    """S1: `wom*n` is one word that begins and ends so, pieces in order and none overlapping."""
    assert opened.ids(Wildcard(("wom", "n"))) == {"2", "5", "6"}
    assert opened.ids(Wildcard(("wo", "n", "n"), "text")) == set()
    assert opened.ids(Wildcard(("ｗＯ", "N"), "題")) == {"2", "6"}
    assert opened.ids(Wildcard(("w", "b", "t"))) == {"2"}
    assert opened.ids(Wildcard(("", "lk", ""))) == {"3"}
    assert opened.ids(Wildcard(("", "lk", "g"))) == {"3"}
    assert opened.ids(Wildcard(("t", "lk", ""))) == {"3"}
    assert opened.ids(Wildcard(("iphone", "15"))) == {"4"}
    assert opened.ids(Wildcard(("iphone1", "15"))) == set()
    assert opened.ids(Wildcard(("", "1", "5", ""))) == {"4"}
    assert opened.ids(Wildcard(("wal", ""))) == {"3"}
    assert opened.ids(Wildcard(("", "", "", "mbat"))) == {"2"}
    assert opened.ids(Wildcard(("na", "ve"))) == {"4"}
    assert opened.ids(Wildcard(("न", "ते"))) == {"6"}


def test_pieces_that_no_word_can_have_match_nothing(opened: Opened) -> None:
    for pieces in (("", ""), ("a.", "b"), ("東", "x"), (".", ""), ("", "]", ""), ("a b", "")):
        assert found_ids(opened.searcher, Wildcard(pieces)) == []


def test_keywords_compare_whole_and_folded(opened: Opened) -> None:
    """S3: `source:value`, `source:value*`; what has no value never matches."""
    assert opened.ids(Value("source", "A")) == {"0", "1"}
    assert opened.ids(Value("source", "a", open_end=True)) == {"0", "1", "2", "3"}
    assert opened.ids(Value("source", "a\0", open_end=True)) == {"3"}
    assert opened.ids(Value("source", "が")) == {"4"}
    assert opened.ids(Value("source", "か\u3099", open_end=True)) == {"4", "5"}
    assert opened.ids(Value("source", "か", open_end=True)) == set()
    assert opened.ids(Value("source", "", open_end=True)) == {"0", "1", "2", "3", "4", "5", "6"}
    assert opened.ids(Value("numbers", "")) == {"1"}
    assert opened.ids(Value("numbers", "0", open_end=True)) == {"4"}
    assert opened.ids(Value("source", "*.TXT [x] (", open_end=True)) == {"6"}
    assert opened.ids(Value("source", ".*")) == set()
    assert opened.ids(Not(Value("source", "", open_end=True))) == {"7"}
    assert opened.ids(And((Phrase("東京"), Value("source", "a")))) == {"0", "1"}


def test_ranges_of_64_bits(opened: Opened) -> None:
    """S3: both ends belong to a range; no value is in no range, not even in an open one."""
    assert opened.ids(Range("digest", None, None)) == {"0", "1", "2", "4", "5"}
    assert opened.ids(Range("digest", LOW, LOW)) == {"0"}
    assert opened.ids(Range("digest", HIGH, None)) == {"1"}
    assert opened.ids(Range("digest", LOW + 1, HIGH - 1)) == {"2", "4", "5"}
    assert opened.ids(Range("digest", -(10**30), 10**30)) == {"0", "1", "2", "4", "5"}
    assert opened.ids(Range("digest", HIGH + 1, None)) == set()
    assert opened.ids(Range("digest", None, LOW - 1)) == set()
    assert opened.ids(Range("digest", 1, 0)) == set()
    assert opened.ids(Range("digest", 0, 0)) == {"4"}
    assert opened.ids(Range("at", None, 0)) == {"0", "3"}
    assert opened.ids(Range("at", 1, None)) == {"2"}
    assert opened.ids(Range("id", 2, 4)) == {"2", "3", "4"}
    assert opened.ids(Range("id", None, -1)) == set()
    assert opened.ids(Range("created", 30, 50)) == {"3", "4", "5"}
    assert opened.ids(Range("created", None, None)) == {str(n) for n in range(8)}
    assert opened.ids(Not(Range("at", None, None))) == {"1", "4", "5", "6", "7"}


def test_a_name_that_is_none_is_an_error_that_names_it(opened: Opened) -> None:
    for query in (
        Phrase("x", "body"),
        Phrase("x", "digest"),
        Wildcard(("x", ""), "body"),
        Value("body", "x"),
        Value("digest", "1"),
        Value("id", "1"),
        Range("body", 1, 2),
        Range("source", 1, 2),
    ):
        for tree in (query, Not(Or((Everything(), query)))):
            with pytest.raises(ValueError, match=f"'{query.field}'"):
                found_ids(opened.searcher, tree)


def test_ids_that_are_texts_are_filters_as_they_stand(engine: Engine, tmp_path: Path) -> None:
    fields = Fields(("body",), text_ids=True, timed=False)
    ids = ["a", "A", "ａ", "a/b", "", '["a", 1]', "a\0", "が", "か\u3099", "a*"]
    rows = [Document(one, 0, 0, n, {"body": "x"}) for n, one in enumerate(ids)]
    searcher = engine.open_searcher(build(engine, tmp_path, rows, fields=fields), fields)
    for one in ids:
        assert found_ids(searcher, Value("id", one)) == [one]
        begin = {each for each in ids if each.startswith(one)}
        assert set(found_ids(searcher, Value("id", one, open_end=True))) == begin
    assert set(found_ids(searcher, Or((Value("id", "A"), Value("id", "が"))))) == {"A", "が"}
    for query in (Range("id", 1, 2), Range("created", 1, 2)):
        with pytest.raises(ValueError, match=f"'{query.field}'"):
            found_ids(searcher, query)
    searcher.close()


def test_values_come_back_as_they_were_given(opened: Opened) -> None:
    """S6: unfolded, with the extremes of 64 bits, and what is missing stays missing."""
    assert opened.searcher.documents([each.id for each in ROWS]) == {each.id: each for each in ROWS}
    found = opened.searcher.search(Everything(), order=Order.ID, offset=0, limit=99)
    assert [hit.document for hit in found.hits] == ROWS


@pytest.mark.parametrize(
    ("name", "value", "fault"),
    [
        ("source", 5, "text"),
        ("digest", "5", "number"),
        ("digest", HIGH + 1, "64 bits"),
        ("at", LOW - 1, "64 bits"),
        ("body", "x", "no filter"),
        ("source", "x" * 40_000, "longer"),
        ("numbers", "㍿" * 5_000, "longer"),
    ],
)
def test_a_value_that_cannot_be_kept_is_refused_by_name(
    engine: Engine, tmp_path: Path, name: str, value: str | int, fault: str
) -> None:
    place = build(engine, tmp_path, ROWS[:2], fields=FIELDS)
    with (
        engine.open_writer(place, FIELDS, bulk=False) as writer,
        pytest.raises(ValueError, match=f"'{name}'.*{fault}"),
    ):
        writer.upsert([replace(ROWS[0], values={name: value})])


def test_the_longest_ids_and_values(engine: Engine, tmp_path: Path) -> None:
    fields = replace(FIELDS, text_ids=True)
    long = "漢" * 10_666
    rows = [
        Document(long + tail, 0, 0, 0, ROWS[0].text, {"source": long + tail}) for tail in ("", "a")
    ]
    searcher = engine.open_searcher(build(engine, tmp_path, rows, fields=fields), fields)
    for order in (Order.ID, Order.SOURCE, Order.NEWEST):
        assert found_ids(searcher, Everything(), order=order) == [long, long + "a"]
    assert found_ids(searcher, Value("source", long[:9_000], open_end=True)) != []
    after = searcher.search(Everything(), order=Order.ID, offset=0, limit=9, after=long)
    assert [hit.document.id for hit in after.hits] == [long + "a"]
    searcher.close()


def test_weights_decide_the_order(engine: Engine, tmp_path: Path) -> None:
    """S4: what is found in a field of more weight comes first, by every kind of leaf."""
    rows = [
        row(1, "東京 woman. walking", "他の見出し"),
        row(2, "他の本文", "東京 woman. walking"),
    ]
    for weights, expected in (((1.0, 4.0, 1.0), ["2", "1"]), ((5.0, 1.0, 1.0), ["1", "2"])):
        fields = replace(FIELDS, weights=weights)
        place = build(engine, tmp_path / str(weights[0]), rows, fields=fields)
        searcher = engine.open_searcher(place, fields)
        for query in (
            Phrase("東京"),
            Phrase("東"),
            Phrase("woman"),
            prefix("wom"),
            Phrase("man", open_start=True),
            Wildcard(("w", "n")),
            Phrase("man. wal", open_start=True, open_end=True),
            And((Phrase("東京"), Range("id", 1, 2))),
        ):
            assert found_ids(searcher, query) == expected, query
        searcher.close()


def test_the_folding_of_the_index_is_used_everywhere(engine: Engine, tmp_path: Path) -> None:
    fields = replace(BODY, filters=(Filter("source", FilterKind.KEYWORD),))
    rows = [
        Document("1", 1, 1, 1, {"body": "カタカナ 髙橋"}, {"source": "サクラ"}),
        Document("2", 2, 2, 2, {"body": "かたかな 高橋"}, {"source": "さくら"}),
    ]
    for folding, word, value in (
        (Folding(variants=False), ["1"], ["1"]),
        (Folding(variants=False, kana=True), ["1", "2"], ["1", "2"]),
    ):
        folded = replace(fields, folding=folding)
        place = build(engine, tmp_path / str(folding.kana), rows, fields=folded)
        searcher = engine.open_searcher(place, folded)
        assert sorted(found_ids(searcher, Phrase("タカ"))) == word
        assert sorted(found_ids(searcher, Value("source", "サク", open_end=True))) == value
        assert found_ids(searcher, Phrase("髙橋")) == ["1"]
        searcher.close()


def test_words_of_more_than_one_token(engine: Engine, tmp_path: Path) -> None:
    """S1: ends of very long words are exact; gaps reach as far as one token of 255."""
    lengths = (254, 255, 256, 300, 510, 511)
    rows = [document(n, "b" * (n - 3) + "xyz tail") for n in lengths]
    searcher = engine.open_searcher(build(engine, tmp_path, rows), BODY)
    for n in (1, 3, 10, 250, 255, 256, 300, 400, 511):
        ending = ("b" * 600 + "xyz")[-n:]
        expected = {str(each) for each in lengths if each >= n}
        assert set(found_ids(searcher, Phrase(ending, open_start=True))) == expected, n
    assert found_ids(searcher, Phrase("c" * 300, open_start=True)) == []
    assert set(found_ids(searcher, Wildcard(("b", "z")))) == {"254", "255"}
    assert set(found_ids(searcher, Wildcard((*"b" * 40, "z")))) == {"254", "255"}
    assert set(found_ids(searcher, Phrase("bbxy", None, True, True))) >= {"254", "255"}
    assert set(found_ids(searcher, Phrase("yz tail", open_start=True))) >= {"254", "255"}
    searcher.close()


def test_open_starts_of_phrases_share_the_budget(engine: Engine, tmp_path: Path) -> None:
    """S5: ends count alike by both engines, pairs count as pairs, dead words do not count."""
    words = [f"{n:05}w" for n in range(MOST_EXPANSIONS)]
    rows = [document(n, f"{' no '.join(words[n::20])} no end") for n in range(20)]
    rows += [document(99, " no ".join(f"{n:05}vw" for n in range(50)))]
    place = build(engine, tmp_path, rows, batch=8)
    place = change(engine, place, [document(99, "a1x b1y a2x b2y")], [])
    searcher = engine.open_searcher(place, BODY)
    assert len(found_ids(searcher, Phrase("w no", open_start=True))) == 20
    assert found_ids(searcher, Phrase("11w no", open_start=True)) == ["11"]
    assert found_ids(searcher, Phrase("x b", open_start=True, open_end=True)) == ["99"]
    with pytest.raises(QueryTooLarge, match="begin with '0'"):  # 200 pairs with 1,000
        found_ids(searcher, Phrase("1w no 0", None, True, True))
    more = engine.open_searcher(change(engine, place, [document(100, "morew")], []), BODY)
    for too_much in (Phrase("w no", open_start=True), Phrase("w never there", open_start=True)):
        with pytest.raises(QueryTooLarge, match="end with 'w'"):
            found_ids(more, too_much)
    assert len(found_ids(more, Phrase("w", open_start=True))) == 21
    searcher.close()
    more.close()


def test_regular_expressions_are_never_read(engine: Engine, tmp_path: Path) -> None:
    searcher = engine.open_searcher(build(engine, tmp_path, documents(["a+b .* [x] abc"])), BODY)
    assert found_ids(searcher, Phrase(".*")) == ["0"]
    assert found_ids(searcher, Phrase("x.y", None, True, True)) == []
    assert found_ids(searcher, Wildcard(("a", "."))) == []
    for pieces in (("abcdefghij" * 50), ("ab" * 62, "cd" * 61), ("a", *"bc" * 8)):
        assert found_ids(searcher, Wildcard(tuple(pieces))) == []
    for pieces in ((*"abc", *[""] * 90), ("", *"abc", ""), ("", *["", "b"], "c")):
        assert found_ids(searcher, Wildcard(tuple(pieces))) == ["0"]
    assert found_ids(searcher, Phrase("a" * 1_000, None, True, True)) == []
    searcher.close()
