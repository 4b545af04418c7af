"""Runs one transaction whole, and again where that is safe; never where the outcome is unknown."""

import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError

from sakuin.queue.errors import DatabaseAway, DatabaseBusy, OutcomeUnknown, QueueError
from sakuin.queue.faults import Fault, connect_error, fault_of, mistake_error
from sakuin.queue.sqlite_engine import READ_ONLY

T = TypeVar("T")

TRIES = 12
FIRST_PAUSE_SECONDS = 0.005
MOST_PAUSE_SECONDS = 0.5


def replay(
    engine: Engine,
    work: Callable[[Connection], T],
    *,
    committed: Callable[[Connection, T], bool] | None = None,
) -> T:
    """Run `work(connection)` in one transaction of ours and return what it returned.

    A deadlock, a lock that was not had in time, or a connection that was lost before COMMIT runs
    the whole again, so `work` must do nothing but SQL. A connection lost during COMMIT leaves the
    outcome open: `committed(connection, result)` then looks whether it happened; without it
    OutcomeUnknown is raised. Raises DatabaseAway, DatabaseBusy, or what `work` raises.
    """
    last: DBAPIError | None = None
    for pause_seconds in _pauses():
        time.sleep(pause_seconds)
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


def read(engine: Engine, work: Callable[[Connection], T]) -> T:
    """Run `work(connection)`, which only reads, and return what it returned.

    It takes no lock that a writer would wait for, and is run again after a lost connection.
    """
    last: DBAPIError | None = None
    for pause_seconds in _pauses():
        time.sleep(pause_seconds)
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
    except (DBAPIError, RuntimeError) as error:
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
    except DatabaseAway as error:
        raise OutcomeUnknown(
            f"the connection was lost during COMMIT and the database is away since ({error})"
        ) from error


def _unless_mistake(error: DBAPIError) -> DBAPIError:
    if fault_of(error) is not Fault.MISTAKE:
        return error
    raise mistake_error(error) from error


def _given_up(last: DBAPIError | None) -> QueueError:
    if last is not None and fault_of(last) is Fault.LOST_CONNECTION:
        return DatabaseAway(f"the connection was lost {TRIES} times in a row: {last.orig}")
    return DatabaseBusy(f"the transaction lost {TRIES} times in a row: {last and last.orig}")


def _pauses() -> Iterator[float]:
    yield 0.0
    for number in range(TRIES - 1):
        most = min(FIRST_PAUSE_SECONDS * 2**number, MOST_PAUSE_SECONDS)
        yield most * random.uniform(0.5, 1.0)  # noqa: S311 - spreads rivals, hides nothing
