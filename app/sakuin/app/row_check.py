"""Asking the database about the rows of a page, without ever letting a search wait for it (S6).

A database that hangs, or whose host drops packets, would hold every search for its time-out:
so this has short ones of its own, and after a failure nobody asks for a while.
"""

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from sqlalchemy import Connection, Engine, make_url

from sakuin.queue import DatabaseAway, DatabaseBusy, DatabaseRefused, open_engine, read

MOST_SECONDS = 1
"""How long one answer of the database is waited for."""
PAUSE_SECONDS = 5.0
MOST_ASKING = 10
"""How many searches ask at once: while the database hangs, all others are answered at once."""
MOST_IN_PASSING = 2
"""How many questions in passing are asked at once; further ones are not."""
_AWAY = (DatabaseAway, DatabaseBusy, DatabaseRefused)
_TRIES = 2  # a pooled connection may be one that the server has closed

_Result = TypeVar("_Result")


class RowCheck:
    """Reads with little patience; safe for threads."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._asked_again_at = 0.0
        self._asking = threading.BoundedSemaphore(MOST_ASKING)
        self._in_passing = threading.BoundedSemaphore(MOST_IN_PASSING)

    def ask(self, work: Callable[[Connection], _Result]) -> _Result:
        """Run `work`, which only reads.

        Raises DatabaseAway at once for a while after a failure, or after an answer that took
        long: a search in five seconds may wait, not every one.
        """
        self._refuse_for_a_while()
        if not self._asking.acquire(timeout=MOST_SECONDS):
            raise DatabaseAway(f"{MOST_ASKING} searches wait for it already")
        try:
            self._refuse_for_a_while()
            start = time.monotonic()
            try:
                return read(self._engine, work, tries=_TRIES)
            except _AWAY:  # any other error is of this question, not of the database
                start = -math.inf
                raise
            finally:
                if time.monotonic() - start > MOST_SECONDS:
                    self._asked_again_at = time.monotonic() + PAUSE_SECONDS
        finally:
            self._asking.release()

    def ask_in_passing(self, work: Callable[[Connection], _Result]) -> _Result:
        """Run `work` as `ask` does, but never wait for a turn: for what can be left out.

        Raises DatabaseAway at once where two such questions are being asked already.
        """
        if not self._in_passing.acquire(blocking=False):
            raise DatabaseAway(f"{MOST_IN_PASSING} questions in passing wait for it already")
        try:
            return self.ask(work)
        finally:
            self._in_passing.release()

    def _refuse_for_a_while(self) -> None:
        if time.monotonic() < self._asked_again_at:
            raise DatabaseAway(f"it failed, or was slow, within the last {PAUSE_SECONDS:.0f} s")


@contextmanager
def row_check(database_url: str) -> Iterator[RowCheck]:
    """Lend a row check on a database, with connections of its own."""
    url = make_url(database_url)
    if url.get_backend_name() == "mysql":
        names = ("connect_timeout", "read_timeout", "write_timeout")
        url = url.update_query_dict({name: str(MOST_SECONDS) for name in names})
    engine = open_engine(url.render_as_string(hide_password=False))
    try:
        yield RowCheck(engine)
    finally:
        engine.dispose()
