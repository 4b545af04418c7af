"""Batches and jobs under several connections: nobody waits for strangers, nothing ends twice."""

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Barrier
from typing import Any

import pytest
from sqlalchemy import Engine, event

from sakuin.queue import ack, claim, create_schema, fail, read, replay
from sakuin.queue.dialect import execute
from sakuin.queue.jobs import (
    BatchSealed,
    Callback,
    batch_of,
    end_batches,
    finish_jobs_on,
    jobs_page,
    open_batch,
    prune,
    push_into_batch,
    push_job,
    push_to_batch,
    receive_jobs_on,
    retry_jobs_on,
    seal_batch,
    set_progress,
    settle_orphans,
)
from sakuin.queue.jobs.job import Receipt


def batch(engine: Engine, many: int, queue: str = "q") -> int:
    def work(on: Any) -> int:
        batch_id = open_batch(on, "x", Callback("after", None, b""))
        push_into_batch(on, batch_id, queue, [b"x"] * many)
        seal_batch(on, batch_id)
        return batch_id

    return replay(engine, work)


def settle(engine: Engine, queue: str = "q") -> None:
    while messages := claim(engine, queue, limit=1000, lease_seconds=60):
        ack(engine, messages)


def waiting(engine: Engine, queue: str) -> int:
    sql = "SELECT COUNT(*) FROM sakuin_messages WHERE queue = ?"
    return int(read(engine, lambda on: execute(on, sql, queue).scalar_one()))


@pytest.fixture
def impatient(mariadb_url: str, open_database: Callable[[str], Engine]) -> Engine:
    """An engine on MariaDB that fails at once where it would wait for a lock."""
    engine = open_database(mariadb_url)
    create_schema(engine)

    def hurry(connection: Any, _record: object) -> None:
        with connection.cursor() as cursor:
            cursor.execute("SET SESSION innodb_lock_wait_timeout = 0")

    event.listen(engine, "connect", hurry)
    engine.dispose()
    return engine


@pytest.mark.parametrize("depth", [3, 1_200])
def test_action_scheduler_530_tidying_waits_for_no_open_transaction(
    impatient: Engine, open_database: Callable[[str], Engine], depth: int
) -> None:
    """A tidying statement that reads a whole table waits for strangers. Here somebody has pushed
    jobs and members, and locked others, and every chore goes through meanwhile."""
    batch(impatient, depth)
    batch(impatient, depth, "other")
    replay(impatient, lambda on: [push_job(on, "jobs", b"x", keep_seconds=0) for _ in range(5)])
    settle(impatient)
    busy = open_database(impatient.url.render_as_string(hide_password=False))
    gone = claim(impatient, "jobs", limit=2, lease_seconds=60, also=receive_jobs_on)
    ack(impatient, gone[:1], also=lambda on, ids: finish_jobs_on(on, ids, {}))
    ack(impatient, gone[1:])
    mine = claim(impatient, "jobs", limit=1, lease_seconds=60, also=receive_jobs_on)
    with busy.begin() as stranger:
        open_one = open_batch(stranger, "still open")
        push_into_batch(stranger, open_one, "q", [b"x"] * 50)
        for _ in range(3):
            push_job(stranger, "jobs", b"x")
        execute(stranger, "SELECT * FROM sakuin_jobs WHERE id >= 5 FOR UPDATE").all()
        execute(stranger, "SELECT * FROM sakuin_batch_messages WHERE batch_id > 1 FOR UPDATE").all()
        assert end_batches(impatient) == 1
        assert set_progress(impatient, Receipt.of(mine[0]), 1, 2)
        assert settle_orphans(impatient) == 1
        assert prune(impatient) == 2
        more = claim(impatient, "jobs", limit=1, lease_seconds=60, also=receive_jobs_on)
        again = fail(impatient, more, "no", also=lambda on, ids: retry_jobs_on(on, ids, "no"))
        assert (len(more), again) == (1, frozenset())
        assert ack(impatient, mine, also=lambda on, ids: finish_jobs_on(on, ids, {})) == frozenset()
    assert waiting(impatient, "after") == 1


def test_rival_dispatchers_end_every_batch_once(engine: Engine) -> None:
    """Several dispatchers see the same ends: each batch has one callback message."""
    ids = [batch(engine, 30) for _ in range(12)]
    settle(engine)
    barrier = Barrier(4)

    def tidy(_: int) -> int:
        barrier.wait()
        return end_batches(engine) + end_batches(engine)

    with ThreadPoolExecutor(4) as pool:
        ended = sum(pool.map(tidy, range(4)))
    assert ended == len(ids) == waiting(engine, "after")
    assert end_batches(engine) == 0


def test_rivals_at_one_key_and_one_batch(engine: Engine) -> None:
    """A waiting key has one job, whoever pushes at once. Who adds to a batch while it is sealed is
    either in it, or refused."""
    batch_id = replay(engine, lambda on: open_batch(on, "x", Callback("after", None, b"")))
    barrier = Barrier(4)

    def add(number: int) -> tuple[int, set[int]]:
        added = 0
        jobs = set()
        barrier.wait()
        for turn in range(25):
            jobs.add(replay(engine, lambda on: push_job(on, "jobs", b"x", unique_key="k")))
            try:
                replay(engine, partial(push_to_batch, batch_id=batch_id, queue="q", data=b"x"))
                added += 1
            except BatchSealed:
                break
            if (number, turn) == (0, 10):
                replay(engine, partial(seal_batch, batch_id=batch_id))
        return added, jobs

    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(add, range(4)))
    assert len(set.union(*(jobs for _, jobs in results))) == 1
    found = read(engine, partial(batch_of, batch_id=batch_id))
    assert found is not None
    assert found.total == found.remaining == waiting(engine, "q") == sum(n for n, _ in results)
    settle(engine)
    assert end_batches(engine) == 1


def test_solid_queue_589_a_job_ends_once_among_many_workers(engine: Engine) -> None:
    """The job that both finished and failed: here workers and rescuers share 120 jobs; each ends
    once, tells it once, and no statement meets a deadlock (laravel 7046)."""
    notify = ["https://example.org/hook"]
    replay(engine, lambda on: [push_job(on, "q", b"x", notify=notify) for _ in range(120)])
    codes: Counter[Any] = Counter()
    event.listen(
        engine,
        "handle_error",
        lambda context: codes.update([context.original_exception.args[0]]),
    )
    barrier = Barrier(4)

    def work(number: int) -> None:
        barrier.wait()
        while messages := claim(engine, "q", limit=7, lease_seconds=60, also=receive_jobs_on):
            if number == 3:
                ack(engine, messages)  # tells nobody
                settle_orphans(engine)
            else:
                ack(engine, messages, also=lambda on, ids: finish_jobs_on(on, ids, {}))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    settle_orphans(engine)
    jobs = read(engine, partial(jobs_page, limit=200))
    assert Counter(job.status for job in jobs) == {"finished": 120}
    assert waiting(engine, "sakuin:notices") == 120
    assert 1213 not in codes
