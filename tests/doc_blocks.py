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
