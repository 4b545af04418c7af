"""Opening a database: what is refused and why, and what every session is set to."""

from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import Engine, make_url

from databases import Servers, push_all
from sakuin.queue import (
    DatabaseAway,
    DatabaseRefused,
    SchemaMismatch,
    claim,
    create_schema,
    open_engine,
    queue_counts,
    read,
    replay,
)
from sakuin.queue.mysql_engine import check_server


@pytest.mark.parametrize(
    ("url", "remedy"),
    [
        ("mysql://host/db", r"write mysql\+pymysql://"),
        ("mysql+mysqldb://host/db", r"write mysql\+pymysql://"),
        ("mariadb+pymysql://host/db", r"write mysql\+pymysql://"),
        ("postgresql://host/db", "'postgresql': use mysql"),
        ("sqlite+aiosqlite:///x.db", "use mysql"),
        ("nonsense", "not a database address"),
        ("", "not a database address"),
        ("nodialect://x", "not a database address"),
        ("sqlite://", "in memory would be lost"),
        ("sqlite:///:memory:", "in memory would be lost"),
        ("sqlite:///file:x?mode=memory&uri=true", "in memory would be lost"),
        ("mysql+pymysql://host", "names no database"),
        ("mysql+pymysql://host/db?charset=latin1", "charset=latin1"),
    ],
)
def test_an_address_that_will_not_do_is_refused_with_a_remedy(url: str, remedy: str) -> None:
    with pytest.raises(DatabaseRefused, match=remedy):
        open_engine(url)


@pytest.mark.parametrize(
    ("version", "is_good"),
    [
        ("5.5.5-10.11.19-MariaDB-0+deb12u1", True),
        ("11.8.2-MariaDB-1 from Debian", True),
        ("5.5.5-10.6.0-MariaDB", True),
        ("5.5.5-10.5.29-MariaDB", False),
        ("8.0.13", True),
        ("8.4.0-commercial", True),
        ("8.0.12", False),
        ("5.7.44-log", False),
        ("8.0.11-TiDB-v7.5.0", False),
        ("what is this", False),
    ],
)
def test_an_old_server_is_refused(version: str, is_good: bool) -> None:
    """SKIP LOCKED and expression defaults: MariaDB 10.6, MySQL 8.0.13."""
    if is_good:
        check_server(version)
    else:
        with pytest.raises(DatabaseRefused, match=r"MariaDB 10\.6 or MySQL 8\.0\.13"):
            check_server(version)


def test_opening_does_not_connect() -> None:
    """So that a program starts while its database is away."""
    open_engine("mysql+pymysql://nobody@127.0.0.1:1/nothing").dispose()


def test_a_database_that_is_away_says_so() -> None:
    """DatabaseAway, for exit code 69 and status 503."""
    engine = open_engine("mysql+pymysql://nobody@127.0.0.1:1/nothing")
    for act in (create_schema, lambda engine: claim(engine, "q", limit=1, lease_seconds=1)):
        with pytest.raises(DatabaseAway, match="cannot reach the database"):
            act(engine)


@pytest.mark.parametrize(
    ("change", "named"),
    [({"password": "wrong"}, "Access denied"), ({"database": "missing_db"}, "Unknown database")],
)
def test_a_wrong_account_is_no_matter_of_waiting(
    servers: Servers, open_database: Callable[[str], Engine], change: dict[str, str], named: str
) -> None:
    """DatabaseRefused: trying again later would not help."""
    url = make_url(servers.private().url).set(**change)  # type: ignore[arg-type]
    engine = open_database(url.render_as_string(hide_password=False))
    with pytest.raises(DatabaseRefused, match=named):
        create_schema(engine)


def test_missing_tables_are_told_with_the_remedy(
    database_url: str, open_database: Callable[[str], Engine]
) -> None:
    engine = open_database(database_url)
    with pytest.raises(SchemaMismatch, match="sakuin init"):
        claim(engine, "q", limit=1, lease_seconds=1)
    with pytest.raises(SchemaMismatch, match="create_schema"):
        read(engine, lambda connection: queue_counts(connection, "q"))


def test_a_mistake_in_sql_is_raised_as_it_is(engine: Engine) -> None:
    """Nothing is replayed, nothing is hidden."""
    calls: list[int] = []

    def work(connection: object) -> None:
        calls.append(1)
        connection.exec_driver_sql("SELECT no_such_column FROM sakuin_messages")  # type: ignore[attr-defined]

    with pytest.raises(Exception, match="no_such_column"):
        replay(engine, work)
    assert calls == [1]


def test_every_mysql_session_is_strict_and_read_committed(
    servers: Servers, open_database: Callable[[str], Engine]
) -> None:
    """Q2, Q7: whatever the server's defaults are."""
    engine = open_database(servers.private().url)
    with engine.begin() as connection:
        connection.exec_driver_sql("SET GLOBAL sql_mode = ''")
    engine.dispose()
    try:
        with engine.begin() as connection:
            mode = connection.exec_driver_sql("SELECT @@sql_mode").scalar_one()
            level = connection.exec_driver_sql("SELECT @@tx_isolation").scalar_one()
            charset = connection.exec_driver_sql("SELECT @@character_set_client").scalar_one()
        assert "STRICT_ALL_TABLES" in mode
        assert "NO_ZERO_DATE" in mode
        assert (level, charset) == ("READ-COMMITTED", "utf8mb4")
    finally:
        with engine.begin() as connection:
            connection.exec_driver_sql("SET GLOBAL sql_mode = DEFAULT")


@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
def test_every_sqlite_session_is_durable(engine: Engine) -> None:
    """WAL, every commit on disk, foreign keys, and ids that are never used twice."""
    with engine.connect() as connection:
        pragmas = {
            name: connection.exec_driver_sql(f"PRAGMA {name}").scalar_one()
            for name in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
        }
    assert pragmas == {
        "journal_mode": "wal",
        "synchronous": 2,
        "foreign_keys": 1,
        "busy_timeout": 10_000,
    }
    (first,) = push_all(engine, "q", b"a")
    with engine.begin() as connection:
        connection.exec_driver_sql("DELETE FROM sakuin_messages")
    assert push_all(engine, "q", b"b") == [first + 1]


@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
def test_reads_do_not_wait_for_a_writer(engine: Engine) -> None:
    """A plain read goes on while a transaction writes; a second writer would wait."""
    push_all(engine, "q", b"a")
    with engine.begin() as writer:
        writer.exec_driver_sql("UPDATE sakuin_messages SET priority = 1")
        assert read(engine, lambda connection: queue_counts(connection, "q")).ready == 1


def test_the_folder_of_a_sqlite_file_is_made(
    tmp_path: Path, open_database: Callable[[str], Engine]
) -> None:
    path = tmp_path / "new" / "folder" / "queue.db"
    create_schema(open_database(f"sqlite:///{path}"))
    assert path.exists()


def test_a_file_that_is_no_database_is_named(
    tmp_path: Path, open_database: Callable[[str], Engine]
) -> None:
    path = tmp_path / "letter.txt"
    path.write_text("Dear Sir or Madam, " * 500)
    with pytest.raises(DatabaseRefused, match="no SQLite database"):
        create_schema(open_database(f"sqlite:///{path}"))


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(DatabaseRefused, match="cannot make the folder"):
        open_engine(f"sqlite:///{tmp_path}/file/queue.db")
