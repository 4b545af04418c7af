"""Our queue against the barest one in the same SQL, on one MariaDB server with durable commits.

    python benchmarks/queue_against_bare.py [--quick] [--json FILE]

Both by turns in one process, so that a machine whose speed varies is the same for both; medians.
push_many against multi-row INSERT; claim + ack in batches at a depth that is held (what is taken
is pushed again, off the clock); with 50,000 leased messages in front; with a million waiting.
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Engine

from queue_bare import BareQueue
from queue_sustained import QUEUE, empty, fill
from report import Report
from sakuin.app.private_mariadb import private_mariadb
from sakuin.queue import ack, claim, create_schema, open_engine, push, replay
from sakuin.queue.queue_stats import queue_stats

LEASED = 50_000
MILLION = 1_000_000
TURNS = 9


def main() -> None:
    """Run it all and print the tables."""
    arguments = _arguments()
    data = b"x" * arguments.bytes
    report = Report("Our queue against bare SQL", ("what", "ours/s", "bare/s", "ratio"))
    with (
        tempfile.TemporaryDirectory(prefix="sakuin-bench-") as folder,
        private_mariadb(Path(folder)) as server,
    ):
        engine = open_engine(server.url)
        create_schema(engine)
        bare = BareQueue(server.url)
        _pushes(report, engine, bare, data, arguments.messages)
        for batch in arguments.batches:
            rates = [
                _claims(report, engine, bare, Load(data, batch, depth, arguments.messages))
                for depth in arguments.depths
            ]
            shallow, deep = arguments.depths[0], arguments.depths[-1]
            name = f"batch {batch:,}: depth {deep:,} against {shallow:,} (ours)"
            report.conclude(name, rates[-1] / rates[0])
            if batch > 1:
                _behind_leased(report, engine, Load(data, batch, 1_000, arguments.messages))
        _in_a_crowd(report, engine, data, arguments.crowd)
        bare.close()
        engine.dispose()
    report.write(arguments.json)


@dataclass(frozen=True, slots=True)
class Load:
    """What is measured: batches of this size at this depth, so many messages in all."""

    data: bytes
    batch: int
    depth: int
    messages: int

    @property
    def a_turn(self) -> int:
        """How many messages each turn takes: whole batches; few where they come one by one."""
        wanted = self.messages // (20 if self.batch == 1 else 1) // TURNS
        return max(wanted // self.batch, 1) * self.batch


def _pushes(report: Report, engine: Engine, bare: BareQueue, data: bytes, count: int) -> None:
    empty(engine)
    part = max(count // TURNS, 1_000)
    ours, theirs = _by_turns(
        lambda: _timed(lambda: fill(engine, part, data)),
        lambda: _timed(lambda: bare.push_many(part, data)),
    )
    report.add(f"push_many, {part:,} at a time", part / ours, part / theirs, theirs / ours)
    report.conclude("push_many against a bare multi-row INSERT", theirs / ours)


def _claims(report: Report, engine: Engine, bare: BareQueue, load: Load) -> float:
    empty(engine)
    bare.empty()
    fill(engine, load.depth, load.data)
    bare.push_many(load.depth, load.data)
    ours, theirs = _by_turns(
        lambda: _sustained(load, lambda: _ours(engine, load.batch), _refill(engine, load)),
        lambda: _sustained(
            load,
            lambda: bare.claim_and_ack(load.batch),
            lambda taken: bare.push_many(taken, load.data),
        ),
    )
    name = f"claim + ack, batch {load.batch:,}, depth {load.depth:,}"
    count = load.a_turn
    report.add(f"{name}, {TURNS * count:,} messages", count / ours, count / theirs, theirs / ours)
    report.conclude(f"{name}, against bare", theirs / ours)
    return count / ours


def _behind_leased(report: Report, engine: Engine, load: Load) -> None:
    rates: list[float] = []
    for leased in (0, LEASED):
        empty(engine)
        fill(engine, leased + load.depth, load.data)
        for _ in range(leased // 10_000):
            claim(engine, QUEUE, limit=10_000, lease_seconds=3_600)
        seconds = [
            _sustained(load, lambda: _ours(engine, load.batch), _refill(engine, load))
            for _ in range(TURNS)
        ]
        rates.append(load.a_turn / statistics.median(seconds))
    name = f"claim + ack, batch {load.batch:,}: {LEASED:,} leased in front against none"
    report.add(name + " (both ours)", rates[1], rates[0], rates[1] / rates[0])
    report.conclude(name, rates[1] / rates[0])


def _in_a_crowd(report: Report, engine: Engine, data: bytes, crowd: int) -> None:
    took: dict[tuple[str, int], float] = {}
    for depth in (1_000, crowd):
        empty(engine)
        for _ in range(max(depth // 50_000, 1)):
            fill(engine, min(depth, 50_000), data)
        acts: dict[str, Callable[[], object]] = {
            "claim + ack of one": lambda: _ours(engine, 1),
            "claim + ack of 100": lambda: _ours(engine, 100),
            "push of one": lambda: replay(engine, lambda c: push(c, QUEUE, data)),
            "stats": lambda: replay(engine, lambda c: queue_stats(c, QUEUE)),
        }
        for name, act in acts.items():
            seconds: list[float] = []
            for _ in range(100):
                seconds.append(_timed(act))
                fill(engine, 100, data)  # what they take, at most: the depth is held
            took[name, depth] = statistics.median(seconds)
    for name in acts:
        few, many = took[name, 1_000], took[name, crowd]
        what = f"{name}: {crowd:,} waiting against 1,000, times as long"
        report.add(what + " (both ours)", 1 / many, 1 / few, many / few)
        report.conclude(what, many / few)


def _ours(engine: Engine, batch: int) -> int:
    messages = claim(engine, QUEUE, limit=batch, lease_seconds=600)
    assert not ack(engine, messages)
    return len(messages)


def _refill(engine: Engine, load: Load) -> Callable[[int], None]:
    return lambda taken: fill(engine, taken, load.data)


def _sustained(load: Load, act: Callable[[], int], refill: Callable[[int], None]) -> float:
    """Return the seconds of acts alone that take a turn's messages; what they take is refilled."""
    seconds, taken = 0.0, 0
    while taken < load.a_turn:
        begun = time.perf_counter()
        got = act()
        seconds += time.perf_counter() - begun
        assert got == load.batch
        taken += got
        refill(got)
    return seconds


def _by_turns(ours: Callable[[], float], theirs: Callable[[], float]) -> tuple[float, float]:
    """Return the median seconds of each; the first turn warms up."""
    both = [(ours(), theirs()) for _ in range(TURNS + 1)][1:]
    return statistics.median(a for a, _ in both), statistics.median(b for _, b in both)


def _timed(act: Callable[[], object]) -> float:
    begun = time.perf_counter()
    act()
    return time.perf_counter() - begun


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--bytes", type=int, default=200, help="in a message (default: 200)")
    parser.add_argument("--messages", type=int, default=27_000, help="a figure (default: 27000)")
    parser.add_argument("--depths", type=_numbers, default=[1_000, 50_000])
    parser.add_argument("--batches", type=_numbers, default=[1, 100, 1_000])
    parser.add_argument("--crowd", type=int, default=MILLION, help="(default: 1000000)")
    parser.add_argument("--quick", action="store_true", help="a tenth of it")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.messages //= 10
        arguments.crowd //= 10
    return arguments


def _numbers(text: str) -> list[int]:
    return [int(number) for number in text.split(",")]


if __name__ == "__main__":
    main()
