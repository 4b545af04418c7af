"""Beats for a process from a thread of its own, until its last job is drained."""

import logging
import os
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from sqlalchemy import Engine, make_url
from sqlalchemy.exc import SQLAlchemyError

from sakuin.queue.connect import open_engine
from sakuin.queue.errors import BadMessage, DatabaseAway, DatabaseBusy, OutcomeUnknown, QueueError
from sakuin.queue.limits import check_seconds
from sakuin.queue.processes.process import check_role
from sakuin.queue.processes.registry import (
    DEAD_AFTER_SECONDS,
    beat,
    deregister,
    detail_text,
    new_id,
    register,
)

_LOG = logging.getLogger("sakuin.processes")
BEATS_A_LIFE = 5
"""A process beats so often in the time after which it counts as dead."""

_RETRY_SECONDS = 1.0
END_SECONDS = 10.0
"""So long the end of a process may wait for a database that hangs, to be deregistered."""


class Heartbeat:
    """Registers a process and beats for it while the `with` block runs.

    It outlives a lost database: the process is registered, or beats, when the database is back.
    Who was taken for dead meanwhile (frozen, or cut off) is registered anew, under a new `id`;
    `was_pruned` counts how often, and `on_renewal`, which may be set, is told. Claims ask `id`
    each time, therefore. Leave the block after the last job is drained, not before: leaving
    deregisters, and gives back what is still held.

    It connects by itself: a pool that the jobs have used up delays no beat. `detail` is asked at
    each beat for what to show. Where `is_well` says no, no beat is written: a process whose work
    hangs counts as dead, however well this thread is. `on_id` is told each id, before it is
    registered. Entering raises DatabaseRefused for a database that will not do.
    """

    def __init__(
        self,
        engine: Engine,
        role: str,
        *,
        supervisor_id: bytes | None = None,
        dead_after_seconds: float = DEAD_AFTER_SECONDS,
        detail: Callable[[], Mapping[str, object]] = dict,
        is_well: Callable[[], bool] = lambda: True,
        on_id: Callable[[bytes], None] = lambda _: None,
    ) -> None:
        self.detail, self.is_well = detail, is_well
        self.on_renewal: Callable[[bytes], None] = _ignore
        self.was_pruned = 0
        self._role, self._supervisor_id = check_role(role), supervisor_id
        self._dead_after = check_seconds("dead_after_seconds", dead_after_seconds, positive=True)
        self._engine = _own_engine(engine, self._dead_after)
        self._on_id = on_id
        self._id = new_id()
        self._is_registered = False
        self._said: str | None = None
        self._left = threading.Event()
        self._thread = threading.Thread(target=self._run, name="heartbeat", daemon=True)

    @property
    def id(self) -> bytes:
        """The id under which the process is registered now: the `holder` of its claims."""
        return self._id

    def __enter__(self) -> Self:
        self._on_id(self._id)
        try:
            self._try_to_beat()
        except BaseException:
            self._engine.dispose()
            raise
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._left.set()
        self._thread.join(END_SECONDS)
        if self._thread.is_alive():
            _LOG.warning("%s: the database does not answer; it will be pruned", self._role)

    def _run(self) -> None:
        is_told = self._is_registered
        while not self._left.wait(self._pause_seconds(is_told)):
            try:
                is_told = not self.is_well() or self._try_to_beat()
            except Exception as error:  # noqa: BLE001  whatever happens, the next beat is tried
                is_told = False
                self._say(f"cannot beat: {error!r}")
        self._leave()

    def _leave(self) -> None:
        try:
            deregister(self._engine, self._id)
        except (QueueError, SQLAlchemyError) as error:
            _LOG.warning("%s stays registered until it is pruned: %s", self._role, error)
        self._engine.dispose()

    def _pause_seconds(self, is_told: bool) -> float:
        pause = self._dead_after / BEATS_A_LIFE
        return pause if is_told else min(pause, _RETRY_SECONDS)

    def _try_to_beat(self) -> bool:
        try:
            self._beat()
        except (DatabaseAway, DatabaseBusy, OutcomeUnknown) as error:
            self._say(f"cannot beat: {error}")
            return False
        self._say(None)
        return True

    def _beat(self) -> None:
        detail = self._detail()
        if self._is_registered and not beat(self._engine, self._id, detail):
            self.was_pruned += 1
            self._is_registered = False
            _LOG.warning("this %s was taken for dead: it goes on under a new id", self._role)
            self._id = new_id()
            self._on_id(self._id)
            self.on_renewal(self._id)
        if not self._is_registered:
            register(
                self._engine,
                self._role,
                self._supervisor_id,
                detail,
                self._dead_after,
                process_id=self._id,
            )
            self._is_registered = True

    def _detail(self) -> Mapping[str, object]:
        """What the process says of itself; nothing it says can stop the beat."""
        size = {"rss_bytes": rss_bytes()}
        try:
            detail = {**self.detail(), **size}
            detail_text(detail)
        except BadMessage as error:
            return {"error": str(error)[:1000], **size}
        return detail

    def _say(self, what: str | None) -> None:
        """Log a state once, not at every beat."""
        if what and self._said is None:
            _LOG.warning("%s: %s", self._role, what)
        if self._said and what is None:
            _LOG.warning("%s: beating again", self._role)
        self._said = what


def _ignore(_new_id: bytes) -> None:
    """Whoever asks `id` at each claim need not be told."""


def rss_bytes() -> int | None:
    """Return how much memory this process holds, where the system tells it (Linux)."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return None
    return pages * os.sysconf("SC_PAGE_SIZE")


def _own_engine(engine: Engine, dead_after_seconds: float) -> Engine:
    """Return an engine on the same database that gives up a silent server in time to ask again."""
    url = make_url(engine.url)
    if url.get_backend_name() == "mysql":
        patience = str(max(1, round(dead_after_seconds / 2)))
        url = url.update_query_dict({"read_timeout": patience, "write_timeout": patience})
    return open_engine(url.render_as_string(hide_password=False))
