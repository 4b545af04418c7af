"""Fields, filters and ranges in the query language (promise S3)."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sakuin.indexer.diagnostic import DiagnosticCode as Code
from sakuin.indexer.dialect import Dialect
from sakuin.indexer.document import Fields, Filter, FilterKind
from sakuin.indexer.fold import Folding
from sakuin.indexer.moments import read_moment
from sakuin.indexer.parse import parse
from sakuin.indexer.query import And, Not, Nothing, Or, Phrase, Query, Range, Value, Wildcard
from sakuin.indexer.unparse import unparse

FIELDS = Fields(
    ("title", "body", "題名"),
    filters=(Filter("source", FilterKind.KEYWORD), Filter("pages", FilterKind.NUMBER)),
)
TEXT_IDS = Fields(("body",), timed=False, text_ids=True)
A = Phrase("a")


EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def at(
    year: int, month: int = 1, day: int = 1, hour: int = 0, minute: int = 0, second: int = 0
) -> int:
    """Return a time of UTC in microseconds."""
    return micro(datetime(year, month, day, hour, minute, second, tzinfo=UTC))


def micro(moment: datetime) -> int:
    return (moment - EPOCH) // timedelta(microseconds=1)


UNDERSTOOD: dict[str, Query] = {
    "title:a": Phrase("a", "title"),
    "title：a": Phrase("a", "title"),
    "ｔｉｔｌｅ：a": Phrase("a", "title"),
    "Title:a": Phrase("a", "title"),
    "題名:人間": Phrase("人間", "題名"),
    'title:"a b"': Phrase("a b", "title"),
    "title:”a b”": Phrase("a b", "title"),
    "title:a*": Phrase("a", "title", open_end=True),
    '*"a" title:*"a b"*': And(
        (Phrase("a", open_start=True), Phrase("a b", "title", open_start=True, open_end=True))
    ),
    "title:wom*n": Or((Phrase("wom*n", "title"), Wildcard(("wom", "n"), "title"))),
    "-title:a": Not(Phrase("a", "title")),
    'NOT source:"a b.txt"': Not(Value("source", "a b.txt")),
    "source:a.txt": Value("source", "a.txt"),
    "source:a*": Value("source", "a", open_end=True),
    'source:"a*b"': Value("source", "a*b"),
    'source:""': Value("source", ""),
    'source:"*"': Value("source", "*"),
    "source:*": Value("source", "", open_end=True),
    "-pages:＊": Not(Range("pages", None, None)),
    "created:*": Range("created", None, None),
    "title:-a": Phrase("-a", "title"),
    "title:AND": Phrase("AND", "title"),
    "title:f(x)": Phrase("f(x)", "title"),
    "title:12:30": Phrase("12:30", "title"),
    "title:>=5": Phrase(">=5", "title"),
    "(title:a)": Phrase("a", "title"),
    "title:(a)": Phrase("a", "title"),
    "title:(a OR b) c": And((Or((Phrase("a", "title"), Phrase("b", "title"))), Phrase("c"))),
    "title:(a body:b) a": And((Phrase("a", "title"), Phrase("b", "body"), A)),
    "title:（a (b -c)）": And(
        (Phrase("a", "title"), Phrase("b", "title"), Not(Phrase("c", "title")))
    ),
    'source:("a b" OR c*)': Or((Value("source", "a b"), Value("source", "c", open_end=True))),
    "id:(1..2 OR >5)": Or((Range("id", 1, 2), Range("id", 6, None))),
    "id:5": Range("id", 5, 5),
    "id:=5": Range("id", 5, 5),
    "id:>=100": Range("id", 100, None),
    "id:>100": Range("id", 101, None),
    "id:<=100": Range("id", None, 100),
    "id:<100": Range("id", None, 99),
    "id:10..20": Range("id", 10, 20),
    "id:10..": Range("id", 10, None),
    "id:..20": Range("id", None, 20),
    "pages:-5..-3": Range("pages", -5, -3),
    'id:"10 .. 20"': Range("id", 10, 20),
    "ｉｄ：＞＝１００": Range("id", 100, None),
    "id:≧１０": Range("id", 10, None),
    "created:2024": Range("created", at(2024, 1, 1), at(2025, 1, 1) - 1),
    "created:2024-02": Range("created", at(2024, 2, 1), at(2024, 3, 1) - 1),
    "created:2024-01-15": Range("created", at(2024, 1, 15), at(2024, 1, 16) - 1),
    "created:2024-01-15T10:30": Range(
        "created", at(2024, 1, 15, 10, 30), at(2024, 1, 15, 10, 31) - 1
    ),
    "created:2024-01-15T10:30:59Z": Range(
        "created", at(2024, 1, 15, 10, 30, 59), at(2024, 1, 15, 10, 31) - 1
    ),
    "created:<=2024-01-15T10:30:59.5": Range("created", None, at(2024, 1, 15, 10, 31) - 400_001),
    "created:>=2024-01-15T10:30+09:00": Range("created", at(2024, 1, 15, 1, 30), None),
    'created:"2024-01-15 10:30"': Range(
        "created", at(2024, 1, 15, 10, 30), at(2024, 1, 15, 10, 31) - 1
    ),
    "created:2024-01..2024-03": Range("created", at(2024, 1, 1), at(2024, 4, 1) - 1),
    "created:>2024": Range("created", at(2025, 1, 1), None),
    "created:<2024-03": Range("created", None, at(2024, 3, 1) - 1),
    "created:..2024-02": Range("created", None, at(2024, 3, 1) - 1),
    "created:１９６９/１２/３１": Range("created", at(1969, 12, 31), -1),
    "created:2024年1月..2024年2月": Range("created", at(2024, 1, 1), at(2024, 3, 1) - 1),
    "created:2024年2月29日": Range("created", at(2024, 2, 29), at(2024, 3, 1) - 1),
    "created:>=0001": Range("created", at(1, 1, 1), None),
    "created:9999-12": Range("created", at(9999, 12, 1), at(9999, 12, 31) + 86_400_000_000 - 1),
}


@pytest.mark.parametrize("text", UNDERSTOOD)
def test_a_field_is_understood_and_prints_as_itself(text: str) -> None:
    """S3: words of a field, values of a filter, ranges with whole units; no remark but one."""
    parsed = parse(text, fields=FIELDS)
    assert parsed.query == UNDERSTOOD[text]
    assert {remark.code for remark in parsed.diagnostics} <= {Code.ALL_BUT}
    assert parse(unparse(parsed.query, FIELDS), fields=FIELDS).query == parsed.query


@pytest.mark.parametrize(
    "text",
    [
        *("12:30", "http://example.com/?q=a&b=(c)", "titel:a", "titlea", "x-title:a"),
        *(
            "author:夏目",
            "at:2024",
            "n:5",
            "digest:1",
            "title:",
            "title",
            "created:",
            "大阪（title:a）",
        ),
    ],
)
def test_other_names_and_colons_stay_text(text: str) -> None:
    """S3: a colon counts only behind a name that the index has, at the start of a word."""
    with_fields = parse(text, fields=FIELDS)
    assert with_fields.query == parse(text).query == Phrase(text)
    assert {remark.code for remark in with_fields.diagnostics} <= {Code.UNKNOWN_FIELD}


@pytest.mark.parametrize("text", ["titel:a", "-author:夏目", "(x OR at:2024)", "ｎ：5"])
def test_a_name_that_the_index_lacks_is_told_and_refuses_a_filter(text: str) -> None:
    """S3: a misspelt name changes nothing in silence."""
    (remark,) = [r for r in parse(text, fields=FIELDS).diagnostics if r.code is Code.UNKNOWN_FIELD]
    assert text[remark.start : remark.end][-1] in ":："
    strict = parse(text, fields=FIELDS, strict=True)
    assert (strict.refused, strict.query) == (True, Nothing())
    assert [each.code for each in strict.diagnostics] == [Code.UNKNOWN_FILTER]
    for fine in ("12:30", "http://example.com/", "title:a -created:2024", "x-title:a"):
        assert not parse(fine, fields=FIELDS, strict=True).refused


@pytest.mark.parametrize("text", ["title:a", "source:a", "id:x", "created:yesterday"])
def test_without_fields_no_name_is_one(text: str) -> None:
    """S3: whoever gives no fields searches text."""
    assert parse(text).query == Phrase(text)


def test_what_an_index_does_not_have_is_text() -> None:
    """S3: `created` where nothing is timed is a word; an id that is a text is compared as one."""
    assert parse("created:2024", fields=TEXT_IDS).query == Phrase("created:2024")
    assert parse("id:a* id:5", fields=TEXT_IDS).query == And(
        (Value("id", "a", open_end=True), Value("id", "5"))
    )


def test_an_empty_word_is_one_by_the_folding_of_the_index() -> None:
    """S3: where long vowels fold away, one alone says nothing, and a remark says so."""
    fields = Fields(("body",), folding=Folding(long_vowels=True))
    for dialect in Dialect:
        assert parse("ー", fields=FIELDS, dialect=dialect).query == Phrase("ー")
        parsed = parse("ー", fields=fields, dialect=dialect)
        assert parsed.query == Nothing()
        assert [remark.code for remark in parsed.diagnostics] == [Code.EMPTY_TERM]


@pytest.mark.parametrize(
    ("text", "code", "place"),
    [
        ("created:yesterday", Code.BAD_TIME, "created:yesterday"),
        ("a created:2024-13", Code.BAD_TIME, "created:2024-13"),
        ("created:2023-02-29 a", Code.BAD_TIME, "created:2023-02-29"),
        ("created:24", Code.BAD_TIME, "created:24"),
        ("created:2024-01-15T25:00", Code.BAD_TIME, "created:2024-01-15T25:00"),
        ("created:2024-01-15T10:30+99:00", Code.BAD_TIME, "created:2024-01-15T10:30+99:00"),
        ("created:0000", Code.BAD_TIME, "created:0000"),
        ("created:2024*", Code.BAD_TIME, "created:2024*"),
        ("created:..", Code.BAD_TIME, "created:.."),
        ("(created:x)", Code.BAD_TIME, "created:x"),
        ("created:(2024 OR soon)", Code.BAD_TIME, "soon"),
        ("id:abc", Code.BAD_NUMBER, "id:abc"),
        ("NOT id:abc", Code.BAD_NUMBER, "id:abc"),
        ("id:1.5", Code.BAD_NUMBER, "id:1.5"),
        ("id:5*", Code.BAD_NUMBER, "id:5*"),
        ('id:"*"', Code.BAD_NUMBER, 'id:"*"'),
        ('id:""', Code.BAD_NUMBER, 'id:""'),
        ("id:>", Code.BAD_NUMBER, "id:>"),
        ("id:10...20", Code.BAD_NUMBER, "id:10...20"),
        ("id:..", Code.BAD_NUMBER, "id:.."),
        ("id:１２３万", Code.BAD_NUMBER, "id:１２３万"),
        ("id:9999999999999999999", Code.BAD_NUMBER, "id:9999999999999999999"),
        ("id:5..3", Code.EMPTY_RANGE, "id:5..3"),
        ("created:2024-02..2024-01", Code.EMPTY_RANGE, "created:2024-02..2024-01"),
        ("pages:>9223372036854775807", Code.EMPTY_RANGE, "pages:>9223372036854775807"),
        ("pages:<-9223372036854775808", Code.EMPTY_RANGE, "pages:<-9223372036854775808"),
        ("source:*.txt", Code.BAD_KEYWORD, "source:*.txt"),
        ("source:a*b", Code.BAD_KEYWORD, "source:a*b"),
        ("source:**", Code.BAD_KEYWORD, "source:**"),
    ],
)
def test_a_value_that_cannot_be_read_refuses_the_query(text: str, code: Code, place: str) -> None:
    """S3: it is named, and what would be right; it neither widens nor empties in silence."""
    parsed = parse(text, fields=FIELDS)
    assert (parsed.query, parsed.refused) == (Nothing(), True)
    (remark,) = parsed.diagnostics
    assert (remark.code, text[remark.start : remark.end]) == (code, place)
    assert "nothing was searched" in remark.message


def test_an_empty_word_of_a_searched_field_is_left_out_with_a_remark() -> None:
    """S3: as an empty word is everywhere."""
    parsed = parse('a title:""', fields=FIELDS)
    assert parsed.query == A
    assert [(r.code, r.start, r.end) for r in parsed.diagnostics] == [(Code.EMPTY_TERM, 2, 10)]


MOMENTS = st.datetimes(timezones=st.just(UTC))
FORMATS = ((4, "year"), (7, "month"), (10, "day"), (16, "minute"), (19, "second"))


@settings(derandomize=True, max_examples=300)
@given(MOMENTS, st.sampled_from(FORMATS))
def test_a_written_time_is_all_moments_that_begin_with_it(
    moment: datetime, form: tuple[int, str]
) -> None:
    """S3: the unit holds the moment, its edges print the same, their neighbours do not."""
    written = moment.isoformat(timespec="microseconds")[: form[0]]
    span = read_moment(written)
    assert span is not None
    first, last = span
    assert first <= micro(moment) <= last
    for inside in (first, last):
        assert _printed(inside).startswith(written)
    for outside in (first - 1, last + 1):
        assert not _printed(outside).startswith(written)


def _printed(number: int) -> str:
    try:
        return (EPOCH + timedelta(microseconds=number)).isoformat(timespec="microseconds")
    except OverflowError:
        return ""


@settings(derandomize=True, max_examples=300)
@given(
    st.sampled_from(["created", "pages"]),
    st.none() | MOMENTS,
    st.none() | MOMENTS,
    st.sampled_from([1, 1_000_000, 60_000_000, 86_400_000_000]),
)
def test_any_range_prints_as_a_query_that_is_read_as_it(
    field: str, first: datetime | None, last: datetime | None, unit: int
) -> None:
    """S3: parse → print → parse is stable for every range."""
    low, high = (None if each is None else micro(each) // unit * unit for each in (first, last))
    if low is not None and high is not None and low > high:
        return
    asked = Range(field, low, high)
    assert parse(unparse(asked, FIELDS), fields=FIELDS).query == asked


def test_a_range_of_an_unknown_filter_cannot_be_printed() -> None:
    """The error names the filter and the remedy."""
    with pytest.raises(ValueError, match=r"'pages' is no filter .* give the index's own"):
        unparse(Range("pages", 1, 2))
