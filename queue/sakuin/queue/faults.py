"""Tells what a database error means: lost against others, connection gone, or a plain mistake."""

import sqlite3
from enum import Enum

from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from sakuin.queue.errors import (
    DatabaseAway,
    DatabaseBusy,
    DatabaseRefused,
    QueueError,
    SchemaMismatch,
)

_REPLAY = {1213, 1205, 1020}
"""Deadlock, lock wait time-out, record changed since read: the transaction did not happen."""

_LOST = {0, 1053, 1927, 2006, 2013, 2014, 2055, 4031}
_REFUSED = {1044, 1045, 1049, 1251, 1698}
"""No right, wrong password, no such database: waiting would not help."""

_NO_TABLE = 1146


class Fault(Enum):
    """What a failed statement says about the transaction that it was in."""

    LOST_RACE = "it was undone, do it again"
    LOST_CONNECTION = "the connection is gone"
    MISTAKE = "doing it again would fail again"


def fault_of(error: DBAPIError) -> Fault:
    """Tell what the error means for the transaction."""
    code = _code(error.orig)
    if isinstance(error.orig, sqlite3.Error):
        is_busy = code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
        return Fault.LOST_RACE if is_busy else Fault.MISTAKE
    if code in _REPLAY:
        return Fault.LOST_RACE
    if error.connection_invalidated or code in _LOST:
        return Fault.LOST_CONNECTION
    return Fault.MISTAKE


def connect_error(error: Exception) -> QueueError:
    """Return what to raise when no connection could be had."""
    if isinstance(error, PoolTimeout):
        return DatabaseBusy(f"all connections of the pool are in use: {error}")
    cause = error.orig if isinstance(error, DBAPIError) else error
    code = _code(cause)
    if isinstance(cause, sqlite3.Error):
        if code == sqlite3.SQLITE_NOTADB:
            return DatabaseRefused(f"the file is no SQLite database: {cause}")
    elif isinstance(cause, RuntimeError):
        return DatabaseRefused(f"cannot log in: {cause}")  # PyMySQL lacks `cryptography` for it
    elif isinstance(cause, TypeError):
        return DatabaseRefused(f"the address has an option that the driver does not take: {cause}")
    elif code in _REFUSED:
        return DatabaseRefused(f"the database server refuses us: {cause}")
    return DatabaseAway(f"cannot reach the database: {cause}")


def mistake_error(error: DBAPIError) -> Exception:
    """Return what to raise for a statement that will never work: the error itself, or a remedy."""
    if _code(error.orig) == _NO_TABLE or "no such table: sakuin_" in str(error.orig):
        return SchemaMismatch(
            f"{error.orig}: make the tables first, with sakuin.queue.create_schema or `sakuin init`"
        )
    return error


def _code(cause: BaseException | None) -> int | None:
    """Return the server's error number, or SQLite's without its extension."""
    if isinstance(cause, sqlite3.Error):
        return getattr(cause, "sqlite_errorcode", 0) & 0xFF
    first = cause.args[0] if cause is not None and cause.args else None
    return first if isinstance(first, int) else None
