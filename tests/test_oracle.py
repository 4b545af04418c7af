"""The oracle itself, held to examples worked out by hand (promise S1, rule 6)."""

import pytest

from oracle import in_order, matches, matching, matching_ids, row_of, settle
from sakuin.indexer.document import Document, Fields, Filter, FilterKind
from sakuin.indexer.engine import Order
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


@pytest.mark.parametrize(
    ("query", "body", "expected"),
    [
        ("東京", "東京都", True),
        ("京都", "東京都", True),
        ("東都", "東京都", False),
        ("京", "東京都", True),
        ("リング", "グリーン", False),
        ("tower", "東京Tower", True),
        ("tow", "東京Tower", False),
        ("京tower", "東京Tower", True),
        ("iphone", "iPhone15", False),
        ("15", "iPhone15で", False),
        ("iphone15", "iPhone15で", True),
        ("c++", "C++", True),
        ("c+", "C++", True),
        ("c", "C++", True),
        ("new york", "New\n  York", True),
        ("new york", "newyork", False),
        ("東 京", "東\n\n京", True),
        ("東京", "東 京", False),
        ("人間", "　人間　", True),
        ("cat", "concatenate cat", True),
        ("cat", "concatenate cats", False),
        ("。", "終。", True),
        ("😀", "a😀b", True),
        ("é", "cafe\u0301 é", True),
        ("e", "cafe\u0301", False),
        ("か", "か\u3099", False),
        ("", "x", False),
        (" \u200b", "x", False),
    ],
)
def test_phrases(query: str, body: str, expected: bool) -> None:
    assert matches(query, body) == expected


def test_prefixes() -> None:
    assert matches("tow", "東京Tower", prefix=True)
    assert matches("new yor", "in New York", prefix=True)
    assert not matches("ew yor", "in New York", prefix=True)
    assert matches("東", "関東", prefix=True)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (Phrase("東京"), {"1", "2"}),
        (And((Phrase("東京"), Phrase("大阪"))), {"2"}),
        (Or((Phrase("京都"), Phrase("大阪"))), {"2", "3"}),
        (Not(Phrase("東京")), {"3"}),
        (prefix("tok"), {"3"}),
        (And(()), {"1", "2", "3"}),
        (Or(()), set()),
        (Everything(), {"1", "2", "3"}),
        (Nothing(), set()),
    ],
)
def test_trees(query: Query, expected: set[str]) -> None:
    texts = {"1": ["東京"], "2": ["東京", "大阪"], "3": ["京都 Tokyo"]}
    bodies = {one: [settle(text) for text in fields] for one, fields in texts.items()}
    assert matching_ids(query, bodies) == expected


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (Phrase("man", open_start=True), {"1"}),
        (Phrase("oma", None, True, True), {"1"}),
        (Phrase("oma", None, True), set()),
        (Phrase("京tower", "title"), {"2"}),
        (Phrase("京tower", "body"), set()),
        (Wildcard(("w", "n")), {"1"}),
        (Wildcard(("w", "m", "", "n")), {"1"}),
        (Wildcard(("wom", "man")), set()),
        (Wildcard(("", "owe", "")), {"2"}),
        (Wildcard(("tower", "wer")), set()),
        (Value("file", "A"), {"1"}),
        (Value("file", "a", open_end=True), {"1", "2"}),
        (Range("size", None, None), {"1"}),
        (Range("size", 5, 5), {"1"}),
        (Range("size", 6, None), set()),
        (Range("id", 2, 9), {"2"}),
        (Range("created", None, 10), {"1"}),
    ],
)
def test_fields_and_filters(query: Query, expected: set[str]) -> None:
    fields = Fields(
        ("title", "body"),
        filters=(Filter("file", FilterKind.KEYWORD), Filter("size", FilterKind.NUMBER)),
        place=("file", "size"),
    )
    one = Document("1", 1, 10, 0, {"title": "", "body": "a Woman."}, {"file": "a", "size": 5})
    two = Document("2", 2, 20, 0, {"title": "東京Tower", "body": ""}, {"file": "ab"})
    assert matching(query, [row_of(one, fields), row_of(two, fields)]) == expected
    for order, ids in (
        (Order.ID, ["1", "2"]),
        (Order.NEWEST, ["2", "1"]),
        (Order.SOURCE, ["1", "2"]),
    ):
        assert in_order([two, one], {"1", "2"}, order, fields) == ids
