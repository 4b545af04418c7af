"""Open generations for searching, shared by the threads of one process (promises I1, I6, S4)."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from sakuin.indexer.document import Fields
from sakuin.indexer.engine import Engine, Searcher
from sakuin.indexer.errors import (
    GenerationBroken,
    GenerationForeign,
    GenerationGone,
    GenerationMismatch,
)
from sakuin.indexer.generations import Generations
from sakuin.indexer.manifest import Manifest
from sakuin.indexer.pin import Pin

KEPT_SECONDS = 600.0
MOST_KEPT = 64


@dataclass(slots=True)
class Opened:
    """A pinned generation and its searcher."""

    number: int
    searcher: Searcher
    pin: Pin
    users: int = 0
    kept_until: float = 0.0

    def is_idle(self, now: float) -> bool:
        """Whether nobody searches it, and no page link to it is young."""
        return self.users == 0 and self.kept_until <= now


class Reader:
    """Searches one copy of an index, always the newest generation unless told otherwise.

    Looks for a newer generation at every `open`; waits for nobody but itself. Generations named
    in page links are kept for KEPT_SECONDS, at most MOST_KEPT of them.
    """

    def __init__(self, engine: Engine, fields: Fields, generations: Generations) -> None:
        self._engine, self._fields, self._generations = engine, fields, generations
        self._lock = threading.Lock()
        self._opened: dict[int, Opened] = {}

    @contextmanager
    def open(self, number: int | None = None) -> Iterator[Opened | None]:
        """Lend a generation: the current one (None if none of its source is), or `number`.

        Raises GenerationGone, GenerationMismatch or GenerationBroken.
        """
        opened = self._borrow(number) if number else self._borrow_current()
        try:
            yield opened
        finally:
            if opened:
                with self._lock:
                    opened.users -= 1

    def keep(self, opened: Opened) -> None:
        """Remember that a page linked to this generation."""
        opened.kept_until = time.monotonic() + KEPT_SECONDS

    def close(self) -> None:
        """Close every generation. No search may be going on."""
        with self._lock:
            for opened in self._opened.values():
                _close(opened)
            self._opened.clear()

    def close_idle(self) -> bool:
        """Close what nobody searches now; tell whether that was all. A later search opens anew."""
        with self._lock:
            idle = [number for number, one in self._opened.items() if not one.users]
            closing = [self._opened.pop(number) for number in idle]
            is_all = not self._opened
        for opened in closing:
            _close(opened)
        return is_all

    def _borrow_current(self) -> Opened | None:
        while number := self._generations.current():
            try:
                return self._borrow(number)
            except GenerationForeign:
                if self._generations.current() == number:
                    return None
            except GenerationGone:
                if self._generations.current() == number:
                    raise
        return None

    def _borrow(self, number: int) -> Opened:
        with self._lock:
            opened = self._opened.get(number)
            if opened:
                opened.users += 1
                return opened
        fresh = self._open(number)
        with self._lock:
            opened = self._opened.setdefault(number, fresh)
            opened.users += 1
            unneeded = self._unneeded()
        if opened is not fresh:
            unneeded.append(fresh)
        for each in unneeded:
            _close(each)
        return opened

    def _open(self, number: int) -> Opened:
        pin = Pin(self._generations, number)
        try:
            try:
                manifest = Manifest.read(self._generations.path(number))
            except (OSError, ValueError) as error:
                raise GenerationBroken(self._generations.index, str(error)) from error
            if not manifest.is_of(self._fields):
                raise GenerationForeign(self._generations.index, number)
            if difference := manifest.difference(self._engine, self._fields):
                raise GenerationMismatch(self._generations.index, number, difference)
            return Opened(number, self._open_searcher(number), pin)
        except BaseException:
            pin.release()
            raise

    def _open_searcher(self, number: int) -> Searcher:
        try:
            return self._engine.open_searcher(self._generations.segments(number), self._fields)
        except MemoryError:
            raise
        except Exception as error:  # what damaged files raise differs from engine to engine
            fault = f"{type(error).__name__}: {error}"
            raise GenerationBroken(self._generations.index, fault) from error

    def _unneeded(self) -> list[Opened]:
        """Take out what nobody needs: idle, not the newest; the oldest beyond MOST_KEPT."""
        now, newest = time.monotonic(), max(self._opened)
        idle = [n for n, one in self._opened.items() if n != newest and one.is_idle(now)]
        spare = len(self._opened) - len(idle) - MOST_KEPT
        if spare > 0:
            unused = sorted(
                n
                for n, one in self._opened.items()
                if n != newest and n not in idle and one.users == 0
            )
            idle += unused[:spare]
        return [self._opened.pop(number) for number in idle]


def _close(opened: Opened) -> None:
    opened.searcher.close()
    opened.pin.release()
