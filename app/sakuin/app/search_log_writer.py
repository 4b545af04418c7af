"""Writing the search log in short transactions, with little patience, and keeping it small."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import timedelta
from itertools import islice
from typing import Concatenate, ParamSpec, TypeVar

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError

from sakuin.app.search_log_rows import (
    MOST_FORGOTTEN,
    Click,
    Search,
    Times,
    add_clicks,
    add_searches,
    count_searches,
    forget_before,
    forget_least,
    today,
)
from sakuin.queue.faults import Fault, fault_of, mistake_error

TIDY_SECONDS = 60.0
PATIENCE_SECONDS = 3.0
"""How long a transaction that loses against others is tried again."""
_AT_ONCE = 100
_PAUSE_SECONDS = 0.01

_P = ParamSpec("_P")
_T = TypeVar("_T")


class LogWriter:
    """Writes for one thread. Everything raises what the database raises."""

    def __init__(self, engine: Engine, days: int, most: int) -> None:
        self._engine, self._days, self._most = engine, days, most
        self._new = 0
        self._tidy_at = 0.0

    def write(self, searches: Mapping[Search, Times], clicks: Mapping[Click, int]) -> Iterator[int]:
        """Write, and yield how many notes and clicks each transaction has put into the database.

        What stays in the middle of an error is not written, unless the connection was lost
        during COMMIT.
        """
        day = self._attempt(today)
        for part in _cut(sorted(searches)):
            some = {each: searches[each] for each in part}
            self._attempt(add_searches, day, some)
            self._new += len(some)
            yield sum(times.asked for times in some.values())
        for chosen in _cut(sorted(clicks)):
            self._attempt(add_clicks, day, {each: clicks[each] for each in chosen})
            yield len(chosen)

    def tidy(self) -> None:
        """Forget what is too old or too much, now and then; in small transactions."""
        if self._new <= self._most // 10 and time.monotonic() < self._tidy_at:
            return
        oldest = self._attempt(today) - timedelta(days=self._days - 1)
        while self._attempt(forget_before, oldest) == MOST_FORGOTTEN:
            pass
        count = self._attempt(count_searches)
        if count > self._most:  # some more, so that what is new has time to be asked again
            left = count - (self._most - self._most // 10)
            while left > 0 and (done := self._attempt(forget_least, left)):
                left -= done
        self._new, self._tidy_at = 0, time.monotonic() + TIDY_SECONDS

    def _attempt(
        self,
        work: Callable[Concatenate[Connection, _P], _T],
        *values: _P.args,
        **named: _P.kwargs,
    ) -> _T:
        """Run one transaction; again only where it lost against others, which undid it whole."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                with self._engine.begin() as connection:
                    return work(connection, *values, **named)
            except DBAPIError as error:
                if fault_of(error) is not Fault.LOST_RACE or time.monotonic() > deadline:
                    raise mistake_error(error) from error  # which names a remedy, if there is one
            time.sleep(_PAUSE_SECONDS)  # the rival's transaction is short; nothing tells its end


def _cut(items: Iterable[_T]) -> Iterator[list[_T]]:
    rest = iter(items)
    while part := list(islice(rest, _AT_ONCE)):
        yield part
