"""Every tricky text with its probes, on both engines: what is found is a decision (S1, S2).

The corpus says by which folding a probe first stands in its text, computed elsewhere. The tables
here say what Sakuin makes of that; docs/search.md says the same in its last section.
"""

import re
from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

import pytest

import corpus
from oracle import has_edges
from oracle_fold import oracle_fold
from sakuin.indexer.document import Fields
from sakuin.indexer.engine import Searcher
from sakuin.indexer.engines import ENGINE_NAMES, engine_named
from sakuin.indexer.fold import Folding
from sakuin.indexer.query import Phrase
from small_index import build, documents, found_ids

DEFAULT, KANA, LONG, PLAIN = (
    Folding(),
    Folding(kana=True),
    Folding(long_vowels=True),
    Folding(variants=False),
)
FOLDINGS = (DEFAULT, KANA, LONG, PLAIN)
INDEXES = [*product(ENGINE_NAMES, [DEFAULT]), *product([ENGINE_NAMES[0]], FOLDINGS[1:])]

# The foldings that find a probe, by the weakest folding that makes it stand in its text.
DECISIONS: dict[str, tuple[Folding, ...]] = {
    "exact": FOLDINGS,
    "nfc": FOLDINGS,
    "nfkc": FOLDINGS,
    "nfkc_casefold": FOLDINGS,
    "nfkc_casefold_ignorables_removed": FOLDINGS,
    "nfkc_casefold_ignorables_kana_folded": (KANA,),  # ア is あ only where the index says so
    "nfkc_casefold_ignorables_removed_kana_folded": (KANA,),
    "nfkc_casefold_whitespace_removed": (),  # a blank or line break in the text is a character
    "marks_removed_lossy": (),  # がis not か, café is not cafe
    "none": (),  # no readings, no word forms, no numerals, no translation
    "empty_query": (),
}
# Kanji that are one to a reader: found unless the index takes variants apart.
VARIANTS = {
    ("T0070", "叱る"), ("T0070", "土屋"), ("T0096", "韓国"), ("T0282", "高橋"), ("T0283", "髙橋"),
    ("T0284", "山崎"), ("T0285", "渡辺"), ("T0286", "斎藤"), ("T0287", "国語"), ("T0290", "吉野家"),
    ("T0291", "𠮷野家"), ("T0292", "叱る"), ("T0310", "殘酷"), ("T0311", "残酷"),
}  # fmt: skip
# Found only where long vowels make no difference.
LONG_VOWELS = {("T0300", "サーバー")}
# Long vowels of their own: nothing to look for where they make no difference.
LONG_ALONE = {("T0008", "ー")}
# They stand within a word of a script with word edges: found with stars, `*probe*`, only.
WITHIN_A_WORD = {
    ("T0012", "1"), ("T0012", "①"), ("T0012", "10"), ("T0081", "978-4-00-310101-8"),
    ("T0082", "1.2.3"), ("T0083", "١٢٣"), ("T0106", "क"), ("T0108", "العالم"),
    ("T0113", "gnp.exe"), ("T0113", "user"), ("T0119", "1"), ("T0164", "x"),
    ("T0245", "iphone15"), ("T0245", "15Pro"), ("T0247", "語E"), ("T0254", "lazy"),
    ("T0254", "jumps"), ("T0258", "TEL"), ("T0268", "aaa"), ("T0268", "a" * 50),
    ("T0270", "cdef01"), ("T0270", "f0"), ("T0272", "é"), ("T0274", "ﷺ"),
}  # fmt: skip
# The base of a character whose mark stands apart in the text: not the same character.
WITHOUT_ITS_MARK = {
    ("T0017", "か"), ("T0018", "は"), ("T0025", "cafe"), ("T0275", "こ"), ("T0321", "か"),
}  # fmt: skip
# Blanks and what nobody sees, alone: nothing to look for.
NOTHING = {
    ("T0129", "\u3164"), ("T0134", "\uffff"), ("T0136", " "), ("T0137", "\t"),
    ("T0138", "\u3000"), ("T0139", "\u200b"), ("T0243", "\u202e"),
}  # fmt: skip


class Probe(NamedTuple):
    """A probe of the text number `text`, and the name by which the tables know it."""

    text: int
    name: tuple[str, str]
    query: str
    level: str


def probes() -> Iterator[Probe]:
    for number, case in enumerate(corpus.tricky()):
        for probe in case["probes"]:  # type: ignore[attr-defined]
            query = probe["q"]
            yield Probe(number, (str(case["id"]), query), query, probe["first_level_matching"])


def decision(probe: Probe, folding: Folding) -> bool:
    if probe.name in VARIANTS:
        return folding.variants
    if probe.name in LONG_VOWELS | LONG_ALONE:
        return folding.long_vowels == (probe.name in LONG_VOWELS)
    is_other = probe.name in WITHOUT_ITS_MARK | NOTHING | WITHIN_A_WORD
    return folding in DECISIONS[probe.level] and not is_other


@pytest.fixture(scope="module", params=INDEXES, ids=str)
def indexed(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Searcher, Folding]]:
    name, folding = request.param
    engine, fields = engine_named(name), Fields(("body",), folding=folding)
    # A lone half of a surrogate pair cannot come out of a database.
    texts = [re.sub("[\ud800-\udfff]", "\ufffd", str(case["text"])) for case in corpus.tricky()]
    rows = documents(texts)
    directory = build(engine, tmp_path_factory.mktemp("tricky"), rows, fields=fields)
    searcher = engine.open_searcher(directory, fields)
    yield searcher, folding
    searcher.close()


def test_every_probe_is_found_or_not_as_decided(indexed: tuple[Searcher, Folding]) -> None:
    searcher, folding = indexed
    wrong = []
    for probe in probes():
        found = str(probe.text) in found_ids(searcher, Phrase(probe.query))
        if found != decision(probe, folding):
            wrong.append((probe, found))
    assert not wrong


def test_what_stands_within_a_word_is_found_with_stars(indexed: tuple[Searcher, Folding]) -> None:
    """Where it is a word itself; of phrases the stars may stand for too many words."""
    searcher, folding = indexed
    for probe in probes():
        if probe.name in WITHIN_A_WORD and all(map(has_edges, oracle_fold(probe.query, folding))):
            query = Phrase(probe.query, open_start=True, open_end=True)
            assert str(probe.text) in found_ids(searcher, query), probe


def test_every_exception_is_about_a_probe() -> None:
    """So that no line of the tables is idle."""
    names = {probe.name for probe in probes()}
    if ("T0001", "がらす") in names:  # the whole corpus, not the few texts of our own
        tables = (VARIANTS, LONG_VOWELS, LONG_ALONE, WITHIN_A_WORD, WITHOUT_ITS_MARK, NOTHING)
        for table in tables:
            assert not table - names
