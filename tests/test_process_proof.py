"""The whole proof: workers killed at random, the database server restarted, and nobody helps."""

import os
import signal
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from random import Random

import pytest
from sqlalchemy import Engine

from aging import registered
from conftest import Stress
from databases import Servers, fresh_schema, until
from process_jobs import Mark, jobs
from process_roles import said_by
from sakuin.app.private_mariadb import PrivateServer
from sakuin.queue import create_schema, dead_messages, push_many, read
from sakuin.queue.dialect import execute
from sakuin.queue.processes import Plan, usual_plan
from supervisor_program import supervisor_program

WORKERS = 4
RESTARTS = 2
"""While work goes on; a third one is when all of it starts."""

LEASE_SECONDS = 20.0


@pytest.fixture
def server(servers: Servers) -> Iterator[PrivateServer]:
    """The private server, running again when the test ends."""
    server = servers.private()
    yield server
    server.restart()


def test_killed_workers_and_restarted_servers_need_no_human(
    server: PrivateServer,
    open_database: Callable[[str], Engine],
    tmp_path: Path,
    stress: Stress,
) -> None:
    """Q5, faults #117, #512, #683: every message at least once, repeats only from killed leases.

    What dead processes held goes on at once; only a claim that nobody knows of, because the server
    was killed as it committed, waits for its lease to end.
    """
    output = tmp_path / "said"
    with fresh_schema(server.url) as url:
        engine = open_database(url)
        create_schema(engine)
        data = jobs.get("mark").args.encode(Mark(str(output)))
        with engine.begin() as connection:
            push_many(connection, "q", [data] * stress.count(50_000), kind="mark")
        ids = left(engine)
        server.kill()
        with supervisor_program(a_plan(url)) as supervisor:
            away(server, stress.random())
            killed = trouble(server, engine, output, len(ids), stress)
            until(lambda: not left(engine))
            assert supervisor.poll() is None
            everybody = ["dispatcher", "scheduler", "supervisor"] + ["worker"] * WORKERS
            until(lambda: roles(engine) == everybody)
            supervisor.terminate()
            assert supervisor.wait(30) == 0
        assert registered(engine) == []
        assert read(engine, lambda connection: dead_messages(connection, "q")) == ()
    deliveries = defaultdict(list)
    for number, pid in said_by(output, "C"):
        deliveries[number].append(pid)
    assert set(deliveries) == set(ids), "gone without having been delivered"
    earlier = {pid for pids in deliveries.values() for pid in pids[:-1]}
    assert earlier <= killed, "delivered again though its worker was not killed"
    print(f"{len(killed)} killed, {sum(map(len, deliveries.values())) - len(ids)} repeats")


def a_plan(url: str) -> Plan:
    return usual_plan(
        url, jobs="process_jobs:jobs", workers=WORKERS, processes=1, lease_seconds=LEASE_SECONDS
    )


def trouble(
    server: PrivateServer, engine: Engine, output: Path, messages: int, stress: Stress
) -> set[int]:
    """Kill workers and dispatchers, and the server, as the work goes on; return who was killed."""
    chance, kills = stress.random(), stress.count(50)
    points = chance.sample(range(messages // 10, messages * 9 // 10), kills + RESTARTS)
    restarts = set(points[:RESTARTS])
    killed: set[int] = set()
    for point in sorted(points):
        until(partial(has_delivered, output, point))
        killed |= kill_one(engine, killed, chance)
        if point in restarts:
            server.kill()
            away(server, chance)
    return killed


def away(server: PrivateServer, chance: Random) -> None:
    """Leave the server away for a moment."""
    threading.Event().wait(chance.random() / 2)
    server.start()


def kill_one(engine: Engine, killed: set[int], chance: Random) -> set[int]:
    living = [
        one.pid
        for one in registered(engine)
        if one.role in ("worker", "dispatcher", "scheduler") and one.pid not in killed
    ]
    if not living:
        return set()
    pid = chance.choice(living)
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
    return {pid}


def has_delivered(output: Path, count: int) -> bool:
    return output.exists() and output.read_bytes().count(b"\n") >= count


def left(engine: Engine) -> list[int]:
    sql = "SELECT id FROM sakuin_messages"
    return list(read(engine, lambda connection: execute(connection, sql).scalars().all()))


def roles(engine: Engine) -> list[str]:
    return sorted(one.role for one in registered(engine) if not one.is_dead)
