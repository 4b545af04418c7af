"""What blocked messages cost those who poll, and those who end a holder of their key."""

from collections.abc import Callable

from sqlalchemy import Connection, Engine

from databases import push_all
from sakuin.queue import Limit, Message, ack, claim, create_schema, push, push_many, read, replay
from sakuin.queue.dialect import execute

CROWD = 10_000
LIMIT = Limit("hot")


def block_many(connection: Connection) -> None:
    """As claims leave them: out of reach in the message table, and in the order of the key."""
    key = LIMIT.stored_key
    push_many(connection, "q", [b"x"] * CROWD, priority=1)
    execute(
        connection,
        "UPDATE sakuin_messages SET limit_key = ?, locked_until = '9999-12-31 23:59:59.999999'"
        " WHERE limit_key IS NULL",
        key,
    )
    execute(
        connection,
        "INSERT INTO sakuin_limited (message_id, limit_key, state, priority)"
        " SELECT id, ?, 1, priority FROM sakuin_messages WHERE token IS NULL",
        key,
    )


def rows_read(engine: Engine, work: Callable[[], object]) -> int:
    """Return how many rows the server reads for the work; nobody else uses this server now."""

    def handlers(connection: Connection) -> int:
        found = execute(connection, "SHOW GLOBAL STATUS LIKE 'Handler_read%%'").all()
        return sum(int(row.Value) for row in found)

    before = read(engine, handlers)
    work()
    return read(engine, handlers) - before


def test_a_crowd_of_blocked_messages_costs_nobody(
    mariadb_url: str, open_database: Callable[[str], Engine]
) -> None:
    """Fault (solid_queue #630): one hot key takes a whole processor. Here a claim reads no more
    rows than it would without them, and the end of a holder only as many as it may call."""
    engine = open_database(mariadb_url)
    create_schema(engine)

    def holder() -> Message:
        replay(engine, lambda one: push(one, "q", b"x", limit=LIMIT, priority=0))
        (held,) = claim(engine, "q", limit=1, lease_seconds=600)
        return held

    def take() -> tuple[Message, ...]:
        return claim(engine, "q", limit=10, lease_seconds=600)

    push_all(engine, "q", *[b"free"] * 10)
    alone = rows_read(engine, lambda: ack(engine, take()))
    held = holder()
    replay(engine, block_many)
    push_all(engine, "q", *[b"free"] * 10)
    in_the_crowd = rows_read(engine, lambda: ack(engine, take()))
    assert in_the_crowd <= alone + 20
    assert rows_read(engine, take) <= 20
    assert rows_read(engine, lambda: ack(engine, held)) < 200
    (called,) = take()
    assert called.limit_key == LIMIT.stored_key
