"""`sakuin words --forget` deletes the log of the index that is named, or of all of them."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from sakuin.app.asked import Asked
from sakuin.app.catalogue import NoSuchIndex
from sakuin.app.cli import app
from sakuin.app.search_log import SearchLog, open_impatiently
from sakuin.app.search_log_rows import MOST_FORGOTTEN, Click, Search
from sakuin.app.search_log_tables import create_search_log
from sakuin.queue import open_engine, read, replay


@pytest.fixture
def url(tmp_path: Path, database_url: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """A database with a log of two indexes: of one more than a transaction deletes."""
    monkeypatch.setenv("SAKUIN_DATABASE_URL", database_url)
    monkeypatch.setenv("SAKUIN_DATA_DIR", str(tmp_path))
    engine = open_impatiently(database_url)
    replay(engine, create_search_log)
    log = SearchLog(engine, days=30, most=10_000)
    for number in range(MOST_FORGOTTEN + 2):
        log.note("paragraphs", Asked(text=f"図書館 {number}"), 1)
    log.note("articles", Asked(text="図書館 1"), 1)
    for index in ("paragraphs", "articles"):
        log.click(Click(Search(index, "図書館 1", "exact"), "7"), 1)
    assert log.flush()
    engine.dispose()
    return database_url


def left(url: str) -> tuple[list[str], int]:
    """Return the indexes of the searches that are left, and how many clicks are."""
    sql = "SELECT DISTINCT index_name FROM sakuin_searches ORDER BY index_name"
    engine = open_engine(url)
    names = read(engine, lambda c: c.exec_driver_sql(sql).scalars().all())
    sql = "SELECT COUNT(*) FROM sakuin_clicks"
    clicks = read(engine, lambda c: c.exec_driver_sql(sql).scalar_one())
    engine.dispose()
    return list(names), int(clicks)


def forget(*arguments: str) -> Result:
    """Run the command in this process."""
    return CliRunner().invoke(app, ["words", "--forget", *arguments])


def test_one_index_is_forgotten_and_no_other(url: str) -> None:
    """Also the one that is meant where none is named; what is printed says which."""
    assert left(url) == (["articles", "paragraphs"], 2)
    done = forget("--index", "paragraphs")
    assert done.exit_code == 0, done.output
    assert f"{MOST_FORGOTTEN + 2} rows of the search log, of the index paragraphs." in done.stderr
    assert left(url) == (["articles"], 1)
    assert json.loads(forget("--index", "paragraphs", "--json").stdout) == {
        "index": "paragraphs",
        "forgotten": 0,
    }


def test_without_a_name_every_index_is_forgotten(url: str) -> None:
    done = forget()
    assert done.exit_code == 0, done.output
    assert f"{MOST_FORGOTTEN + 3} rows of the search log, of every index." in done.stderr
    assert left(url) == ([], 0)


@pytest.mark.parametrize("index", ["", "nothing"])
def test_an_unknown_index_forgets_nothing(url: str, index: str) -> None:
    """An empty name, as of a variable that is not set, is no name: it does not mean all."""
    assert isinstance(forget("--index", index).exception, NoSuchIndex)
    assert left(url) == (["articles", "paragraphs"], 2)
