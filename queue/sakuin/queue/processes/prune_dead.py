"""Finds processes that have stopped beating, and gives back what they held.

A beat cannot be written while the database is away, so that after an outage, or a sleep of the
whole machine, everybody looks dead. Who prunes therefore says for how long it has been in touch
with the database without a gap; a process is given half its time of that before it is called dead.
"""

import math
import time
from collections.abc import Callable

from sqlalchemy import Connection, Engine

from sakuin.queue.processes.process import Process
from sakuin.queue.processes.registry import deregister_on, process_of, processes
from sakuin.queue.replay import read, replay


def prune_dead(
    engine: Engine, in_touch: Callable[[], float] = lambda: math.inf
) -> tuple[Process, ...]:
    """Remove every dead process and requeue what it held; return those that this call removed.

    Each in a transaction of its own. Any number may prune at once: a process is removed by one.
    `in_touch` is called when the database has answered: give a `Touch`.
    """
    seen = read(engine, processes)
    in_touch_seconds = in_touch()
    dead = (one.id for one in seen if is_given_up(one, in_touch_seconds))
    removed = (_prune(engine, process_id, in_touch_seconds) for process_id in sorted(dead))
    return tuple(one for one in removed if one is not None)


def is_given_up(process: Process, in_touch_seconds: float) -> bool:
    """Tell whether a process is dead in the eyes of who was in touch with the database so long."""
    return process.is_dead and process.dead_after_seconds <= 2 * in_touch_seconds


def _prune(engine: Engine, process_id: bytes, in_touch_seconds: float) -> Process | None:
    def work(connection: Connection) -> Process | None:
        found = process_of(connection, process_id, lock="{skip_locked}")
        if found is None or not is_given_up(found, in_touch_seconds):
            return None
        deregister_on(connection, process_id)
        return found

    # After a COMMIT whose outcome is unknown: if it did not happen it is done, and told, now.
    return replay(engine, work, committed=lambda c, found: found is None or _is_gone(c, found))


def _is_gone(connection: Connection, process: Process) -> bool:
    return process_of(connection, process.id, lock="{lock}") is None


class Touch:
    """For how long somebody has been in touch with the database, by the own monotonic clock."""

    def __init__(self, most_gap_seconds: float) -> None:
        self._most_gap_seconds = most_gap_seconds
        self._since = self._last = -math.inf

    def __call__(self) -> float:
        """Note that the database answered just now, and return how long it has done so."""
        now = time.monotonic()
        if now - self._last > self._most_gap_seconds:
            self._since = now
        self._last = now
        return now - self._since
