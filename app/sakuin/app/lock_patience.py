"""Waiting for a table only a moment: while DDL waits for its lock, every save waits behind it."""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from sakuin.queue import DatabaseBusy

WAIT_SECONDS = 5
_TIMED_OUT = 1205


@contextmanager
def patience(connection: Connection, place: str) -> Iterator[None]:
    """Let statements of the block wait WAIT_SECONDS each for the table; DatabaseBusy names it."""
    if connection.dialect.name == "sqlite":  # it has one lock only, and a time-out of its own
        yield
        return
    connection.exec_driver_sql(f"SET SESSION lock_wait_timeout = {WAIT_SECONDS}")
    try:
        yield
    except DBAPIError as error:
        if error.orig is None or error.orig.args[:1] != (_TIMED_OUT,):
            raise
        raise DatabaseBusy(
            f"{place} is held by a long transaction: waited {WAIT_SECONDS} s for it, and "
            "saves behind that wait; try again later"
        ) from error
    finally:
        try:
            connection.exec_driver_sql("SET SESSION lock_wait_timeout = DEFAULT")
        except SQLAlchemyError:  # a broken session: what broke it is being raised
            connection.invalidate()
