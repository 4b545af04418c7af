"""Threads that search over and over while something else happens, and check every answer."""

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

from notes import Note, documents_of
from sakuin.indexer.build import Copy
from sakuin.indexer.engine import Order, Searcher
from sakuin.indexer.query import Phrase
from sakuin.indexer.reader import Reader

DEADLINE_SECONDS = 30.0
_PAUSE_SECONDS = 0.001
"""Threads of one process share one interpreter: without it the others would come to nothing.
Readers that never pause are processes, in `search_worker.py`."""

Check = Callable[[int, Searcher], None]
"""Asserts that the answers of one generation are right."""


class Searching:
    """Searches the newest generation of some copies, in threads, until the block ends.

    Leaving the block raises whatever went wrong in a thread: a search that failed, an answer that
    `check` found wrong, a generation older than one seen before, or an index that was there and
    is not any more.
    """

    def __init__(self, check: Check, *copies: Copy, threads: int = 1) -> None:
        self.searches = 0
        self._check = check
        self._readers = [Reader(one.engine, one.index.fields, one.generations) for one in copies]
        self._seen = [[0] * len(copies) for _ in range(threads)]
        self._errors: list[BaseException] = []
        self._stop = threading.Event()
        self._moved = threading.Condition()
        self._threads = [threading.Thread(target=self._run, args=(seen,)) for seen in self._seen]

    def wait_until_seen(self, generation: int) -> None:
        """Wait until every thread has searched this generation or a newer one of every copy."""
        deadline = time.monotonic() + DEADLINE_SECONDS
        with self._moved:
            while not self._errors and min(min(seen) for seen in self._seen) < generation:
                self._wait(deadline, f"generation {generation} was not seen, but {self._seen}")

    def wait_for_searches(self, count: int) -> None:
        """Wait for so many searches from now on."""
        deadline = time.monotonic() + DEADLINE_SECONDS
        with self._moved:
            wanted = self.searches + count
            while not self._errors and self.searches < wanted:
                self._wait(deadline, f"{self.searches} searches instead of {wanted}")

    def _wait(self, deadline: float, what: str) -> None:
        assert self._moved.wait(deadline - time.monotonic()), f"{what}, in {DEADLINE_SECONDS:.0f} s"

    def _run(self, seen: list[int]) -> None:
        try:
            while not self._stop.wait(_PAUSE_SECONDS):
                for place, reader in enumerate(self._readers):
                    seen[place] = self._search(reader, seen[place])
                    with self._moved:
                        self.searches += 1
                        self._moved.notify_all()
        except BaseException as error:  # noqa: BLE001  raised where the block is left
            with self._moved:
                self._errors.append(error)
                self._moved.notify_all()

    def _search(self, reader: Reader, seen: int) -> int:
        with reader.open() as opened:
            number = opened.number if opened else 0
            assert number >= seen, f"generation {number} after {seen}"
            if opened:
                self._check(number, opened.searcher)
            return number

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
        for reader in self._readers:
            reader.close()
        if self._errors:
            raise self._errors[0]


def version(number: int) -> dict[str, Note | str | None]:
    """Return what to write so that the table holds this version (0 to 11), and no other, whole.

    Every note differs from version to version, one is gone in each and one is there in it alone.
    """
    texts = {f"n{i}": None if i == number else f"version{number} {i} 夜" for i in range(12)}
    extra = {f"extra{i}": f"version{number} 夜" if i == number else None for i in range(12)}
    return {**texts, **extra}


def version_held(searcher: Searcher) -> int:
    """Return which version a generation holds; every document and every total must be its."""
    held = documents_of(searcher)
    number = int(held["n1" if "n1" in held else "n2"].body.split()[0].removeprefix("version"))
    assert held == {key: Note(str(body)) for key, body in version(number).items() if body}
    for word in (f"version{number}", "夜"):
        found = searcher.search(Phrase(word), order=Order.ID, offset=0, limit=1)
        assert (found.total, len(found.hits)) == (len(held), 1), word
    return number


def open_files() -> int:
    """Return how many descriptors this process has, and how many files of indexes it has mapped."""
    maps = Path("/proc/self/maps").read_text().splitlines()
    mapped = {line.split(maxsplit=5)[-1] for line in maps if "/segments/" in line}
    return len(os.listdir("/proc/self/fd")) + len(mapped)
