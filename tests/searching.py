"""Threads that search without pause while something else happens, and check every answer."""

import os
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Self

from sakuin.indexer.build import Copy
from sakuin.indexer.engine import Searcher
from sakuin.indexer.reader import Reader

DEADLINE_SECONDS = 30.0

Check = Callable[[int, Searcher], None]
"""Asserts that the answers of one generation are right."""


class Searching:
    """Searches the newest generation of a copy from some threads until the block ends.

    Leaving the block raises whatever went wrong in a thread: a search that failed, an answer that
    `check` found wrong, a generation older than one seen before, or an index that was there and
    is not any more.
    """

    def __init__(self, copy: Copy, check: Check, threads: int = 1) -> None:
        self.reader = Reader(copy.engine, copy.index.fields, copy.generations)
        self.searches = 0
        self._check = check
        self._seen = [0] * threads
        self._errors: list[BaseException] = []
        self._stop = threading.Event()
        self._moved = threading.Condition()
        self._threads = [
            threading.Thread(target=self._search, args=(place,)) for place in range(threads)
        ]

    def wait_until_seen(self, generation: int, searches: int = 1) -> None:
        """Wait until every thread has searched this generation or a newer one, and once more."""
        deadline = time.monotonic() + DEADLINE_SECONDS
        with self._moved:
            wanted = self.searches + searches
            while not self._errors and (min(self._seen) < generation or self.searches < wanted):
                assert self._moved.wait(deadline - time.monotonic()), (
                    f"no search of generation {generation} within {DEADLINE_SECONDS:.0f} s; "
                    f"seen: {self._seen}"
                )

    def _search(self, place: int) -> None:
        try:
            while not self._stop.is_set():
                with self.reader.open() as opened:
                    number = opened.number if opened else 0
                    assert number >= self._seen[place], f"{number} after {self._seen[place]}"
                    if opened:
                        self._check(number, opened.searcher)
                with self._moved:
                    self._seen[place] = number
                    self.searches += 1
                    self._moved.notify_all()
        except BaseException as error:  # noqa: BLE001  raised where the block is left
            with self._moved:
                self._errors.append(error)
                self._moved.notify_all()

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()
        self.reader.close()
        if self._errors:
            raise self._errors[0]


def open_descriptors() -> int:
    """Return how many files and sockets this process has open."""
    return len(os.listdir("/proc/self/fd"))
