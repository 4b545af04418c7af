"""Silencing the triggers of attached tables for a bulk load that pushes the ids itself."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, event
from sqlalchemy.exc import DBAPIError

from sakuin.app.attached import is_missing
from sakuin.queue.dialect import execute

_MARK = "sakuin_silent"


@contextmanager
def silenced(connection: Connection) -> Iterator[None]:
    """Keep the triggers quiet for what this connection does in the block, and for nobody else.

    Whoever uses it pushes the ids of what is changed (`push_changes`). On MySQL it is a variable
    of the session, which no ROLLBACK undoes: it is taken back at the end of the block, and once
    more before the pool gives the connection to anybody else. On SQLite it is a row, so the
    block must stand within one transaction, which no other writer sees. Blocks may be nested.
    """
    if connection.info.get(_MARK):
        yield
        return
    connection.info[_MARK] = True
    try:
        if connection.dialect.name == "sqlite":
            yield from _by_row(connection)
        else:
            yield from _by_variable(connection)
    finally:
        if not connection.closed and not connection.invalidated:
            connection.info.pop(_MARK, None)


def _by_variable(connection: Connection) -> Iterator[None]:
    pool = connection.engine.pool
    if not event.contains(pool, "checkin", _loud_again):
        event.listen(pool, "checkin", _loud_again)
    connection.exec_driver_sql("SET @sakuin_silent = 1")
    try:
        yield
    finally:
        if not connection.closed:  # the pool has it back, and has reset it
            try:
                connection.exec_driver_sql("SET @sakuin_silent = NULL")
            except DBAPIError:  # a broken session takes its variables along
                connection.invalidate()
                raise


def _loud_again(session: Any, record: Any) -> None:
    """Reset a session that returns to the pool while it is still silent."""
    if session is not None and record.info.pop(_MARK, None):
        with session.cursor() as cursor:
            cursor.execute("SET @sakuin_silent = NULL")


def _by_row(connection: Connection) -> Iterator[None]:
    try:
        execute(connection, "UPDATE sakuin_attached SET silent = 1")
    except DBAPIError as error:
        if not is_missing(error):
            raise
        yield  # nothing was ever attached
        return
    try:
        yield
    finally:
        if not connection.closed and connection.in_transaction():  # else it was undone already
            execute(connection, "UPDATE sakuin_attached SET silent = 0")
