"""Similar documents, by the index alone (promises S4, S5)."""

import random
from pathlib import Path

import pytest

import corpus
from sakuin.indexer.document import Document, Fields
from sakuin.indexer.engine import Searcher
from sakuin.indexer.engines import ENGINE_NAMES, engine_named
from sakuin.indexer.fold import fold
from sakuin.indexer.query import Range
from sakuin.indexer.similar import search_similar, telling_tokens
from sakuin.indexer.tokens import cut
from small_index import BODY, build, document, documents


def opened(root: Path, rows: list[Document], name: str, fields: Fields = BODY) -> Searcher:
    engine = engine_named(name)
    return engine.open_searcher(build(engine, root / name, rows, fields=fields), fields)


def near_copies(lines: list[str]) -> list[str]:
    """Return some long texts, and behind them each with a piece of it taken out."""
    chance = random.Random(8)
    chosen = [line for line in lines if len(line) > 80][:25]
    places = [chance.randrange(len(line) - 10) for line in chosen]
    return [line[:at] + line[at + 6 :] for line, at in zip(chosen, places, strict=True)]


@pytest.mark.parametrize("name", ENGINE_NAMES)
def test_near_copies_come_first(name: str, tmp_path: Path) -> None:
    lines = [line for line in corpus.paragraphs("aozora_10k")[:300] if len(line) > 80]
    copies = near_copies(lines)
    rows = documents(lines + copies)
    searcher = opened(tmp_path, rows, name)
    for number in range(len(copies)):
        copy = len(lines) + number
        first = search_similar(searcher, BODY, str(copy), limit=1).hits[0].document.id
        back = search_similar(searcher, BODY, first, limit=1).hits[0].document.id
        assert (first, back) == (str(number), str(copy))
    searcher.close()


@pytest.mark.parametrize("name", ENGINE_NAMES)
def test_the_total_is_exact_and_pages_do_not_shift(name: str, tmp_path: Path) -> None:
    """Counted one by one: who holds two of the telling tokens, and is not the document itself."""
    lines = corpus.paragraphs("jsquad")[:80] + corpus.paragraphs("mixed_tech")[:120]
    rows = documents(lines)
    searcher = opened(tmp_path, rows, name)
    held = {row.id: set(cut(fold(row.text["body"]))) for row in rows}
    for row in rows[::20]:
        telling = {token.text for token in telling_tokens(searcher, BODY, row)}
        expected = {
            one for one, tokens in held.items() if len(tokens & telling) > 1 and one != row.id
        }
        pages = [
            search_similar(searcher, BODY, row.id, offset=at, limit=7)
            for at in range(0, len(expected) + 1, 7)
        ]
        ids = [hit.document.id for page in pages for hit in page.hits]
        assert {page.total for page in pages} == {len(expected)}
        assert (len(ids), set(ids)) == (len(expected), expected)
        scores = [hit.score for page in pages for hit in page.hits]
        assert scores == sorted(scores, reverse=True)
        within = search_similar(searcher, BODY, row.id, within=Range("id", 0, 99), limit=300)
        assert {hit.document.id for hit in within.hits} == {one for one in ids if int(one) < 100}
        assert within.total == len(within.hits)
    searcher.close()


@pytest.mark.parametrize("name", ENGINE_NAMES)
def test_odd_documents(name: str, tmp_path: Path) -> None:
    fields = Fields(("title", "body"), weights=(3.0, 1.0))
    texts = [
        ("", ""),
        ("。。。", "!!! 123"),
        ("ありがとう", "ございます"),
        ("ありがとう", "ございました"),
        ("銀河鉄道", "まるで関係のない話"),
        ("ほかの話", "銀河鉄道に乗った"),
        ("ほかの話", "汽笛一声、鉄道"),
    ]
    rows = [
        Document(str(n), n, n, n + 1, {"title": title, "body": body})
        for n, (title, body) in enumerate(texts)
    ]
    searcher = opened(tmp_path, rows, name, fields)
    for number in (0, 1):
        assert search_similar(searcher, fields, str(number)).total == 0
    first = [search_similar(searcher, fields, str(n), limit=1).hits for n in (2, 4)]
    assert [hits[0].document.id for hits in first] == ["3", "5"]
    with pytest.raises(KeyError):
        search_similar(searcher, fields, "99")
    searcher.close()


def test_numbers_and_hiragana_tell_nothing_beside_words(tmp_path: Path) -> None:
    text = "2024年の人間失格についてのデータベース設計と書評を読んだことがありますか"
    rows = [document(1, text), document(2, text + "。"), document(3, "2024 2024")]
    searcher = opened(tmp_path, rows, "tantivy")
    tokens = {token.text for token in telling_tokens(searcher, BODY, rows[0])}
    assert {"人間", "失格", "デー", "設計"} <= tokens
    assert not tokens & {"2024", "つい", "格に", "あり"}
    searcher.close()


def test_similar_passages_are_of_the_same_article(tmp_path: Path) -> None:
    """Of the first ten over six, where one of forty is by chance."""
    passages = corpus.articles()[:1_000]
    titles = [title for title, _ in passages]
    searcher = opened(tmp_path, documents([text for _, text in passages]), "tantivy")
    chosen = [n for n in range(0, 1_000, 11) if titles.count(titles[n]) > 10]
    same = [
        titles[int(hit.document.id)] == titles[n]
        for n in chosen
        for hit in search_similar(searcher, BODY, str(n), limit=10).hits
    ]
    assert len(same) > 500
    assert sum(same) / len(same) > 0.6
    searcher.close()
