"""What may have been meant by a query that finds nothing: it finds something (S1, S3, S4)."""

import random
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

import corpus
from any_text import TEXTS
from opening import Opened, opening_texts
from sakuin.indexer.did_you_mean import did_you_mean
from sakuin.indexer.document import Document, Fields, Filter, FilterKind
from sakuin.indexer.engine import Hits, Order, Searcher, WordCount
from sakuin.indexer.engines import ENGINE_NAMES, engine_named
from sakuin.indexer.fold import Folding, fold
from sakuin.indexer.parse import parse
from sakuin.indexer.query import And, Query, Range
from sakuin.indexer.suggestion import SuggestionKind
from small_index import BODY, build, documents

MANY = (("aozora_10k", 600), ("mixed_tech", 600), ("korean", 200))


@pytest.fixture(scope="module")
def lines() -> list[str]:
    return [line for name, count in MANY for line in corpus.paragraphs(name)[:count]]


@pytest.fixture(scope="module")
def searcher(lines: list[str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searcher]:
    engine = engine_named("tantivy")
    directory = build(engine, tmp_path_factory.mktemp("meant"), documents(lines))
    opened = engine.open_searcher(directory, BODY)
    yield opened
    opened.close()


@pytest.fixture(params=ENGINE_NAMES)
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Opened]:
    with opening_texts(request.param, tmp_path) as opening:
        yield opening


def total(searcher: Searcher, text: str, within: Query | None = None) -> int:
    query = parse(text, fields=BODY).query
    asked = query if within is None else And((query, within))
    return searcher.search(asked, order=Order.ID, offset=0, limit=0).total


def check(searcher: Searcher, text: str, within: Query | None = None) -> list[str]:
    """Each finds as many documents as it says, and there are none for what finds something."""
    meant = did_you_mean(searcher, BODY, text, within=within)
    assert len(meant) <= 3
    assert len({fold(each.text) for each in meant}) == len(meant)
    if total(searcher, text, within):
        assert not meant
    for each in meant:
        assert total(searcher, each.text, within) == each.documents > 0, (text, each)
    return [each.text for each in meant]


EXAMPLES = [
    ("debain", "Debian"),  # two letters change places
    ("debean", "Debian"),
    ("debin", "Debian"),
    ("ebian", "Debian"),
    ("xebian", "Debian"),
    ("ddebian", "Debian"),
    ("maintanance", "maintenance"),
    ("宮沢賢二", "宮沢賢治"),
    ("官沢賢治", "宮沢賢治"),
    ("宮賢治", "宮沢賢治"),
    ("宮沢沢賢治", "宮沢賢治"),
    ("宮沢賢二の童話", "宮沢賢治 童話"),
    ("こんぴゅーた", "コンピュータ"),
    ("コンピューター", "コンピュータ"),
    ("ｺﾝﾋﾟｭﾀ", "コンピュータ"),
    ("コンピユータ", "コンピュータ"),
    ("アリガトウ", "ありがとう"),
    ("図館", "図書館"),
    ("図館書", "図書館"),
    ("fulltext", "full text"),
    ("data base", "database"),
    ("full texts", "full text"),
    ("全文童話", "全文 童話"),
    ("童話 xyzzy", "童話"),
    ("童話 AND xyzzy", "童話"),
    ("(xyzzy OR 童話) debain", "(xyzzy OR 童話) Debian"),
    ("Debian -童話 xyzzy", "Debian -童話"),
    ("body:debain", "body:Debian"),
    ('"全文" OR debain', None),  # finds something
    ("xyzzy", None),
    ("", None),
]


@pytest.mark.parametrize(("typed", "meant"), EXAMPLES)
def test_what_was_meant(opened: Opened, typed: str, meant: str | None) -> None:
    searcher = opened(
        "Debian maintenance と 宮沢賢治 の 童話 Debian",
        "full text のコンピュータ、Debian",
        "database 全文 ありがとう、童話",
        "童話と宮沢賢治、図書館",
    )
    texts = check(searcher, typed)
    assert texts[:1] == ([meant] if meant else [])


def test_kanji_variants_where_the_index_keeps_them_apart(opened: Opened) -> None:
    folding = Folding(variants=False)
    searcher = opened("髙島屋へ行く", "國語の時間", folding=folding)
    fields = Fields(("body",), folding=folding)
    for typed, meant in (("高島屋", "髙島屋"), ("国語", "國語")):
        found = did_you_mean(searcher, fields, typed)
        assert [(each.text, each.documents) for each in found] == [(meant, 1)]


def test_kinds_say_what_was_done(opened: Opened) -> None:
    searcher = opened("東京と大阪", "東京 Debian")
    assert [each.kind for each in did_you_mean(searcher, BODY, "東京 debain")] == ["spelling"]
    fewer = did_you_mean(searcher, BODY, "東京 xyzzy")
    assert [(each.text, each.documents, each.kind) for each in fewer] == [
        ("東京", 2, SuggestionKind.FEWER)
    ]
    apart = did_you_mean(searcher, BODY, "大阪 Debian")  # both are there, but not together
    assert [(each.text, each.kind) for each in apart] == [
        ("Debian", SuggestionKind.FEWER),
        ("大阪", SuggestionKind.FEWER),
    ]


@pytest.mark.parametrize("engine_name", ENGINE_NAMES)
def test_filters_and_quotation_marks_stay(engine_name: str, tmp_path: Path) -> None:
    fields = Fields(("title", "body"), filters=(Filter("source", FilterKind.KEYWORD),))
    rows = [
        Document("1", 1, 1, 1, {"title": "Debian", "body": "宮沢賢治の 童話"}, {"source": "a"}),
        Document("2", 2, 2, 2, {"title": "linux", "body": "Debian"}, {"source": "b"}),
    ]
    engine = engine_named(engine_name)
    searcher = engine.open_searcher(build(engine, tmp_path, rows, fields=fields), fields)

    def texts(typed: str, within: Query | None = None) -> Sequence[str]:
        return [each.text for each in did_you_mean(searcher, fields, typed, within=within)]

    assert texts("title:debain source:a") == ["title:Debian source:a"]
    assert texts("source:b debain") == ["source:b Debian"]
    assert texts('"宮沢賢治" debain') == ['"宮沢賢治" Debian']
    assert texts("source:c xyzzy") == []
    assert texts("title:ebain*") == []
    assert texts("linnux", within=Range("id", 1, 1)) == []
    assert texts("linnux", within=Range("id", 2, 2)) == ["linux"]
    assert texts("pages:x title:宮沢賢二") == []
    searcher.close()


def slips(lines: Sequence[str], count: int) -> Iterator[tuple[str, str]]:
    """Yield words of the texts, and the same with one slip of the finger."""
    chance = random.Random(11)
    words = sorted({word for line in lines for word in line.split() if 5 < len(word) < 12})
    for _ in range(count):
        word = chance.choice(words)
        at = chance.randrange(1, len(word) - 1)
        slip = chance.choice(
            (
                word[:at] + word[at + 1 :],
                word[:at] + word[at] + word[at:],
                word[:at] + word[at + 1] + word[at] + word[at + 2 :],
                word[:at] + chance.choice("eai人のン") + word[at + 1 :],
            )
        )
        yield word, slip


def test_most_slips_are_understood(searcher: Searcher, lines: list[str]) -> None:
    """Of words with one slip that find nothing, at least two thirds come back."""
    asked = found = 0
    for word, slip in slips(lines, 400):
        texts = check(searcher, slip)
        if not total(searcher, slip) and parse(word).query != parse(slip).query:
            asked += 1
            found += fold(word) in [fold(text) for text in texts]
    assert asked > 200
    assert found / asked > 0.66, (found, asked)


@pytest.mark.parametrize("letters", ["[一-鿿]{3,6}", "[ァ-ヺー]{4,10}", "[가-힣]{3,6}"])
def test_most_slips_in_words_without_edges_are_understood(searcher: Searcher, letters: str) -> None:
    """Of whole words of the index with one character more, less or another (and found nowhere)."""
    chance = random.Random(12)
    words = [each.word for each in searcher.words("", most=20_000)]
    words = [word for word in words if re.fullmatch(letters, word)]
    asked = found = 0
    for word in chance.sample(words, min(100, len(words))):
        at = chance.randrange(1, len(word) - 1)
        other = chance.choice(chance.choice(words))
        for slip in (
            word[:at] + word[at + 1 :],
            word[:at] + word[at] + word[at:],
            word[:at] + other + word[at + 1 :],
        ):
            if not total(searcher, slip):
                asked += 1
                found += word in [fold(text) for text in check(searcher, slip)]
    assert asked > 50
    assert found / asked > 0.65, (found, asked)


@settings(
    max_examples=100,
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(text=TEXTS)
def test_any_query_may_come(searcher: Searcher, text: str) -> None:
    """No query raises; two of three find nothing, and get whatever is near (S3)."""
    check(searcher, text)
    check(searcher, text, within=Range("id", 0, 40))


class Counting:
    """A searcher that counts what it is asked."""

    def __init__(self, searcher: Searcher) -> None:
        self.searcher = searcher
        self.asked = 0

    @property
    def document_count(self) -> int:
        return self.searcher.document_count

    def search(
        self, query: Query, *, order: Order, offset: int, limit: int, after: str | None = None
    ) -> Hits:
        self.asked += 1
        return self.searcher.search(query, order=order, offset=offset, limit=limit, after=after)

    def words(
        self, start: str, *, among: Query | None = None, most: int = 10
    ) -> tuple[WordCount, ...]:
        self.asked += 1
        return self.searcher.words(start, among=among, most=most)

    def __getattr__(self, name: str) -> object:
        return getattr(self.searcher, name)


def test_the_work_is_bounded(searcher: Searcher, lines: list[str]) -> None:
    """A query of 64 words that find nothing asks the index no more often than one of 16."""
    wrong = [slip for _, slip in slips(lines, 64)]
    for text in (
        " ".join(wrong),
        " OR ".join(wrong[:20]),
        "人 " * 63 + "xyzzy",
        " ".join("人の" * 32),
    ):
        counting = Counting(searcher)
        for each in did_you_mean(counting, BODY, text):  # type: ignore[arg-type]
            assert total(searcher, each.text) == each.documents
        assert counting.asked < 150, text


@pytest.mark.parametrize(
    "question", ["宮沢賢治が生まれたのはどこ?", "先生と私が常に呼んだ", "No such wrod at all qqqq"]
)
def test_what_is_left_of_a_sentence_is_no_query(opened: Opened, question: str) -> None:
    searcher = opened("宮沢賢治は花巻で生まれた", "先生と私は常に歩いた", "No one at home")
    assert did_you_mean(searcher, BODY, question) == ()


def test_a_particle_may_be_lost_and_that_is_said(opened: Opened) -> None:
    (found,) = did_you_mean(opened("全文を検索する方法の話", "全文検索"), BODY, "検索と方法")
    assert (found.text, found.kind) == ("検索 方法", SuggestionKind.FEWER)
