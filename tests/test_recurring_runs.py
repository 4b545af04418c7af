"""Recurring tasks on a database: pushed once, made up for, shown; the faults that others had."""

import json
import logging
import threading
from collections.abc import Callable
from datetime import timedelta

import pytest
from sqlalchemy import Engine, event

from recurring import at, at_once, planned, recorded, shown, task, times
from sakuin.queue import Limit, LimitReached, ack, claim, read, replay
from sakuin.queue.dialect import execute
from sakuin.queue.recurring import (
    BadTask,
    Scheduler,
    declare_tasks,
    prune_runs,
    run_now,
    runs_shown,
)


def test_a_due_run_is_a_message_as_declared(engine: Engine) -> None:
    """Kind, arguments, queue and priority are the task's; before it is due there is none."""
    mail = task(
        "mail",
        kind="app.mail",
        args={"to": ["ねこ"], "days": 7},
        schedule="every day at 3:15",
        zone="Asia/Tokyo",
        queue="mail",
        priority=2,
    )
    clock, scheduler = planned(engine, "2027-01-01 00:00", mail)
    assert scheduler.tick() == 5.0
    clock.now = at("2027-01-01 18:14:58")
    assert scheduler.tick() == 2.0
    assert recorded(engine) == []
    clock.forward(seconds=2)
    scheduler.tick()
    (message,) = claim(engine, "mail", limit=10, lease_seconds=60)
    assert (message.kind, message.priority) == ("app.mail", 2)
    assert json.loads(message.data) == {"to": ["ねこ"], "days": 7}
    assert times(engine) == [at("2027-01-01 18:15")]


def test_daylight_saving_fires_twice_or_never(engine: Engine) -> None:
    """Fault 25: a time that the clock jumps over, or shows twice, makes one run each day."""
    clock, scheduler = planned(
        engine, "2027-03-27 12:00", task(schedule="30 2 * * *", zone="Europe/Berlin")
    )
    for day in ("2027-03-28", "2027-10-31"):
        set_plan(engine, f"{day} 00:00:00.000000")
        clock.now = at(f"{day} 00:00")
        for _ in range(60):
            clock.forward(minutes=5)
            scheduler.tick()
    assert times(engine) == [at("2027-03-28 01:00"), at("2027-10-31 00:30")]


def set_plan(engine: Engine, moment: str) -> None:
    sql = "UPDATE sakuin_tasks SET planned_from = ?"
    replay(engine, lambda connection: execute(connection, sql, moment))


def test_wrong_zone(engine: Engine) -> None:
    """Fault 25: noon is noon where the task says, whatever the zones of host and session are."""
    clock, scheduler = planned(
        engine,
        "2027-01-01 00:00",
        task("b", schedule="every day at noon", zone="Europe/Berlin"),
        task("n", schedule="every day at noon", zone="America/New_York"),
        task("t", schedule="毎日正午", zone="Asia/Tokyo"),
    )
    for _ in range(24):
        clock.forward(hours=1)
        scheduler.tick()
    assert recorded(engine) == [
        ("t", at("2027-01-01 03:00")),
        ("b", at("2027-01-01 11:00")),
        ("n", at("2027-01-01 17:00")),
    ]


def test_runs_missed_at_deploy(engine: Engine, caplog: pytest.LogCaptureFixture) -> None:
    """Fault 26: missed runs are made up for within the window; what is older is told, once."""
    clock, scheduler = planned(
        engine,
        "2027-01-01 00:01",
        task("all", schedule="every 30 minutes", catch_up_seconds=7200),
        task("few", schedule="every 30 minutes", catch_up_seconds=2400),
    )
    clock.now = at("2027-01-01 02:05")
    with caplog.at_level(logging.WARNING, "sakuin.scheduler"):
        scheduler.tick()
        Scheduler(engine, clock=clock).tick()
    assert sorted(recorded(engine)) == [
        ("all", at("2027-01-01 00:30")),
        ("all", at("2027-01-01 01:00")),
        ("all", at("2027-01-01 01:30")),
        ("all", at("2027-01-01 02:00")),
        ("few", at("2027-01-01 01:30")),
        ("few", at("2027-01-01 02:00")),
    ]
    (told,) = [record.getMessage() for record in caplog.records]
    assert told.startswith("task few: runs from 2027-01-01T00:30:00+00:00 to 2027-01-01T01:25")


def test_a_restart_loses_the_periodic_jobs(engine: Engine) -> None:
    """Fault 26: declaring the same again, at each start, neither moves the plan nor repeats."""
    daily = task(schedule="every day at noon", catch_up_seconds=4 * 3600)
    clock, _ = planned(engine, "2027-01-01 00:00", daily)
    for _ in range(19):
        clock.forward(hours=3, minutes=1)
        declare_tasks(engine, [daily], clock=clock)
        Scheduler(engine, clock=clock).tick()
    assert times(engine) == [at("2027-01-01 12:00"), at("2027-01-02 12:00")]


def test_duplicate_noise_with_two_schedulers(
    engine: Engine,
    database_url: str,
    open_database: Callable[[str], Engine],
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Fault 26: several at the same moment push each run once, and none says a word about it."""
    clock, _ = planned(
        engine, "2027-01-01 00:00", *(task(f"t{n}", schedule="every minute") for n in range(3))
    )
    crew = [Scheduler(open_database(database_url), clock=clock) for _ in range(3)]
    for _ in range(5):
        clock.forward(minutes=2)
        at_once([scheduler.tick for scheduler in crew])
    assert len(recorded(engine)) == 3 * 10
    assert caplog.records == []
    assert sum(int(str(one.detail()["runs_pushed"])) for one in crew) == 3 * 10


def test_a_run_that_is_recorded_is_never_pushed_again(engine: Engine) -> None:
    """The record (task, time) is unique: a plan that was set back pushes nothing twice."""
    clock, scheduler = planned(engine, "2027-01-01 00:00", task(schedule="every 5 minutes"))
    clock.forward(minutes=6)
    scheduler.tick()
    set_plan(engine, "2027-01-01 00:00:00.000000")
    scheduler.tick()
    assert times(engine) == [at("2027-01-01 00:05")]
    clock.forward(minutes=5)
    scheduler.tick()
    assert times(engine) == [at("2027-01-01 00:05"), at("2027-01-01 00:10")]


def test_message_and_record_commit_together(engine: Engine) -> None:
    """A scheduler that dies between record and message leaves neither, and the run is pushed."""
    clock, scheduler = planned(engine, "2027-01-01 00:00", task(schedule="hourly"))
    clock.forward(hours=1)

    def die(_connection: object, _cursor: object, sql: str, *_rest: object) -> None:
        if sql.startswith("INSERT INTO sakuin_messages"):
            raise KeyboardInterrupt

    event.listen(engine, "before_cursor_execute", die)
    with pytest.raises(KeyboardInterrupt):
        scheduler.tick()
    event.remove(engine, "before_cursor_execute", die)
    assert recorded(engine) == []
    scheduler.tick()
    assert times(engine) == [at("2027-01-01 01:00")]


def test_a_changed_schedule_starts_afresh(engine: Engine) -> None:
    """What the old schedule missed is not pushed by the new one, nor what the new one missed."""
    clock, scheduler = planned(engine, "2027-01-01 00:00", task(schedule="every 5 minutes"))
    clock.forward(minutes=7)
    declare_tasks(engine, [task(schedule="every 2 minutes")], clock=clock)
    scheduler.tick()
    assert recorded(engine) == []
    clock.forward(minutes=2)
    scheduler.tick()
    assert times(engine) == [at("2027-01-01 00:08")]


def test_run_now_and_what_is_shown(engine: Engine) -> None:
    """Run now is beside the plan; last run, its message, whether it is done, and the next run."""
    clock, scheduler = planned(
        engine, "2027-01-01 00:00", task("a", schedule="hourly", zone="UTC"), task("b")
    )
    assert shown(engine, clock)["a"].last_run is None
    assert shown(engine, clock)["a"].next_run_at == at("2027-01-01 01:00")
    first, second = run_now(engine, "a", clock=clock), run_now(engine, "a", clock=clock)
    assert first != second
    last = shown(engine, clock)["a"].last_run
    assert last is not None
    assert (last.message_id, last.is_manual, last.status) == (second, True, "ready")
    ack(engine, claim(engine, "default", limit=10, lease_seconds=60))
    clock.now = at("2027-01-01 01:00")
    assert shown(engine, clock)["a"].next_run_at == clock.now
    scheduler.tick()
    one = shown(engine, clock)["a"]
    assert one.last_run is not None
    assert (one.last_run.run_at, one.last_run.is_manual) == (clock.now, False)
    assert one.next_run_at == at("2027-01-01 02:00")
    runs = read(engine, lambda connection: runs_shown(connection, "a"))
    assert [run.status for run in runs] == ["ready", "done", "done"]
    with pytest.raises(BadTask, match="'c', key: no such task"):
        run_now(engine, "c")


def test_a_limit_that_discards_leaves_runs_out(engine: Engine) -> None:
    """While one run waits or is worked on the next is left out: it is recorded, and shown so."""
    limit = Limit("tidy", on_conflict="discard")
    clock, scheduler = planned(engine, "2027-01-01 00:00", task(schedule="hourly", limit=limit))
    for _ in range(2):
        clock.forward(hours=1)
        scheduler.tick()
    with pytest.raises(LimitReached):
        run_now(engine, "tidy", clock=clock)
    (message,) = claim(engine, "default", limit=10, lease_seconds=60)
    assert message.limit_key == b"/tidy"
    ack(engine, message)
    clock.forward(hours=1)
    scheduler.tick()
    runs = read(engine, lambda connection: runs_shown(connection, "tidy"))
    assert [run.status for run in runs] == ["ready", "left out", "done"]
    assert runs[1].message_id is None
    assert scheduler.detail()["runs_pushed"] == 2


def test_one_bad_row_does_not_stop_the_others(
    engine: Engine, caplog: pytest.LogCaptureFixture
) -> None:
    """The table is open to anybody: what cannot be read is told once, the rest goes on."""
    clock, scheduler = planned(engine, "2027-01-01 00:00", task("a"), task("b"), task("c"))
    spoil = "UPDATE sakuin_tasks SET schedule = 'now and then' WHERE task_key = 'a'"
    replay(engine, lambda connection: execute(connection, spoil))
    spoil = "UPDATE sakuin_tasks SET queue = 'no such name!' WHERE task_key = 'b'"
    replay(engine, lambda connection: execute(connection, spoil))
    clock.now = at("2027-01-02 00:01")
    scheduler.tick()
    scheduler.tick()
    assert [key for key, _ in recorded(engine)] == ["c"]
    told = [record.getMessage() for record in caplog.records]
    assert [line.partition(":")[0] for line in told] == ["task a", "task b"]
    assert "now and then" in (shown(engine, clock)["a"].trouble or "")
    assert str(scheduler.detail()["failing"]).count("task") == 2
    declare_tasks(engine, [task("b"), task("c")], clock=clock)
    scheduler.tick()
    assert scheduler.detail()["failing"] == {}
    assert caplog.messages[2:] == ["task b: going on"]


def test_pruned_records_push_nothing_again(engine: Engine) -> None:
    """Old records go, the last of each task stays, and the plan does not rest on them."""
    clock, scheduler = planned(
        engine, "2020-01-01 00:00", task("a", schedule="every minute"), task("b")
    )
    clock.forward(minutes=9)
    scheduler.tick()
    run_now(engine, "b")  # by the database's clock: today
    assert len(times(engine)) == 10
    assert prune_runs(engine, 86400) == 8
    assert prune_runs(engine, 86400) == 0
    scheduler.tick()
    assert scheduler.detail()["runs_pushed"] == 9
    left = read(engine, lambda connection: runs_shown(connection, "a"))
    assert [run.run_at for run in left] == [at("2020-01-01 00:09")]


def test_a_clock_that_is_set_back_repeats_nothing(engine: Engine) -> None:
    """The plan only moves on: runs before it were pushed."""
    clock, scheduler = planned(engine, "2027-01-01 00:00", task(schedule="every minute"))
    clock.forward(minutes=2)
    scheduler.tick()
    clock.forward(minutes=-2)
    scheduler.tick()
    clock.forward(minutes=3)
    scheduler.tick()
    assert times(engine) == [at("2027-01-01 00:00") + timedelta(minutes=n) for n in (1, 2, 3)]


def test_the_clock_is_the_databases(engine: Engine) -> None:
    """Q7: without a clock of a test the time is the database's, and soon there is a run."""
    declare_tasks(engine, [task(schedule="every second")])
    scheduler = Scheduler(engine)
    stop = threading.Event()

    def stop_when_pushed(*_: object) -> None:
        if scheduler.detail()["runs_pushed"]:
            stop.set()

    event.listen(engine, "commit", stop_when_pushed)
    event.listen(engine, "before_cursor_execute", stop_when_pushed)
    scheduler.run(stop)
    assert recorded(engine)
