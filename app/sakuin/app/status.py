"""How the queue and the index stand, as `sakuin status --json` prints it."""

from collections.abc import Callable
from typing import Any

from sqlalchemy import Connection

from sakuin.app.assemble import Parts
from sakuin.indexer.freshness import Freshness, freshness
from sakuin.queue import Counts, queue_counts, read

Look = Callable[[Connection], tuple[Counts, Freshness]]
Ask = Callable[[Look], tuple[Counts, Freshness]]


def read_status(parts: Parts, ask: Ask | None = None) -> dict[str, Any]:
    """Return the documented keys. Raises the queue's errors when the database is away.

    `ask` runs a function with a connection: a request uses the impatient row check's.
    """

    def look(connection: Connection) -> tuple[Counts, Freshness]:
        counts = queue_counts(connection, parts.index.queue)
        return counts, freshness(connection, parts.index, parts.copy.generations)

    counts, fresh = ask(look) if ask else read(parts.database, look)
    with parts.reader.open() as opened:
        generation = opened.number if opened else 0
        documents = opened.searcher.document_count if opened else 0
    return {
        "queue": {
            "ready": counts.ready,
            "leased": counts.leased,
            "scheduled": counts.scheduled,
            "dead": counts.dead,
        },
        "index": {
            "name": parts.index.name,
            "generation": generation,
            "documents": documents,
            "has_indexer": fresh.has_indexer,
            "is_paused": fresh.is_paused,
        },
    }
