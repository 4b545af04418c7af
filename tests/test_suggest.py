"""Suggestions while typing: each leads to a hit, and says how many (promises S1, S3, S4)."""

import random
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

import corpus
from any_text import TEXTS
from opening import Opened, opening_texts
from oracle import Row, matching, row_of
from sakuin.indexer.document import Document, Fields
from sakuin.indexer.engine import Order, Searcher
from sakuin.indexer.engines import ENGINE_NAMES, engine_named
from sakuin.indexer.fold import Folding, fold
from sakuin.indexer.parse import parse
from sakuin.indexer.query import Phrase, Range
from sakuin.indexer.suggest import suggest
from sakuin.indexer.suggestion import Suggestion, SuggestionKind
from sakuin.indexer.unparse import unparse
from small_index import BODY, build, documents

TEXTS_OF_MANY_SCRIPTS = (
    ("aozora_10k", 700),
    ("mixed_tech", 500),
    ("jsquad", 150),
    ("xquad_th", 60),
    ("korean", 200),
)


@pytest.fixture(scope="module")
def lines() -> list[str]:
    return [
        line for name, count in TEXTS_OF_MANY_SCRIPTS for line in corpus.paragraphs(name)[:count]
    ]


@pytest.fixture(scope="module")
def searcher(lines: list[str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searcher]:
    engine = engine_named("tantivy")
    directory = build(engine, tmp_path_factory.mktemp("suggest"), documents(lines))
    opened = engine.open_searcher(directory, BODY)
    yield opened
    opened.close()


@pytest.fixture(params=ENGINE_NAMES)
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Opened]:
    with opening_texts(request.param, tmp_path) as opening:
        yield opening


def meaning(text: str) -> str:
    return fold(unparse(parse(text, fields=BODY).query, BODY))


def check(searcher: Searcher, typed: str, suggestions: tuple[Suggestion, ...]) -> None:
    """Each leads to as many hits as it says, is news, and the first ones find most."""
    assert len(suggestions) <= 8
    meanings = [meaning(each.text) for each in suggestions]
    assert len({*meanings, meaning(typed)}) == len(suggestions) + 1, typed
    for each in suggestions:
        query = parse(each.text, fields=BODY).query
        found = searcher.search(query, order=Order.ID, offset=0, limit=0)
        assert found.total == each.documents > 0, (typed, each)
    counts = [each.documents for each in suggestions]
    assert counts == sorted(counts, reverse=True)
    for one, longer in pairwise(suggestions):
        is_chain = meaning(longer.text).startswith(meaning(one.text))
        assert not (is_chain and one.documents == longer.documents), (one, longer)


def prefixes(lines: list[str], count: int) -> list[str]:
    """Return beginnings of words and of anything, some behind another word, some badly spelt."""
    chance = random.Random(3)
    pieces = corpus.substrings(lines, count, seed=4)
    for number, piece in enumerate(pieces):
        kind = number % 10
        if kind < 3:
            pieces[number] = piece[: chance.randint(1, 3)]
        elif kind < 5:
            words = chance.choice(lines).split()
            pieces[number] = " ".join(words[:2])[: chance.randint(1, 12)]
        elif kind == 5:
            pieces[number] = f"{chance.choice(pieces)} {piece[:2]}"
        elif kind == 6:
            pieces[number] = chance.choice('-("') + piece[:2]
        elif kind == 7:
            pieces[number] = "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in piece)
    return pieces


def test_each_suggestion_leads_to_as_many_hits_as_it_says(
    searcher: Searcher, lines: list[str]
) -> None:
    """For 2,000 prefixes of eight scripts; a part of the counts by the oracle (S1, S4)."""
    rows: list[Row] = [row_of(each, BODY) for each in documents(lines)]
    offered = 0
    for number, typed in enumerate(prefixes(lines, 2_000)):
        suggestions = suggest(searcher, BODY, typed)
        check(searcher, typed, suggestions)
        offered += len(suggestions)
        if number % 40 == 0 and suggestions:
            each = suggestions[-1]
            query = parse(each.text, fields=BODY).query
            assert len(matching(query, rows)) == each.documents, (typed, each)
    assert offered > 4_000


@settings(
    max_examples=150,
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(typed=TEXTS)
def test_anything_may_be_typed(searcher: Searcher, typed: str) -> None:
    """No text raises, whatever operators stand in it (S3)."""
    check(searcher, typed, suggest(searcher, BODY, typed))


def test_words_and_phrases_are_completed(opened: Opened) -> None:
    searcher = opened(
        "宮沢賢治の銀河鉄道の夜を読む",
        "宮沢賢治の銀河鉄道の夜は童話だ",
        "machine learning is fun",
        "Machine Learning again",
        "a machine gun",
        "iPhone15を買う。宮沢りえ",
    )

    def texts(typed: str) -> list[tuple[str, int]]:
        return [(each.text, each.documents) for each in suggest(searcher, BODY, typed)]

    assert ("宮沢賢治", 2) not in texts("宮")  # a longer phrase stands in as many
    assert ("宮沢賢治の銀河鉄道の夜", 2) in texts("宮")
    assert ("宮沢賢治の銀河鉄道の夜", 2) in texts("宮沢賢治の銀")
    assert texts("ｉｐｈ") == [("iPhone15", 1)]
    assert ("machine", 3) in [(fold(text), count) for text, count in texts("mac")]
    assert ('"machine learning"', 2) in [(fold(text), count) for text, count in texts("machine l")]
    assert ('"machine learning"', 2) in [(fold(text), count) for text, count in texts("machine ")]
    assert texts('"machine le')[0][0].casefold() == '"machine learning"'
    assert texts("zzz") == texts("") == texts("   ") == texts("人間 zzz") == []


def test_what_stands_before_stays_and_narrows(opened: Opened) -> None:
    searcher = opened("東京 人間 機械", "東京 機械", "大阪 機会", "大阪 機械", "機能")

    def texts(typed: str) -> list[tuple[str, int]]:
        return [(each.text, each.documents) for each in suggest(searcher, BODY, typed)]

    assert texts("東京 機") == [("東京 機械", 2)]
    assert texts("東京 人間 機") == [("東京 人間 機械", 1)]
    assert texts("大阪 機") == [("大阪 機会", 1), ("大阪 機械", 1)]
    assert texts("東京 OR 機会 OR 機") == [
        ("東京 OR 機会 OR 機械", 4),
        ("東京 OR 機会 OR 機能", 4),
    ]
    assert ("body:機械", 3) in texts("body:機")
    assert ("(東京 OR 機能", 3) in texts("(東京 OR 機")
    assert texts("東京 -人") == [("東京 -人間", 1)]
    first_two = suggest(searcher, BODY, "機", within=Range("id", 0, 1))
    assert [(each.text, each.documents) for each in first_two] == [("機械", 2)]


def test_kana_and_width_do_not_matter(opened: Opened) -> None:
    """Kana that is not converted yet finds words in katakana; shown is what the texts hold."""
    for folding in (None, Folding(kana=True)):
        fields = Fields(("body",), folding=folding) if folding else BODY
        searcher = opened("データを読む", "データベース", "テスト", folding=folding)
        for typed in ("デー", "ﾃﾞｰ", "でー"):
            suggestions = suggest(searcher, fields, typed)
            assert [(each.text, each.documents) for each in suggestions] == [
                ("データ", 2),
                ("データベース", 1),
            ], (folding, typed)


def test_scripts_without_words_are_completed_where_texts_part(opened: Opened) -> None:
    searcher = opened(
        *(f"我们研究机器学习{rest}" for rest in ("的方法", "和数据", "很有趣", "模型")),
        *(f"โรงเรียน{rest}" for rest in ("ใหม่", "เก่า", "ดี", "ของฉัน")),
        "ありがとう。",
        "ありがとう!",
        "ありがとうございます。",
    )

    def texts(typed: str) -> list[str]:
        return [each.text for each in suggest(searcher, BODY, typed)]

    assert texts("机器")[0] == "机器学习"
    assert texts("โรง")[0] == "โรงเรียน"
    assert texts("あり")[0] == "ありがとう"


def test_a_phrase_that_would_be_read_otherwise_is_quoted(opened: Opened) -> None:
    searcher = opened("rock OR roll", "rock OR roll!", "see apt-get", "apt-get too")
    suggestions = suggest(searcher, BODY, "rock o")
    assert [each.text for each in suggestions] == ['"rock OR roll"']
    assert parse(suggestions[0].text).query == Phrase("rock OR roll")
    assert [each.text for each in suggest(searcher, BODY, "ap")] == ["apt-get"]


def test_kinds_and_bounds(opened: Opened) -> None:
    searcher = opened(*(f"人間{chr(0x4E00 + n)}の話" for n in range(40)), "人間の話", "人間の話だ")
    suggestions = suggest(searcher, BODY, "人", most=5)
    assert len(suggestions) == 5
    assert {each.kind for each in suggestions} == {SuggestionKind.WORD, SuggestionKind.PHRASE}
    assert suggest(searcher, BODY, "人" * 65) == ()
    assert suggest(searcher, BODY, "人 " * 1_000 + "人") == ()


def test_both_engines_suggest_the_same(lines: list[str], tmp_path: Path) -> None:
    """Where no more texts than are looked at hold what is typed, whatever their order."""
    rows: list[Document] = documents(lines[:60])
    searchers = []
    for name in ENGINE_NAMES:
        engine = engine_named(name)
        searchers.append(engine.open_searcher(build(engine, tmp_path / name, rows), BODY))
    for typed in prefixes(lines[:60], 60):
        one, other = (suggest(each, BODY, typed) for each in searchers)
        assert [(fold(each.text), each.documents) for each in one] == [
            (fold(each.text), each.documents) for each in other
        ], typed
    for each in searchers:
        each.close()
