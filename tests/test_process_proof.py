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
from process_roles import said, said_by
from sakuin.app.private_mariadb import PrivateServer
from sakuin.queue import create_schema, push_many, read
from sakuin.queue.dialect import execute
from sakuin.queue.processes import Plan, Role
from supervisor_program import supervisor_program

WORKERS = 4
RESTARTS = 3


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

    Leases are ten minutes long: whatever waited for one to run out would be stuck for the test.
    """
    chance, output = stress.random(), tmp_path / "said"
    options = {"output": str(output), "limit": 10, "work_seconds": 0.005}
    with fresh_schema(server.url) as url:
        engine = open_database(url)
        create_schema(engine)
        with engine.begin() as connection:
            push_many(connection, "q", [b"x"] * stress.count(50_000))
        ids = left(engine)
        worker = Role("worker", "process_roles:work", options, WORKERS)
        plan = Plan(url, (worker, Role("dispatcher", "process_roles:tidy", options)))
        with supervisor_program(plan) as supervisor:
            killed = trouble(server, output, len(ids), stress.count(80), chance)
            until(lambda: not left(engine))
            assert supervisor.poll() is None
            until(lambda: roles(engine) == ["dispatcher", "supervisor"] + ["worker"] * WORKERS)
            supervisor.terminate()
            assert supervisor.wait(30) == 0
        deliveries = defaultdict(list)
        for number, pid in said_by(output, "C"):
            deliveries[number].append(pid)
        assert set(deliveries) == set(ids), "gone without having been delivered"
        earlier = {pid for pids in deliveries.values() for pid in pids[:-1]}
        assert earlier <= killed, "delivered again though its worker was not killed"
        assert registered(engine) == []
        print(f"{len(killed)} killed, {sum(map(len, deliveries.values())) - len(ids)} repeats")
        assert killed


def trouble(
    server: PrivateServer, output: Path, messages: int, kills: int, chance: Random
) -> set[int]:
    """Kill workers and dispatchers, and the server, as the work goes on; return who was killed."""
    points = chance.sample(range(messages // 10, messages * 9 // 10), kills + RESTARTS)
    restarts = set(points[:RESTARTS])
    killed: set[int] = set()
    for point in sorted(points):
        until(partial(has_settled, output, point))
        if point in restarts:
            server.kill()
        killed |= kill_one(output, killed, chance)
        if point in restarts:
            threading.Event().wait(chance.random() / 2)  # how long the server is away
            server.start()
    return killed


def has_settled(output: Path, count: int) -> bool:
    return output.exists() and output.read_bytes().count(b"\nS ") >= count


def kill_one(output: Path, killed: set[int], chance: Random) -> set[int]:
    living = [pid for pid in said(output, "began") if pid not in killed]
    if not living:
        return set()
    pid = chance.choice(living)
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
    return {pid}


def left(engine: Engine) -> list[int]:
    sql = "SELECT id FROM sakuin_messages"
    return list(read(engine, lambda connection: execute(connection, sql).scalars().all()))


def roles(engine: Engine) -> list[str]:
    return sorted(one.role for one in registered(engine) if not one.is_dead)
