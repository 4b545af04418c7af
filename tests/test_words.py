"""`sakuin words`: the words of the index, and what the search log tells the admin."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from sakuin.app.asked import Asked
from sakuin.app.cli import app
from sakuin.app.index_words import index_words, words_json
from sakuin.app.refused import Refused
from sakuin.app.search_log import SearchLog, open_impatiently
from sakuin.app.search_log_rows import Click, Search
from sakuin.queue import DatabaseAway, replay
from web import serving


def words(folder: Path, url: str, *arguments: str) -> Result:
    """Run `sakuin words` in this process, on the index in this folder."""
    where = ["--data-dir", str(folder), "--database-url", url]
    return CliRunner().invoke(app, ["words", *arguments, *where])


def told(folder: Path, url: str, *arguments: str) -> Any:
    """Return the JSON that `sakuin words` prints."""
    done = words(folder, url, *arguments, "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def fill(folder: Path, url: str) -> None:
    """Index three paragraphs, and make the log's tables."""
    with serving(folder, url, search_log="yes") as web:
        for body in ("図書館の本", "図書館と library", "library books"):
            web.add(body)
        web.drain()


def keep(url: str) -> None:
    """Keep some searches and a click."""
    engine = open_impatiently(url)
    log = SearchLog(engine, days=30, most=1_000)
    for text, total, times in (("図書館", 12, 3), ("図鑑", 0, 2), ("Library", 2, 1)):
        for _ in range(times):
            log.note("paragraphs", Asked(text=text), total)
    log.click(Click(Search("paragraphs", "Library", "exact"), "3"), 2)
    assert log.flush()
    engine.dispose()


def test_the_log_is_told_and_forgotten(tmp_path: Path, database_url: str) -> None:
    fill(tmp_path, database_url)
    keep(database_url)
    log = told(tmp_path, database_url, "--searches", "--nothing-found", "--clicked")
    assert set(log) == {"index", "searches", "nothing_found", "clicked", "unclicked"}
    assert [(each["query"], each["asked"], each["total"]) for each in log["searches"]] == [
        ("図書館", 3, 12),
        ("Library", 1, 2),
    ]
    (nothing,) = log["nothing_found"]
    assert len(nothing.pop("last_day")) == len("2026-01-01")
    assert nothing == {"query": "図鑑", "mode": "exact", "asked": 2, "total": 0, "clicks": 0}
    assert log["clicked"] == [
        {"query": "Library", "mode": "exact", "document": "3", "clicks": 1, "position": 2.0}
    ]
    assert [each["query"] for each in log["unclicked"]] == ["図書館"]
    shown = words(tmp_path, database_url, "--clicked", "--most", "1")
    assert [line.split() for line in shown.stdout.splitlines()] == [
        ["1", "2.0", "3", "Library"],
        ["3", "12", "0", "図書館"],
    ]
    assert "The search log is off" in shown.stderr
    forgotten = told(tmp_path, database_url, "--forget")
    assert forgotten == {"index": None, "forgotten": 3}
    assert told(tmp_path, database_url, "--searches")["searches"] == []


def test_the_words_of_the_index(tmp_path: Path) -> None:
    """Words need no log and no database; a start is folded as the index is."""
    fill(tmp_path, f"sqlite:///{tmp_path / 'q.db'}")
    away = "mysql+pymysql://u:p@127.0.0.1:1/s"
    found = told(tmp_path, away)
    assert found["words"][:2] == [
        {"word": "library", "documents": 2},
        {"word": "図書館", "documents": 2},
    ]
    assert found["generation"] > 0
    assert told(tmp_path, away, "--start", "ＬＩＢ")["words"] == found["words"][:1]
    assert words(tmp_path, away, "--most", "1").stdout.split() == ["2", "library"]
    assert isinstance(words(tmp_path, away, "--searches").exception, DatabaseAway)


def test_without_a_log_the_remedy_is_named(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    refused = words(tmp_path, url, "--searches").exception
    assert isinstance(refused, Refused)
    assert "SAKUIN_SEARCH_LOG=yes" in str(refused)
    assert told(tmp_path, url, "--forget")["forgotten"] == 0
    assert "Nothing is indexed yet" in words(tmp_path, url).stderr


def test_rising_words_are_those_of_the_last_days(tmp_path: Path) -> None:
    """What came up since, against what was there; bad questions are refused by name."""
    with serving(tmp_path, f"sqlite:///{tmp_path / 'q.db'}") as web:
        for number in range(6):
            web.add(f"図書館の本 {number}")
        old = "UPDATE paragraphs SET created_at = '2020-01-01 00:00:00.000000'"
        replay(web.parts.database, lambda c: c.exec_driver_sql(old))
        for number in range(3):
            web.add(f"図書館と新語 {number}")
        web.drain()
        reader, index = web.parts.reader, web.parts.index
        risen = words_json(index_words(reader, index, rising_days=3), "paragraphs")
        assert risen["words"] == [{"word": "新語", "documents": 3, "before": 0}]
        for wrong, named in (
            ({"rising_days": 0}, "rising"),
            ({"rising_days": 3, "start": "図"}, "^rising .*: give one of the two$"),
            ({"most": 0}, "most"),
        ):
            with pytest.raises(Refused, match=named):
                index_words(reader, index, **wrong)


def test_doctor_misses_the_tables_of_a_log_that_is_on(
    tmp_path: Path, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And names the remedy; a log that is off needs none."""
    with serving(tmp_path, database_url):  # makes the tables of everything else
        pass
    monkeypatch.setenv("SAKUIN_DATABASE_URL", database_url)
    monkeypatch.setenv("SAKUIN_DATA_DIR", str(tmp_path))

    def tables() -> str:
        found = json.loads(CliRunner().invoke(app, ["doctor", "--json"]).stdout)
        (line,) = [each for each in found if each["subject"] == "tables"]
        return f"{line['grade']} {line['text']}"

    assert tables().startswith("OK ")
    monkeypatch.setenv("SAKUIN_SEARCH_LOG", "yes")
    assert tables().startswith("FAIL ")
    assert "sakuin_clicks, sakuin_searches" in tables()
    assert "sakuin init" in tables()
    assert CliRunner().invoke(app, ["init"]).exit_code == 0
    assert tables().startswith("OK ")


@pytest.mark.parametrize(
    ("flags", "remedy"),
    [
        (["--days", "3"], "--searches"),
        (["--forget", "--searches"], "give it alone"),
        (["--forget", "--start", "図"], "give it alone"),
        (["--forget", "--clicked", "--index", "paragraphs"], "give it alone"),
        (["--forget", "--days", "3"], "--searches"),
    ],
)
def test_flags_that_do_not_go_together_are_refused(
    tmp_path: Path, flags: list[str], remedy: str
) -> None:
    done = words(tmp_path, f"sqlite:///{tmp_path / 'q.db'}", *flags)
    assert done.exit_code == 2
    assert remedy in " ".join(done.output.replace("│", " ").split())
