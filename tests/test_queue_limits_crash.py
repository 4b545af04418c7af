"""A limit under processes that are killed: never one too many, and nothing is stuck (Q5)."""

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from sqlalchemy import Connection, Engine

import limit_crew
from conftest import Stress
from sakuin.queue import Limit, free_stale_limits, push, read, replay
from sakuin.queue.dialect import execute

LIMIT = Limit("k", to=2, seconds=1.0)
_LOOK = (
    "SELECT COUNT(*) AS remaining, COALESCE(SUM(token IS NOT NULL AND locked_until > {now}), 0)"
    " AS held FROM sakuin_messages"
)


def start(url: str, seed: int, output: Path) -> "subprocess.Popen[bytes]":
    with output.open("wb") as lines:
        one = subprocess.Popen(
            [sys.executable, limit_crew.__file__, url, str(seed)],
            stdin=subprocess.PIPE,
            stdout=lines,
        )
    assert one.stdin is not None
    one.stdin.write(b"\n")
    one.stdin.flush()
    return one


def most_at_once(outputs: list[Path]) -> tuple[int, list[int]]:
    """Return how many of the workers' own intervals overlapped at most, and all ids."""
    ends: list[tuple[float, int]] = []
    ids: list[int] = []
    for output in outputs:
        for line in output.read_bytes().rpartition(b"\n")[0].decode().splitlines():
            number, begun, ended = line.split()
            ids.append(int(number))
            ends += [(float(begun), 1), (float(ended), -1)]
    running = most = 0
    for _, step in sorted(ends):
        running += step
        most = max(most, running)
    return most, ids


def test_killed_workers_never_exceed_a_limit_of_two(
    engine: Engine,
    database_url: str,
    open_database: Callable[[str], Engine],
    tmp_path: Path,
    stress: Stress,
) -> None:
    """By the database's own view, all the time, and by what the workers wrote down."""
    chance = stress.random()
    count = stress.count(5_000)

    def fill(connection: Connection) -> set[int]:
        return {push(connection, "q", b"x", limit=LIMIT) for _ in range(count)}

    everything = replay(engine, fill)
    outputs: list[Path] = []

    def join() -> "subprocess.Popen[bytes]":
        outputs.append(tmp_path / f"worker-{len(outputs)}.txt")
        return start(database_url, stress.seed + len(outputs), outputs[-1])

    crew = [join() for _ in range(8 if stress.is_whole else 4)]
    kills = sorted(chance.randrange(1, count) for _ in range(20 if stress.is_whole else 3))
    observer = open_database(database_url)
    deadline = time.monotonic() + (300 if stress.is_whole else 60)
    try:
        remaining = count
        while remaining:
            assert time.monotonic() < deadline, f"{remaining} are stuck"
            seen = read(observer, lambda one: execute(one, _LOOK).one())
            remaining = seen.remaining
            assert seen.held <= LIMIT.to
            free_stale_limits(observer) if chance.random() < 0.05 else None
            while kills and remaining < kills[-1]:
                kills.pop()
                victim = crew.pop(chance.randrange(len(crew)))
                victim.kill()
                victim.communicate()
                crew.append(join())
            time.sleep(0.002)  # between two looks
        assert not kills
    finally:
        for one in crew:
            one.kill()
            one.communicate()
    most, done = most_at_once(outputs)
    assert most <= LIMIT.to
    assert set(done) <= everything
    assert len(done) == len(set(done))
    assert len(done) >= count - len(outputs) * 4
