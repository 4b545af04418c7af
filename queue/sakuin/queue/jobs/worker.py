"""The worker: claims messages of kinds that are known, lets children run them, settles the rest.

One thread looks after the children, one or two claim, one settles, one keeps the leases.
Whatever the database does, the children's time limits are kept; whatever the children do, the
leases are.
"""

import logging
import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from sqlalchemy import Engine

from sakuin.queue.connect import open_engine
from sakuin.queue.errors import BadMessage, QueueError, SchemaMismatch
from sakuin.queue.jobs.acks import AWAY, Acks
from sakuin.queue.jobs.child import Setup
from sakuin.queue.jobs.crew import Crew
from sakuin.queue.jobs.fetch import Fetch, Wanted
from sakuin.queue.jobs.leases import Leases
from sakuin.queue.jobs.measures import MeasureBuffer
from sakuin.queue.jobs.shift import Shift
from sakuin.queue.jobs.trouble import Trouble
from sakuin.queue.limits import MAX_CLAIM, check_seconds
from sakuin.queue.queue_names import check_patterns
from sakuin.queue.replay import read
from sakuin.queue.schema import is_schema_current

_LOG = logging.getLogger("sakuin.jobs")
RETRY_SECONDS = 1.0
LEAST_PATIENCE_SECONDS = 12
"""Longer than the server lets a statement wait for a lock."""

SETTLE_SECONDS = 5.0
"""How long a worker that stops tries to settle what it is done with."""


class Worker:
    """Works on the messages of some queues until it is told to stop.

    `target`, "package.module:name", is a registry of `Jobs`, which only the children import:
    `processes` of them, each running one job at a time. `queues` is an order: a name, a beginning
    and `*`, or `*`; without any it is the queues of the registered kinds, in their order. Queues
    that begin like one of `apart` are taken only where they are named so.
    At most `batch` messages are claimed at once, for `lease_seconds`, which are extended while
    they are worked on. A message that has no kind, or one that is not registered, goes to the dead
    list, and so does one whose data do not fit: let no queue be worked on here that others read by
    `claim`. A job whose lease was lost all the same is stopped: another has it. A child
    is replaced after `max_jobs` jobs, and when it holds more than `max_memory_bytes`.

    `holder` (8 bytes; it may be set at any time) begins the tokens of what is claimed from then
    on. Delivery is at least once.
    """

    def __init__(
        self,
        engine: Engine,
        target: str,
        *,
        queues: Sequence[str] = ("*",),
        apart: Sequence[str] = ("index:",),
        processes: int = 2,
        batch: int = 100,
        lease_seconds: float = 30.0,
        poll_seconds: float = 0.1,
        stop_seconds: float = 10.0,
        max_jobs: int | None = None,
        max_memory_bytes: int | None = None,
        holder: bytes | None = None,
    ) -> None:
        _check("processes", processes, 1_000)
        _check("batch", batch, MAX_CLAIM)
        for name, value in (("max_jobs", max_jobs), ("max_memory_bytes", max_memory_bytes)):
            _check(name, 1 if value is None else value, 2**62)
        self.holder = holder
        self._engine = _own_engine(engine, lease_seconds)
        self._wanted = Wanted(
            queues=check_patterns(queues) if queues else (),
            apart=tuple(apart),
            batch=batch,
            lease_seconds=check_seconds("lease_seconds", lease_seconds, positive=True),
            poll_seconds=check_seconds("poll_seconds", poll_seconds, positive=True),
        )
        self._claimers = 2 if processes > 1 and engine.dialect.name != "sqlite" else 1
        self._stop_seconds = check_seconds("stop_seconds", stop_seconds)
        level = logging.getLogger().getEffectiveLevel()
        url = engine.url.render_as_string(hide_password=False)
        self._crew = Crew(Setup(target, url, max_jobs, max_memory_bytes, level), processes)
        self._leases = Leases(self._engine)
        self._measures = MeasureBuffer()
        self._shift = Shift(self._crew, self._leases, self._measures, batch)
        self._turned_at = time.monotonic()

    def run(self, stop: threading.Event, *, until_drained: bool = False) -> None:
        """Work until `stop` is set, or until its queues hold nothing to be done now or soon.

        Then nothing more is claimed; jobs have `stop_seconds` to end, after which they are stopped
        and their messages given back, as if they had not been delivered. A database that goes away
        is waited for. A worker runs once. Raises BadTarget, before anything is claimed, and
        DatabaseRefused or SchemaMismatch if the database will not do at the start.
        """
        try:
            self._crew.start()
            if not self._wanted.queues:
                own = tuple(dict.fromkeys(rules.queue for rules in self._crew.rules.values()))
                self._wanted = replace(self._wanted, queues=own)
            if self._reach(stop):
                self._work(stop, until_drained)
        finally:
            self._crew.close()
            self._engine.dispose()

    def detail(self) -> Mapping[str, object]:
        """Return what there is to say of this worker, as JSON values: for its heartbeat."""
        messages = [one.message for one in self._crew.working]
        return {
            "queues": list(self._wanted.queues),
            "processes": len(self._crew.children),
            "running": dict(Counter(str(one.kind) for one in messages if one is not None)),
            "ahead": self._shift.ahead,
            "ended": dict(self._shift.ended),
        }

    def is_well(self, within_seconds: float = 30.0) -> bool:
        """Tell whether it looked after its children lately."""
        return time.monotonic() - self._turned_at < within_seconds

    def _reach(self, stop: threading.Event) -> bool:
        """Wait for the database; tell whether it was reached before the end."""
        trouble = Trouble("start")
        while not stop.is_set():
            try:
                if not read(self._engine, is_schema_current):
                    raise SchemaMismatch(
                        "the tables are missing or of another version: make them with"
                        " sakuin.queue.create_schema or `sakuin init`"
                    )
            except AWAY as error:
                trouble.is_there(error)
                self._turned_at = time.monotonic()
                stop.wait(RETRY_SECONDS)
            else:
                trouble.is_over()
                return True
        return False

    def _work(self, stop: threading.Event, until_drained: bool) -> None:
        shift = self._shift
        with self._leases:
            acks = Acks(self._engine, self._leases, self._measures)
            fetch = Fetch(
                self._engine, self._wanted, lambda: self.holder, shift.deliver, self._claimers
            )
            try:
                while not stop.is_set() and not (
                    until_drained and shift.is_idle(acks, fetch) and _is_drained(fetch)
                ):
                    self._turned_at = time.monotonic()
                    shift.turn(acks, fetch)
                shift.end(acks, fetch, self._stop_seconds)
            finally:
                fetch.close(0)
                left = acks.close(SETTLE_SECONDS)
        if left:
            _LOG.warning("%s messages could not be settled; they come back", left)


def _is_drained(fetch: Fetch) -> bool:
    try:
        return fetch.is_drained()
    except QueueError:
        return False  # the thread that claims meets the same, and says so


def _own_engine(engine: Engine, lease_seconds: float) -> Engine:
    """Return an engine on the same database that gives up a silent server before the leases end."""
    url = engine.url
    if url.get_backend_name() == "mysql":
        patience = str(max(LEAST_PATIENCE_SECONDS, round(lease_seconds / 2)))
        url = url.update_query_dict({"read_timeout": patience, "write_timeout": patience})
    return open_engine(url.render_as_string(hide_password=False), is_lean=True)


def _check(name: str, value: int, most: int) -> None:
    if not 1 <= value <= most:
        raise BadMessage(f"{name}={value}: use 1 to {most:,}")
