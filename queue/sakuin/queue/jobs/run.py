"""What a handler is given besides its arguments: which delivery this is, and how to report."""

import time
from collections.abc import Callable
from typing import NamedTuple

from sqlalchemy import Engine

from sakuin.queue.errors import DatabaseAway, DatabaseBusy
from sakuin.queue.jobs.job import Receipt
from sakuin.queue.jobs.job_life import job_of_receipt, set_progress
from sakuin.queue.replay import read

PROGRESS_SECONDS = 0.5
"""At least so much time lies between two writes of a job's progress."""


class Order(NamedTuple):
    """One delivery of a message, as the process that runs it is told."""

    message_id: int
    token: bytes
    kind: str
    data: bytes
    attempts: int
    errors: int


class Run:
    """One run of a handler."""

    def __init__(
        self, order: Order, open_engine: Callable[[], Engine], is_stopping: Callable[[], bool]
    ) -> None:
        self._order = order
        self._open_engine = open_engine
        self._is_stopping = is_stopping
        self._job_id: int | None = None
        self._is_asked = False
        self._pending: tuple[int, int | None, str] | None = None
        self._next_write = 0.0
        self.was_told = False

    @property
    def message_id(self) -> int:
        """The id of the message: what the push returned."""
        return self._order.message_id

    @property
    def attempts(self) -> int:
        """How often it was delivered, with this time: 1 at first."""
        return self._order.attempts

    @property
    def errors(self) -> int:
        """How often it failed before."""
        return self._order.errors

    @property
    def receipt(self) -> Receipt:
        """What names this delivery, for whoever else is to report on it."""
        return Receipt(self._order.message_id, self._order.token)

    @property
    def engine(self) -> Engine:
        """An engine of this process on the queue's database; it is opened when first asked for."""
        return self._open_engine()

    @property
    def job_id(self) -> int | None:
        """The id of the job, if the message was started with a life."""
        if not self._is_asked:
            job = read(self.engine, lambda connection: job_of_receipt(connection, self.receipt))
            self._job_id = None if job is None else job.id
            self._is_asked = True
        return self._job_id

    @property
    def is_stopping(self) -> bool:
        """Whether the worker is about to stop.

        A handler of long jobs looks at it, and raises whatever it likes: that is no failure then,
        and the message comes back as if it had not been delivered.
        """
        self.was_told = self.was_told or self._is_stopping()
        return self.was_told

    def progress(self, done: int, of: int | None = None, note: str = "") -> None:
        """Say that `done` of so many steps are done; cheap, so call it as often as you like.

        It is written about twice a second, the last one when the handler ends. Nothing is written
        if the message has no job, or is ours no more; while the database is away it is put off.
        """
        self._pending = (done, of, note)
        if time.monotonic() >= self._next_write:
            self.flush()

    def flush(self) -> None:
        """Write the progress that was put off, if any."""
        if self._pending is None:
            return
        self._next_write = time.monotonic() + PROGRESS_SECONDS
        try:
            set_progress(self.engine, self.receipt, *self._pending)
        except (DatabaseAway, DatabaseBusy):
            return  # told again at the next call, or never: the work is worth more than its report
        self._pending = None
