"""Query input that broke other programs: each test is named after the fault (reference §3)."""

import time
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from sakuin.indexer.diagnostic import DiagnosticCode as Code
from sakuin.indexer.dialect import Dialect
from sakuin.indexer.document import Fields, Filter, FilterKind
from sakuin.indexer.engine import Searcher
from sakuin.indexer.engines import ENGINE_NAMES, engine_named
from sakuin.indexer.errors import QueryTooLarge
from sakuin.indexer.expand import MOST_EXPANSIONS
from sakuin.indexer.highlight import snippet
from sakuin.indexer.limits import Limits
from sakuin.indexer.parse import parse, too_large
from sakuin.indexer.query import And, Not, Nothing, Or, Phrase, Query, prefix
from small_index import BODY, build, documents, found_ids

TEXTS = (
    "bar and barn",
    "bar* is not barn",
    'h52.1 - kurz, say"hi" to O\'Neill at example.com',
    "東京の secret と bill",
    "東京の請求書",
    "京都の東寺",
    "グリーンのスクリーン、リンク",
    "<b>リング</b> (x) a|b {{7*7}} %s 1=1; --",
    " ".join(f"q{number:04}" for number in range(MOST_EXPANSIONS + 1)),
)


@dataclass(frozen=True, slots=True)
class Found:
    """An index of the texts above; calling it gives the numbers of those that a query finds."""

    searcher: Searcher

    def __call__(self, text: str, dialect: Dialect = Dialect.SAKUIN) -> set[int]:
        parsed = parse(text, fields=BODY, dialect=dialect)
        return {int(each) for each in found_ids(self.searcher, parsed.query)}


@pytest.fixture(scope="module", params=ENGINE_NAMES)
def found(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Found]:
    engine = engine_named(request.param)
    place = build(engine, tmp_path_factory.mktemp("faults"), documents(TEXTS))
    searcher = engine.open_searcher(place, BODY)
    yield Found(searcher)
    searcher.close()


def test_2_a_clause_beside_the_parsed_query_shows_what_not_hides(found: Found) -> None:
    """paperless-ngx#14156: another clause was joined to the parsed query, and NOT did not hold."""
    assert found("(東京 AND NOT secret) OR barn") == {0, 1, 4}
    assert found("東京 -secret") == {4}
    assert found("東京 ANDNOT secret", Dialect.ESTRAIER) == {4}
    assert found("+東京 -secret", Dialect.TRITONN) == {4}


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("example.com", {2}),
        ("h52.1", {2}),
        ("h52.1 - kurz", {2}),
        ('say"hi"', {2}),
        ("O'Neill", {2}),
        ("a|b", {7}),
        ('"(x)"', {7}),
        ("{{7*7}}", {7}),
        ("%s", {7}),
        ("1=1;", {7}),
        ("'; DROP TABLE x; --", set()),
        ('"', {2}),
        ("-", {2, 7}),
        ("*", {1, 7}),
        (":", set()),
        ("^bar", set()),
        ("NEAR(bar barn)", set()),
        ("body:bar AND", {0}),
    ],
)
def test_19_punctuation_is_a_syntax_error(found: Found, text: str, ids: set[int]) -> None:
    """datasette#651, sqlite-utils#296, engram#574: dots, dashes and quotes gave a 500."""
    assert found(text) == ids


def test_19_escaping_takes_wildcards_away(found: Found) -> None:
    """datasette#676: once input was escaped, the stars that users relied on found nothing."""
    assert found("bar*") == {0, 1}
    assert found("barn") == {0, 1}
    assert found("ba*n") == {0, 1}


def test_19_a_quoted_star_still_expands(found: Found) -> None:
    """datasette#743: "bar*" in quotation marks was a prefix all the same."""
    assert found('"bar*"') == {1}
    assert found('"bar"*') == {0, 1}


@pytest.mark.parametrize("dialect", Dialect)
@pytest.mark.parametrize("depth", [25, 400])
def test_20_nested_parentheses_take_exponential_time(dialect: Dialect, depth: int) -> None:
    """tantivy#2498: O(2^n), 21 s at depth 25."""
    start = time.process_time()
    parsed = parse("(" * depth + "a" + ")" * depth, Limits(depth=10**6), dialect=dialect)
    assert time.process_time() - start < 0.1
    assert dialect is Dialect.ESTRAIER or parsed.query == Phrase("a")


MANY = 20_000
HUGE = Limits(length=10**9, leaves=10**9, depth=10**9)


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("(" * MANY + "a" + ")" * MANY, Phrase("a")),
        ("( " * MANY + "a", Phrase("a")),
        ("NOT " * MANY + "a", Phrase("a")),
        ("-(" * MANY + "a", Phrase("a")),
        ("NOT (" * (MANY + 1) + "a", Not(Phrase("a"))),
    ],
    ids=["pairs", "open", "not", "minus", "odd"],
)
def test_21_nesting_overflows_the_stack(text: str, tree: Query) -> None:
    """OpenSearch PR#22477, elasticsearch PR#152385: a query of parentheses ended the process."""
    assert parse(text, HUGE).query == tree
    assert parse(text).query == Nothing()


def test_21_very_many_alternatives_overflow_the_stack() -> None:
    """openobserve#12398: an OR of thousands of words became a tree as deep as it was long."""
    words = [f"w{number}" for number in range(20_000)]
    parsed = parse(" OR ".join(words), HUGE)
    assert parsed.query == Or(tuple(map(Phrase, words)))
    assert [remark.code for remark in parse(" OR ".join(words[:65])).diagnostics] == [
        Code.TOO_MANY_TERMS
    ]


@pytest.mark.parametrize("dialect", Dialect)
@pytest.mark.parametrize("blank", [" ", "\u3000", "\n", "\u200b", "\u00a0"])
def test_22_a_phrase_of_blanks_ends_the_server(found: Found, blank: str, dialect: Dialect) -> None:
    """mroonga#208: "      " as a phrase ended mysqld."""
    for text in (f'"{blank * 6}"', blank * 6, f'a "{blank}"*', f'bar -"{blank}"'):
        parse(text, fields=BODY, dialect=dialect)
        found(text, dialect)
    for query in (Phrase(blank), Phrase(blank * 1_000), Phrase(blank, "body", True, True)):
        assert found_ids(found.searcher, query) == []
    assert parse(f'"{blank * 6}"').query == Nothing()
    assert found(f'barn -"{blank}"') == {0, 1}


def test_23_a_prefix_expands_to_most_of_the_lexicon(found: Found) -> None:
    """alaveteli#310: a* took the server down. Here it is answered, or refused by name."""
    assert found("q*") == {8}
    with pytest.raises(QueryTooLarge):
        found('"q0000 q"*')
    refused = too_large("q*")
    assert (refused.query, refused.refused) == (Nothing(), True)
    assert [remark.code for remark in refused.diagnostics] == [Code.TOO_MANY_WORDS]


@pytest.mark.parametrize(
    "text", ["<b>リング</b>", '"<b>リング"', "リング", ".*", "[", "(", "\\", "<*"]
)
def test_18_the_keyword_is_used_as_a_pattern_in_the_highlight(text: str) -> None:
    """telegram-search#653, php-fts#1: the words went into a regular expression unescaped."""
    cut = snippet(TEXTS[7], parse(text).query)
    assert "".join(piece.text for piece in cut.pieces) in TEXTS[7]
    hits = {piece.text for piece in cut.pieces if piece.hit}
    assert hits <= {"<b>リング</b>", "<b>リング", "リング", "(", "<"}


def test_acts_as_tritonn_a_word_with_a_sign_changes_the_query(found: Found) -> None:
    """Its parts were joined with + and pasted into SQL: -a became +-a, a quote ended the string."""
    assert parse("+-barn", dialect=Dialect.TRITONN).query == Not(Phrase("barn"))
    assert found('+bar"); DROP TABLE x; -- +barn', Dialect.TRITONN) == set()
    assert parse("+*D- +a", dialect=Dialect.TRITONN).query == And(
        (Phrase("D-", open_start=True), Phrase("a"))
    )


def test_mroonga_a_pragma_in_the_words_of_a_user() -> None:
    """A user's *SS was run as a script, a *D- turned the search round: here only where asked."""
    for text in ("*SS a", "*D- a", "*W1:10 a"):
        parsed = parse(text)
        assert isinstance(parsed.query, And)
        assert parsed.query.children[1] == Phrase("a")
    assert parse("*SS a", dialect=Dialect.TRITONN).refused


@pytest.mark.parametrize("text", ["(東京", "東京 (", ")", "( )", "-東京", '"東京', "東京 OR"])
def test_groonga_unfinished_queries_are_errors_or_find_nothing(found: Found, text: str) -> None:
    """Groonga refused these with error -63, or found nothing without a word."""
    expected = {
        "(東京": {3, 4},
        '"東京': {3, 4},
        ")": {7},
        "-東京": set(range(len(TEXTS))) - {3, 4},
    }
    assert found(text) == expected.get(text, set())
    assert parse(text).diagnostics


def test_estraier_a_date_that_cannot_be_read_counts_as_minus_one() -> None:
    """Its filters took what is no number or date for -1, and the result was silently wrong."""
    fields = Fields(("body",), filters=(Filter("pages", FilterKind.NUMBER),))
    for text, code in (("pages:>x", Code.BAD_NUMBER), ("created:<soon", Code.BAD_TIME)):
        parsed = parse(text, fields=fields)
        assert (parsed.query, parsed.refused) == (Nothing(), True)
        assert [remark.code for remark in parsed.diagnostics] == [code]


def test_meilisearch_words_are_dropped_to_find_more(found: Found) -> None:
    """The last words were left out until something matched: a meaning that depends on the texts."""
    assert found("barn nosuchword") == set()
    assert found("nosuchword barn") == set()


def test_groonga_a_word_finds_more_while_nothing_matches_it(found: Found) -> None:
    """Escalation: `tow` found Tower only as long as nothing matched it exactly."""
    assert found("kur") == set()
    assert found("kur*") == {2}
    assert parse("kur*").query == prefix("kur")
