"""How far a copy is behind its database (promise S6)."""

from dataclasses import dataclass

from sqlalchemy import Connection

from sakuin.indexer.generations import Generations
from sakuin.indexer.index import Index
from sakuin.indexer.publisher import STALE_SECONDS, last_beat_seconds
from sakuin.queue import queue_counts


@dataclass(frozen=True, slots=True)
class Freshness:
    """The current generation, how many messages wait for the next, and whether anybody works."""

    generation: int
    waiting: int
    has_indexer: bool


def freshness(connection: Connection, index: Index, generations: Generations) -> Freshness:
    """Count the messages of an index that are not in its current generation yet."""
    counts = queue_counts(connection, index.queue)
    beat = last_beat_seconds(generations)
    return Freshness(
        generation=generations.current(),
        waiting=counts.ready + counts.leased + counts.scheduled,
        has_indexer=beat is not None and beat < STALE_SECONDS,
    )
