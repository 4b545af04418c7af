"""The words of an index: what they are, that each is found, and exact counts (S1, S4, S5)."""

import itertools
import random
import unicodedata
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import corpus
from conftest import Stress
from oracle import matching, row_of, words_between_edges
from oracle_fold import oracle_fold
from sakuin.indexer.document import Document, Fields
from sakuin.indexer.engine import Engine, Searcher, WordCount
from sakuin.indexer.engines import ENGINE_NAMES, engine_named
from sakuin.indexer.errors import QueryTooLarge
from sakuin.indexer.fold import DEFAULT_FOLDING, Folding
from sakuin.indexer.query import And, Everything, Not, Nothing, Or, Phrase, Query, prefix
from sakuin.indexer.words import words_of
from small_index import build, change, found_ids

FOLDINGS = [Folding(*each) for each in itertools.product((False, True), repeat=3)]
FIELDS = Fields(("title", "本文"), stored=("words",))
ALL = 1_000_000

# Runs of each kind, what they touch, and what folds, combines or stands between two runs.
PIECES = [
    *"東京大阪髙𠮷々〇ーカタナァヴヽㇰ각나다の。、・ 1aé",
    *("abc", "iPhone15", "2024", "ｶﾞﾅ", "カレー", "ビール", "\u3099", "\u0301"),
    *("\u200b", "\u3000", "漢字" * 5, "カ" * 21, "다" * 13, "x" * 31, "y" * 30),
    *("漢" * 8, "ナ" * 20, "나" * 12, "z" * 300),
]  # fmt: skip
TEXTS = st.lists(
    st.one_of(st.sampled_from(PIECES), st.characters(codec=None, exclude_categories=())),
    max_size=14,
).map("".join)


@cache
def oracle_words(text: str, folding: Folding = DEFAULT_FOLDING) -> set[str]:
    """Find the words of a text character by character, by the names of the characters."""
    plain = oracle_fold(text, replace(folding, kana=False, long_vowels=False))
    words = {
        word
        for word in words_between_edges(oracle_fold(text, folding))
        if 2 <= len(word) <= 30 and not word.isdigit()
    }
    for most, group in itertools.groupby(plain, _most_of_kind):
        run = "".join(group).lstrip("ー")
        if 2 <= len(run) <= most:
            words.add(oracle_fold(run, folding))
    return {word for word in words if len(word) > 1}


def _most_of_kind(character: str) -> int:
    """Return how long a word of this kind of character may be, 0 where there are none."""
    name = unicodedata.name(character, "")
    is_later = 0x20000 <= ord(character) < 0x40000
    if character in "々〇" or is_later or name.startswith(("CJK UNI", "CJK COMP")):
        return 8
    if character == "ー" or (
        ord(character) < 0x10000
        and name.startswith("KATAKANA ")
        and ("LETTER" in name or "ITERATION" in name)
    ):
        return 20
    return 12 if name.startswith("HANGUL SYLLABLE") else 0


@pytest.mark.parametrize("folding", FOLDINGS, ids=str)
@settings(max_examples=3_000 if corpus.STRESS else 60, derandomize=True)
@given(text=TEXTS)
def test_words_are_whole_runs(folding: Folding, text: str) -> None:
    """S1: as the naive reading of the definition has them, for every folding."""
    assert words_of(text, folding) == oracle_words(text, folding)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("東京タワーの高さは333 mです。", "東京 タワー"),
        ("Ｔｈｅ iPhone15, 2024年", "the iphone15"),
        ("人々は〇〇と言う ー カー", "人々 〇〇 カー"),
        ("국민의 힘 ㈱ｶﾞﾗｽ", "국민의 ガラス"),
        ("𠮷野家𩸽", "吉野家𩸽"),
        ("髙橋 ねーカレー", "高橋 カレー"),
        ("a b 12 x１ の 人", "x1"),
    ],
)
def test_words_by_example(text: str, words: str) -> None:
    assert words_of(text) == set(words.split())


def test_katakana_stay_words_where_kana_are_one() -> None:
    both = Folding(kana=True, long_vowels=True)
    assert words_of("サーバーとカー、ﾊﾞﾅﾅ", both) == {"さば", "ばなな"}


@pytest.fixture(params=ENGINE_NAMES)
def engine(request: pytest.FixtureRequest) -> Engine:
    return engine_named(request.param)


@pytest.mark.parametrize("folding", FOLDINGS, ids=str)
def test_every_word_is_found_where_it_is(
    engine: Engine, tmp_path: Path, folding: Folding, stress: Stress
) -> None:
    """S1, S5: a search for a word finds every document that has it, however it is folded."""
    chance = stress.random()
    fields = replace(FIELDS, folding=folding)
    rows = [_row(n, _text(chance), _text(chance)) for n in range(stress.count(600))]
    place = build(engine, tmp_path, rows, batch=len(rows) // 2, fields=fields)
    searcher = engine.open_searcher(place, fields)
    having: dict[str, set[str]] = {}
    for row in rows:
        for name in fields.searched:
            for word in oracle_words(row.text[name], folding):
                having.setdefault(word, set()).add(row.id)
    assert dict(_pairs(searcher.words("", most=ALL))) == {w: len(ids) for w, ids in having.items()}
    for word, ids in having.items():
        assert ids <= set(found_ids(searcher, Phrase(word))), word
    searcher.close()


def _text(chance: random.Random) -> str:
    odd = (chr(chance.randrange(0x20000)) for _ in range(chance.randrange(3)))
    valid = (one for one in odd if not "\ud800" <= one <= "\udfff")
    pieces = [*chance.choices(PIECES, k=chance.randrange(14)), *valid]
    return "".join(chance.sample(pieces, len(pieces)))


def _row(number: int, title: str, body: str) -> Document:
    text = {"title": title, "本文": body, "words": "never searched"}
    return Document(str(number), number, number, number, text)


def _pairs(found: Iterable[WordCount]) -> list[tuple[str, int]]:
    return [(each.word, each.documents) for each in found]


Opening = Callable[[list[Document], list[Document], list[str]], Searcher]


@pytest.fixture
def opened(engine: Engine, tmp_path: Path) -> Iterator[Opening]:
    """Index in three batches, of which the last replaces and deletes."""
    searchers: list[Searcher] = []

    def opening(rows: list[Document], again: list[Document], gone: list[str]) -> Searcher:
        place = build(engine, tmp_path, rows, batch=len(rows) // 2 + 1, fields=FIELDS)
        place = change(engine, place, again, gone, fields=FIELDS)
        searchers.append(engine.open_searcher(place, FIELDS))
        return searchers[-1]

    yield opening
    for each in searchers:
        each.close()


def expected(
    rows: Iterable[Document], start: str, most: int, ids: Container[str] | None = None
) -> list[tuple[str, int]]:
    counts = Counter(
        word
        for row in rows
        if ids is None or row.id in ids
        for word in oracle_words(f"{row.text['title']} {row.text['本文']}")
        if word.startswith(start)
    )
    return sorted(counts.items(), key=lambda each: (-each[1], each[0]))[:most]


@pytest.mark.parametrize("name", ["aozora_10k", "korean", "mixed_tech"])
def test_counts_are_exact_after_changes(opened: Opening, name: str) -> None:
    """S4: of living documents, by any query, the most frequent first, ties by code points."""
    lines = corpus.paragraphs(name)[: 2_000 if corpus.STRESS else 150]
    rows = [_row(n, line[:9], line) for n, line in enumerate(lines)]
    again = [_row(n, "", "replaced 東京 " + lines[-n]) for n in range(1, 40)]
    gone = [str(n) for n in range(40, 60)]
    searcher = opened(rows, again, gone)
    living = {row.id: row for row in rows + again if row.id not in gone}.values()
    common = [word for word, _ in expected(living, "", 12)]
    starts = ["", *(word[:1] for word in common), *common[:4], "never"]
    queries: list[Query | None] = [None, Phrase(common[1]), Not(Phrase(common[0])), Nothing()]
    queries.append(And((Or((Phrase(common[2]), prefix("re"))), Not(Phrase("東京")))))
    settled = [row_of(row, FIELDS) for row in living]
    for among in queries:
        ids = matching(among or Everything(), settled)
        for start, most in zip(starts, itertools.cycle((1, 3, 10, 100, ALL))):
            found = _pairs(searcher.words(start, among=among, most=most))
            assert found == expected(living, start, most, ids), (start, most, among)
    assert searcher.words("") == searcher.words("", most=10)
    assert searcher.words("", most=0) == searcher.words("", most=-1) == ()
    assert searcher.words("", most=2**40) == searcher.words("", most=ALL)


def test_ties_at_the_cut_go_by_code_points(opened: Opening) -> None:
    """S4: whatever the order in which segments hold them; beyond the first plane too."""
    words = [f"w{chr(code)}{chr(code)}" for code in (*range(0x61, 0x7B), 0x3B1, 0x430, 0x10330)]
    words += ["吉田", "\ue000\ue000", "𩸽𩸽", "가가", "タタ", "w\ufb1d"]
    rows = [_row(n, word, " ".join(words[n::3])) for n, word in enumerate(reversed(words))]
    searcher = opened(rows, rows[::5], [])
    for start in ("", "w", "𩸽"):
        whole = _pairs(searcher.words(start, most=ALL))
        assert whole == expected(rows, start, ALL)
        for most in range(len(whole) + 2):
            assert _pairs(searcher.words(start, most=most)) == whole[:most]


def test_odd_beginnings_are_no_trouble(opened: Opening) -> None:
    searcher = opened([_row(1, "", "ab \U0010fffd\U0010fffd")], [], [])
    for start in ("\U0010fffd", "\0", " ", "a b", "\ufdd0", "[a-z]", ".*", "x" * 70_000):
        assert searcher.words(start) == ()
    assert searcher.words("a") == (WordCount("ab", 1),)
    with pytest.raises(QueryTooLarge):
        searcher.words("a", among=Or((Phrase("a"),) * 1_001))
    with pytest.raises(ValueError, match="no searched field"):
        searcher.words("a", among=Phrase("a", "words"))


def test_an_empty_index_has_no_words(opened: Opening) -> None:
    searcher = opened([], [], [])
    assert searcher.words("") == searcher.words("a", among=Phrase("b")) == ()
    assert searcher.frequencies(["a"]) == {"a": 0}


def test_a_closed_searcher_says_so(opened: Opening) -> None:
    searcher = opened([_row(1, "", "ab")], [], [])
    searcher.close()
    with pytest.raises(ValueError, match="closed"):
        searcher.words("a")
    with pytest.raises(ValueError, match="closed"):
        searcher.frequencies(["a"])
