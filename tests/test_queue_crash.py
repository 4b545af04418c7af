"""Kill -9 of a worker, and of the database server: nothing is lost, nothing is stuck (Q5)."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine

import queue_crew
from conftest import Stress
from databases import Servers, expire, fresh_schema, until
from sakuin.app.private_mariadb import PrivateServer
from sakuin.queue import (
    DatabaseAway,
    OutcomeUnknown,
    claim,
    create_schema,
    push_many,
    read,
    replay,
)
from sakuin.queue.dialect import execute


def wait_for_claims(engine: Engine, output: Path, enough: int) -> None:
    until(lambda: len(queue_crew.said(output, "C")) >= enough or not left(engine))


def left(engine: Engine) -> list[int]:
    sql = "SELECT id FROM sakuin_messages"
    return list(read(engine, lambda connection: execute(connection, sql).scalars().all()))


def assert_none_is_stuck(engine: Engine) -> None:
    """No message waits longer than its lease, and once the leases end all are ready."""
    sql = "SELECT COUNT(*) FROM sakuin_messages WHERE locked_until > {later}"

    def too_long(connection: object) -> int:
        limit = queue_crew.LEASE_SECONDS
        shift = round(limit * 1e6) if engine.dialect.name == "mysql" else f"+{limit} seconds"
        return int(execute(connection, sql, shift).scalar_one())  # type: ignore[arg-type]

    assert read(engine, too_long) == 0
    remaining = left(engine)
    expire(engine, *remaining) if remaining else None
    got: list[int] = []
    while batch := claim(engine, "q", limit=1000, lease_seconds=60):
        got += [one.id for one in batch]
    assert sorted(got) == sorted(remaining)


def test_kill_of_a_worker_loses_nothing(
    engine: Engine, database_url: str, tmp_path: Path, stress: Stress
) -> None:
    """Q5: killed at any moment, again and again: what is gone was worked, the rest comes back."""
    chance = stress.random()
    with engine.begin() as connection:
        push_many(connection, "q", [b"x"] * 3000)
    pushed = set(left(engine))
    seen: set[int] = set()
    settled: set[int] = set()
    for number in range(stress.count(50)):
        output = tmp_path / f"crew-{number}.txt"
        worker = queue_crew.start("churn", database_url, chance.randrange(2**32), output)
        queue_crew.go([worker])
        enough = chance.randint(1, 40)
        wait_for_claims(engine, output, enough)
        time.sleep(chance.random() / 200)  # anywhere within a claim or an ack, that is the point
        worker.kill()
        worker.communicate()
        seen |= set(queue_crew.said(output, "C"))
        settled |= set(queue_crew.said(output, "S"))
    remaining = set(left(engine))
    assert pushed - remaining <= seen, "gone without having been delivered"
    assert not settled & remaining, "acked, but still there"
    assert settled
    assert_none_is_stuck(engine)


@pytest.fixture
def server(servers: Servers) -> Iterator[PrivateServer]:
    """The private server, running again when the test ends."""
    server = servers.private()
    yield server
    server.restart()


def test_kill_of_the_server_loses_nothing(
    server: PrivateServer,
    open_database: Callable[[str], Engine],
    tmp_path: Path,
    stress: Stress,
) -> None:
    """Q5, Q6: what a push committed is there after a crash of the server; workers go on."""
    chance = stress.random()
    with fresh_schema(server.url) as url:
        engine = open_database(url)
        create_schema(engine)
        output = tmp_path / "crew.txt"
        worker = queue_crew.start("churn", url, stress.seed, output)
        queue_crew.go([worker])
        pushed: list[int] = []
        for _ in range(stress.count(20)):
            crash_at = len(pushed) + chance.randint(5, 30)
            while len(pushed) < crash_at:
                pushed += push_some(engine)
            server.kill()
            with pytest.raises((DatabaseAway, OutcomeUnknown)):
                push_some(engine)
            server.start()
            pushed += push_some(engine)
        until(lambda: len(set(queue_crew.said(output, "C"))) > len(pushed) // 2)
        assert worker.poll() is None, "the worker did not survive"
        worker.kill()
        worker.communicate()
        seen = set(queue_crew.said(output, "C"))
        remaining = set(left(engine))
        assert set(pushed) - remaining <= seen, "gone without having been delivered"
        assert not set(queue_crew.said(output, "S")) & remaining, "acked, but still there"
        assert_none_is_stuck(engine)


def push_some(engine: Engine) -> list[int]:
    """Push a few in one transaction and return their ids once it is known to be committed."""

    def work(connection: object) -> list[int]:
        sql = "INSERT INTO sakuin_messages (queue, data) VALUES ('q', ?)"
        return [execute(connection, sql, b"x").lastrowid for _ in range(3)]  # type: ignore[arg-type]

    return replay(engine, work)
