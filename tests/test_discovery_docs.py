"""docs/discovery.md tells the truth: every example in its tables is run, on both engines."""

import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest

from command import Command
from doc_blocks import block
from sakuin.app.asked_facets import read_facets
from sakuin.indexer.closest import search_closest
from sakuin.indexer.did_you_mean import did_you_mean
from sakuin.indexer.document import Document, Fields, Filter, FilterKind
from sakuin.indexer.engine import Searcher
from sakuin.indexer.engines import ENGINE_NAMES, engine_named
from sakuin.indexer.facet import Counts, filter_of
from sakuin.indexer.parse import parse
from sakuin.indexer.similar import search_similar
from sakuin.indexer.suggest import suggest
from sakuin.indexer.synonyms import read_synonyms
from small_index import build, found_ids

PAGE = (Path(__file__).resolve().parents[1] / "docs" / "discovery.md").read_text(encoding="utf-8")
FIELDS = Fields(
    ("title", "body"),
    filters=(Filter("author", FilterKind.KEYWORD), Filter("pages", FilterKind.NUMBER)),
)


def rows(name: str) -> list[list[str]]:
    """Return the cells of every row of the table that a comment gives this name."""
    (table,) = re.findall(rf"^<!-- test: {name} -->\n((?:\|.*\n)+)", PAGE, re.MULTILINE)
    lines = table.splitlines()[2:]
    return [[cell.strip().strip("`") for cell in line.strip("|").split("|")] for line in lines]


def documents() -> list[Document]:
    made = []
    for number, title, body, author, pages, created in rows("documents"):
        at = int(datetime.fromisoformat(f"{created}T00:00+00:00").timestamp()) * 1_000_000
        values: dict[str, str | int] = {"author": author}
        values |= {"pages": int(pages)} if pages else {}
        text = {"title": title, "body": body}
        made.append(Document(number, int(number), at, int(number), text, values))
    return made


@pytest.fixture(params=ENGINE_NAMES)
def searcher(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Searcher]:
    engine = engine_named(request.param)
    made = engine.open_searcher(build(engine, tmp_path, documents(), fields=FIELDS), FIELDS)
    yield made
    made.close()


def total(searcher: Searcher, query: str) -> int:
    return len(found_ids(searcher, parse(query, fields=FIELDS).query))


def test_questions_find_what_the_page_says(searcher: Searcher) -> None:
    for question, first in rows("closest"):
        assert total(searcher, question) == 0, question
        found = search_closest(searcher, FIELDS, question, within=None, offset=0, limit=3)
        assert found.hits[0].document.id == first, question


def test_what_was_meant_is_offered(searcher: Searcher) -> None:
    """Every offer leads to a hit."""
    for query, meant in rows("meant"):
        assert total(searcher, query) == 0, query
        offered = did_you_mean(searcher, FIELDS, query)
        assert meant in [each.text for each in offered], query
        for each in offered:
            assert total(searcher, each.text) == each.documents > 0


def test_suggestions_are_as_the_page_says(searcher: Searcher) -> None:
    for typed, suggestion, count in rows("suggestions"):
        offered = {each.text: each.documents for each in suggest(searcher, FIELDS, typed)}
        assert offered.get(suggestion) == int(count) == total(searcher, suggestion), offered


def test_similar_documents_are_as_the_page_says(searcher: Searcher) -> None:
    for document, first in rows("similar"):
        found = search_similar(searcher, FIELDS, document, within=None, offset=0, limit=3)
        assert found is not None
        assert found.hits[0].document.id == first, document


def test_facets_are_as_the_page_says(searcher: Searcher) -> None:
    """S4: exact, and each value leads to just the documents that it counts."""
    for query, facet, written in rows("facets"):
        tree = parse(query, fields=FIELDS).query
        (counts,) = searcher.count(tree, read_facets(FIELDS, [facet]))
        assert shown(counts) == written, query
        for each in counts.buckets:
            narrowed = f"({query}) {filter_of(counts.facet, each)}"
            assert total(searcher, narrowed) == each.count


def shown(counts: Counts) -> str:
    return ", ".join(f"{each.label} {each.count}" for each in counts.buckets)


def test_the_file_of_synonyms_is_one() -> None:
    synonyms = read_synonyms(block("discovery.md", "synonyms"))
    assert synonyms.of("サーバ") == ("サーバー", "server")
    assert synonyms.of("作家") == ("太宰治", "宮沢賢治")
    assert synonyms.of("太宰治") == ()


def test_the_commands_run(tmp_path: Path) -> None:
    sakuin = Command(tmp_path, {})
    (tmp_path / "a.txt").write_text("人間は東京で生まれた\n東京の人間\n夜の話\n", encoding="utf-8")
    sakuin.run("load", "a.txt", "--no-wait")
    sakuin.run("worker", "--drain")
    for line in block("discovery.md", "commands").strip().splitlines():
        arguments = [each.strip("'") for each in re.findall(r"'[^']*'|\S+", line)][1:]
        assert sakuin.run(*arguments), line
