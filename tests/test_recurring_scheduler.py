"""The scheduler at work: it waits for a lost database; a cut COMMIT pushes nothing twice."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import Engine, event

from cut_proxy import Where, cut_proxy
from databases import Servers, fresh_schema, until
from recurring import HandClock, at, planned, recorded, task, times
from sakuin.queue import create_schema, open_engine, read
from sakuin.queue.recurring import Scheduler, declare_tasks, run_now, runs_shown


@contextmanager
def running(scheduler: Scheduler) -> Iterator[None]:
    """Run the scheduler in a thread; at the end it stops when told."""
    stop = threading.Event()
    thread = threading.Thread(target=scheduler.run, args=(stop,))
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(30)
        assert not thread.is_alive()


def test_new_tasks_and_due_runs_are_noticed_while_it_runs(engine: Engine) -> None:
    """A task declared after the start, and a clock that goes on, are seen without a restart."""
    clock = HandClock(at("2027-01-01 00:00"))
    scheduler = Scheduler(engine, clock=clock, most_sleep_seconds=0.02)
    with running(scheduler):
        declare_tasks(engine, [task(schedule="hourly")], clock=clock)
        clock.forward(hours=1)
        until(lambda: times(engine) == [at("2027-01-01 01:00")])
        clock.forward(hours=1)
        until(lambda: len(times(engine)) == 2)
    assert scheduler.is_well()
    assert scheduler.detail() == {"runs_pushed": 2, "failing": {}}


def test_a_lost_database_kills_the_scheduler(
    mariadb_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Faults 15 and 30: it says once that it waits, goes on by itself, and makes up for the run."""
    engine = open_engine(mariadb_url)
    create_schema(engine)
    clock, _ = planned(engine, "2027-01-01 00:00", task(schedule="hourly"))
    away = threading.Event()
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))  # bound, but nobody listens: connections are refused

        def lead_away(_dialect: object, _record: object, _args: object, to: dict[str, Any]) -> None:
            if away.is_set():
                to["port"] = nobody.getsockname()[1]

        other = open_engine(mariadb_url)
        event.listen(other, "do_connect", lead_away)
        away.set()
        scheduler = Scheduler(other, clock=clock, most_sleep_seconds=0.02)
        with running(scheduler):
            until(lambda: caplog.messages)
            clock.forward(hours=1)
            failed = threading.Event()
            event.listen(other, "do_connect", lambda *_: failed.set())
            assert failed.wait(30)  # tried again after it was told
            away.clear()
            until(lambda: times(engine) == [at("2027-01-01 01:00")])
            until(lambda: len(caplog.messages) == 2)
    waiting, going_on = caplog.messages
    assert waiting.startswith("scheduler: waiting")
    assert "cannot reach the database" in waiting
    assert going_on == "scheduler: going on"
    engine.dispose()
    other.dispose()


@pytest.mark.parametrize("where", ["before", "after"])
def test_a_commit_with_unknown_outcome_pushes_once(servers: Servers, where: Where) -> None:
    """Q6: the connection is lost at COMMIT, before or after it happened: one run, one message."""
    with fresh_schema(servers.private().url) as url, cut_proxy(url) as (proxy, through):
        whole, cut = open_engine(url), open_engine(through)
        create_schema(whole)
        with cut.connect():
            pass  # what opens a connection commits, too: only our own COMMIT is to be cut
        clock = HandClock(at("2027-01-01 00:00"))
        proxy.cut(where)
        declare_tasks(cut, [task("a", schedule="hourly")], clock=clock)
        clock.forward(hours=1)
        proxy.cut(where)
        Scheduler(cut, clock=clock).tick()
        assert recorded(whole) == [("a", clock.now)]
        clock.forward(minutes=1)
        proxy.cut(where)
        message_id = run_now(cut, "a", clock=clock)
        assert proxy.cuts == 3
        assert recorded(whole) == [("a", at("2027-01-01 01:00")), ("a", clock.now)]
        latest = read(whole, lambda connection: runs_shown(connection, "a"))[0]
        assert (latest.message_id, latest.run_at) == (message_id, clock.now)
        cut.dispose()
        whole.dispose()
