"""The engine for a SQLite file: WAL, every commit on disk, and writers that queue up in order.

A transaction begins with BEGIN IMMEDIATE, because one that reads first and writes later fails
with "database is locked" instead of waiting. The execution option `READ_ONLY` makes it a plain
BEGIN, which takes no lock that a writer would wait for.
"""

import sqlite3
import time
from pathlib import Path

from sqlalchemy import URL, Connection, Engine, create_engine, event

from sakuin.queue.errors import DatabaseRefused

READ_ONLY = "sakuin_read_only"
BUSY_SECONDS = 10.0


def open_sqlite(url: URL) -> Engine:
    """Return the engine for a `sqlite` address; makes the folder of the file.

    A writer waits BUSY_SECONDS for the others, or `?timeout=` in the address.
    """
    name = url.database or ":memory:"
    if ":memory:" in name or url.query.get("mode") == "memory":
        raise DatabaseRefused("a queue in memory would be lost: write sqlite:///path/to/file.db")
    if not name.startswith("file:"):
        try:
            Path(name).parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise DatabaseRefused(f"cannot make the folder of {name}: {error}") from error
    patience = {} if "timeout" in url.query else {"timeout": BUSY_SECONDS}
    engine = create_engine(url, hide_parameters=True, connect_args=patience)
    event.listen(engine, "connect", _prepare_session)
    event.listen(engine, "begin", _begin)
    return engine


def _prepare_session(connection: sqlite3.Connection, _record: object) -> None:
    connection.isolation_level = None  # transactions are begun by _begin alone
    _use_wal(connection)
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA foreign_keys = ON")


def _use_wal(connection: sqlite3.Connection) -> None:
    """Switch the file to WAL; SQLite does not wait by itself when two processes do this at once."""
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            mode = connection.execute("PRAGMA journal_mode = WAL").fetchone()[0]
        except sqlite3.OperationalError as error:
            is_busy = error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY
            if not is_busy or time.monotonic() > deadline:
                raise
            time.sleep(0.01)  # the other process holds the file for a moment only
            continue
        if mode != "wal":
            raise DatabaseRefused(
                f"SQLite cannot use a write-ahead log here (it says {mode!r}): "
                "keep the file on a local disk"
            )
        return


def _begin(connection: Connection) -> None:
    is_read_only = connection.get_execution_options().get(READ_ONLY, False)
    connection.exec_driver_sql("BEGIN" if is_read_only else "BEGIN IMMEDIATE")
