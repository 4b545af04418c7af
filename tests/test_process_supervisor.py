"""The supervisor, with real processes and signals: what dies is replaced, nothing is left over."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import Engine

from aging import age, registered
from databases import push_all, until
from process_roles import is_running, said
from sakuin.queue import DatabaseRefused, SchemaMismatch, open_engine
from sakuin.queue.processes import Plan, Role, RoleRefused, prune_dead, supervise
from sakuin.queue.processes.child_process import ChildProcess
from sakuin.queue.processes.registry import new_id
from supervisor_program import supervisor_program

on_sqlite = pytest.mark.parametrize("database_kind", ["sqlite"])
"""For what is about processes and signals: test_process_plan.py does the like on both kinds."""


def role(tmp_path: Path, target: str = "work", processes: int = 1, **options: object) -> Role:
    return Role(
        "worker",
        f"process_roles:{target}",
        {"output": str(tmp_path / "said"), **options},
        processes,
    )


def url_of(engine: Engine) -> str:
    return engine.url.render_as_string(hide_password=False)


@contextmanager
def supervising(plan: Plan) -> Iterator[threading.Event]:
    """Supervise in a thread of ours."""
    stop = threading.Event()
    thread = threading.Thread(target=supervise, args=(plan, stop))
    thread.start()
    try:
        yield stop
    finally:
        stop.set()
        thread.join()


def workers(engine: Engine) -> list[int]:
    return [one.pid for one in registered(engine) if one.role == "worker"]


@on_sqlite
def test_nothing_outlives_a_killed_supervisor(engine: Engine, tmp_path: Path) -> None:
    """Kill -9 of the supervisor: children, deaf ones, and what they started, are gone soon."""
    output = tmp_path / "said"
    (message,) = push_all(engine, "q", b"/never")
    plan = Plan(url_of(engine), (role(tmp_path), role(tmp_path, "deaf")))
    with supervisor_program(plan) as process:
        until(lambda: len(said(output, "began")) == 2 and said(output, "C"))
        process.kill()
        killed_at = time.monotonic()
        pids = said(output, "began") + said(output, "other")
        until(lambda: not any(is_running(pid) for pid in pids))
        print(f"all gone after {time.monotonic() - killed_at:.2f} s")
    assert len(pids) == 3
    (supervisor,) = registered(engine)
    age(engine, supervisor.id, 100)
    assert len(prune_dead(engine)) == 1
    assert said(output, "S") + said(output, "L") == [message]


@on_sqlite
def test_a_frozen_worker_comes_back_as_another(engine: Engine, tmp_path: Path) -> None:
    """SIGSTOP for longer than dead_after: pruned, its late ack is void, its id a new one."""
    output, gate = tmp_path / "said", tmp_path / "gate"
    plan = Plan(url_of(engine), (role(tmp_path),), dead_after_seconds=0.5)
    child = ChildProcess(plan, plan.roles[0], new_id())
    try:
        (message,) = push_all(engine, "q", str(gate).encode())
        until(lambda: said(output, "C") == [message])
        os.kill(child.pid, signal.SIGSTOP)
        until(lambda: [one.pid for one in prune_dead(engine)] == [child.pid])
        gate.touch()
        os.kill(child.pid, signal.SIGCONT)
        until(lambda: said(output, "S") == [message])
        assert said(output, "L") == [message]  # its own late ack
        until(lambda: [one.pid for one in registered(engine)] == [child.pid])
        child.hear()
        assert registered(engine)[0].id == child.ids[1] != child.ids[0]
        child.terminate()
        until(child.has_ended)
        assert child.how() == "ended with 0"
        assert registered(engine) == []
    finally:
        child.kill()
        until(child.has_ended)
        child.close()


@on_sqlite
def test_a_silent_child_is_replaced(engine: Engine, tmp_path: Path) -> None:
    """Faults #778, #763, #751: it lives, but beats no more: killed, and another takes over."""
    output = tmp_path / "said"
    with supervising(Plan(url_of(engine), (role(tmp_path),), dead_after_seconds=1.0)):
        until(lambda: said(output, "began"))
        (first,) = said(output, "began")
        (message,) = push_all(engine, "q", b"/never")
        until(lambda: said(output, "C") == [message])
        os.kill(first, signal.SIGSTOP)
        until(lambda: len(said(output, "began")) > 1)
        assert not is_running(first)
        until(lambda: said(output, "C")[:2] == [message, message])


@on_sqlite
def test_a_role_that_is_set_up_wrongly_ends_the_supervisor(engine: Engine, tmp_path: Path) -> None:
    """Not a loop: the error names what to change, and the others are ended in order."""
    url, good = url_of(engine), role(tmp_path)
    for target, options, message in (
        ("process_roles:wrong", {"colour": "blue"}, "worker: ValueError: colour=blue: use red"),
        ("process_roles:nothing", {}, "worker: process_roles:nothing cannot be loaded: "),
    ):
        with pytest.raises(RoleRefused, match=message):
            supervise(Plan(url, (good, Role("worker", target, options))), threading.Event())
    assert registered(engine) == []
    assert not any(is_running(pid) for pid in said(tmp_path / "said", "began"))
    with pytest.raises(DatabaseRefused, match="not a database address"):
        supervise(Plan("nonsense", (good,)), threading.Event())
    with pytest.raises(SchemaMismatch, match="make the tables first"):
        supervise(Plan(f"sqlite:///{tmp_path / 'empty.db'}", (good,)), threading.Event())
    with pytest.raises(ValueError, match="write module:function"):
        Role("worker", "no colon")
    assert open_engine(url)


@on_sqlite
def test_what_dies_again_and_again_is_not_started_in_a_loop(engine: Engine, tmp_path: Path) -> None:
    """It is started at once, then after a pause that doubles."""
    output = tmp_path / "said"
    began = time.monotonic()
    with supervising(Plan(url_of(engine), (role(tmp_path, "crash"),))):
        until(lambda: len(said(output, "began")) == 3)
    assert time.monotonic() - began > 0.25
    assert len(said(output, "began")) == 3


@on_sqlite
def test_a_second_signal_ends_sooner(engine: Engine, tmp_path: Path) -> None:
    """The first waits for stop_seconds at most, the second for nothing; the exit code is 0."""
    output = tmp_path / "said"
    plan = Plan(url_of(engine), (role(tmp_path, "deaf"), role(tmp_path)), stop_seconds=600.0)
    with supervisor_program(plan) as process:
        until(lambda: len(said(output, "began")) == 2)
        process.send_signal(signal.SIGTERM)
        until(lambda: len(workers(engine)) == 1)  # the other one has ended in order
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0
    pids = said(output, "began") + said(output, "other")
    until(lambda: not any(map(is_running, pids)))  # who was killed takes a moment to be gone
    assert registered(engine) == []


@on_sqlite
def test_who_is_not_done_in_time_is_killed(engine: Engine, tmp_path: Path) -> None:
    output = tmp_path / "said"
    with supervising(Plan(url_of(engine), (role(tmp_path, "deaf"),), stop_seconds=0.2)) as stop:
        until(lambda: said(output, "began"))
        began = time.monotonic()
        stop.set()
        until(lambda: not registered(engine))
    assert 0.2 < time.monotonic() - began < 10
    pids = said(output, "began") + said(output, "other")
    until(lambda: not any(map(is_running, pids)))  # who was killed takes a moment to be gone
