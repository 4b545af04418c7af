"""Kill -9 of workers, and of the database under them: every job is done, nobody is needed."""

import os
import select
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine

import jobs_crew
from conftest import Stress
from databases import Servers, fresh_schema, until
from example_jobs import Step, jobs
from sakuin.app.private_mariadb import PrivateServer
from sakuin.queue import (
    QueueError,
    create_schema,
    dead_messages,
    push_many,
    queue_counts,
    read,
    replay,
)
from sakuin.queue.jobs import measures
from sakuin.queue.jobs.fetch import Fetch, Wanted
from working import lines


def is_empty(engine: Engine) -> bool:
    """Whether the queue has no message in any state; no, while the database is away."""
    try:
        counts = read(engine, lambda on: queue_counts(on, "default"), tries=1)
    except QueueError:
        return False
    return counts.ready + counts.leased + counts.scheduled == 0


def end(worker: "subprocess.Popen[str]") -> str:
    """Stop it in order, and return what it logged."""
    worker.terminate()
    _, logged = worker.communicate(timeout=30)
    assert worker.returncode == 0, logged
    return logged


@pytest.mark.parametrize("database_kind", ["mariadb"], indirect=True)
def test_a_killed_worker_loses_nothing(engine: Engine, database_url: str, tmp_path: Path) -> None:
    """Q5: killed in the middle of jobs; its children die, and its messages come back.

    What had begun is delivered a second time, and no message more than that.
    """
    begun = [tmp_path / "begun-0", tmp_path / "begun-1"]
    ids = [
        replay(engine, lambda on, path=path: jobs.push(on, "wait", Step(str(path), 0.5)))  # type: ignore[misc]
        for path in begun
    ]
    with jobs_crew.crew(database_url, lease_seconds=1.0) as first:
        until(lambda: all(lines(path) for path in begun))
        watched = [os.pidfd_open(pid) for pid in jobs_crew.children(first.pid)]
        first.kill()
        for one in watched:
            assert select.select([one], [], [], 1.0)[0], "it lives on a second later"
            os.close(one)
    assert len(watched) == 2
    notes = Step(str(tmp_path / "notes"))
    ids += [replay(engine, lambda on: jobs.push(on, "note", notes)) for _ in range(20)]
    with jobs_crew.crew(database_url, lease_seconds=5.0) as second:
        until(lambda: is_empty(engine))
        assert not end(second)
    for path in begun:
        assert [line.split()[0] for line in lines(path)] == ["began", "began", "ended"]
    assert sorted(lines(tmp_path / "notes")) == sorted(f"{one} 1 0" for one in ids[2:])
    assert not read(engine, dead_messages)


@pytest.fixture
def server(servers: Servers) -> Iterator[PrivateServer]:
    """The private server, running again when the test ends."""
    server = servers.private()
    yield server
    server.restart()


def test_a_worker_survives_its_database(
    server: PrivateServer, open_database: Callable[[str], Engine], tmp_path: Path, stress: Stress
) -> None:
    """Q5, Q6, fault "recovery after restart: 0 %": the server is killed under a working worker.

    It says so once, waits, and goes on by itself; every job is done, a job that ran through the
    outage once, because nobody else took it. Its memory stays the same over thousands of jobs.
    """
    path, outages = tmp_path / "long", stress.count(20)
    with fresh_schema(server.url) as url:
        engine = open_database(url)
        create_schema(engine)
        with jobs_crew.crew(url, lease_seconds=20.0) as worker:
            work_off(engine, 1000)
            before = jobs_crew.rss_bytes(worker.pid)
            work_off(engine, 3000)
            assert jobs_crew.rss_bytes(worker.pid) - before < 2_000_000
            replay(engine, lambda on: jobs.push(on, "wait", Step(str(path), 1.0)))
            until(lambda: lines(path))
            for number in range(outages):
                push(engine, 200)
                server.kill()
                server.start()
                work_off(engine, 50)
                assert worker.poll() is None, f"it did not survive outage {number}"
            logged = end(worker)
        assert len(logged.splitlines()) < 12 * outages, logged
        assert [line.split()[0] for line in lines(path)] == ["began", "ended"]
        assert not read(engine, dead_messages)
        (seen, waited) = read(engine, measures)
        assert seen.runs >= 4000
        assert waited.runs == 1


def push(engine: Engine, count: int) -> None:
    replay(engine, lambda on: push_many(on, "default", [b"{}"] * count, kind="nothing"))


def work_off(engine: Engine, count: int) -> None:
    """Push so many jobs and wait until there are none."""
    push(engine, count)
    until(lambda: is_empty(engine))


@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
def test_an_idle_worker_asks_seldom(engine: Engine) -> None:
    """Fault "864k empty polls per worker per day" is 10 a second: here it comes to 2 a second."""
    wanted = Wanted(("*",), (), batch=10, lease_seconds=60.0, poll_seconds=0.1)
    fetch = Fetch(engine, wanted, lambda: None, lambda _: None)
    fetch.make_room(1, 1)
    until(lambda: fetch.empty_polls >= 6)
    began, polls = time.monotonic(), fetch.polls
    until(lambda: fetch.polls >= polls + 2)
    assert time.monotonic() - began > 0.5 * 0.75
    fetch.close(5.0)
