"""docs/search-log.md tells the truth: its commands, its SQL and every example of redaction run."""

import json
import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from doc_blocks import DOCS, block
from sakuin.app import search_log as search_log_module
from sakuin.app.asked import Asked
from sakuin.app.cli import app
from sakuin.app.redact import MOST_CHARACTERS, redact
from sakuin.app.search_log import SearchLog, open_impatiently
from sakuin.app.search_log_read import AT_LEAST, MANY
from sakuin.app.search_log_rows import MOST_DOCUMENTS, Click, Search
from sakuin.app.settings import OPTIONS
from sakuin.queue import open_engine, read

PAGE = (DOCS / "search-log.md").read_text(encoding="utf-8")


def table(name: str) -> list[list[str]]:
    """Return the cells of the table behind a comment of this name."""
    (found,) = re.findall(rf"^<!-- test: {name} -->\n((?:\|.*\n)+)", PAGE, re.MULTILINE)
    rows = [line.strip("|").split("|") for line in found.splitlines()[2:]]
    return [[cell.strip() for cell in row] for row in rows]


def test_every_example_is_kept_as_the_page_says() -> None:
    for query, kept in table("redacted"):
        assert redact(query.strip("`")) == (None if kept == "–" else kept.strip("`")), query


def test_the_figures_are_those_of_the_code() -> None:
    for option in OPTIONS:
        if option.name.startswith("search_log"):
            default = "no" if option.default is False else option.default
            assert f"| `{option.variable}` | `{default}` |" in PAGE
    assert f"{search_log_module.MOST_PENDING:,} different searches" in PAGE
    assert f"longer than {MOST_CHARACTERS} characters" in PAGE
    assert (AT_LEAST, MANY) == (3, 10)  # three times or more; ten results or more
    assert f"at most {MOST_DOCUMENTS} opened documents" in PAGE
    assert search_log_module.EVERY_SECONDS == search_log_module.MOST_SECONDS == 1


def test_its_commands_and_its_sql(
    tmp_path: Path, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the order of the page; the JSON has exactly the keys that it names."""
    monkeypatch.setenv("SAKUIN_DATABASE_URL", database_url)
    monkeypatch.setenv("SAKUIN_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("SAKUIN_SEARCH_LOG", "no")
    switch, *making = block("search-log.md", "on").splitlines()
    name, _, value = switch.removeprefix("export ").partition("=")
    assert name == "SAKUIN_SEARCH_LOG"
    monkeypatch.setenv(name, value)
    run(making)
    engine = open_impatiently(database_url)
    log = SearchLog(engine, 30, 1_000)
    for text, total in (("図書館", 12), ("図鑑", 0), ("本", 3)):
        log.note("paragraphs", Asked(text=text), total)
    log.click(Click(Search("paragraphs", "本", "exact"), "1"), 1)
    assert log.flush()
    engine.dispose()
    told = json.loads(run(block("search-log.md", "words").splitlines())[-1])
    for keys, fields in table("json"):
        for key in re.findall(r"`(\w+)`", keys):
            assert list(told[key][0]) == re.findall(r"`(\w+)`", fields), key
    database = open_engine(database_url)
    sql = block("search-log.md", "sql").strip().rstrip(";")
    (found,) = read(database, lambda c: c.exec_driver_sql(sql).all())
    assert tuple(found)[1:] == ("図鑑", 1, 0, 0)
    run(block("search-log.md", "index").splitlines())
    run(block("search-log.md", "forget").splitlines())
    assert read(database, lambda c: c.exec_driver_sql(sql).all()) == []
    database.dispose()


def run(lines: list[str]) -> list[str]:
    """Run commands in this process, and return what each printed."""
    printed = []
    for line in lines:
        program, *arguments = shlex.split(line)
        assert program == "sakuin"
        done = CliRunner().invoke(app, arguments)
        assert done.exit_code == 0, f"{line}\n{done.output}"
        printed.append(done.stdout)
    return printed
