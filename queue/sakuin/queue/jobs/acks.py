"""Settles what a worker is done with, many messages in one transaction, in a thread of its own.

A message is settled some milliseconds after its end. A worker that is killed in between has done
its work for nothing: the message is delivered again.
"""

import logging
import threading
import time
from collections.abc import Sequence
from typing import Literal, NamedTuple

from sqlalchemy import Connection, Engine

from sakuin.queue.bury import bury
from sakuin.queue.errors import DatabaseAway, DatabaseBusy, LeaseLost, OutcomeUnknown
from sakuin.queue.jobs.ack_together import MOST_TOGETHER, ack_together
from sakuin.queue.jobs.end_job import finish_jobs_on
from sakuin.queue.jobs.job_life import retry_jobs_on
from sakuin.queue.jobs.leases import Leases
from sakuin.queue.jobs.measures import MeasureBuffer
from sakuin.queue.jobs.trouble import Trouble
from sakuin.queue.message import Message
from sakuin.queue.retry import RetryPolicy
from sakuin.queue.settle import crash, fail, release

_LOG = logging.getLogger("sakuin.jobs")
AWAY = (DatabaseAway, DatabaseBusy, OutcomeUnknown)
GATHER_SECONDS = 0.04
MEASURE_SECONDS = 5.0
MOST_PAUSE_SECONDS = 5.0


class Settlement(NamedTuple):
    """How one message is to be settled."""

    message: Message
    verb: Literal["ack", "fail", "crash", "bury", "release"]
    result: bytes | None = None
    reason: str = ""
    traceback: str | None = None
    policy: RetryPolicy | None = None


class Acks:
    """Settles messages from a thread. What cannot be settled now is kept leased, and tried on."""

    def __init__(
        self,
        engine: Engine,
        leases: Leases,
        measures: MeasureBuffer,
    ) -> None:
        self._engine, self._leases, self._measures = engine, leases, measures
        self._trouble = Trouble("settle")
        self._waiting: list[Settlement] = []
        self._unsettled = 0
        self._is_urgent = False
        self._end_at: float | None = None
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._run, name="acks", daemon=True)
        self._thread.start()

    @property
    def unsettled(self) -> int:
        """How many messages are not known to be settled yet."""
        return self._unsettled

    def put(self, settlement: Settlement) -> None:
        """Take one to be settled soon."""
        with self._changed:
            self._waiting.append(settlement)
            self._unsettled += 1
            if settlement.message.limit_key is not None:
                self._is_urgent = True  # others wait for its place
            if self._is_urgent or len(self._waiting) in (1, MOST_TOGETHER):
                self._changed.notify()

    def close(self, patience_seconds: float) -> int:
        """Settle the rest, and write the measures; return how many could not be settled in time."""
        with self._changed:
            self._end_at = time.monotonic() + patience_seconds
            self._changed.notify()
        self._thread.join(patience_seconds + 1)
        return self._unsettled

    def _run(self) -> None:
        pause = 0.0
        measured_at = time.monotonic()
        while True:
            batch = self._gather(pause)
            left = self._settle_all(batch)
            with self._changed:
                self._waiting[:0] = left
                self._unsettled -= len(batch) - len(left)
            pause = min(max(0.1, pause * 2), MOST_PAUSE_SECONDS) if left else 0.0
            is_over = self._end_at is not None and (
                not self._waiting or time.monotonic() > self._end_at
            )
            if not left and (is_over or time.monotonic() - measured_at > MEASURE_SECONDS):
                self._measure()
                measured_at = time.monotonic()
            if is_over:
                return

    def _measure(self) -> None:
        try:
            self._measures.flush(self._engine)
        except Exception:  # noqa: BLE001  figures must not stop the settling
            _LOG.exception("measures cannot be written")

    def _gather(self, pause: float) -> list[Settlement]:
        """Wait for something to settle, and a moment for more of it."""
        with self._changed:
            if pause:
                self._changed.wait(pause)
            elif not self._waiting and self._end_at is None:
                self._changed.wait(MEASURE_SECONDS)
            gathered_at = time.monotonic() + GATHER_SECONDS
            while self._may_gather() and (left := gathered_at - time.monotonic()) > 0:
                self._changed.wait(left)
            self._is_urgent = False
            batch = self._waiting[:MOST_TOGETHER]
            del self._waiting[:MOST_TOGETHER]
            return batch

    def _may_gather(self) -> bool:
        is_hurried = self._is_urgent or self._end_at is not None
        return 0 < len(self._waiting) < MOST_TOGETHER and not is_hurried

    def _settle_all(self, batch: Sequence[Settlement]) -> list[Settlement]:
        """Settle what can be settled; return what has to wait for the database."""
        together: list[list[Settlement]] = [
            [one for one in batch if one.verb == "ack"],
            [one for one in batch if one.verb == "release"],
            *([one] for one in batch if one.verb not in ("ack", "release")),
        ]
        left: list[Settlement] = []
        for part in filter(None, together):
            left += part if left else self._settle(part)
        return left

    def _settle(self, part: list[Settlement]) -> list[Settlement]:
        messages = [one.message for one in part]
        self._leases.forget(messages)
        try:
            lost = _do(self._engine, part)
        except AWAY as error:
            self._trouble.is_there(error)
            self._leases.add(messages)
            return part
        except Exception:  # noqa: BLE001  one message that cannot be settled must not stop the rest
            if len(part) > 1:
                return [left for one in part for left in self._settle([one])]
            _LOG.exception("message %s cannot be settled; it comes back", part[0].message.id)
            return []
        if lost:
            _LOG.warning("%s messages were worked on, but not under a live lease any more", lost)
        self._trouble.is_over()
        return []


def _do(engine: Engine, part: Sequence[Settlement]) -> int:
    """Settle messages that are to be settled alike; return how many were ours no more."""
    first, messages = part[0], [one.message for one in part]
    with_job = {one.id for one in messages if one.has_job}

    def finish(connection: Connection, ids: Sequence[int]) -> None:
        finish_jobs_on(connection, with_job.intersection(ids), results)

    def wait_again(connection: Connection, ids: Sequence[int]) -> None:
        retry_jobs_on(connection, with_job.intersection(ids), first.reason or None)

    match first.verb:
        case "ack":
            results = {one.message.id: one.result for one in part if one.result is not None}
            return len(ack_together(engine, messages, also=finish))
        case "release":
            return len(release(engine, messages, also=wait_again))
        case "fail":
            how = (first.reason, first.traceback, first.policy)
            return len(fail(engine, messages, *how, also=wait_again))
        case "crash":
            return len(crash(engine, messages, first.reason, first.policy, also=wait_again))
        case "bury":
            try:
                bury(engine, first.message, first.reason, first.traceback)
            except LeaseLost:
                return 1
            return 0
