"""Acks messages of many claims by one statement.

`ack` has a statement for each token, which is a claim: with one message a claim, a statement and a
look for jobs for every message. Here one statement names pairs of id and token. If it does not find
all of them it is undone, and `ack` does it with care.
"""

from collections.abc import Sequence

from sqlalchemy import Connection, Engine

from sakuin.queue.dialect import dialect_of, render
from sakuin.queue.message import Message
from sakuin.queue.replay import replay
from sakuin.queue.settle import Also, ack

MOST_TOGETHER = 200
"""MariaDB turns a list of 1,000 values into a join (in_predicate_conversion_threshold)."""

_OURS = " WHERE id IN ({ids}) AND (id, token) IN ({pairs})"
_ACK = "{delete_messages}" + _OURS
_LEFT = f"SELECT id FROM sakuin_messages {{by_id}}{_OURS} {{lock}}"  # noqa: S608  our own text


class _SomeLost(Exception):
    """Undoes the transaction."""


def ack_together(engine: Engine, messages: Sequence[Message], *, also: Also) -> frozenset[int]:
    """As `ack`, for up to MOST_TOGETHER messages, whatever claims they are from."""
    limited = [one for one in messages if one.limit_key is not None]
    free = {one.id: one for one in messages if one.limit_key is None}
    lost = ack(engine, limited, also=also) if limited else frozenset()
    if not free:
        return lost

    def work(connection: Connection) -> None:
        if _count(connection, _ACK, free) != len(free):
            raise _SomeLost
        also(connection, sorted(free))

    def is_done(connection: Connection, _nothing: None) -> bool:
        return _count(connection, _LEFT, free) == 0

    try:
        replay(engine, work, committed=is_done)
    except _SomeLost:
        return lost | ack(engine, free.values(), also=also)
    return lost


def _count(connection: Connection, template: str, messages: dict[int, Message]) -> int:
    """Run the statement over these ids, each under its own token; return how many rows it met."""
    sql = render(dialect_of(connection), template)
    ids = ",".join(str(number) for number in sorted(messages))
    pairs = ",".join(f"({one.id},X'{one.token.hex()}')" for one in messages.values())
    done = connection.exec_driver_sql(sql.replace("{ids}", ids).replace("{pairs}", pairs))
    return len(done.all()) if done.returns_rows else done.rowcount
