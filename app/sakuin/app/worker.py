"""The daemon that drains an index's queue, batch by batch, until it is told to stop.

It never exits because the database or the disk is away: it says so once, waits, and goes on.
"""

import logging
import threading
import time
from collections.abc import Callable

from sqlalchemy.exc import SQLAlchemyError

from sakuin.app.settings import Settings
from sakuin.indexer.batch import Batch, run_batch
from sakuin.indexer.build import Copy, Observer
from sakuin.indexer.errors import IndexerError, Outrun, SourceChanged
from sakuin.indexer.gather import Limits
from sakuin.indexer.publisher import PublisherLease
from sakuin.indexer.sweep import sweep
from sakuin.queue import QueueError, is_paused, queue_counts, read, waiting_count

_LOG = logging.getLogger("sakuin.worker")
_BEAT_SECONDS = 2.0
_LONGEST_WAIT_SECONDS = 5.0
PATIENCE_SECONDS = 60.0


class QueuePaused(Exception):
    """Messages wait in a queue that is paused, so it cannot be drained."""


class Worker:
    """One worker of one index's copy. `stop` may be set from a signal handler or a thread."""

    def __init__(
        self,
        copy: Copy,
        settings: Settings,
        on_step: Observer = lambda _: None,
        stop: threading.Event | None = None,
    ) -> None:
        self._copy, self._on_step = copy, on_step
        self._limits = limits(settings)
        self._poll_seconds = settings.poll_seconds
        self._lease = PublisherLease(copy.generations)
        self._said: str | None = None
        self._is_paused = False
        self.stop = stop or threading.Event()
        self.was_told_to_stop = False

    def run(self, on_batch: Callable[[Batch], None] = lambda _: None) -> None:
        """Drain until `stop` is set."""
        self._loop(on_batch, until_empty=False)

    def drain(self, on_batch: Callable[[Batch], None] = lambda _: None) -> int:
        """Drain until nothing is ready, leased or in back-off; return how many died meanwhile.

        Raises QueuePaused if messages wait that nobody may take, and what stands in the way when
        it has done so for PATIENCE_SECONDS without a batch: who drains from cron must not pile up.
        """
        before = self._counts_dead()
        self._loop(on_batch, until_empty=True)
        return self._counts_dead() - before

    def _loop(self, on_batch: Callable[[Batch], None], *, until_empty: bool) -> None:
        ended = threading.Event()
        beating = threading.Thread(target=self._beat, args=(ended,), name="beat", daemon=True)
        beating.start()
        wait = self._poll_seconds
        failing_since = 0.0
        try:
            while not self.stop.is_set():
                batch, failure = self._try_once(on_batch)
                if batch:
                    wait = self._poll_seconds
                    continue
                if until_empty and failure is None and self._is_empty():
                    return
                if until_empty and failure is None and self._is_paused:
                    raise QueuePaused(self._paused())
                if failure is None:
                    wait, failing_since = self._poll_seconds, 0.0
                else:
                    wait = min(wait * 2, _LONGEST_WAIT_SECONDS)
                    failing_since = failing_since or time.monotonic()
                    waited = time.monotonic() - failing_since
                    if until_empty and (
                        waited > PATIENCE_SECONDS or isinstance(failure, SourceChanged)
                    ):
                        raise failure
                self.stop.wait(wait)
            self.was_told_to_stop = True
        finally:
            ended.set()
            beating.join()
            self._lease.release()

    def _try_once(self, on_batch: Callable[[Batch], None]) -> tuple[Batch | None, Exception | None]:
        """Do one batch if there is one; the error is what stands in the way."""
        try:
            self._copy.generations.prepare()
            if not self._lease.beat():
                self._say("another worker publishes this index; standing by")
                return None, None
            batch = run_batch(self._copy, self._limits, self._on_step)
            self._is_paused = batch is None and self._asks_paused()
        except Outrun as error:
            _LOG.info("%s; its messages are taken up again", error)
            return None, None
        except (QueueError, SQLAlchemyError, IndexerError, OSError) as error:
            self._say(f"waiting: {error}")
            self._sweep()  # perhaps what a crashed run left is what fills the disk
            return None, error
        except Exception as error:  # noqa: BLE001  whatever a library raises must not end the daemon
            _LOG.exception("a batch failed for a reason that is no document's; it is tried again")
            return None, error
        self._say(self._paused() if self._is_paused else None)
        if batch:
            on_batch(batch)
            self._sweep()
        return batch, None

    def _sweep(self) -> None:
        try:
            sweep(self._copy.generations)
        except OSError as error:
            _LOG.warning("cannot sweep: %s", error)

    def _say(self, what: str | None) -> None:
        """Log a state once, not at every poll."""
        if what and what != self._said:
            _LOG.warning("%s", what)
        if self._said and what is None:
            _LOG.warning("going on")
        self._said = what

    def _beat(self, ended: threading.Event) -> None:
        while not ended.wait(_BEAT_SECONDS):
            try:
                self._lease.beat()
            except OSError as error:
                self._say(f"waiting: {error}")

    def _is_empty(self) -> bool:
        try:
            # Asked in one statement: counted state by state, a message that changes its state
            # meanwhile can be missed.
            return not read(
                self._copy.database, lambda c: waiting_count(c, self._copy.index.queue, 1)
            )
        except QueueError:
            return False  # the next batch waits for the database, and says so

    def _asks_paused(self) -> bool:
        return read(self._copy.database, lambda c: is_paused(c, self._copy.index.queue))

    def _paused(self) -> str:
        queue = self._copy.index.queue
        return f"queue {queue} is paused: `sakuin queue resume {queue}` lets it go on"

    def _counts_dead(self) -> int:
        return read(self._copy.database, lambda c: queue_counts(c, self._copy.index.queue)).dead


def limits(settings: Settings) -> Limits:
    """Return a batch's limits as the settings give them."""
    return Limits(
        documents=settings.batch_documents,
        text_bytes=settings.batch_bytes,
        gather_seconds=settings.gather_seconds,
        lease_seconds=settings.lease_seconds,
    )
