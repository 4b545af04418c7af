"""Waiting until what was saved can be found, and noticing when nobody works on it."""

import time
from collections.abc import Callable

from sakuin.app.assemble import Parts
from sakuin.indexer.freshness import Freshness, freshness
from sakuin.queue import read

_LOOK_SECONDS = 0.05


def look(parts: Parts) -> Freshness:
    """Return how far the index is behind. Raises the queue's errors when the database is away."""
    return read(parts.database, lambda c: freshness(c, parts.index, parts.copy.generations))


def follow(parts: Parts, on_waiting: Callable[[int], None], *, patience_seconds: float) -> bool:
    """Wait until no message waits any more.

    False when no indexer was alive for that long, and at once where the queue is paused.
    """
    alone_since: float | None = None
    while True:
        fresh = look(parts)
        on_waiting(fresh.waiting)
        if not fresh.waiting:
            return True
        if fresh.is_paused:
            return False
        if fresh.has_indexer:
            alone_since = None
        else:
            alone_since = alone_since or time.monotonic()
            if time.monotonic() - alone_since >= patience_seconds:
                return False
        time.sleep(_LOOK_SECONDS)  # between two looks: a database sends no word when it is done
