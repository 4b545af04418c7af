"""How far a copy is behind its database (promise S6)."""

from dataclasses import dataclass

from sqlalchemy import Connection

from sakuin.indexer.generations import Generations
from sakuin.indexer.index import Index
from sakuin.indexer.publisher import STALE_SECONDS, last_beat_seconds
from sakuin.queue import is_paused, waiting_count

MOST_COUNTED = 10_000
"""Every page asks how many wait: beyond this it is told only that there are more."""


@dataclass(frozen=True, slots=True)
class Freshness:
    """The current generation, how many messages wait for the next, and whether anybody works.

    `waiting` is MOST_COUNTED + 1 when there are more. While the queue is paused nobody can take
    them.
    """

    generation: int
    waiting: int
    has_indexer: bool
    is_paused: bool


def freshness(connection: Connection, index: Index, generations: Generations) -> Freshness:
    """Count the messages of an index that are not in its current generation yet."""
    beat = last_beat_seconds(generations)
    return Freshness(
        generation=generations.current(),
        waiting=waiting_count(connection, index.queue, MOST_COUNTED + 1),
        has_indexer=beat is not None and beat < STALE_SECONDS,
        is_paused=is_paused(connection, index.queue),
    )
