"""Synonyms of a file, asked for by a word of a query (S3): itself or any of them, and told so."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from any_text import FIELDS, TEXTS
from sakuin.indexer.diagnostic import Diagnostic
from sakuin.indexer.diagnostic import DiagnosticCode as Code
from sakuin.indexer.dialect import Dialect
from sakuin.indexer.engine import Order, Searcher
from sakuin.indexer.engines import ENGINE_NAMES, engine_named
from sakuin.indexer.fold import Folding
from sakuin.indexer.limits import Limits
from sakuin.indexer.parse import Parsed, parse
from sakuin.indexer.query import And, Near, Not, Or, Phrase, Query
from sakuin.indexer.synonyms import (
    LONGEST_TERM,
    MOST_GROUPS,
    MOST_TERMS,
    BadSynonyms,
    Synonyms,
    read_synonyms,
)
from small_index import BODY, build, documents, found_ids

FILE = """\
# 機械
PC, パソコン、パーソナル　コンピュータ
  米国 => アメリカ，USA

米国＝＞亜米利加, USA
C#, シーシャープ
高橋, タカハシ
寿司, すし
"""
SYNONYMS = read_synonyms(FILE)
COMPUTER = ("パソコン", "パーソナル コンピュータ")


def read(text: str, **more: object) -> Parsed:
    return parse(text, fields=FIELDS, synonyms=SYNONYMS, **more)  # type: ignore[arg-type]


def any_of(*texts: str, field: str | None = None) -> Or:
    return Or(tuple(Phrase(text, field) for text in texts))


PC = any_of("PC", *COMPUTER)


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("PC", PC),
        ("(PC)", PC),
        ("ｐｃ", any_of("ｐｃ", *COMPUTER)),
        ("パソコン", any_of("パソコン", "PC", COMPUTER[1])),
        ("title:PC", any_of("PC", *COMPUTER, field="title")),
        ("title:(PC 机)", And((any_of("PC", *COMPUTER, field="title"), Phrase("机", "title")))),
        ("PC 机", And((PC, Phrase("机")))),
        ("机 OR PC", Or((Phrase("机"), *PC.children))),
        ("-PC 机", And((Not(PC), Phrase("机")))),
        ("米国", any_of("米国", "アメリカ", "USA", "亜米利加")),
        ("髙橋", any_of("髙橋", "タカハシ")),
        ("c#", any_of("c#", "シーシャープ")),
    ],
)
def test_a_word_is_itself_or_any_of_its_synonyms(text: str, query: Query) -> None:
    """S3: the words that were added are named, at the place of the word."""
    parsed = read(text)
    assert parsed.query == query
    (remark,) = parsed.diagnostics
    assert (remark.code, remark.code.refuses) == (Code.SYNONYMS, False)
    assert remark.words
    assert all(word in remark.message for word in remark.words)


@pytest.mark.parametrize(
    "text",
    [
        *(
            '"PC"',
            "“PC”",
            "PC*",
            "*PC",
            "*PC*",
            "P*C",
            '"PC 米国"~5',
            "source:PC",
            "アメリカ",
            "USA",
        ),
        *("パソコン教室", "PC-98", "パーソナル コンピュータ", "C", "高", "たかはし", ""),
    ],
)
def test_everything_else_stays_as_it_is(text: str) -> None:
    """S3: what is quoted or starred, values, one-way meanings, longer and shorter words."""
    assert read(text) == parse(text, fields=FIELDS)


def test_a_bare_sequence_breaks_no_phrase_of_kanji() -> None:
    """S1: elsewhere a word form replaced within a text made phrases around it find nothing."""
    forms = read_synonyms("京都 => 古都\n東京 => 首都")
    assert parse("東京都", synonyms=forms).query == Phrase("東京都")
    assert parse('"東京の京都"', synonyms=forms).query == Phrase("東京の京都")


@settings(derandomize=True, max_examples=300)
@given(TEXTS, st.sampled_from(Dialect))
def test_no_synonyms_are_no_change(text: str, dialect: Dialect) -> None:
    """S3: an empty file, and one whose words do not occur, change nothing in any dialect."""
    alone = parse(text, fields=FIELDS, dialect=dialect)
    for file in ("", "qqq, zzz"):
        synonyms = read_synonyms(file)
        assert parse(text, fields=FIELDS, dialect=dialect, synonyms=synonyms) == alone


@pytest.mark.parametrize("dialect", [Dialect.ESTRAIER, Dialect.TRITONN])
def test_older_programs_have_none(dialect: Dialect) -> None:
    """S3: in their dialects nothing is added."""
    assert read("PC", dialect=dialect) == parse("PC", fields=FIELDS, dialect=dialect)


def test_there_must_be_room_for_them() -> None:
    """S3: what the query itself asks for comes first; then words that fit, as they come."""
    for leaves, expected in ((6, PC), (3, PC), (2, Phrase("PC")), (1, Phrase("PC"))):
        parsed = parse("PC", Limits(leaves=leaves), synonyms=SYNONYMS)
        assert parsed.query == expected
        (remark,) = parsed.diagnostics
        left_out = Diagnostic(Code.SYNONYMS_LEFT_OUT, 0, 2)
        assert remark == (left_out if leaves < 3 else Diagnostic(Code.SYNONYMS, 0, 2, COMPUTER))
    parsed = parse("PC C# PC a", Limits(leaves=7), synonyms=SYNONYMS)
    assert [each.code for each in parsed.diagnostics] == [
        Code.SYNONYMS,
        Code.SYNONYMS,
        Code.SYNONYMS_LEFT_OUT,
    ]
    many = " ".join(["PC"] * 64)
    assert not parse(many, synonyms=SYNONYMS).refused
    assert parse(many + " x", synonyms=SYNONYMS) == parse(many + " x")


def test_words_compare_as_the_index_does() -> None:
    """S2: with kana folded Sushi in katakana is the word of the file; without it is not."""
    assert SYNONYMS.of("スシ") == ()
    assert SYNONYMS.of("スシ", Folding(kana=True)) == ("寿司",)
    assert SYNONYMS.of("髙橋") == ("タカハシ",)
    assert SYNONYMS.of("髙橋", Folding(variants=False)) == ()
    assert read_synonyms("あ, ア, い").of("あ", Folding(kana=True)) == ("い",)


@pytest.mark.parametrize(
    ("text", "line", "fault"),
    [
        ("a, b\nc", 2, "one word"),
        ("# x\n\na,, b", 3, "missing"),
        ("a, b,", 1, "missing"),
        ("a => ", 1, "missing"),
        ("=> b", 1, "missing"),
        ("a, \u200b", 1, "missing"),
        ("a => b => c", 1, "two =>"),
        ("a, b\0", 1, "control"),
        ("a, \ud800", 1, "control"),
        (f"a, {'b' * (LONGEST_TERM + 1)}", 1, str(LONGEST_TERM)),
        ("\r\n" + ",".join(map(str, range(MOST_TERMS + 1))), 2, str(MOST_TERMS)),
        ("a,b\n" * (MOST_GROUPS + 1), MOST_GROUPS + 1, f"{MOST_GROUPS:,}"),
    ],
)
def test_a_line_that_cannot_be_read_is_named(text: str, line: int, fault: str) -> None:
    with pytest.raises(BadSynonyms, match=f"line {line}: .*{fault}") as caught:
        read_synonyms(text)
    assert caught.value.line == line


def test_a_file_is_read_however_it_was_written() -> None:
    for end in ("\n", "\r\n", "\r"):
        assert read_synonyms("\ufeff" + FILE.replace("\n", end)) == SYNONYMS
    assert read_synonyms("") == Synonyms()
    assert read_synonyms("a,b\n" * MOST_GROUPS).of("a") == ("b",)


TEXT_ROWS = [
    "PC を買う",
    "机を買う",
    "パソコンを買う",
    "パーソナル コンピュータの本",
    "コンピュータのパーソナル",
    "米国のPC",
    "アメリカのパソコン教室",
    "ＵＳＡ",
    "亜米利加",
    "C# と C",
    "シーシャープ",
    "寿司",
]


@pytest.fixture(params=ENGINE_NAMES)
def searcher(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Searcher]:
    engine = engine_named(request.param)
    made = engine.open_searcher(build(engine, tmp_path, documents(TEXT_ROWS)), BODY)
    yield made
    made.close()


@pytest.mark.parametrize(
    ("text", "by_hand"),
    [
        ("PC", 'PC OR パソコン OR "パーソナル コンピュータ"'),
        (
            "米国 パソコン",
            '(米国 OR アメリカ OR USA OR 亜米利加) (パソコン OR PC OR "パーソナル コンピュータ")',
        ),
        ("買う -pc", '買う -(pc OR パソコン OR "パーソナル コンピュータ")'),
        ("C# OR 寿司", "C# OR シーシャープ OR 寿司 OR すし"),
    ],
)
def test_what_is_found_is_what_the_words_find(searcher: Searcher, text: str, by_hand: str) -> None:
    """S3: the same ids in the same order, with the same scores, as written out."""
    expanded, written = read(text).query, parse(by_hand).query
    found = [
        searcher.search(each, order=Order.RELEVANCE, offset=0, limit=99)
        for each in (expanded, written)
    ]
    assert found[0] == found[1]
    assert found[0].total
    children = written.children if isinstance(written, Or) else ()
    if children:
        each_alone = [set(found_ids(searcher, child)) for child in children]
        assert set(found_ids(searcher, expanded)) == set().union(*each_alone)


def test_near_words_are_as_written(searcher: Searcher) -> None:
    """S3: what is quoted is taken to the letter, near or not."""
    assert isinstance(read('"PC 買う"~5').query, Near)
