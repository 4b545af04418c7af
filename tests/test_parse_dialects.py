"""The languages of two older programs (promise S3): the queries of their articles work."""

import pytest

from sakuin.indexer.diagnostic import DiagnosticCode as Code
from sakuin.indexer.dialect import Dialect
from sakuin.indexer.document import Fields
from sakuin.indexer.limits import Limits
from sakuin.indexer.parse import parse
from sakuin.indexer.query import And, Not, Nothing, Or, Phrase, Query, Wildcard, prefix
from sakuin.indexer.unparse import unparse

A, B, C, D = (Phrase(letter) for letter in "abcd")
ENDS_SO = Phrase("shere", open_start=True)
WORDS = (Phrase("人間"), Phrase("殺し"), Phrase("残酷"))

Case = tuple[str, Query, list[Code]]
ESTRAIER: list[Case] = [
    ("人間 AND 殺し AND 残酷", And(WORDS), []),
    ("United Nations", Phrase("United Nations"), []),
    ("United\u3000 Nations AND b", And((Phrase("United\u3000 Nations"), B)), []),
    ("a AND b", And((A, B)), []),
    ("a ＡＮＤ b", And((A, B)), []),
    ("a ANDNOT b", And((A, Not(B))), []),
    ("a ANDNOT b OR c", And((A, Not(Or((B, C))))), []),
    ("a OR b AND c OR d", And((Or((A, B)), Or((C, D)))), []),
    ("a AND b OR c ANDNOT d", And((A, Or((B, C)), Not(D))), []),
    ("[BW] euro", prefix("euro"), []),
    ("[EW] shere", ENDS_SO, []),
    ("a OR [EW] shere AND b c", And((Or((A, ENDS_SO)), Phrase("b c"))), []),
    ("[bw] a", Phrase("[bw] a"), []),
    ("[BW]", Phrase("[BW]"), []),
    ("a and b", Phrase("a and b"), []),
    ("NOT a", Phrase("NOT a"), []),
    ('"a" (b) -c d* title:e', Phrase('"a" (b) -c d* title:e'), []),
    ("wom*n", Phrase("wom*n"), []),
    ("AND a", Phrase("AND a"), [Code.LONE_OPERATOR]),
    ("a OR", Phrase("a OR"), [Code.LONE_OPERATOR]),
    ("a AND OR b", And((A, Phrase("OR b"))), [Code.LONE_OPERATOR]),
    ("ANDNOT", Phrase("ANDNOT"), [Code.LONE_OPERATOR]),
    ("a AND \u200b", A, [Code.EMPTY_TERM]),
    ("\u200b ANDNOT a", Not(A), [Code.EMPTY_TERM, Code.ALL_BUT]),
    ("", Nothing(), [Code.EMPTY_QUERY]),
    ("[RX] a.*b", Nothing(), [Code.UNSUPPORTED]),
    ("a OR [RX] b", Nothing(), [Code.UNSUPPORTED]),
    ("[RANK] 10 @score", Nothing(), [Code.UNSUPPORTED]),
]

TRITONN: list[Case] = [
    ("+人間 +殺し +残酷", And(WORDS), []),
    ("人間 殺し 残酷", Or(WORDS), []),
    ("a OR b", Or((A, B)), []),
    ("+a -b", And((A, Not(B))), []),
    ("a b -c", And((Or((A, B)), Not(C))), []),
    ("+a +(b c)", And((A, Or((B, C)))), []),
    ("+a -(b c)", And((A, Not(Or((B, C))))), []),
    ("+a +(+b -c)", And((A, B, Not(C))), []),
    ('+"a b" +c*', And((Phrase("a b"), prefix("c"))), []),
    ("＋a　－b", And((A, Not(B))), []),
    ("*D+ a b", And((A, B)), []),
    ("*D+ a b -c", And((A, B, Not(C))), []),
    ("*D+ a OR b c", And((Or((A, B)), C)), []),
    ("*D+ a OR -b", Or((A, Not(B))), []),
    ("*D+ a -b OR c", And((A, Or((Not(B), C)))), []),
    ("*DOR a b", Or((A, B)), []),
    ("*D- a +b", And((B, Not(A))), []),
    ("*D+W1:10,2:1 a b", And((A, B)), [Code.PRAGMA_IGNORED]),
    ("*W1,2 a", A, [Code.PRAGMA_IGNORED]),
    ("*SS body @ 'a'", Nothing(), [Code.UNSUPPORTED]),
    ("*D+a b", Or((Phrase("D+a", open_start=True), B)), []),
    (" *D+ a b", Or((Phrase("D+", open_start=True), A, B)), []),
    ("+a b", A, [Code.OPTIONAL_WORDS]),
    ("+a (b +c d)", A, [Code.OPTIONAL_WORDS, Code.OPTIONAL_WORDS]),
    ("+a +(+b c)", And((A, B)), [Code.OPTIONAL_WORDS]),
    ("a ~b", Or((A, B)), [Code.RANK_IGNORED]),
    ("+a +(>b <c)", And((A, Or((B, C)))), [Code.RANK_IGNORED, Code.RANK_IGNORED]),
    ("+>a", A, [Code.RANK_IGNORED]),
    ("+-a", Not(A), [Code.ALL_BUT]),
    ("-+a", Not(A), [Code.ALL_BUT]),
    ("-a", Not(A), [Code.ALL_BUT]),
    ("*D- a", Not(A), [Code.ALL_BUT]),
    ("a AND NOT b", Or((A, Phrase("AND"), Phrase("NOT"), B)), []),
    ("OR a", Or((Phrase("OR"), A)), [Code.LONE_OPERATOR]),
    ("a OR", Or((A, Phrase("OR"))), [Code.LONE_OPERATOR]),
    ("a + b", Or((A, Phrase("+"), B)), [Code.LONE_OPERATOR]),
    ("C++ a+b --x ++y", Or(tuple(map(Phrase, ("C++", "a+b", "--x", "++y")))), []),
    ("+東京（大阪） +f(x)", And((Phrase("東京（大阪）"), Phrase("f(x)"))), []),
    ("+wom*n", Or((Phrase("wom*n"), Wildcard(("wom", "n")))), []),
    ("+title:a", Phrase("title:a"), []),
    ('+"" a', A, [Code.EMPTY_TERM]),
    ('""', Nothing(), [Code.EMPTY_TERM]),
    ("+(a b", Or((A, B)), [Code.UNCLOSED_PARENTHESIS]),
    ("", Nothing(), [Code.EMPTY_QUERY]),
    ("*D+", Nothing(), [Code.EMPTY_QUERY]),
]


@pytest.mark.parametrize(
    ("dialect", "text", "query", "codes"),
    [(Dialect.ESTRAIER, *case) for case in ESTRAIER]
    + [(Dialect.TRITONN, *case) for case in TRITONN],
)
def test_a_query_of_a_dialect_is_understood(
    dialect: Dialect, text: str, query: Query, codes: list[Code]
) -> None:
    """S3: the same tree as Sakuin's own language makes, which prints it; every loss is named."""
    parsed = parse(text, fields=Fields(("title",)), dialect=dialect)
    assert (parsed.query, [remark.code for remark in parsed.diagnostics]) == (query, codes)
    assert parse(unparse(parsed.query)).query == query
    for remark in parsed.diagnostics:
        assert 0 <= remark.start <= remark.end <= len(text)


def test_acts_as_tritonn_joins_words_with_a_plus() -> None:
    """Its find_fulltext made ` +part` of each part between blanks, full-width ones too."""
    asked = "人間　殺し 残酷"
    sent = "".join(f" +{part}" for part in asked.split())
    assert parse(sent, dialect=Dialect.TRITONN).query == And(WORDS)


@pytest.mark.parametrize("dialect", Dialect)
def test_each_dialect_has_the_same_limits(dialect: Dialect) -> None:
    """S3: length and terms are counted alike; `(` nests only where it is syntax."""
    limits = Limits(length=20, leaves=2, depth=1)
    joined = " OR ".join
    assert not parse(joined("ab"), limits, dialect=dialect).refused
    for text, code in [
        (joined("abc"), Code.TOO_MANY_TERMS),
        ("x" * 21, Code.TOO_LONG),
        *([("((a))", Code.TOO_DEEP)] if dialect is not Dialect.ESTRAIER else []),
    ]:
        parsed = parse(text, limits, dialect=dialect)
        assert (parsed.query, [r.code for r in parsed.diagnostics]) == (Nothing(), [code])
