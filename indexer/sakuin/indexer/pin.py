"""Holding a generation open: a shared lock on its pin, that only a sweeper looks at (I1, I6)."""

import fcntl
import os
from types import TracebackType
from typing import Self

from sakuin.indexer.errors import GenerationGone
from sakuin.indexer.generations import PIN, Generations


class Pin:
    """A pinned generation: the sweeper leaves it alone until `release`.

    Taking a pin never waits. GenerationGone: it has been swept, or is being swept now.
    """

    def __init__(self, generations: Generations, number: int) -> None:
        self.number = number
        path = generations.path(number) / PIN
        try:
            self._descriptor = os.open(path, os.O_RDONLY)
        except FileNotFoundError:
            raise GenerationGone(generations.index, number) from None
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
            # The lock may be on a file that was moved to the trash between open and flock.
            here, there = os.stat(path), os.fstat(self._descriptor)
            if (here.st_dev, here.st_ino) != (there.st_dev, there.st_ino):
                raise FileNotFoundError
        except (BlockingIOError, FileNotFoundError):
            os.close(self._descriptor)
            raise GenerationGone(generations.index, number) from None

    def release(self) -> None:
        """Let go. Once only."""
        os.close(self._descriptor)

    def __enter__(self) -> Self:
        """Return the pin itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Release it."""
        self.release()


def pin_current(generations: Generations) -> Pin | None:
    """Pin the current generation; None when nothing was published yet.

    A generation that vanishes between listing and pinning was outrun by a newer one, so this
    ends as soon as publishing pauses for a few microseconds.
    """
    while number := generations.current():
        try:
            return Pin(generations, number)
        except GenerationGone:
            if generations.current() == number:
                raise
    return None
