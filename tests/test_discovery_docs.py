"""docs/discovery.md tells the truth: every example in its tables is run, on both engines."""

import re
import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

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
from sakuin.queue import create_schema, open_engine
from small_index import build, found_ids
from web import serving

PAGE = (Path(__file__).resolve().parents[1] / "docs" / "discovery.md").read_text(encoding="utf-8")
FIELDS = Fields(
    ("title", "body"),
    filters=(Filter("author", FilterKind.KEYWORD), Filter("pages", FilterKind.NUMBER)),
)


POSTS = """
from datetime import datetime
from shop import Post
with Session(database) as session:
    for author, year in (("太宰", 2024), ("太宰", 2023), ("漱石", 2024)):
        at = datetime(year, 3, 1)
        session.add(Post(title="東京", author=author, category=1, status="public", published_at=at))
    session.commit()
"""


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


def test_the_commands_answer_as_the_interface_does(tmp_path: Path) -> None:
    """Each with --json, beside what GET /api/v1 gives for the same."""
    sakuin = Command(tmp_path, {})
    (tmp_path / "a.txt").write_text("人間は東京で生まれた\n東京の人間\n夜の話\n", encoding="utf-8")
    sakuin.run("load", "a.txt", "--no-wait")
    sakuin.run("worker", "--drain")
    asked = {
        "--mode": ("search", {"q": "どこで生まれたのか", "mode": "closest"}),
        "--facet": ("search", {"q": "人間", "facets": "source,created:month"}),
        "--like": ("search", {"like": "1"}),
        "人": ("suggest", {"q": "人"}),
        "words": ("words", {}),
    }
    with serving(tmp_path / "sakuin-data", "") as web:
        for line in block("discovery.md", "commands").strip().splitlines():
            arguments = [each.strip("'") for each in re.findall(r"'[^']*'|\S+", line)][1:]
            path, parameters = next(asked[each] for each in arguments if each in asked)
            answer = web.get(f"/api/v1/{path}", **parameters).json()
            for timed in ("seconds", "previous_page", "next_page"):
                answer.pop(timed, None)
            printed = sakuin.json(*arguments)
            printed.pop("seconds", None)
            assert printed == answer, line
            assert sakuin.run(*arguments)


def test_the_python_program_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Behind the first steps of python.md, as the page says."""
    (tmp_path / "sakuin.toml").write_text(block("python.md", "sakuin.toml"), encoding="utf-8")
    shop = block("python.md", "shop.py") + "\n\n" + block("python.md", "fields")
    (tmp_path / "shop.py").write_text(shop, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "shop", raising=False)
    names: dict[str, Any] = {}
    database = open_engine("sqlite:///shop.db")
    create_schema(database)
    exec(block("python.md", "save"), names)
    exec(POSTS, names)
    Command(tmp_path, {}).run("worker", "--drain")
    capsys.readouterr()
    exec(block("discovery.md", "python"), names)
    closest, suggestions, meant, authors, years, similar = capsys.readouterr().out.splitlines()
    assert closest == "['1', '2']"
    assert suggestions.startswith("[('東京")
    assert meant == "['新幹線']"
    assert authors == "author [('太宰', 2), ('漱石', 1)]"
    assert years == "published_at [('2023', 1), ('2024', 2)]"
    assert similar == "[]"  # the other has one pair of characters in common, not two
    names["database"].dispose()
    database.dispose()
