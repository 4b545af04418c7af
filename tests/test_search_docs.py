"""docs/search.md tells the truth: every example in its tables is run, on both engines (S3)."""

import re
import subprocess
import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest

from doc_blocks import block
from sakuin.indexer.diagnostic import DiagnosticCode
from sakuin.indexer.dialect import Dialect
from sakuin.indexer.document import Document, Fields, Filter, FilterKind
from sakuin.indexer.engine import Searcher
from sakuin.indexer.engines import ENGINE_NAMES, engine_named
from sakuin.indexer.expand import MOST_EXPANSIONS
from sakuin.indexer.limits import DEFAULT_LIMITS, MOST_DISTANCE, MOST_NEAR_PARTS
from sakuin.indexer.near_documents import MOST_NEAR, MOST_NEAR_CHARACTERS, MOST_NEAR_STEPS
from sakuin.indexer.parse import parse
from sakuin.indexer.synonyms import LONGEST_TERM, MOST_GROUPS, MOST_TERMS, Synonyms, read_synonyms
from sakuin.indexer.unparse import unparse
from small_index import build, found_ids

PAGE = (Path(__file__).resolve().parents[1] / "docs" / "search.md").read_text(encoding="utf-8")
FIELDS = Fields(
    ("title", "body"),
    filters=(Filter("source", FilterKind.KEYWORD), Filter("pages", FilterKind.NUMBER)),
)


def tables(name: str) -> list[list[str]]:
    """Return the cells of every row of the tables that a comment gives this name."""
    found = re.findall(rf"^<!-- test: {name} -->\n((?:\|.*\n)+)", PAGE, re.MULTILINE)
    assert found, f"no table {name}"
    rows = [line for table in found for line in table.splitlines()[2:]]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]


def documents() -> list[Document]:
    """Make the documents of the page."""
    made = []
    for number, title, body, source, pages, created in tables("documents"):
        at = int(datetime.fromisoformat(f"{created}+00:00").timestamp()) * 1_000_000
        values: dict[str, str | int] = {"source": source}
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


def test_every_example_finds_what_the_page_says(searcher: Searcher) -> None:
    """S3: the whole result, and none of what is named as not found; remarks only where named."""
    for dialect in Dialect:
        for query, finds, finds_not, note in tables(dialect.value):
            found, codes = run(searcher, query, dialect)
            assert found == numbers(finds), query
            assert not found & numbers(finds_not), query
            if dialect is not Dialect.SAKUIN:
                assert codes == set(note.split()), query
            elif not query.startswith("`-"):
                assert not codes, query


def test_every_example_with_synonyms_finds_what_the_page_says(searcher: Searcher) -> None:
    """S3: with the file of the page, and without it not."""
    synonyms = read_synonyms(block("search.md", "synonyms"))
    for query, finds, finds_not, note in tables("with synonyms"):
        found, codes = run(searcher, query, Dialect.SAKUIN, synonyms)
        assert (found, codes) == (numbers(finds), set(note.split())), query
        assert not found & numbers(finds_not), query
    for figure in (MOST_GROUPS, MOST_TERMS, LONGEST_TERM):
        assert re.search(rf"\b{figure:,} (groups|words|characters)", PAGE)


def test_every_slip_is_answered_as_the_page_says(searcher: Searcher) -> None:
    """S3: what is found, and the one remark."""
    for query, finds, remark, _ in tables("slips"):
        assert run(searcher, query, Dialect.SAKUIN) == (numbers(finds), set(remark.split())), query


def test_every_reading_is_as_the_page_says() -> None:
    """S3: the query, written again in Sakuin's own language."""
    for query, reading, _ in tables("readings"):
        parsed = parse(query.strip("`"), fields=FIELDS)
        assert f"`{unparse(parsed.query, FIELDS)}`" == reading


def run(
    searcher: Searcher, cell: str, dialect: Dialect, synonyms: Synonyms | None = None
) -> tuple[set[int], set[str]]:
    """Search for the query in a cell; return the ids and the codes of the remarks."""
    query = cell.removeprefix("`").removesuffix("`")
    parsed = parse(query, fields=FIELDS, dialect=dialect, synonyms=synonyms)
    codes = {remark.code.value for remark in parsed.diagnostics}
    return {int(each) for each in found_ids(searcher, parsed.query)}, codes


def numbers(cell: str) -> set[int]:
    """Return the ids in a cell."""
    return {int(each) for each in re.findall(r"\d+", cell)}


def test_the_page_lists_every_remark_and_whether_the_query_was_searched() -> None:
    """S3: codes are a public face."""
    listed = {code.strip("`"): searched.endswith("yes") for code, searched, _ in tables("codes")}
    assert listed == {code.value: not code.refuses for code in DiagnosticCode}


def test_the_page_names_the_limits() -> None:
    """S3: the figures are those of the code."""
    for figure, code in (
        (DEFAULT_LIMITS.length, "too_long"),
        (DEFAULT_LIMITS.leaves, "too_many_terms"),
        (DEFAULT_LIMITS.depth, "too_deep"),
        (MOST_EXPANSIONS, "too_many_words"),
        (MOST_DISTANCE, "near_too_far"),
        (MOST_NEAR_PARTS, "near_too_many"),
        (MOST_NEAR, "near_too_common"),
        (MOST_NEAR_CHARACTERS, "near_too_common"),
        (MOST_NEAR_STEPS, "near_too_common"),
    ):
        assert f"| {figure:,} | `{code}` |" in PAGE


def test_the_python_example_runs() -> None:
    """The program prints a tree, a remark and the same query in Sakuin's own language."""
    (program,) = re.findall(r"<!-- test: python -->\n```python\n(.*?)```", PAGE, re.DOTALL)
    done = subprocess.run(
        [sys.executable, "-X", "utf8", "-c", program], capture_output=True, check=True
    )
    lines = done.stdout.decode().splitlines()
    assert lines[1].startswith("lone_operator 10 12 ")
    assert lines[2] == "(東京 OR 京都) 山"
