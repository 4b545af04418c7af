"""A connection that is lost during COMMIT: jobs and batches end once all the same (Q6)."""

from collections.abc import Iterator

import pytest
from sqlalchemy import Connection, Engine

from cut_path import EVERYWHERE, Path, cut_path
from cut_proxy import Where
from databases import Servers
from sakuin.queue import ack, claim, read, replay
from sakuin.queue.dialect import execute
from sakuin.queue.jobs import (
    Callback,
    Receipt,
    end_batches,
    job_of,
    open_batch,
    push_job,
    push_to_batch,
    receive_jobs_on,
    seal_batch,
    set_progress,
    settle_by_receipt,
)


@pytest.fixture
def path(servers: Servers) -> Iterator[Path]:
    with cut_path(servers) as path:
        yield path


def count(path: Path, queue: str) -> int:
    sql = "SELECT COUNT(*) FROM sakuin_messages WHERE queue = ?"
    return int(read(path.whole, lambda on: execute(on, sql, queue).scalar_one()))


def seen(path: Path, batch_id: int) -> int:
    sql = "SELECT seen FROM sakuin_batches WHERE id = ?"
    return int(read(path.whole, lambda on: execute(on, sql, batch_id).scalar_one()))


def run(engine: Engine, sql: str) -> None:
    replay(engine, lambda on: execute(on, sql))


@pytest.mark.parametrize("where", EVERYWHERE)
def test_a_job_is_received_reported_and_settled_once(path: Path, where: Where) -> None:
    """Q6: the claim, the progress and the end are found, or done again; one notice is pushed."""
    notify = ["mailto:a@example.org"]
    job_id = replay(path.whole, lambda on: push_job(on, "q", b"x", notify=notify))
    path.proxy.cut(where)
    (message,) = claim(path.cut, "q", limit=1, lease_seconds=60, also=receive_jobs_on)
    receipt = Receipt.of(message)
    making = read(path.whole, lambda on: job_of(on, job_id))
    assert making is not None
    assert (making.status, making.receipt) == ("making", receipt)
    path.proxy.cut(where)
    assert set_progress(path.cut, receipt, 1, 2)
    path.proxy.cut(where)
    settle_by_receipt(path.cut, receipt, result=b"r")
    assert path.proxy.cuts == 3
    ended = read(path.whole, lambda on: job_of(on, job_id))
    assert ended is not None
    assert (ended.status, ended.result, ended.receipt) == ("finished", b"r", None)
    assert count(path, "sakuin:notices") == 1
    assert count(path, "q") == 0


@pytest.mark.parametrize("where", EVERYWHERE)
def test_a_batch_calls_back_once(path: Path, where: Where) -> None:
    """Q6: cut where a settled member is noted, and where the batch ends: one callback each."""

    def work(on: Connection) -> int:
        batch_id = open_batch(on, "x", Callback("after", None, b""))
        push_to_batch(on, batch_id, "q", b"x")
        seal_batch(on, batch_id)
        return batch_id

    for cuts, is_seen in ((1, False), (2, True)):
        batch_id = replay(path.whole, work)
        assert ack(path.whole, claim(path.whole, "q", limit=1, lease_seconds=60)) == frozenset()
        if is_seen:
            run(path.whole, "DELETE FROM sakuin_batch_messages")
            run(path.whole, "UPDATE sakuin_batches SET seen = 1")
        path.proxy.cut(where)
        assert end_batches(path.cut) == 1
        assert path.proxy.cuts == cuts == count(path, "after")
        assert seen(path, batch_id) == 1
