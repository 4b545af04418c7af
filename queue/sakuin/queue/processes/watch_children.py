"""A supervisor's work with the database, in a thread: it may be away, and must not hold us up.

Gives back what dead children held, at once or as soon as the database is there, and tells which
living ones have not beaten for so long that they count as dead.
"""

import logging
import queue
import threading
import time
from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import Self

from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from sakuin.queue.errors import QueueError
from sakuin.queue.processes.prune_dead import Touch, is_given_up
from sakuin.queue.processes.registry import deregister, processes
from sakuin.queue.replay import read

_LOG = logging.getLogger("sakuin.processes")
_RETRY_SECONDS = 0.5
END_SECONDS = 10.0
"""So long the end of a supervisor may wait for a database to give back what children held."""


class WatchChildren:
    """Watches while the `with` block runs; leaving it gives back what is still to be given back."""

    def __init__(self, engine: Engine, dead_after_seconds: float) -> None:
        self._engine, self._dead_after = engine, dead_after_seconds
        self._every_seconds = dead_after_seconds / 5
        self._look_at = 0.0
        self._in_touch = Touch(3 * self._every_seconds)
        self._dead: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._owed: list[bytes] = []
        self._living: Mapping[bytes, float] = {}
        self._silent: frozenset[bytes] = frozenset()
        self._end_at: float | None = None
        self._is_told = False
        self._thread = threading.Thread(target=self._run, name="watch-children", daemon=True)

    @property
    def silent(self) -> frozenset[bytes]:
        """The ids of living children that did not beat, as the database was last seen."""
        return self._silent

    def watch(self, living: Mapping[bytes, float]) -> None:
        """Say which ids live, and since when (monotonic) they were to be registered."""
        self._living = living

    def give_back(self, ids: Iterable[bytes]) -> None:
        """Have what these dead ones held made ready again, and their rows removed."""
        for one in ids:
            self._dead.put(one)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._dead.put(None)
        self._thread.join(2 * END_SECONDS)  # a database that hangs does not keep us

    def _run(self) -> None:
        while self._end_at is None or (self._owed and time.monotonic() < self._end_at):
            self._take_orders()
            try:
                self._pay()
                if self._end_at is None and time.monotonic() >= self._look_at:
                    self._look()
                    self._look_at = time.monotonic() + self._every_seconds
                    self._is_told = False
            except Exception as error:  # noqa: BLE001  whatever it is, the watch goes on
                self._say(error)
        if self._owed:
            _LOG.warning("%d dead processes stay registered until they are pruned", len(self._owed))

    def _say(self, error: Exception) -> None:
        if not self._is_told:
            is_expected = isinstance(error, QueueError | SQLAlchemyError)
            _LOG.warning("supervisor: trying again: %s", error, exc_info=not is_expected)
        self._is_told = True

    def _take_orders(self) -> None:
        wait = min(_RETRY_SECONDS, self._every_seconds)
        try:
            while True:
                order = self._dead.get(timeout=wait)
                if order is None:
                    self._end_at = time.monotonic() + END_SECONDS
                else:
                    self._owed.append(order)
                wait = 0.0
        except queue.Empty:
            return

    def _pay(self) -> None:
        while self._owed:
            count = deregister(self._engine, self._owed[0])
            if count:
                _LOG.warning("%d messages of a dead process are ready again", count)
            del self._owed[0]

    def _look(self) -> None:
        living = self._living
        seen = {one.id: one for one in read(self._engine, processes)}
        in_touch_seconds = self._in_touch()
        long_ago = time.monotonic() - self._dead_after
        self._silent = frozenset(
            one
            for one, since in living.items()
            if (
                is_given_up(seen[one], in_touch_seconds)
                if one in seen
                else since < long_ago and self._dead_after <= 2 * in_touch_seconds
            )
        )
