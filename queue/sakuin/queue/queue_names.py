"""The names of the queues that hold a message, and lists of names with patterns."""

from collections.abc import Iterable, Sequence

from sqlalchemy import Connection

from sakuin.queue.dialect import execute
from sakuin.queue.errors import BadMessage
from sakuin.queue.limits import check_queue

_NEXT = "SELECT queue FROM sakuin_messages {by_claim_key} WHERE queue > ? ORDER BY queue LIMIT 1"
"""One look into the index for each queue, however many messages it holds."""


def queue_names(connection: Connection) -> tuple[str, ...]:
    """Return the names of the queues with a message in any state, in order of their characters."""
    names: list[str] = []
    last = ""
    while True:
        found = execute(connection, _NEXT, last).scalar_one_or_none()
        if not isinstance(found, str):  # none is left, or in SQLite what is no text: they are last
            return tuple(names)
        names.append(found)
        last = found


def check_patterns(patterns: Iterable[str]) -> tuple[str, ...]:
    """Return a list of queues, each a name, a beginning and `*`, or `*`; or raise BadMessage."""
    checked = tuple(patterns)
    if not checked:
        raise BadMessage("no queue is named: name one, or '*' for all")
    for pattern in checked:
        if pattern != "*":
            check_queue(pattern.removesuffix("*"))
    return checked


def matching(names: Sequence[str], patterns: Sequence[str]) -> tuple[str, ...]:
    """Return the queues in the order of the list: a name as it is, a pattern's in their order.

    A name without `*` is there whether or not `names` has it. None comes twice.
    """
    found: dict[str, None] = {}
    for pattern in patterns:
        if not pattern.endswith("*"):
            found[pattern] = None
            continue
        start = pattern[:-1]
        found.update((name, None) for name in sorted(names) if name.startswith(start))
    return tuple(found)
