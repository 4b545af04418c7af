"""One daemon for every index: a worker thread each, started and ended as indexes come and go."""

import logging
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass

from sqlalchemy.exc import SQLAlchemyError

from sakuin.app.assemble import Installation, Parts
from sakuin.app.catalogue import REREAD_SECONDS
from sakuin.app.worker import Worker
from sakuin.indexer.batch import Batch
from sakuin.queue import QueueError

_LOG = logging.getLogger("sakuin.worker")

OnBatch = Callable[[str, Batch], None]
"""Told the name of an index and what a batch of it did."""


@dataclass(frozen=True, slots=True)
class _Running:
    parts: Parts
    worker: Worker
    thread: threading.Thread


class IndexWorkers:
    """Works on every index of an installation, or on one. `stop` may be set from anywhere."""

    def __init__(
        self,
        installed: Installation,
        only: str | None = None,
        stop: threading.Event | None = None,
    ) -> None:
        self._installed, self._only = installed, only
        self._running: dict[str, _Running] = {}
        self.stop = stop or threading.Event()
        self.was_told_to_stop = False

    def run(self, on_batch: OnBatch = lambda *_: None) -> None:
        """Work until `stop` is set; tables attached or detached meanwhile are noticed.

        Raises NoSuchIndex at once where the database can tell that there is no such index;
        while it is away, and for an index that goes away later, this waits.
        """
        if self._only:
            with suppress(QueueError, SQLAlchemyError):
                self._installed.parts(self._only)
        try:
            while True:
                self._match(self._known(), on_batch)
                if self.stop.wait(REREAD_SECONDS):
                    return
        finally:
            self._match({}, on_batch)

    def drain(self, on_batch: OnBatch = lambda *_: None) -> int:
        """Drain every index, all at once; return how many messages died.

        What stands in the way of one does not hold up the others; it is raised at the end.
        Raises the queue's errors where the database cannot tell which indexes there are.
        """
        workers = [(p, Worker(p.copy, p.settings, stop=self.stop)) for p in self._all()]
        with ThreadPoolExecutor(len(workers)) as threads:
            drains = [threads.submit(w.drain, _named(p, on_batch)) for p, w in workers]
        self.was_told_to_stop = any(worker.was_told_to_stop for _, worker in workers)
        return sum(drain.result() for drain in drains)

    def detail(self) -> Mapping[str, object]:
        """Return what there is to say of this process, as JSON values: for its heartbeat."""
        return {"indexes": sorted(self._running)}

    def waits(self, count: Callable[[Parts], int]) -> bool:
        """Tell whether `count` gives anything for any of the indexes."""
        return any(count(parts) for parts in self._all())

    def _all(self) -> list[Parts]:
        if self._only:
            return [self._installed.parts(self._only)]
        return [self._installed.parts_of(each) for each in self._installed.catalogue.every()]

    def _known(self) -> dict[str, Parts]:
        known = self._installed.catalogue.known()
        parts = [self._installed.parts_of(each) for each in known]
        return {each.index.name: each for each in parts if self._only in (None, each.index.name)}

    def _match(self, wanted: dict[str, Parts], on_batch: OnBatch) -> None:
        """End the workers of indexes that are gone or declared anew; start those that miss one."""
        ending = [
            running
            for name, running in self._running.items()
            if wanted.get(name) is not running.parts or not running.thread.is_alive()
        ]
        for running in ending:
            running.worker.stop.set()
        for running in ending:
            running.thread.join()
            del self._running[running.parts.index.name]
        for name, parts in wanted.items():
            if name not in self._running:
                self._running[name] = _start(parts, on_batch)


def _start(parts: Parts, on_batch: OnBatch) -> _Running:
    name = parts.index.name
    worker = Worker(parts.copy, parts.settings)
    thread = threading.Thread(
        target=worker.run, args=(_named(parts, on_batch),), name=f"index {name}"
    )
    _LOG.info("indexing %s from generation %d on", name, parts.copy.generations.current() + 1)
    thread.start()
    return _Running(parts, worker, thread)


def _named(parts: Parts, on_batch: OnBatch) -> Callable[[Batch], None]:
    return lambda batch: on_batch(parts.index.name, batch)
