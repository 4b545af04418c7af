"""The examples of the documentation, to be run by tests."""

import re
from pathlib import Path

DOCS = Path(__file__).resolve().parents[1] / "docs"


def block(page: str, name: str) -> str:
    """Return the fenced block behind `<!-- test: name -->` on a page of docs/."""
    text = (DOCS / page).read_text(encoding="utf-8")
    found = re.search(rf"<!-- test: {re.escape(name)} -->\n```\w+\n(.*?)```", text, re.DOTALL)
    assert found, f"docs/{page} has no block {name}"
    return found[1]


def table(page: str, name: str) -> list[list[str]]:
    """Return the cells of the table behind `<!-- test: name -->` on a page of docs/."""
    text = (DOCS / page).read_text(encoding="utf-8")
    found = re.search(rf"^<!-- test: {re.escape(name)} -->\n((?:\|.*\n)+)", text, re.MULTILINE)
    assert found, f"docs/{page} has no table {name}"
    lines = [line.strip("|").split("|") for line in found[1].splitlines()[2:]]
    return [[cell.strip() for cell in row] for row in lines]


def names(cell: str) -> list[str]:
    """Return what stands between backticks."""
    return re.findall(r"`(.+?)`", cell)
