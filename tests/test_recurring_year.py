"""Three schedulers over a simulated year with the days when clocks jump, and an outage."""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache

import pytest
from sqlalchemy import Engine

from conftest import Stress
from cron_oracle import ANY_DAY, ANY_MONTH, Fields, Minute, daily, minutes_of, runs_of, whole
from recurring import HandClock, at_once, recorded, task
from sakuin.queue.recurring import Scheduler, Task, declare_tasks

OUTAGE = timedelta(hours=2)
LATE_SECONDS = 30
"""A tick comes up to so long after the run that it pushes."""


@dataclass(frozen=True, slots=True)
class Known:
    """A task, and the times of a span (UTC) at which it must run, by brute force."""

    task: Task
    runs: Callable[[datetime, datetime], list[datetime]]


def by_clock(fields: Fields, zone: str, schedule: str, catch_up: float = 600.0) -> Known:
    key = f"{schedule} {zone}"
    return Known(
        task(key, schedule=schedule, zone=zone, catch_up_seconds=catch_up),
        lambda start, end: runs_of(fields, minutes_between(zone, start, end)),
    )


@cache
def minutes_between(zone: str, start: datetime, end: datetime) -> list[Minute]:
    return list(minutes_of(zone, start, end))


def each_six_hours(start: datetime, end: datetime) -> list[datetime]:
    hours = ((end - start) // timedelta(hours=1)) + 1
    every = (start + timedelta(hours=number) for number in range(1, hours))
    return [moment for moment in every if moment.hour % 6 == 0]


WORKDAYS = frozenset({1, 2, 3, 4, 5})
TASKS = (
    by_clock(daily(2, 30), "Europe/Berlin", "every day at 2:30"),
    by_clock(daily(12, 0), "Europe/Berlin", "every day at noon", catch_up=3 * 3600),
    by_clock(daily(3, 0), "Asia/Tokyo", "毎日午前三時"),
    by_clock(daily(23, 45), "Asia/Tokyo", "45 23 * * *", catch_up=3 * 3600),
    by_clock(
        Fields("15 2 * * 1-5", frozenset({15}), frozenset({2}), ANY_DAY, ANY_MONTH, WORKDAYS),
        "Europe/Berlin",
        "every weekday at 2:15",
    ),
    by_clock(
        Fields(
            "0 */2 * * SUN",
            frozenset({0}),
            frozenset(range(0, 24, 2)),
            ANY_DAY,
            ANY_MONTH,
            frozenset({0}),
        ),
        "Europe/Berlin",
        "0 */2 * * SUN",
        catch_up=3 * 3600,
    ),
    Known(task("every 6 hours", schedule="every 6 hours"), each_six_hours),
)


def spans(stress: Stress, chance: random.Random) -> Iterator[tuple[datetime, datetime]]:
    """The year, or 18 days of it around each day when Berlin's clock jumps."""
    if stress.is_whole:
        yield whole("2027-01-01"), whole("2028-01-01")
        return
    for jump in ("2027-03-28", "2027-10-31"):
        start = whole(jump) - timedelta(days=chance.randrange(1, 17))
        yield start, start + timedelta(days=18)


def test_three_schedulers_over_a_year_push_each_run_once(
    engine: Engine,
    database_url: str,
    open_database: Callable[[str], Engine],
    stress: Stress,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Each due run exactly once, over both jumps of the clock and restarts; after an outage of two
    hours what the window of each task allows, and no more."""
    chance = stress.random()
    clock = HandClock(whole("2026-12-31"))
    engines = [open_database(database_url) for _ in range(3)]
    crew = [Scheduler(each, clock=clock) for each in engines]
    expected: list[tuple[str, datetime]] = []
    left_out: list[str] = []
    for start, end in spans(stress, chance):
        clock.now = start
        declare_tasks(engine, [], clock=clock)
        declare_tasks(engine, [known.task for known in TASKS], clock=clock)
        due = {known.task.key: known.runs(start, end) for known in TASKS}
        down = start + (end - start) * chance.uniform(0.1, 0.9)
        for moment in moments(due, start, end, down, chance):
            clock.now = moment
            if chance.random() < 0.05:  # one of them is started again
                declare_tasks(engine, [known.task for known in TASKS], clock=clock)
                number = chance.randrange(3)
                engines[number].dispose()
                crew[number] = Scheduler(engines[number], clock=clock)
            at_once([one.tick for one in chance.sample(crew, chance.randrange(1, 4))])
        for known in TASKS:
            key, too_old = known.task.key, down + OUTAGE - window(known)
            expected += [(key, run) for run in due[key] if not down < run <= too_old]
            left_out += [key] * any(down < run <= too_old for run in due[key])
    assert sorted(recorded(engine)) == sorted(expected)
    told = [record.getMessage().partition(": runs")[0] for record in caplog.records]
    assert sorted(told) == sorted(f"task {key}" for key in left_out)


def window(known: Known) -> timedelta:
    return timedelta(seconds=known.task.catch_up_seconds)


def moments(
    due: dict[str, list[datetime]],
    start: datetime,
    end: datetime,
    down: datetime,
    chance: random.Random,
) -> list[datetime]:
    """When they tick: soon after each run, but not during the outage; right before and after it."""
    runs = {run for times in due.values() for run in times}
    late = [run + timedelta(seconds=chance.uniform(0, LATE_SECONDS)) for run in runs]
    idle = [start + (end - start) * chance.random() for _ in range(len(runs) // 10)]
    up = [moment for moment in late + idle if not down < moment < down + OUTAGE]
    return sorted([*up, down, down + OUTAGE, end + timedelta(seconds=LATE_SECONDS)])
