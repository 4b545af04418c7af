"""Batches: known to be done when their messages are, told once, whatever happens on the way."""

import json
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import pytest
from sqlalchemy import Connection, Engine

from databases import claim_one
from sakuin.queue import (
    BadMessage,
    ack,
    bury,
    claim,
    dead_messages,
    push,
    push_many,
    read,
    replay,
    retry_dead,
)
from sakuin.queue.dialect import execute
from sakuin.queue.jobs import (
    Batch,
    BatchSealed,
    Callback,
    add_to_batch,
    batch_of,
    end_batches,
    open_batch,
    push_into_batch,
    push_to_batch,
    repoint_jobs_on,
    seal_batch,
)

CALLBACK = Callback("after", "callback", b"{}", 3)


def batch(engine: Engine, batch_id: int) -> Batch:
    found = read(engine, lambda connection: batch_of(connection, batch_id))
    assert found is not None
    return found


def start(engine: Engine, datas: Iterable[bytes], *, seal: bool = True, **options: Any) -> int:
    def work(connection: Any) -> int:
        batch_id = open_batch(connection, "an import", CALLBACK, **options)
        push_into_batch(connection, batch_id, "q", datas)
        if seal:
            seal_batch(connection, batch_id)
        return batch_id

    return replay(engine, work)


def run(engine: Engine, sql: str, *values: object) -> None:
    replay(engine, lambda on: execute(on, sql, *values))


def callbacks(engine: Engine) -> int:
    """Take the callback messages and return how many there were."""
    messages = claim(engine, "after", limit=100, lease_seconds=60)
    assert {(one.kind, one.data, one.priority) for one in messages} <= {("callback", b"{}", 3)}
    ack(engine, messages)
    return len(messages)


def settle(engine: Engine, limit: int = 1000) -> None:
    assert ack(engine, claim(engine, "q", limit=limit, lease_seconds=60)) == frozenset()


def test_a_batch_ends_once_when_its_last_message_is_gone(engine: Engine) -> None:
    """Remaining counts down; the end pushes the callback and the notices, once."""
    batch_id = start(engine, [b"a", b"b", b"c"], notify=["mailto:a@example.org"], keep_seconds=9)
    assert batch(engine, batch_id).remaining == 3
    settle(engine, limit=2)
    assert (batch(engine, batch_id).total, batch(engine, batch_id).remaining) == (3, 1)
    assert end_batches(engine) == 0
    assert batch(engine, batch_id).remaining == 1
    message = claim_one(engine)
    assert end_batches(engine) == 0  # leased is not done
    ack(engine, message)
    assert (end_batches(engine), end_batches(engine)) == (1, 0)
    ended = batch(engine, batch_id)
    assert (ended.remaining, ended.failed) == (0, 0)
    assert ended.ended_at is not None
    assert ended.keep_until is not None
    assert abs((ended.keep_until - ended.ended_at).total_seconds() - 9) < 0.01
    assert callbacks(engine) == 1
    (notice,) = claim(engine, "sakuin:notices", limit=9, lease_seconds=60)
    assert notice.kind == "sakuin.notice"
    told = json.loads(notice.data)
    assert told["to"] == "mailto:a@example.org"
    assert told["facts"] == {"batch": batch_id, "messages": 3, "failed": 0}


def test_an_open_batch_does_not_end_and_a_sealed_one_takes_no_more(engine: Engine) -> None:
    """What is sealed, or is not there, refuses. An empty batch ends in the transaction of its
    seal, whose callback wins."""
    batch_id = start(engine, [b"a"], seal=False)
    settle(engine)
    assert end_batches(engine) == 0
    replay(engine, lambda on: push_to_batch(on, batch_id, "q", b"b", priority=1))
    assert (batch(engine, batch_id).total, batch(engine, batch_id).remaining) == (2, 1)
    replay(engine, lambda on: seal_batch(on, batch_id))
    replay(engine, lambda on: seal_batch(on, batch_id))
    refused: list[tuple[int, type[Exception]]] = [(batch_id, BatchSealed), (999, BadMessage)]
    for number, error in refused:
        with pytest.raises(error, match=f"batch {number}"):
            replay(engine, partial(push_to_batch, batch_id=number, queue="q", data=b"c"))
    with pytest.raises(BadMessage, match="batch 999"):
        replay(engine, lambda on: seal_batch(on, 999))
    settle(engine)
    assert end_batches(engine) == 1
    assert batch(engine, batch_id).total == 2
    assert callbacks(engine) == 1

    def nothing(on: Connection) -> int:
        batch_id = open_batch(on, "nothing")
        seal_batch(on, batch_id, CALLBACK)
        return batch_id

    assert batch(engine, replay(engine, nothing)).ended_at is not None
    assert (callbacks(engine), end_batches(engine)) == (1, 0)


def test_a_dead_message_is_counted_and_may_come_back_before_the_end(engine: Engine) -> None:
    """Failed = dead at the end. Pushed again before it, it is waited for; after it, no more."""
    batch_id = start(engine, [b"a", b"b", b"c"])
    bury(engine, claim_one(engine), "no")
    bury(engine, claim_one(engine), "no")
    assert end_batches(engine) == 0
    assert (batch(engine, batch_id).remaining, batch(engine, batch_id).failed) == (1, 2)
    first, second = read(engine, dead_messages)
    retry_dead(engine, [first.id])
    assert (batch(engine, batch_id).remaining, batch(engine, batch_id).failed) == (2, 1)
    settle(engine, limit=1)
    assert end_batches(engine) == 0
    settle(engine)
    assert end_batches(engine) == 1
    assert (batch(engine, batch_id).remaining, batch(engine, batch_id).failed) == (0, 1)
    retry_dead(engine, [second.id])
    settle(engine)
    assert end_batches(engine) == 0
    assert callbacks(engine) == 1


def test_a_dead_message_that_came_back_by_plain_sql_is_waited_for(engine: Engine) -> None:
    """Nobody told the batch: it sees so when all others are done."""
    batch_id = start(engine, [b"a"])
    message = claim_one(engine)
    bury(engine, message, "no")
    run(engine, "INSERT INTO sakuin_messages (id, queue, data) VALUES (?, 'q', 'a')", message.id)
    run(engine, "UPDATE sakuin_batch_messages SET is_dead = 1 WHERE message_id = ?", message.id)
    run(engine, "UPDATE sakuin_batches SET seen = 1, failed = 1 WHERE id = ?", batch_id)
    assert end_batches(engine) == 0
    assert (batch(engine, batch_id).remaining, batch(engine, batch_id).failed) == (1, 0)
    settle(engine)
    assert end_batches(engine) == 1


def test_a_merged_message_is_waited_for_and_strangers_are_not(engine: Engine) -> None:
    """A merge: the batch waits for the message that does the work now. A message that is added
    twice counts once, and others do not hold the batch up."""
    batch_id = start(engine, [b"a"], seal=False)
    old = claim_one(engine)
    new_id = replay(engine, lambda on: push(on, "q", b"newer"))
    replay(engine, lambda on: add_to_batch(on, batch_id, [old.id]))
    replay(engine, lambda on: seal_batch(on, batch_id))
    assert batch(engine, batch_id).total == 1
    replay(engine, lambda on: repoint_jobs_on(on, old.id, new_id))
    replay(engine, lambda on: push_many(on, "q", [b"other"] * 3, priority=9))
    ack(engine, old)
    assert end_batches(engine) == 0
    settle(engine, limit=1)
    assert end_batches(engine) == 1


def test_a_batch_of_many_is_looked_at_in_chunks(engine: Engine) -> None:
    """Members that are settled are deleted as they go; the counts stay right all along."""
    batch_id = start(engine, [b"x"] * 1_700)
    settle(engine, limit=1_600)
    assert batch(engine, batch_id).remaining == 100
    assert end_batches(engine) == 0
    sql = "SELECT COUNT(*) FROM sakuin_batch_messages"
    assert read(engine, lambda on: execute(on, sql).scalar_one()) == 100
    assert batch(engine, batch_id).remaining == 100
    for message in claim(engine, "q", limit=100, lease_seconds=60):
        ack(engine, message)
    assert end_batches(engine) == 1
    assert batch(engine, batch_id).total == 1_700


def test_the_ids_of_many_pushed_messages_are_those_of_their_datas(engine: Engine) -> None:
    """push_into_batch returns the ids in order; so does the way of servers without RETURNING."""
    datas = [str(number).encode() for number in range(1_200)]
    batch_id = start(engine, [], seal=False)
    sql = "SELECT id, data FROM sakuin_messages ORDER BY id"
    acts: list[Callable[[], object]] = [
        lambda: None,
        lambda: setattr(engine.dialect, "insert_returning", False),
    ]
    for act in acts:
        act()
        ids = replay(engine, lambda on: push_into_batch(on, batch_id, "q", datas, priority=7))
        found = read(engine, lambda on: execute(on, sql).all())
        assert dict(zip(ids, datas, strict=True)) == {row.id: row.data for row in found[-1_200:]}
    assert batch(engine, batch_id).remaining == 2_400
