"""Declaring tasks: what is added, changed and deleted, and what is left as it was."""

from collections.abc import Callable

import pytest
from sqlalchemy import Engine

from recurring import HandClock, at, at_once, shown, task
from sakuin.queue import read, replay
from sakuin.queue.dialect import execute, moment
from sakuin.queue.recurring import BadTask, Task, declare_tasks
from sakuin.queue.recurring.enqueue import enqueue_run
from sakuin.queue.recurring.planned import planned_tasks


def plans(engine: Engine) -> dict[str, str]:
    """Return from when each task is planned."""
    sql = "SELECT task_key, planned_from FROM sakuin_tasks"
    rows = read(engine, lambda connection: execute(connection, sql).all())
    return {row.task_key: f"{moment(row.planned_from):%d %H:%M}" for row in rows}


def test_the_tasks_of_an_origin_are_those_declared(engine: Engine) -> None:
    """New ones are added, missing ones deleted, those of other origins left alone."""
    clock = HandClock(at("2027-01-01 00:00"))
    declare_tasks(engine, [task("a"), task("b")], "tasks.toml", clock=clock)
    declare_tasks(engine, [task("code")], clock=clock)
    declare_tasks(engine, [task("c"), task("b")], "tasks.toml", clock=clock)
    assert {key: one.origin for key, one in shown(engine, clock).items()} == {
        "b": "tasks.toml",
        "c": "tasks.toml",
        "code": "code",
    }
    declare_tasks(engine, [task("code")], "tasks.toml", clock=clock)  # moved into the file
    declare_tasks(engine, [], clock=clock)
    assert [(one.key, one.origin) for one in shown(engine, clock).values()] == [
        ("code", "tasks.toml")
    ]


def test_a_task_is_shown_as_declared(engine: Engine) -> None:
    clock = HandClock(at("2027-01-01 00:00"))
    declare_tasks(
        engine,
        [
            task(
                "掃除",
                args={"days": 7},
                schedule="毎日三時",
                zone="Asia/Tokyo",
                queue="tidy",
                priority=9,
                catch_up_seconds=90.5,
                description="Old rows go 🧹",
            )
        ],
        clock=clock,
    )
    one = shown(engine, clock)["掃除"]
    assert (one.kind, one.data, one.queue, one.priority) == ("app.tidy", b'{"days":7}', "tidy", 9)
    assert (one.schedule, one.zone, one.catch_up_seconds) == ("毎日三時", "Asia/Tokyo", 90.5)
    assert (one.description, one.last_run, one.trouble) == ("Old rows go 🧹", None, None)
    assert one.next_run_at == at("2027-01-01 18:00")


def test_only_another_schedule_or_zone_starts_afresh(engine: Engine) -> None:
    """Arguments, queue, origin… change at once and leave the plan as it is."""
    clock = HandClock(at("2027-01-01 00:00"))
    declare_tasks(engine, [task(key) for key in "abcd"], clock=clock)
    clock.forward(hours=1)
    changed = [
        task("a"),
        task("b", args={"n": 1}, queue="other", priority=0, kind="app.other", description="x"),
        task("c", schedule="every day at 4:00"),
        task("d", zone="Asia/Tokyo"),
    ]
    declare_tasks(engine, changed, "tasks.toml", clock=clock)
    assert plans(engine) == {"a": "01 00:00", "b": "01 00:00", "c": "01 01:00", "d": "01 01:00"}
    assert shown(engine, clock)["b"].data == b'{"n":1}'
    clock.forward(hours=1)
    declare_tasks(engine, changed, "tasks.toml", clock=clock)
    assert plans(engine) == {"a": "01 00:00", "b": "01 00:00", "c": "01 01:00", "d": "01 01:00"}


def test_several_processes_declare_at_once(
    engine: Engine, database_url: str, open_database: Callable[[str], Engine]
) -> None:
    """Processes that start together, in any order of tasks: no error, no deadlock that is told."""
    clock = HandClock(at("2027-01-01 00:00"))
    tasks = [task(f"t{number}") for number in range(10)]
    orders = (tasks, tasks[::-1], tasks[5:] + tasks[:5])

    def declare(order: list[Task]) -> Callable[[], object]:
        other = open_database(database_url)
        return lambda: declare_tasks(other, order, clock=clock)

    for _ in range(3):
        at_once([declare(order) for order in orders])
        assert len(plans(engine)) == 10
        declare_tasks(engine, [], clock=clock)


def test_what_a_scheduler_read_before_a_change_pushes_nothing(engine: Engine) -> None:
    """A run of the old plan is due, but the row says otherwise by the time it is locked."""
    clock = HandClock(at("2027-01-01 00:00"))
    run_at = at("2027-01-01 01:00")
    declare_tasks(engine, [task("a", schedule="hourly")], clock=clock)
    (before,) = read(engine, planned_tasks)
    declare_tasks(engine, [task("a", schedule="every 30 minutes")], clock=clock)
    assert enqueue_run(engine, before, run_at) is None
    declare_tasks(engine, [], clock=clock)
    assert enqueue_run(engine, before, run_at) is None
    declare_tasks(engine, [task("a", schedule="hourly")], clock=clock)
    assert enqueue_run(engine, before, run_at) is not None
    assert enqueue_run(engine, before, at("2027-01-01 02:00")) is not None
    replay(engine, lambda connection: execute(connection, "DELETE FROM sakuin_runs"))  # pruned
    assert enqueue_run(engine, before, run_at) is None
    assert plans(engine) == {"a": "01 02:00"}


def test_a_key_declared_twice_is_refused(engine: Engine) -> None:
    with pytest.raises(BadTask, match="'a', key: declared twice"):
        declare_tasks(engine, [task("b"), task("a"), task("a")])
    assert plans(engine) == {}
    with pytest.raises(BadTask, match="origin: 256 letters"):
        declare_tasks(engine, [], "x" * 256)
