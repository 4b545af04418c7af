"""Closest matches in both engines: exact totals, one fixed order, plain words (promises S3, S4)."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from oracle import matching, row_of, tokens_of
from sakuin.indexer.closest import closest, search_closest
from sakuin.indexer.closest_recipe import DEFAULT_RECIPE
from sakuin.indexer.closest_terms import lone_characters
from sakuin.indexer.document import Document, Fields, Filter, FilterKind
from sakuin.indexer.engine import Hits, Order, Searcher
from sakuin.indexer.engines import ENGINE_NAMES, engine_named
from sakuin.indexer.fold import fold
from sakuin.indexer.query import And, Not, Or, Phrase, Query, Value
from small_index import build

FIRST = DEFAULT_RECIPE.ranked_again
FIELDS = Fields(
    ("title", "body"), weights=(2.0, 1.0), filters=(Filter("source", FilterKind.KEYWORD),)
)
WRITTEN = (
    ("宮沢賢治", "宮沢賢治は岩手県の花巻に生まれた。詩人である。"),
    ("花巻", "花巻は温泉の町で、宮沢賢治の記念館がある。"),
    ("銀河鉄道の夜", "銀河鉄道の夜は宮沢賢治の童話。ジョバンニの旅をえがく。"),
    ("夏目漱石", "夏目漱石は東京に生まれた小説家。"),
    ("Mongolia", "Ulaanbaatar is the capital and largest city of Mongolia."),
    ("Measles", "Doctors can usually diagnose measles by the look of the rash."),
    ("木", "木"),
)
PIECES = (
    "生まれた",
    "東京の",
    "詩",
    "童話。",
    "city ",
    "of ",
    "diagnosed ",
    "カタカナ",
    "、",
    "夜 ",
)
ODD = (
    "",
    "　",
    "。。",
    '"',
    "*",
    "()",
    "-",
    "source:x",
    "木",
    "\ud800",
    "\0",
    "\ufdd0",
    "あ" * 1_200,
    "x" * 600,
    "が\u0301" * 40,
    "what is the",
    " ".join(f"t{n}" for n in range(400)),
    "𠮟る𠮟",
)


@dataclass(frozen=True, slots=True)
class Library:
    """The same documents in one engine and in a list."""

    rows: Sequence[Document]
    searcher: Searcher

    def find(self, text: str, *, within: Query | None = None) -> Hits:
        """Return all that is closest."""
        most = len(self.rows)
        return search_closest(self.searcher, FIELDS, text, within=within, offset=0, limit=most)

    def expected(self, text: str) -> set[str]:
        """Count by hand: the documents that hold one of the tokens."""
        question = closest(text, FIELDS, self.searcher.frequencies, self.searcher.document_count)
        rows = [row_of(row, FIELDS) for row in self.rows]
        if question.tokens:
            asked = {token.text for token in question.tokens}
            return {row.id for row in rows if asked & tokens_of(row.texts.values())}
        alone = lone_characters(fold(text).strip())
        return matching(Or(tuple(map(Phrase, alone))), rows)


PAIR_OF_GRAMMAR = re.compile("[ぁ-ん、。]{2}")


@pytest.mark.parametrize(
    "question",
    ["宮沢賢治が生まれたのは", "東京の詩", "カタカナの夜、童話。", "花巻", "記念館は温泉か"],
)
def test_found_is_what_holds_a_pair_of_the_question(library: Library, question: str) -> None:
    """S4: the total, by plain string search; the texts are written as they fold."""
    pairs = {question[n : n + 2] for n in range(len(question) - 1)}
    telling = {pair for pair in pairs if not PAIR_OF_GRAMMAR.fullmatch(pair)}
    held = {
        row.id
        for row in library.rows
        if any(pair in text for pair in telling for text in row.text.values())
    }
    found = library.find(question)
    assert {hit.document.id for hit in found.hits} == held
    assert found.total == len(held) > 0


def rows() -> list[Document]:
    filler = [
        (PIECES[n % 7], "".join(PIECES[(n * step + step) % 10] for step in range(1, 3 + n % 9)))
        for n in range(150)
    ]
    return [
        Document(str(n), n, n, n, {"title": title, "body": body}, {"source": f"s{n % 3}"})
        for n, (title, body) in enumerate((*WRITTEN, *filler))
    ]


@pytest.fixture(scope="module", params=ENGINE_NAMES)
def library(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Library]:
    engine = engine_named(request.param)
    place = build(engine, tmp_path_factory.mktemp(engine.name), rows(), batch=70, fields=FIELDS)
    searcher = engine.open_searcher(place, FIELDS)
    yield Library(rows(), searcher)
    searcher.close()


def ids(found: Hits) -> list[str]:
    return [hit.document.id for hit in found.hits]


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("宮沢賢治が生まれたのはどこ?", "0"),
        ("宮沢賢治の記念館がある温泉の町はどこですか", "1"),
        ("ジョバンニが出てくる童話は何", "2"),
        ("東京生まれの小説家といえば", "3"),
        ("What is the capital of Mongolia?", "4"),
        ("How is measles diagnosed?", "5"),
    ],
)
def test_a_question_finds_its_answer_where_an_exact_search_finds_nothing(
    library: Library, question: str, first: str
) -> None:
    exact = library.searcher.search(Phrase(question), order=Order.ID, offset=0, limit=1)
    assert exact.total == 0
    assert ids(library.find(question))[0] == first


texts = st.lists(st.sampled_from(PIECES + ODD[:9] + WRITTEN[0]), max_size=8).map("".join)


@settings(derandomize=True, max_examples=60)
@given(text=st.one_of(texts, st.text(max_size=30)))
@example(text="木")
@example(text="0")
def test_totals_are_exact_and_no_text_fails(library: Library, text: str) -> None:
    """S3, S4: any text is plain words; the total is what a count by hand gives."""
    found = library.find(text)
    assert found.total == len(found.hits)
    assert set(ids(found)) == library.expected(text)
    assert len(set(ids(found))) == found.total
    assert ids(found) == ids(library.find(text))


@pytest.mark.parametrize("text", ODD)
def test_odd_texts_are_answered(library: Library, text: str) -> None:
    """S3: nothing raises, and what is no word finds nothing."""
    found = library.find(text)
    assert found.total == len(found.hits)
    assert set(ids(found)) == library.expected(text)


def test_a_single_character_is_found_as_an_exact_search_finds_it(library: Library) -> None:
    assert ids(library.find("木")) == ["6"]
    assert library.find("々").total == 0


@pytest.mark.parametrize("text", ["生まれた city diagnosed", "東京の詩と童話"])
def test_pages_together_are_one_long_page(library: Library, text: str) -> None:
    """S4: no row twice and none lost, also where the engine's own order begins."""
    whole = library.find(text)
    assert whole.total > FIRST + 10
    for size in (9, 50, 51):
        paged: list[str] = []
        for offset in range(0, whole.total + size, size):
            page = search_closest(library.searcher, FIELDS, text, offset=offset, limit=size)
            assert page.total == whole.total
            paged += ids(page)
        assert paged == ids(whole)
    nothing = search_closest(library.searcher, FIELDS, text, offset=0, limit=0)
    assert nothing == Hits(whole.total, ())


def test_scores_fall_among_the_first_hits(library: Library) -> None:
    scores = [hit.score for hit in library.find("東京の詩と童話").hits]
    assert scores[:FIRST] == sorted(scores[:FIRST], reverse=True)
    assert scores[FIRST:] == sorted(scores[FIRST:], reverse=True)
    assert min(scores) > 0


def test_only_what_is_within_is_found(library: Library) -> None:
    """S4: a filter takes documents away, and the total says how many are left."""
    text = "宮沢賢治が生まれたのはどこ?"
    whole = ids(library.find(text))
    for within in (Value("source", "s1"), Not(Phrase("東京")), Value("source", "no such")):
        kept = matching(within, [row_of(row, FIELDS) for row in library.rows])
        found = library.find(text, within=within)
        assert set(ids(found)) == set(whole) & kept
    both = And((Value("source", "s0"), Not(Phrase("童話"))))
    assert ids(library.find(text, within=both))[0] == "0"


@pytest.mark.parametrize("signs", ['"{}"', "-{}", "{}*", "source:{}", "({}", "*{}* AND"])
def test_operators_are_plain_words(library: Library, signs: str) -> None:
    """S3: what would be an operator of an exact search finds no less here."""
    plain = set(ids(library.find("宮沢賢治")))
    assert plain <= set(ids(library.find(signs.format("宮沢賢治"))))


def test_the_weights_of_fields_count(library: Library) -> None:
    """S4: what stands in a field of much weight comes first."""
    found = {}
    for weights in ((9.0, 1.0), (0.1, 1.0)):
        fields = replace(FIELDS, weights=weights)
        hits = search_closest(library.searcher, fields, "花巻は宮沢賢治の", offset=0, limit=2).hits
        found[weights] = [(hit.document.id, hit.score) for hit in hits]
    assert found[9.0, 1.0][0][1] > 5 * found[0.1, 1.0][0][1]
