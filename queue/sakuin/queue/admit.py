"""Decides at a claim which limited messages get a place; the others are blocked."""

from collections import defaultdict
from collections.abc import Collection, Sequence

from sqlalchemy import Connection

from sakuin.queue.dialect import cut, execute
from sakuin.queue.places import BLOCKED, HOLDING, count_places, lock_key
from sakuin.queue.ready import Ready

_ENTER = (
    "INSERT INTO sakuin_limited (message_id, limit_key, state, priority, token)"
    " SELECT id, ?, ?, priority, ? FROM sakuin_messages {by_id} WHERE id IN ({ids})"
    " {on_duplicate} state = ?, token = ?"
)
_SET_ASIDE = (
    "UPDATE sakuin_messages {by_id} SET token = NULL, locked_until = '9999-12-31 23:59:59.999999'"
    " WHERE id IN ({ids})"
)
"""Blocked messages lie where no claim reads, so they cost a poller nothing."""


def admit(
    connection: Connection, chosen: Sequence[Ready], behind: Sequence[Ready], token: bytes
) -> Collection[int]:
    """Return the ids of those chosen that get no place, blocked; the other limited ones hold one.

    The rows are locked by the claim that will lease them under the token. Those `behind` that find
    a key full are blocked with them: nobody will try them in vain. Keys are locked in ascending
    order, so that two claims do not wait for each other, unless they give messages up, too.
    """
    wanted, others = _by_key(chosen), _by_key(behind)
    refused: set[int] = set()
    for key in sorted(wanted):
        refused.update(_admit(connection, key, wanted[key], others[key], token))
    return refused


def _admit(
    connection: Connection,
    key: bytes,
    wanted: Sequence[Ready],
    others: Sequence[Ready],
    token: bytes,
) -> list[int]:
    lock_key(connection, key)
    taken = count_places(connection, key, [row.id for row in (*wanted, *others)]).held
    admitted: list[int] = []
    refused: list[int] = []
    for row in wanted:
        if taken < row.limit_to:
            taken += 1
            admitted.append(row.id)
        else:
            refused.append(row.id)
    refused += [row.id for row in others if taken >= row.limit_to]
    for part in cut(sorted(admitted)):
        execute(connection, _ENTER, key, HOLDING, token, HOLDING, token, ids=part)
    for part in cut(sorted(refused)):
        execute(connection, _ENTER, key, BLOCKED, None, BLOCKED, None, ids=part)
        execute(connection, _SET_ASIDE, ids=part)
    return refused


def _by_key(rows: Sequence[Ready]) -> defaultdict[bytes, list[Ready]]:
    limited: defaultdict[bytes, list[Ready]] = defaultdict(list)
    for row in rows:
        if row.limit_key is not None:
            limited[row.limit_key].append(row)
    return limited
