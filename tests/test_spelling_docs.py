"""docs/search.md on spelling: every line of its tables is run, on both engines (S1, S2)."""

import re
from pathlib import Path

import pytest

from sakuin.indexer.document import Fields
from sakuin.indexer.engines import ENGINE_NAMES, engine_named
from sakuin.indexer.fold import Folding
from sakuin.indexer.parse import parse
from small_index import build, documents, found_ids

PAGE = (Path(__file__).resolve().parents[1] / "docs" / "search.md").read_text(encoding="utf-8")
OPTIONS = (
    Folding(),
    Folding(kana=True),
    Folding(long_vowels=True),
    Folding(variants=False),
)
FOUND = {"found": True, "not found": False}


def rows(name: str) -> list[list[str]]:
    """Return the cells of each row of the table of this name, as the texts that they mean."""
    [table] = re.findall(rf"^<!-- test: {name} -->\n((?:\|.*\n)+)", PAGE, re.MULTILINE)
    lines = table.splitlines()[2:]
    return [[meant(cell.strip(" `")) for cell in line.strip("|").split("|")] for line in lines]


def meant(cell: str) -> str:
    """Put in the characters that are written as escapes."""
    return re.sub(
        r"\\(?:u([0-9A-F]{4})|U([0-9A-F]{8}))", lambda m: chr(int(m[1] or m[2], 16)), cell
    )


@pytest.mark.parametrize("engine_name", ENGINE_NAMES)
@pytest.mark.parametrize("column", range(len(OPTIONS)), ids=[str(each) for each in OPTIONS])
def test_each_spelling_is_found_or_not_as_the_page_says(
    column: int, engine_name: str, tmp_path: Path
) -> None:
    """A document of its own for each line; the query goes through the query language."""
    lines = [(text, query, cells[column]) for text, query, *cells in rows("spelling options")]
    if column == 0:
        lines += [(text, query, cell) for text, query, cell, _ in rows("spelling")]
    engine, fields = engine_named(engine_name), Fields(("body",), folding=OPTIONS[column])
    made = documents([text for text, _, _ in lines])
    searcher = engine.open_searcher(build(engine, tmp_path, made, fields=fields), fields)
    for number, (text, query, expected) in enumerate(lines):
        parsed = parse(query, fields=fields)
        assert not parsed.diagnostics
        found = str(number) in found_ids(searcher, parsed.query)
        assert found == FOUND[expected], (text, query)
    searcher.close()
