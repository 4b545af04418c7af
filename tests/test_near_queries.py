"""`"a b"~5` in the query language: how it is read, what it says, what it leaves alone (S3)."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from any_text import FIELDS
from sakuin.indexer.diagnostic import Diagnostic
from sakuin.indexer.diagnostic import DiagnosticCode as Code
from sakuin.indexer.dialect import Dialect
from sakuin.indexer.errors import NearTooCommon, QueryTooLarge
from sakuin.indexer.limits import DEFAULT_DISTANCE, MOST_DISTANCE, MOST_NEAR_PARTS, Limits
from sakuin.indexer.parse import parse, too_large
from sakuin.indexer.query import And, Near, Not, Nothing, Or, Phrase, Query
from sakuin.indexer.unparse import unparse

A_B = Near((Phrase("a"), Phrase("b")), 5)


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ('"a b"~5', A_B),
        ("“a　b”～５", A_B),
        ("＂a\n b＂〜0005", A_B),
        ('title:" a b "~5', Near(A_B.parts, 5, "title")),
        ('title:("a b"~5 OR c)', Or((Near(A_B.parts, 5, "title"), Phrase("c", "title")))),
        ('-"a b"~5 c', And((Not(A_B), Phrase("c")))),
        ('（"a b"~5）', A_B),
        ('("a b"~5 OR "b a"~0)', Or((A_B, Near((Phrase("b"), Phrase("a")), 0)))),
        ('"a* 人間 C++ (x)"~100', Near(tuple(map(Phrase, ["a*", "人間", "C++", "(x)"])), 100)),
        ('"a \u200b b"~5', A_B),
        # what is none
        ('"a b" ~5', And((Phrase("a b"), Phrase("~5")))),
        ("a~5 b～5", And((Phrase("a~5"), Phrase("b～5")))),
        ('"東京"〜"大阪"', And((Phrase("東京"), Phrase('〜"大阪"')))),
        ('"東京"〜', And((Phrase("東京"), Phrase("〜")))),
    ],
)
def test_near_is_read(text: str, query: Query) -> None:
    """S3: both widths, blanks of any kind, fields and groups; it prints as it is read."""
    parsed = parse(text, fields=FIELDS)
    assert parsed.query == query
    assert {remark.code for remark in parsed.diagnostics} <= {Code.QUOTE_AS_TEXT}
    assert parse(unparse(query), fields=FIELDS).query == query


@pytest.mark.parametrize(
    ("text", "query", "remark"),
    [
        ('"a b"~', Near(A_B.parts, DEFAULT_DISTANCE), Diagnostic(Code.NEAR_DISTANCE, 5, 6)),
        ('"a"~5', Phrase("a"), Diagnostic(Code.NEAR_ALONE, 0, 5)),
        ('"\u200b a"~5', Phrase("a"), Diagnostic(Code.NEAR_ALONE, 0, 7)),
        ('"\u200b"~5', Nothing(), Diagnostic(Code.EMPTY_TERM, 0, 5)),
        ('"a b"~x', And((Phrase("a b"), Phrase("~x"))), Diagnostic(Code.NEAR_AS_TEXT, 5, 6)),
        ('"a b"~5x', And((Phrase("a b"), Phrase("~5x"))), Diagnostic(Code.NEAR_AS_TEXT, 5, 6)),
        (
            '*"a b"~5',
            And((Phrase("a b", open_start=True), Phrase("~5"))),
            Diagnostic(Code.NEAR_AS_TEXT, 6, 7),
        ),
        ('"a b"~101', Nothing(), Diagnostic(Code.NEAR_TOO_FAR, 0, 9)),
        (f'"a b"~{"9" * 900}', Nothing(), Diagnostic(Code.NEAR_TOO_FAR, 0, 906)),
        ('"1 2 3 4 5 6 7 8 9"~5', Nothing(), Diagnostic(Code.NEAR_TOO_MANY, 0, 21)),
        ('source:"a b"~5', Nothing(), Diagnostic(Code.BAD_KEYWORD, 0, 14)),
        ('pages:"1 2"~5', Nothing(), Diagnostic(Code.BAD_NUMBER, 0, 13)),
        ('created:"2024 2025"~5', Nothing(), Diagnostic(Code.BAD_TIME, 0, 21)),
    ],
)
def test_slips_are_told(text: str, query: Query, remark: Diagnostic) -> None:
    """S3: each in its nearest meaning, or not searched at all; the place is shown."""
    parsed = parse(text, fields=FIELDS)
    assert parsed.query == query
    assert parsed.diagnostics == (remark,)
    assert parsed.refused == remark.code.refuses


def test_limits_are_kept_and_named() -> None:
    """S3: each part is a word; what is at the limit is searched."""
    words = " ".join("abcdefgh"[:MOST_NEAR_PARTS])
    assert isinstance(parse(f'"{words}"~{MOST_DISTANCE}').query, Near)
    eight = " ".join([f'"{words}"~1'] * 8)
    assert not parse(eight).refused
    assert parse(eight + " x").diagnostics[0].code is Code.TOO_MANY_TERMS
    assert parse('"a b c"~1', Limits(leaves=2)).diagnostics[0].code is Code.TOO_MANY_TERMS
    assert str(MOST_DISTANCE) in parse('"a b"~101').diagnostics[0].message
    assert too_large("ab", NearTooCommon("x")).diagnostics == (
        Diagnostic(Code.NEAR_TOO_COMMON, 0, 2),
    )
    assert too_large("a", QueryTooLarge()).diagnostics[0].code is Code.TOO_MANY_WORDS


@pytest.mark.parametrize("dialect", [Dialect.ESTRAIER, Dialect.TRITONN])
def test_older_programs_know_no_near(dialect: Dialect) -> None:
    """S3: there a ~ is what it was."""
    parsed = parse('"a b"~5', dialect=dialect)
    assert "Near" not in repr(parsed.query)
    assert not {each.code for each in parsed.diagnostics} - {Code.RANK_IGNORED}


PARTS = st.lists(
    st.text(st.characters(exclude_categories=["Z", "C"]), min_size=1, max_size=4)
    | st.sampled_from(["AND", '"', "”", "“x”", "a*", "title:a", "~5", "-a", "（"]),
    min_size=2,
    max_size=MOST_NEAR_PARTS,
)


@settings(derandomize=True, max_examples=300)
@given(PARTS, st.integers(0, MOST_DISTANCE), st.sampled_from([None, "title"]))
def test_what_is_printed_reads_as_itself(
    parts: list[str], distance: int, field: str | None
) -> None:
    """S3: whatever the words hold."""
    query = Near(tuple(map(Phrase, parts)), distance, field)
    parsed = parse(unparse(query), fields=FIELDS).query
    if isinstance(parsed, Near) and len(parsed.parts) == len(parts):
        assert parsed == query
    else:  # some word holds nothing that shows
        kept = parsed.parts if isinstance(parsed, Near) else (parsed,)
        assert len(kept) < len(parts)
