"""The dispatcher: chores in their time, each failing alone, any number of dispatchers at once."""

import importlib
import logging
import os
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import replace

import pytest
from sqlalchemy import Connection, Engine, create_engine

from aging import age, registered
from databases import Servers, fresh_schema, push_all, until
from sakuin.queue import (
    BadMessage,
    DatabaseAway,
    Limit,
    claim,
    create_schema,
    push,
    read,
    replay,
)
from sakuin.queue.dialect import execute
from sakuin.queue.jobs import batch_of, job_of, open_batch, push_job, push_to_batch, seal_batch
from sakuin.queue.notices import Rule
from sakuin.queue.processes import Chore, Dispatcher, register
from sakuin.queue.processes.chores import every_chore
from sakuin.queue.processes.dispatcher import STUCK_SECONDS
from sakuin.queue.processes.in_threads import in_threads
from sakuin.queue.processes.tidy_beside import tidy_beside

NO_ENGINE = create_engine("sqlite://")


def counting(fails: Callable[[int], bool]) -> tuple[list[int], Callable[[Engine], int]]:
    """Return a chore's function, which fails at the turns told, and the list of its turns."""
    turns: list[int] = []

    def run(_engine: Engine) -> int:
        turns.append(len(turns))
        if fails(len(turns)):
            raise DatabaseAway("cannot reach the database")
        return 1

    return turns, run


def test_a_chore_that_fails_is_told_once_and_holds_up_nothing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    bad, fail = counting(lambda turn: turn <= 3)
    good, work = counting(lambda turn: False)
    broken, divide = counting(lambda turn: bool(1 // 0))
    chores = [Chore(name, 0.001, run) for name, run in (("a", fail), ("b", work), ("c", divide))]
    dispatcher = Dispatcher(NO_ENGINE, chores)
    with in_threads({"dispatcher": dispatcher.run}, 0.01):
        until(lambda: len(bad) > 5 and len(good) > 5 and len(broken) > 5)
    told = [record.getMessage() for record in caplog.records]
    assert [one for one in told if one.startswith("a")] == [
        "a failed, it is tried again: cannot reach the database",
        "a: going on",
    ]
    assert len([one for one in told if one.startswith("c")]) == 1
    assert "division" in str(dispatcher.detail()["failing"])
    with pytest.raises(BadMessage, match="every_seconds=0"):
        Chore("never", 0, work)


def test_alerts_are_not_evaluated_before_the_workers_have_come() -> None:
    """Else every start would tell "no worker": a chore may have its first turn later."""
    rule = Rule("nobody", "no_worker", ("mailto:a@example.org",))
    late = [chore.name for chore in every_chore([rule]) if chore.first_seconds]
    assert late == ["evaluate alerts"]
    first, work = counting(lambda turn: False)
    second, wait = counting(lambda turn: False)
    chores = [Chore("late", 0.001, wait, first_seconds=60.0), Chore("soon", 0.001, work)]
    with in_threads({"dispatcher": Dispatcher(NO_ENGINE, chores).run}):
        until(lambda: len(first) > 3)
    assert second == []


def test_a_chore_that_has_more_to_do_goes_on_after_the_others() -> None:
    """Fault #278: a pile is pruned without waiting a minute for each part, and nobody starves."""
    order: list[str] = []

    def pile(_engine: Engine) -> int:
        order.append("pile")
        return 10 if order.count("pile") < 4 else 9

    def other(_engine: Engine) -> int:
        order.append("other")
        return 10

    dispatcher = Dispatcher(
        NO_ENGINE, [Chore("pile", 600, pile, most=10), Chore("other", 1e-6, other)]
    )
    with in_threads({"dispatcher": dispatcher.run}, 0.01):
        until(lambda: len(order) > 20)
    assert order[:8] == ["pile", "other"] * 4
    assert order.count("pile") == 4


def test_a_dispatcher_that_hangs_says_that_it_is_not_well(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fault #778: its process then stops beating, and is replaced."""
    hanging, gate = threading.Event(), threading.Event()

    def hang(_engine: Engine) -> int:
        hanging.set()
        gate.wait(30)
        return 0

    dispatcher = Dispatcher(NO_ENGINE, [Chore("hang", 600, hang)])
    with in_threads({"dispatcher": dispatcher.run}, 0.01):
        hanging.wait(30)
        assert dispatcher.is_well()
        later = time.monotonic() + STUCK_SECONDS + 1
        with monkeypatch.context() as patch:
            patch.setattr(time, "monotonic", lambda: later)
            assert not dispatcher.is_well()
        gate.set()
        until(dispatcher.is_well)


def test_what_fails_or_ends_in_a_thread_is_run_again(caplog: pytest.LogCaptureFixture) -> None:
    """Fault #763: nothing ends in silence, and the process goes on."""
    turns: list[int] = []

    def run(stop: threading.Event) -> None:
        turns.append(len(turns))
        if len(turns) == 1:
            raise RuntimeError("no")
        if len(turns) > 2:
            stop.wait(30)

    with caplog.at_level(logging.WARNING), in_threads({"scheduler": run}, 0.01):
        until(lambda: len(turns) == 3)
    told = [record.getMessage() for record in caplog.records]
    assert told == [
        "scheduler failed; it is run again in 0.01 s",
        "scheduler ended; it is run again in 0.01 s",
    ]


def are_ended(connection: Connection, batches: list[int], jobs: list[int]) -> bool:
    ended = [batch_of(connection, one) for one in batches]
    lives = [job_of(connection, one) for one in jobs]
    return all(one and one.ended_at for one in ended) and all(
        one and one.status == "finished" for one in lives
    )


def test_three_dispatchers_do_each_thing_once(
    engine: Engine, caplog: pytest.LogCaptureFixture
) -> None:
    """Fault #609: no deadlock among them; the dead, the blocked, the batches are seen to once."""
    dead = {register(engine, "worker", dead_after_seconds=0.5).id for _ in range(10)}
    held = push_all(engine, "q", *[b"x"] * 10)
    for holder in dead:
        claim(engine, "q", limit=1, lease_seconds=600, holder=holder)
        age(engine, holder, 100)

    def prepare(connection: Connection) -> tuple[list[int], list[int]]:
        for _ in range(10):
            push(connection, "limited", b"x", limit=Limit("key", to=2))
        batches = []
        for _ in range(5):
            batch = open_batch(connection, "import")
            for _ in range(3):
                push_to_batch(connection, batch, "members", b"x")
            seal_batch(connection, batch)
            batches.append(batch)
        return batches, [push_job(connection, "gone", b"{}", kind="mail") for _ in range(10)]

    batches, jobs = replay(engine, prepare)
    limited = claim(engine, "limited", limit=10, lease_seconds=600)
    assert len(limited) == 2
    for sql in (
        "DELETE FROM sakuin_messages WHERE queue IN ('members', 'gone')",
        "DELETE FROM sakuin_messages WHERE queue = 'limited' AND token IS NOT NULL",
    ):
        replay(engine, lambda connection, sql=sql: execute(connection, sql))  # type: ignore[misc]
    chores = [replace(chore, every_seconds=0.01) for chore in every_chore()]
    dispatchers = [Dispatcher(engine, chores) for _ in range(3)]
    with in_threads({f"dispatcher {i}": one.run for i, one in enumerate(dispatchers)}, 0.01):
        until(lambda: not registered(engine))
        until(lambda: read(engine, lambda connection: are_ended(connection, batches, jobs)))
        until(lambda: len(claim(engine, "limited", limit=10, lease_seconds=600)) == 2)
    assert [one.detail()["failing"] for one in dispatchers] == [{}, {}, {}]
    assert [record.getMessage() for record in caplog.records] == []
    again = claim(engine, "q", limit=100, lease_seconds=600)
    assert sorted(one.id for one in again) == held
    assert {one.attempts for one in again} == {2}


def test_a_database_that_hangs_keeps_nobody_from_ending(
    servers: Servers,
    open_database: Callable[[str], Engine],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """It answers nothing, and refuses nothing either; what is left behind ends when it is back."""
    for module in ("heartbeat", "in_threads"):
        name = f"sakuin.queue.processes.{module}"
        monkeypatch.setattr(importlib.import_module(name), "END_SECONDS", 0.1)
    server = servers.private()
    with fresh_schema(server.url) as url:
        engine = open_database(url)
        create_schema(engine)
        try:
            with tidy_beside(engine, "index", dead_after_seconds=0.5):
                until(lambda: registered(engine))
                os.kill(server.pid, signal.SIGSTOP)
                left_at = time.monotonic()
            assert time.monotonic() - left_at < 5
        finally:
            os.kill(server.pid, signal.SIGCONT)
        names = {"heartbeat", "dispatcher", "scheduler"}
        until(lambda: not names & {thread.name for thread in threading.enumerate()})
        assert registered(engine) == []
    assert "index: the database does not answer; it will be pruned" in caplog.messages
