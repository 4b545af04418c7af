"""How the queue and the index stand, as `sakuin status --json` prints it."""

from typing import Any

from sakuin.app.assemble import Parts
from sakuin.indexer.freshness import freshness
from sakuin.queue import queue_counts, read


def read_status(parts: Parts) -> dict[str, Any]:
    """Return the documented keys. Raises the queue's errors when the database is away."""
    counts = read(parts.database, lambda c: queue_counts(c, parts.index.queue))
    fresh = read(parts.database, lambda c: freshness(c, parts.index, parts.copy.generations))
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
        },
    }
