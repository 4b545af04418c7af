"""The process that tidies: a closed list of chores, each in its own time, each failing alone.

Nothing depends on it for being right, only for being soon; any number of them may run at once.
"""

import logging
import random
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from sakuin.queue.errors import BadMessage, QueueError

_LOG = logging.getLogger("sakuin.dispatcher")
STUCK_SECONDS = 300.0
"""A chore that is at it for longer hangs: the process stops beating, and is replaced."""


@dataclass(frozen=True, slots=True)
class Chore:
    """Something to do every so many seconds, in short transactions; safe for several at once.

    `run` returns how much it did. Where that is `most` or more there is more of it to do: the
    chore has its next turn at once, after the others. Its first turn is `first_seconds` after the
    start.
    """

    name: str
    every_seconds: float
    run: Callable[[Engine], int]
    most: int | None = None
    first_seconds: float = 0.0

    def __post_init__(self) -> None:
        if not self.every_seconds > 0:
            raise BadMessage(f"chore {self.name}: every_seconds={self.every_seconds}: use above 0")


class Dispatcher:
    """Does the chores in turn until told to stop. A chore that fails is told once, and retried."""

    def __init__(self, engine: Engine, chores: Iterable[Chore]) -> None:
        self._engine = engine
        now = time.monotonic()
        self._due = {chore: now + chore.first_seconds for chore in chores}
        self._trouble: dict[str, str] = {}
        self._turns = 0
        self._moved_at = time.monotonic()

    def run(self, stop: threading.Event) -> None:
        """Tidy until `stop` is set; what is under way then is ended first."""
        while not stop.is_set():
            for chore, due in self._due.items():
                if due <= time.monotonic() and not stop.is_set():
                    self._do(chore)
            self._moved_at = time.monotonic()
            stop.wait(min(1.0, max(0.0, min(self._due.values()) - self._moved_at)))

    def is_well(self) -> bool:
        """Tell whether it moves on."""
        return time.monotonic() - self._moved_at < STUCK_SECONDS

    def detail(self) -> Mapping[str, object]:
        """Return what it shows of itself: how many chores it did, and which fail, with why."""
        return {"chores_done": self._turns, "failing": dict(self._trouble)}

    def _do(self, chore: Chore) -> None:
        self._moved_at = time.monotonic()
        done = 0
        try:
            done = chore.run(self._engine)
        except (QueueError, SQLAlchemyError) as error:
            self._tell(chore, str(error), is_expected=True)
        except Exception as error:  # noqa: BLE001  one chore's fault must not end the others
            self._tell(chore, repr(error), is_expected=False)
        else:
            self._turns += 1
            if self._trouble.pop(chore.name, None):
                _LOG.warning("%s: going on", chore.name)
        has_more = chore.most is not None and done >= chore.most
        # Several dispatchers that began together drift apart (no secret in it).
        wait = 0.0 if has_more else chore.every_seconds * random.uniform(0.9, 1.1)  # noqa: S311
        self._due[chore] = time.monotonic() + wait

    def _tell(self, chore: Chore, trouble: str, *, is_expected: bool) -> None:
        if chore.name not in self._trouble:
            _LOG.warning(
                "%s failed, it is tried again: %s", chore.name, trouble, exc_info=not is_expected
            )
        self._trouble[chore.name] = trouble[:500]
