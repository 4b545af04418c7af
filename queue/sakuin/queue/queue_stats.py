"""Counts the messages of a queue, in bounded reads: milliseconds, however many there are.

Every count is exact up to MOST_COUNTED; beyond it is MOST_COUNTED, and `capped` names it.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row

from sakuin.queue.dialect import execute, moment_or_epoch
from sakuin.queue.pause import is_paused, paused_queues
from sakuin.queue.queue_names import queue_names

MOST_COUNTED = 10_000

BLOCKED_FROM = "9999-01-01 00:00:00.000000"
"""A message that waits for a place under its limit is locked until a time beyond this one; no
delay and no lease reaches it."""

_LEVEL = (
    "SELECT priority, locked_until AS oldest, {now} AS moment,"
    " CASE WHEN locked_until <= {now} THEN 1 ELSE 0 END AS is_ready"
    " FROM sakuin_messages {by_claim_key} WHERE queue = ? AND priority >= ?"
    " ORDER BY priority, locked_until, id LIMIT 1"
)
_COUNT = (
    "SELECT ready.n AS ready, later.n AS later, later.leased AS leased, blocked.n AS blocked FROM"
    " (SELECT COUNT(*) AS n FROM (SELECT id FROM sakuin_messages {by_claim_key}"
    "  WHERE queue = ? AND priority = ? AND locked_until <= {now} LIMIT ?) AS a) AS ready,"
    " (SELECT COUNT(*) AS n, COUNT(token) AS leased FROM"
    "  (SELECT token FROM sakuin_messages {by_claim_key} WHERE queue = ? AND priority = ?"
    "  AND locked_until > {now} AND locked_until < ? ORDER BY locked_until LIMIT ?) AS b) AS later,"
    " (SELECT COUNT(*) AS n FROM (SELECT id FROM sakuin_messages {by_claim_key}"
    "  WHERE queue = ? AND priority = ? AND locked_until >= ? LIMIT ?) AS c) AS blocked"
)
"""One statement, so that a message that changes its state meanwhile is counted once. Only what is
leased or scheduled is looked at beyond the index."""

_DEAD = "SELECT COUNT(*) FROM (SELECT id FROM sakuin_dead WHERE queue = ? LIMIT ?) AS some"
_NEXT_DEAD = "SELECT MIN(queue) FROM sakuin_dead WHERE queue > ?"
_KINDS = (
    "SELECT kind, COUNT(*) AS n FROM"
    " (SELECT kind FROM sakuin_messages {by_claim_key} WHERE queue = ? LIMIT ?) AS some"
    " GROUP BY kind"
)
_DEAD_KINDS = (
    "SELECT kind, COUNT(*) AS n FROM"
    " (SELECT kind FROM sakuin_dead WHERE queue = ? LIMIT ?) AS some GROUP BY kind"
)


@dataclass(frozen=True, slots=True)
class QueueStats:
    """How many messages of a queue are in each state.

    `blocked` ones wait for a place under their limit. `oldest_seconds` is how long the longest
    waiting ready message has been ready, if any is. `capped` names the counts that are more than
    what is said; `leased` and `scheduled` are counted together, so they are capped together.
    """

    queue: str
    ready: int
    leased: int
    scheduled: int
    blocked: int
    dead: int
    oldest_seconds: float | None
    is_paused: bool
    capped: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class KindStats:
    """How many messages of one kind (None: plain ones) a queue holds, not settled or dead."""

    kind: str | None
    waiting: int
    dead: int


def queue_stats(connection: Connection, queue: str) -> QueueStats:
    """Return how many messages of the queue are ready, leased, scheduled, blocked and dead."""
    return _stats(connection, queue, paused=is_paused(connection, queue))


def all_stats(connection: Connection) -> tuple[QueueStats, ...]:
    """Return the stats of every queue that holds a message or a dead one, or is paused; by name."""
    paused = frozenset(paused_queues(connection))
    return tuple(
        _stats(connection, name, paused=name in paused) for name in known_queues(connection)
    )


def known_queues(connection: Connection) -> tuple[str, ...]:
    """Return the names of the queues that hold a message or a dead one, or are paused; in order."""
    held = (*queue_names(connection), *dead_queues(connection), *paused_queues(connection))
    return tuple(sorted(set(held)))


def dead_queues(connection: Connection) -> tuple[str, ...]:
    """Return the names of the queues of dead messages: one look into the index for each."""
    names: list[str] = []
    last = ""
    while True:
        found = execute(connection, _NEXT_DEAD, last).scalar_one()
        if not isinstance(found, str):  # as in `queue_names`
            return tuple(names)
        names.append(found)
        last = found


def oldest_seconds(connection: Connection, queue: str) -> float | None:
    """Return how long the longest waiting ready message has been ready, if any is."""
    levels = _levels(connection, queue)
    return max((_seconds(one.oldest, one.moment) for one in levels if one.is_ready), default=None)


def kind_stats(connection: Connection, queue: str) -> tuple[KindStats, ...]:
    """Return what the queue holds by kind, plain messages first.

    Looks at MOST_COUNTED messages and as many dead ones; what is beyond is not counted.
    """
    waiting = _by_kind(connection, _KINDS, queue)
    dead = _by_kind(connection, _DEAD_KINDS, queue)
    kinds = sorted({*waiting, *dead}, key=lambda kind: kind or "")
    return tuple(KindStats(kind, waiting[kind], dead[kind]) for kind in kinds)


def _stats(connection: Connection, queue: str, *, paused: bool) -> QueueStats:
    counts: Counter[str] = Counter()
    oldest: float | None = None
    for level in _levels(connection, queue):
        if level.is_ready:
            waited = _seconds(level.oldest, level.moment)
            oldest = waited if oldest is None else max(oldest, waited)
        counts += _counted(connection, queue, level.priority, counts)
    counts["dead"] = execute(connection, _DEAD, queue, MOST_COUNTED + 1).scalar_one()
    capped = [name for name in ("ready", "blocked", "dead") if counts[name] > MOST_COUNTED]
    if counts["later"] > MOST_COUNTED:
        capped += ["leased", "scheduled"]
    told = {name: min(count, MOST_COUNTED) for name, count in counts.items()}
    return QueueStats(
        queue=queue,
        ready=told.get("ready", 0),
        leased=told.get("leased", 0),
        scheduled=min(counts["later"] - counts["leased"], MOST_COUNTED),
        blocked=told.get("blocked", 0),
        dead=told["dead"],
        oldest_seconds=oldest,
        is_paused=paused,
        capped=tuple(sorted(capped)),
    )


def _levels(connection: Connection, queue: str) -> Iterator[Row[Any]]:
    """Yield the first message of each priority: one short read a level (there are few)."""
    least = 0
    while level := execute(connection, _LEVEL, queue, least).one_or_none():
        yield level
        least = level.priority + 1


def _counted(
    connection: Connection, queue: str, priority: int, so_far: Counter[str]
) -> Counter[str]:
    def left(name: str) -> int:
        return max(0, MOST_COUNTED + 1 - so_far[name])

    of = (queue, priority)
    row = execute(
        connection,
        _COUNT,
        *(*of, left("ready")),
        *(*of, BLOCKED_FROM, left("later")),
        *(*of, BLOCKED_FROM, left("blocked")),
    ).one()
    return Counter(row._asdict())


def _seconds(since: datetime | str, now: datetime | str) -> float:
    return (moment_or_epoch(now) - moment_or_epoch(since)).total_seconds()


def _by_kind(connection: Connection, sql: str, queue: str) -> Counter[str | None]:
    return Counter({row.kind: row.n for row in execute(connection, sql, queue, MOST_COUNTED)})
