"""Jobs and batches are kept for a time and then pruned, in small steps; orphans are ended."""

from typing import Any

from sqlalchemy import Connection, Engine, event

from databases import claim_one
from sakuin.queue import Message, ack, claim, read, replay
from sakuin.queue.dialect import dialect_of, execute
from sakuin.queue.jobs import (
    Old,
    batch_of,
    fail_jobs_on,
    finish_jobs_on,
    job_of,
    open_batch,
    prune,
    prune_rows,
    push_job,
    push_to_batch,
    receive_jobs_on,
    seal_batch,
    settle_orphans,
    wait_again_on,
)
from sakuin.queue.jobs.prune import CHUNK
from sakuin.queue.jobs.settle_orphans import _end


def run(engine: Engine, sql: str, *values: object) -> int:
    return replay(engine, lambda on: execute(on, sql, *values).rowcount)


def count(engine: Engine, table: str) -> int:
    sql = f"SELECT COUNT(*) FROM {table}"
    return int(read(engine, lambda on: execute(on, sql).scalar_one()))


def shift(engine: Engine, seconds: float) -> object:
    return read(engine, lambda on: dialect_of(on).shift(seconds))


def old_jobs(engine: Engine, many: int) -> None:
    """Make rows of jobs that ended long ago."""
    long_ago = "2020-01-01 00:00:00.000000"
    sql = "INSERT INTO sakuin_jobs (status, message_id, keep_until, result) VALUES (?, ?, ?, ?)"

    def work(on: Connection) -> None:
        mark = dialect_of(on).placeholder
        rows = [("finished", number, long_ago, b"x") for number in range(many)]
        on.exec_driver_sql(sql.replace("?", mark), rows)

    replay(engine, work)


def receive(engine: Engine) -> Message:
    (message,) = claim(engine, "q", limit=1, lease_seconds=60, also=receive_jobs_on)
    return message


def statuses(engine: Engine, *ids: int) -> list[str]:
    found = [read(engine, lambda on, one=one: job_of(on, one)) for one in ids]  # type: ignore[misc]
    return [one.status if one else "gone" for one in found]


def test_kestra_17262_a_purge_of_many_rows_is_many_small_transactions(engine: Engine) -> None:
    """The purge in one transaction that locked everybody out: here each deletes at most CHUNK rows
    in the order of their ids, and between any two others push and end jobs."""
    old_jobs(engine, 3 * CHUNK + 7)
    is_mysql = engine.dialect.name != "sqlite"
    deleted: list[int] = []
    keys: list[str] = []
    pushed: list[int] = []

    def push_one() -> None:
        with engine.begin() as other:
            if is_mysql:
                other.exec_driver_sql("SET SESSION innodb_lock_wait_timeout = 1")
            pushed.append(push_job(other, "q", b"x"))

    def before(_on: Any, _cursor: Any, sql: str, *_: Any) -> None:
        if sql.startswith("SELECT id FROM sakuin_jobs WHERE keep_until"):
            push_one()  # between two chunks
        if sql.startswith("DELETE"):
            keys.extend(sql.partition(" IN (")[2].partition(")")[0].split(","))

    def after(_on: Any, cursor: Any, sql: str, *_: Any) -> None:
        if sql.startswith("DELETE"):
            deleted.append(cursor.rowcount)
            if is_mysql:
                push_one()  # before the chunk is committed: it locks nothing but its own rows

    event.listen(engine, "before_cursor_execute", before)
    event.listen(engine, "after_cursor_execute", after)
    assert prune(engine) == 3 * CHUNK + 7
    assert deleted == [CHUNK, CHUNK, CHUNK, 7]
    assert keys == sorted(keys, key=int)
    assert len(pushed) == (8 if is_mysql else 4)
    assert count(engine, "sakuin_jobs") == len(pushed)


def test_solid_queue_278_what_ended_is_pruned_in_its_time_and_nothing_else(engine: Engine) -> None:
    """Jobs that were never cleaned. Kept: waiting, making, ended just now, pushed again."""
    ids = [
        replay(engine, lambda on, keep=keep: push_job(on, "q", b"x", keep_seconds=keep))  # type: ignore[misc]
        for keep in (0, 100, 0, 0, 0)
    ]
    over, kept, again, making, waiting = ids
    for _ in (over, kept):
        ack(engine, receive(engine), also=lambda on, done: finish_jobs_on(on, done, {}))
    dead = receive(engine)
    replay(engine, lambda on: fail_jobs_on(on, [dead.id], "no"))
    replay(engine, lambda on: wait_again_on(on, [dead.id]))
    receive(engine)
    assert prune(engine) == 1
    assert statuses(engine, *ids) == ["gone", "finished", "waiting", "making", "waiting"]
    run(engine, "UPDATE sakuin_jobs SET keep_until = {later}", shift(engine, -1))
    assert prune(engine) == 1
    assert statuses(engine, again, making, waiting) == ["waiting", "making", "waiting"]


def test_a_batch_goes_with_what_is_left_of_its_members(engine: Engine) -> None:
    """A batch whose ending was cut short leaves members: they go before it does."""

    def work(on: Connection, seal: bool) -> int:
        batch_id = open_batch(on, "x", keep_seconds=0)
        push_to_batch(on, batch_id, "q", b"x")
        if seal:
            seal_batch(on, batch_id)
            execute(on, "UPDATE sakuin_batches SET ended_at = {now}, keep_until = {now}")
        return batch_id

    ended = replay(engine, lambda on: work(on, True))
    open_one = replay(engine, lambda on: work(on, False))
    assert prune(engine) == 1
    assert read(engine, lambda on: batch_of(on, ended)) is None
    assert read(engine, lambda on: batch_of(on, open_one)) is not None
    assert count(engine, "sakuin_batch_messages") == 1
    assert prune(engine) == 0


def test_other_tables_are_pruned_by_their_age(engine: Engine) -> None:
    """Runs and measures have no id: their keys are told; one call deletes no more than it says."""
    sql = "INSERT INTO sakuin_measures (kind, at) VALUES (?, {later})"
    for number in range(12):
        run(engine, sql, f"kind{number % 2}", shift(engine, -60.0 * number))
    old = Old("sakuin_measures", "at", 330, key=("kind", "at"))
    assert prune(engine, old) == 6
    assert count(engine, "sakuin_measures") == 6
    assert (
        prune_rows(engine, Old("sakuin_measures", "at", 90, key=("kind", "at"), only="runs = 1"))
        == 0
    )
    old_jobs(engine, 2 * CHUNK)
    assert prune_rows(engine, Old("sakuin_jobs", "keep_until"), most=CHUNK) == CHUNK
    assert count(engine, "sakuin_jobs") == CHUNK


def test_a_job_whose_message_was_settled_by_plain_sql_ends(engine: Engine) -> None:
    """An orphan finishes without a result and says so, or fails for what the dead list says."""
    notify = ["https://example.org/hook"]
    gone, dead, live = (
        replay(engine, lambda on: push_job(on, "q", b"x", notify=notify)) for _ in range(3)
    )
    run(engine, "DELETE FROM sakuin_messages WHERE id = ?", receive(engine).id)
    message = claim_one(engine)
    run(
        engine,
        "INSERT INTO sakuin_dead (message_id, queue, priority, attempts, data, reason, created_at)"
        " SELECT id, queue, priority, attempts, data, 'by hand', created_at FROM sakuin_messages"
        " WHERE id = ?",
        message.id,
    )
    run(engine, "DELETE FROM sakuin_messages WHERE id = ?", message.id)
    assert settle_orphans(engine) == 2
    assert statuses(engine, gone, dead, live) == ["finished", "failed", "waiting"]
    finished = read(engine, lambda on: job_of(on, gone))
    failed = read(engine, lambda on: job_of(on, dead))
    assert finished is not None
    assert failed is not None
    assert finished.result is None
    assert finished.progress is None
    assert finished.note == "its message was removed, nobody said with what result"
    assert failed.error == "by hand"
    assert len(claim(engine, "sakuin:notices", limit=9, lease_seconds=60)) == 2
    assert settle_orphans(engine) == 0


def test_river_1302_a_rescuer_overwrites_no_job_that_was_settled_meanwhile(engine: Engine) -> None:
    """What was gone at first is looked at again under lock: it finished by then, or lives again."""
    finished, again = (replay(engine, lambda on: push_job(on, "q", b"x")) for _ in range(2))
    done = receive(engine)
    ack(engine, done, also=lambda on, ids: finish_jobs_on(on, ids, {done.id: b"r"}))
    receive(engine)
    assert replay(engine, lambda on: _end(on, [finished, again])) == 0
    assert statuses(engine, finished, again) == ["finished", "making"]
    kept = read(engine, lambda on: job_of(on, finished))
    assert kept is not None
    assert (kept.result, kept.note) == (b"r", None)
