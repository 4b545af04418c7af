"""The search log is written behind the answers, and never stands in anybody's way."""

import logging
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import Engine, inspect

from databases import until
from sakuin.app import search_log as search_log_module
from sakuin.app import search_log_writer as writer_module
from sakuin.app.asked import Asked
from sakuin.app.assemble import assemble, initialise
from sakuin.app.row_check import row_check
from sakuin.app.search_log import SearchLog, logged_text, open_impatiently, search_log
from sakuin.app.search_log_read import past_searches
from sakuin.app.search_log_rows import Click, Search
from sakuin.app.search_log_tables import SEARCHES, create_search_log, has_search_log
from sakuin.app.settings import Settings, read_settings
from sakuin.indexer.dialect import Dialect
from sakuin.queue import read, replay


@pytest.fixture
def database(database_url: str, open_database: Callable[[str], Engine]) -> Engine:
    """A database with the log's tables."""
    engine = open_database(database_url)
    replay(engine, create_search_log)
    return engine


OpenLog = Callable[..., SearchLog]


@pytest.fixture
def open_log() -> Iterator[OpenLog]:
    """Open logs that write when they are told to; all are closed when the test ends."""
    engines: list[Engine] = []

    def open_one(url: str, days: int = 30, most: int = 1_000) -> SearchLog:
        engines.append(open_impatiently(url))
        return SearchLog(engines[-1], days, most)

    yield open_one
    for engine in engines:
        engine.dispose()


@pytest.fixture
def log(database_url: str, open_log: OpenLog) -> SearchLog:
    """A log that writes when it is told to."""
    return open_log(database_url)


def rows(database: Engine) -> dict[str, int]:
    """Return how often each query was asked, as the table says."""
    sql = "SELECT query, SUM(asked) FROM sakuin_searches GROUP BY query"
    found = read(database, lambda c: c.exec_driver_sql(sql).all())
    return {query: int(times) for query, times in found}


def note(log: SearchLog, *texts: str, total: int = 1) -> None:
    for text in texts:
        log.note("paragraphs", Asked(text=text), total)


def test_notes_of_one_search_are_one_row(database: Engine, log: SearchLog) -> None:
    note(log, "人間", " 人間　", "write to a@b.example for everybody")
    assert log.flush()
    note(log, "人間", total=6)
    assert log.flush()
    assert rows(database) == {"人間": 3, "write to «mail» for everybody": 1}
    sql = "SELECT asked, total, clicks FROM sakuin_searches WHERE query = '人間'"
    assert tuple(read(database, lambda c: c.exec_driver_sql(sql).one())) == (3, 6, 0)
    assert log.dropped == 0


def test_only_plain_searches_are_kept_and_only_once(database: Engine, log: SearchLog) -> None:
    """A further page is no new search, a filter's total is not that of the words."""
    plain = Asked(text="人間")
    for asked in (
        plain.at_page(2, 10),
        replace(plain, after="17"),
        replace(plain, generation=3),
        replace(plain, filter="id:1"),
        replace(plain, within="id:1"),
        replace(plain, dialect=Dialect.TRITONN),
        Asked(text="  ", filter="id:1"),
    ):
        log.note("paragraphs", asked, 1)
    assert log.flush()
    assert rows(database) == {}
    assert logged_text(plain) == logged_text(plain.at_page(2, 10)) == "人間"
    assert logged_text(replace(plain, filter="id:1")) is None


def test_off_is_off(tmp_path: Path, database_url: str) -> None:
    """No log, no tables; on, `initialise` makes them, as often as it likes."""
    settings = read_settings({"data_dir": tmp_path, "database_url": database_url}, {}, tmp_path)
    with search_log(settings) as log, assemble(settings) as parts:
        assert log is None
        initialise(parts)
        assert not read(parts.database, lambda c: inspect(c).has_table(SEARCHES))
    with assemble(replace(settings, search_log=True)) as parts:
        initialise(parts)
        initialise(parts)
        assert read(parts.database, has_search_log)


@pytest.fixture
def chosen(tmp_path: Path, database: Engine, database_url: str) -> Settings:
    """Settings with the log on, of a database that has its tables."""
    flags = {"data_dir": tmp_path, "database_url": database_url, "search_log": True}
    return read_settings(flags, {}, tmp_path)


def test_it_writes_by_itself_and_once_more_at_the_end(
    chosen: Settings, database: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search_log_module, "EVERY_SECONDS", 0.01)
    with search_log(chosen) as log:
        assert log is not None
        note(log, "人間")
        until(lambda: rows(database) == {"人間": 1})
        note(log, *["機械"] * 50)
    assert rows(database) == {"人間": 1, "機械": 50}


def test_old_and_needless_rows_are_forgotten(
    database: Engine, database_url: str, open_log: OpenLog
) -> None:
    """The bound holds; what was asked or opened more often stays."""
    log = open_log(database_url, days=2, most=20)
    note(log, "人間", "人間", "機械")
    assert log.flush()
    log.click(Click(Search("paragraphs", "機械", "exact"), "1"), 1)
    assert log.flush()
    for days in (1, 2, 9):
        copy = (
            "INSERT INTO sakuin_searches (index_name, day, mode, query, folded, asked, total) "
            f"SELECT 'old', '{past(database, days)}', mode, query, folded, asked, total "
            "FROM sakuin_searches WHERE index_name = 'paragraphs'"
        )
        replay(database, lambda c, sql=copy: c.exec_driver_sql(sql))  # type: ignore[misc]
    note(log, *(f"word{number}" for number in range(100)))
    assert log.flush()
    found = rows(database)
    assert len(found) <= 20
    assert found["人間"] == 4  # of two days; others are gone
    assert found["機械"] == 1
    sql = "SELECT COUNT(*) FROM sakuin_clicks"
    assert read(database, lambda c: c.exec_driver_sql(sql).scalar_one()) == 1


def past(database: Engine, days: int) -> str:
    """Return a day of the past, as the database says it."""
    is_sqlite = database.dialect.name == "sqlite"
    sql = f"date('now', '-{days} days')" if is_sqlite else f"UTC_DATE() - INTERVAL {days} DAY"
    return str(read(database, lambda c: c.exec_driver_sql(f"SELECT {sql}").scalar_one()))


WRITER = """
import sys
from sakuin.app.asked import Asked
from sakuin.app.search_log import SearchLog, open_impatiently
from sakuin.app.search_log_read import past_searches
from sakuin.app.search_log_rows import Click, Search
log = SearchLog(open_impatiently(sys.argv[1]), 30, 10_000)
print("ready", flush=True)
sys.stdin.readline()
for turn in range(15):
    for number in range(40):
        log.note("paragraphs", Asked(text=f"word{number}"), turn)
        log.click(Click(Search("paragraphs", f"word{number}", "exact"), str(number % 7)), 2)
    assert log.flush()
assert log.dropped == 0
"""


def test_two_processes_add_up_exactly(database: Engine, database_url: str) -> None:
    """Every note and every click of both is there, whatever they write at the same time."""
    crew = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, database_url],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    for each in crew:
        assert each.stdout is not None
        assert each.stdout.readline() == "ready\n"
    for each in crew:
        assert each.stdin is not None
        each.stdin.write("\n")
        each.stdin.flush()
    for each in crew:
        each.communicate(timeout=60)
        assert each.returncode == 0
    assert rows(database) == {f"word{number}": 30 for number in range(40)}
    for sql, wanted in (
        ("SELECT SUM(clicks) FROM sakuin_searches", 1_200),
        ("SELECT SUM(clicks) FROM sakuin_clicks", 1_200),
        ("SELECT SUM(positions) FROM sakuin_clicks", 2_400),
    ):
        assert read(database, lambda c, sql=sql: c.exec_driver_sql(sql).scalar_one()) == wanted  # type: ignore[misc]


def test_a_click_makes_up_no_search(database: Engine, log: SearchLog) -> None:
    """Forged clicks raise a counter of what was logged, and nothing else, once a second."""
    note(log, "人間")
    assert log.flush()
    for query, mode in (
        ("人間", "exact"),
        ("人間", "closest"),
        ("機械", "exact"),
        ("機" * 999, ""),
    ):
        for _ in range(20):
            log.click(Click(Search("paragraphs", query, mode), "1"), 1)
    log.click(Click(Search("paragraphs", "人間", "exact"), "9" * 256), 1)
    assert log.flush()
    assert rows(database) == {"人間": 1}
    sql = "SELECT clicks FROM sakuin_searches"
    assert read(database, lambda c: c.exec_driver_sql(sql).scalar_one()) == 1


def test_memory_is_bounded(
    database: Engine, log: SearchLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What does not fit between two writes is dropped, and counted; what is known still counts."""
    monkeypatch.setattr(search_log_module, "MOST_PENDING", 3)
    note(log, "一", "二", "三", "四", "五", "一")
    for document in "12345":
        log.click(Click(Search("paragraphs", "一", "exact"), document), 1)
    assert log.dropped == 4
    assert log.flush()
    assert rows(database) == {"一": 2, "二": 1, "三": 1}


def test_a_lock_drops_notes_and_holds_up_nobody(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    open_database: Callable[[str], Engine],
    open_log: OpenLog,
) -> None:
    monkeypatch.setattr(writer_module, "PATIENCE_SECONDS", 0.0)
    url = f"sqlite:///{tmp_path / 'q.db'}"
    database = open_database(url)
    replay(database, create_search_log)
    log = open_log(f"{url}?timeout=0.01")
    holder = sqlite3.connect(tmp_path / "q.db", isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    note(log, "人間", "人間", "機械")
    assert not log.flush()
    assert log.dropped == 3
    holder.execute("ROLLBACK")
    holder.close()
    note(log, "人間")
    assert log.flush()
    assert rows(database) == {"人間": 1}


def test_a_server_that_hangs_holds_up_nobody(
    caplog: pytest.LogCaptureFixture, open_log: OpenLog
) -> None:
    """Notes are taken meanwhile; the writer gives up after its own time-out, and says so once."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        log = open_log(f"mysql+pymysql://u:p@127.0.0.1:{port}/s")
        note(log, "人間")
        writing = threading.Thread(target=log.flush)
        writing.start()
        start = time.monotonic()
        note(log, *["機械"] * 100)
        assert time.monotonic() - start < 0.5
        writing.join(30)
        assert not writing.is_alive()
        assert log.dropped == 1
        silent.close()
        assert not log.flush()
        assert log.dropped == 101
    warned = [each for each in caplog.records if each.levelno == logging.WARNING]
    assert len(warned) == 1
    assert "人間" not in warned[0].getMessage()


def test_tables_that_were_never_made_are_named(
    log: SearchLog, caplog: pytest.LogCaptureFixture
) -> None:
    note(log, "人間")
    assert not log.flush()
    assert log.dropped == 1
    assert "sakuin init" in caplog.text
    assert "人間" not in caplog.text


def test_suggestions_do_not_take_missing_tables_for_a_database_that_is_away(
    database_url: str,
) -> None:
    """S6: or no search would ask about its rows for a while, after each."""
    with row_check(database_url) as check:
        for _ in range(2):
            assert check.ask(lambda c: past_searches(c, "paragraphs", "人", 8)) == ()
