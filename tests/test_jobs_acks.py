"""Settling in batches: messages of many claims in one statement, and what was lost is told."""

from collections.abc import Iterable

import pytest
from sqlalchemy import Connection, Engine

from databases import claim_one, expire, push_all, row, until
from sakuin.queue import Limit, Message, push, read, replay
from sakuin.queue.dialect import dialect_of, execute, render
from sakuin.queue.jobs.ack_together import _ACK, ack_together
from sakuin.queue.jobs.acks import Acks, Settlement
from sakuin.queue.jobs.leases import Leases
from sakuin.queue.jobs.measures import MeasureBuffer


def test_messages_of_many_claims_are_acked_together(engine: Engine) -> None:
    """Q3: a late ack changes nothing, not even where we hold the message anew ourselves."""
    push_all(engine, "q", *[b"x"] * 6)
    replay(engine, lambda on: push(on, "q", b"x", limit=Limit("k")))
    claims = [claim_one(engine) for _ in range(7)]
    stale = claims[0]
    expire(engine, stale.id)
    again = claim_one(engine)
    assert again.id == stale.id
    told: list[int] = []

    def also(_connection: Connection, ids: Iterable[int]) -> None:
        told.extend(ids)

    assert ack_together(engine, claims[1:3], also=also) == frozenset()
    assert told == [one.id for one in claims[1:3]]
    told.clear()
    assert ack_together(engine, [stale, *claims[3:]], also=also) == {stale.id}
    assert set(told) >= {one.id for one in claims[3:]}
    assert (row(engine, stale.id) or {})["token"] == again.token
    assert all(row(engine, one.id) is None for one in claims[1:])
    assert ack_together(engine, [again], also=also) == frozenset()


@pytest.mark.parametrize("database_kind", ["mariadb"], indirect=True)
def test_the_statement_goes_by_primary_key(engine: Engine) -> None:
    """Faults "deletes by another key deadlock", "scheduled claim locked 361 index records"."""
    push_all(engine, "q", *[b"x"] * 50)
    held: list[Message] = [claim_one(engine) for _ in range(20)]

    def plan(connection: Connection) -> list[object]:
        ids = ",".join(str(one.id) for one in held)
        pairs = ",".join(f"({one.id},X'{one.token.hex()}')" for one in held)
        sql = render(dialect_of(connection), _ACK).replace("{ids}", ids)
        return list(execute(connection, "EXPLAIN " + sql.replace("{pairs}", pairs)).mappings())

    (step,) = read(engine, plan)
    assert (step["type"], step["key"]) == ("range", "PRIMARY")  # type: ignore[index]
    assert int(step["rows"]) == 20  # type: ignore[index]


@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
def test_figures_that_cannot_be_written_stop_no_settling(
    engine: Engine, caplog: pytest.LogCaptureFixture
) -> None:
    class Broken(MeasureBuffer):
        def flush(self, engine: Engine) -> None:
            raise RuntimeError("no figures today")

    (number,) = push_all(engine, "q", b"x")
    with Leases(engine) as leases:
        acks = Acks(engine, leases, Broken())
        acks.put(Settlement(claim_one(engine), "ack"))
        until(lambda: row(engine, number) is None)
        assert acks.close(10) == 0
    assert "measures cannot be written" in caplog.text
