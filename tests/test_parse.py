"""The query language: trees, remarks and limits (promise S3)."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sakuin.indexer.diagnostic import DiagnosticCode as Code
from sakuin.indexer.limits import Limits
from sakuin.indexer.parse import parse
from sakuin.indexer.query import And, Not, Nothing, Or, Phrase, Query, Wildcard, prefix

A, B, C = Phrase("a"), Phrase("b"), Phrase("c")

UNDERSTOOD: dict[str, Query] = {
    "人間": Phrase("人間"),
    "a b": And((A, B)),
    "a\u3000b": And((A, B)),
    "a\nb\tc": And((A, B, C)),
    "a AND b": And((A, B)),
    "a OR b": Or((A, B)),
    "a OR b c": Or((A, And((B, C)))),
    "a b OR c": Or((And((A, B)), C)),
    "(a OR b) c": And((Or((A, B)), C)),
    "a (b c)": And((A, B, C)),
    "a OR (b OR c)": Or((A, B, C)),
    "NOT a": Not(A),
    "-a": Not(A),
    "a NOT b": And((A, Not(B))),
    "a AND NOT b": And((A, Not(B))),
    "NOT a OR b": Or((Not(A), B)),
    "a -b": And((A, Not(B))),
    "-a -b": And((Not(A), Not(B))),
    "-(a b)": Not(And((A, B))),
    '-"a b"': Not(Phrase("a b")),
    "NOT NOT a": A,
    "NOT (NOT a)": A,
    '"a b"': Phrase("a b"),
    '"a OR (b)"': Phrase("a OR (b)"),
    '("a) b" OR c)': Or((Phrase("a) b"), C)),
    '"a""b"': And((A, B)),
    "a*": prefix("a"),
    "(a*)": prefix("a"),
    "*a": Phrase("a", open_start=True),
    "*人間": Phrase("人間", open_start=True),
    "＊a*": Phrase("a", open_start=True, open_end=True),
    '*"a b"*': Phrase("a b", open_start=True, open_end=True),
    "wom*n": Or((Phrase("wom*n"), Wildcard(("wom", "n")))),
    "-2*3": Not(Or((Phrase("2*3"), Wildcard(("2", "3"))))),
    "*a＊b**c*": Or(
        (Phrase("a＊b**c", None, True, True), Wildcard(("", "a", "b", "c", ""))),
    ),
    '“a ”” "b”': Phrase('a ” "b'),
    '"a b"*': prefix("a b"),
    "a ＯＲ b": Or((A, B)),
    "（a　ＯＲ　b）　c": And((Or((A, B)), C)),
    "－a ＮＯＴ b": And((Not(A), Not(B))),
    "＂a b＂ “b c” ”c a”": And((Phrase("a b"), Phrase("b c"), Phrase("c a"))),
    "人間＊": prefix("人間"),
    '“a "b" c”': Phrase('a "b" c'),
}


@pytest.mark.parametrize("text", UNDERSTOOD)
def test_a_query_is_understood(text: str) -> None:
    """S3: operators, phrases, groups and prefixes, in both widths; no remark that scares."""
    parsed = parse(text)
    assert parsed.query == UNDERSTOOD[text]
    assert {remark.code for remark in parsed.diagnostics} <= {Code.ALL_BUT}


@pytest.mark.parametrize(
    "text",
    [
        *(
            "東京（大阪）",
            "（株）日立製作所",
            "12:30",
            "foo-bar",
            "C++",
            "C#",
            "f(x)",
            "f(g(x))",
            "「人間」",
        ),
        *(
            "a!b",
            "a|b",
            "a&b",
            "title:人間",
            "http://example.com/?q=a&b=(c)",
            "--help",
            "02091-C-71",
        ),
        *(
            "title:200[1-9]",
            ".",
            "々",
            "👨‍👩‍👧",
            "and",
            "or",
            "not",
            "/人.間/",
            "人間~2",
            "^人間",
        ),
        *("%s%s%n", "'; DROP TABLE x;'", "don't", "100%_完全", "+人間", "{{7}}"),
    ],
)
def test_what_is_no_syntax_stays_text(text: str) -> None:
    """S3: `( ) * :` count only at the edge of a word, 「」 ! | & never; no remark is made."""
    words = text.split()
    expected = Phrase(text) if len(words) == 1 else And(tuple(Phrase(word) for word in words))
    parsed = parse(text)
    assert (parsed.query, parsed.diagnostics) == (expected, ())


@pytest.mark.parametrize(
    ("text", "query", "codes"),
    [
        ("-", Phrase("-"), [Code.LONE_OPERATOR]),
        ("AND", Phrase("AND"), [Code.LONE_OPERATOR]),
        ("a OR", And((A, Phrase("OR"))), [Code.LONE_OPERATOR]),
        ("OR a", And((Phrase("OR"), A)), [Code.LONE_OPERATOR]),
        ("(AND a)", And((Phrase("AND"), A)), [Code.LONE_OPERATOR]),
        ("a NOT", And((A, Phrase("NOT"))), [Code.LONE_OPERATOR]),
        ("()", Phrase("()"), [Code.LONE_OPERATOR]),
        ("(", Phrase("("), [Code.LONE_OPERATOR]),
        ('"', Phrase('"'), [Code.LONE_OPERATOR]),
        (")", Phrase(")"), [Code.UNMATCHED_PARENTHESIS]),
        ("人間)", Phrase("人間)"), [Code.UNMATCHED_PARENTHESIS]),
        ("(a -)", And((A, Phrase("-"))), [Code.LONE_OPERATOR]),
        ('"a b', Phrase("a b"), [Code.UNCLOSED_QUOTE]),
        ("(a OR b", Or((A, B)), [Code.UNCLOSED_PARENTHESIS]),
        ("((a) b", And((A, B)), [Code.UNCLOSED_PARENTHESIS]),
        ("*", Phrase("*"), [Code.STAR_AS_TEXT]),
        ("***", Phrase("***"), [Code.STAR_AS_TEXT]),
        ("人*間", Phrase("人*間"), [Code.STAR_AS_TEXT]),
        ("{{7*7}}", Phrase("{{7*7}}"), [Code.STAR_AS_TEXT]),
        ("**a**", Phrase("**a**"), [Code.STAR_AS_TEXT]),
        ('5"', Phrase('5"'), [Code.QUOTE_AS_TEXT]),
        ("-a", Not(A), [Code.ALL_BUT]),
        ("", Nothing(), [Code.EMPTY_QUERY]),
        (" \u3000\n", Nothing(), [Code.EMPTY_QUERY]),
        ('""', Nothing(), [Code.EMPTY_TERM]),
        ("\u200b", Nothing(), [Code.EMPTY_TERM]),
        ('a OR ""', A, [Code.EMPTY_TERM]),
        ('a NOT ""', A, [Code.EMPTY_TERM]),
        ('a ("" OR "")', A, [Code.EMPTY_TERM, Code.EMPTY_TERM]),
        ("a\0b", And((A, B)), [Code.REPLACED_CHARACTER]),
        ("\ud842", Phrase("\ufffd"), [Code.REPLACED_CHARACTER]),
    ],
)
def test_odd_input_is_answered_with_a_remark(text: str, query: Query, codes: list[Code]) -> None:
    """S3: nothing raises, nothing is dropped without a word, all text can be searched."""
    parsed = parse(text)
    assert (parsed.query, [remark.code for remark in parsed.diagnostics]) == (query, codes)
    for remark in parsed.diagnostics:
        assert 0 <= remark.start <= remark.end <= len(text)
        assert remark.message


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("example.com", Phrase("example.com")),
        ("a-b", Phrase("a-b")),
        ('say"hi', Phrase('say"hi')),
        ('"bar*"', Phrase("bar*")),
        ("bar*", prefix("bar")),
        ('"      "', Nothing()),
        ("h52.1 - kurz", And((Phrase("h52.1"), Phrase("-"), Phrase("kurz")))),
        ("02091-C-71", Phrase("02091-C-71")),
        ("tag:inbox", Phrase("tag:inbox")),
        ("Tax*", prefix("Tax")),
    ],
)
def test_queries_that_broke_other_programs(text: str, query: Query) -> None:
    """S3, from reports: dots, dashes and inner quotes as syntax errors, phrases of blanks that
    end the server, quoted stars that expand, stars that users rely on."""
    assert parse(text).query == query


@pytest.mark.parametrize(
    "text", ["(" * 25 + "a" + ")" * 25, "( " * 499, "a (" * 30, "-(" * 40 + "a"]
)
def test_deep_nesting_is_refused_by_name(text: str) -> None:
    """S3: depth is limited; nothing else is searched instead."""
    parsed = parse(text)
    assert parsed.query == Nothing()
    assert [remark.code for remark in parsed.diagnostics] == [Code.TOO_DEEP]
    assert parsed.refused


def test_limits_are_exact() -> None:
    """S3: what just fits is searched, one more is refused."""
    limits = Limits(length=20, leaves=3, depth=2)
    assert not parse("x" * 20, limits).refused
    assert [r.code for r in parse("x" * 21, limits).diagnostics] == [Code.TOO_LONG]
    assert parse("a OR b OR c", limits).query == Or((A, B, C))
    assert [r.code for r in parse("a OR b OR c d", limits).diagnostics] == [Code.TOO_MANY_TERMS]
    assert parse("((a))", limits).query == A
    assert [r.code for r in parse("(((a)))", limits).diagnostics] == [Code.TOO_DEEP]


HEAVY = ["(" * 90_000, '"' * 90_000, "NOT " * 40_000, "a*" * 50_000, "-" * 90_000, "a" * 90_000]
HEAVY += ["(" * 50_000 + ")" * 50_000, "a" + ")" * 90_000, "(a) " * 30_000, '-("a") OR ' * 10_000]
HEAVY += ['""(' * 30_000, "“" * 90_000, '"a"-' * 30_000, "a (" * 30_000]


@pytest.mark.parametrize("text", HEAVY, ids=range(len(HEAVY)))
def test_time_stays_bounded_even_where_length_and_terms_are_not(text: str) -> None:
    """S3: linear time (another parser took 21 s at depth 25)."""
    start = time.process_time()
    assert parse(text).refused
    assert time.process_time() - start < 0.1
    parse(text, Limits(length=10**9, leaves=10**9))
    assert time.process_time() - start < 3


@pytest.mark.parametrize("text", ["(" * 20_000 + "a", "(" * 20_000 + "a" + " )" * 20_000])
def test_no_input_overflows_the_stack(text: str) -> None:
    """S3: reading is iterative, so that depth is limited by choice and not by a crash."""
    assert parse(text, Limits(length=10**9, depth=10**9)).query == A


@settings(derandomize=True, max_examples=500)
@given(st.lists(st.text("ab人間。_'+", min_size=1, max_size=4), min_size=1, max_size=20))
def test_plain_words_are_all_searched(words: list[str]) -> None:
    """S3: without syntax, every word becomes one term, in order (space = AND)."""
    expected = tuple(Phrase(word) for word in words)
    assert parse(" ".join(words)).query == (And(expected) if len(words) > 1 else expected[0])
