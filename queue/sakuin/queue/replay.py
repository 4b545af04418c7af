"""Runs one transaction whole, and again where that is safe; never where the outcome is unknown."""

import random
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import pymysql
from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from sakuin.queue.errors import DatabaseAway, DatabaseBusy, OutcomeUnknown, QueueError
from sakuin.queue.faults import Fault, connect_error, fault_of, mistake_error
from sakuin.queue.sqlite_engine import READ_ONLY

T = TypeVar("T")

TRIES = 12
FIRST_PAUSE_SECONDS = 0.005
MOST_PAUSE_SECONDS = 0.5
GIVE_UP_SECONDS = 30.0

CANNOT_CONNECT = (
    DBAPIError,
    PoolTimeout,
    sqlite3.Error,
    pymysql.MySQLError,
    RuntimeError,
    TypeError,
)
"""What may come out of connecting; the drivers' own errors come from preparing the session."""


def replay(
    engine: Engine,
    work: Callable[[Connection], T],
    *,
    committed: Callable[[Connection, T], bool] | None = None,
) -> T:
    """Run `work(connection)` in one transaction of ours and return what it returned.

    A deadlock, a lock that was not had in time, or a connection that was lost before COMMIT runs
    the whole again, so `work` must do nothing but SQL. A connection lost during COMMIT leaves the
    outcome open: `committed(connection, result)` then looks whether it happened, by a locking read
    (the server may be at it still); without it OutcomeUnknown is raised. Raises DatabaseAway,
    DatabaseBusy, or what `work` raises.
    """
    last: DBAPIError | None = None
    for _ in _tries():
        with _connect(engine) as connection:
            try:
                transaction = connection.begin()
                result = work(connection)
            except DBAPIError as error:
                last = _unless_mistake(error)
                continue
            try:
                transaction.commit()
            except DBAPIError as error:
                last = _unless_mistake(error)
            else:
                return result
        if fault_of(last) is Fault.LOST_CONNECTION and _look(engine, committed, result, last):
            return result
    raise _given_up(last) from last


def read(engine: Engine, work: Callable[[Connection], T], *, tries: int = TRIES) -> T:
    """Run `work(connection)`, which only reads, and return what it returned.

    It takes no lock that a writer would wait for, and is run again after a lost connection, up
    to `tries` times in all.
    """
    last: DBAPIError | None = None
    for _ in _tries(tries):
        with _connect(engine) as connection:
            try:
                return work(connection.execution_options(**{READ_ONLY: True}))
            except DBAPIError as error:
                last = _unless_mistake(error)
    raise _given_up(last) from last


@contextmanager
def _connect(engine: Engine) -> Iterator[Connection]:
    try:
        connection = engine.connect()
    except CANNOT_CONNECT as error:
        raise connect_error(error) from error
    with connection:
        yield connection


def _look(
    engine: Engine,
    committed: Callable[[Connection, T], bool] | None,
    result: T,
    lost: DBAPIError,
) -> bool:
    if committed is None:
        raise OutcomeUnknown(
            f"the connection was lost during COMMIT ({lost.orig}): look before doing it again"
        ) from lost
    try:
        return read(engine, lambda connection: committed(connection, result))
    except (DatabaseAway, DatabaseBusy) as error:
        raise OutcomeUnknown(
            f"the connection was lost during COMMIT and cannot be looked up: {error}"
        ) from error


def _unless_mistake(error: DBAPIError) -> DBAPIError:
    if fault_of(error) is not Fault.MISTAKE:
        return error
    remedy = mistake_error(error)
    if remedy is error:
        raise error
    raise remedy from error


def _given_up(last: DBAPIError | None) -> QueueError:
    if last is not None and fault_of(last) is Fault.LOST_CONNECTION:
        return DatabaseAway(f"the connection was lost again and again: {last.orig}")
    return DatabaseBusy(
        f"the transaction lost against others again and again: {last and last.orig}"
    )


def _tries(most_tries: int = TRIES) -> Iterator[int]:
    """Count the tries, with a growing pause between them, up to GIVE_UP_SECONDS."""
    deadline = time.monotonic() + GIVE_UP_SECONDS
    for number in range(most_tries):
        if number:
            if time.monotonic() > deadline:
                return
            most = min(FIRST_PAUSE_SECONDS * 2.0**number, MOST_PAUSE_SECONDS)
            # Rivals that lost together would meet again: chance spreads them (no secret in it).
            time.sleep(most * random.uniform(0.5, 1.0))  # noqa: S311
        yield number
