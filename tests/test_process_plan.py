"""The usual plan as one command: workers, dispatcher and scheduler, with real jobs and signals."""

import os
import signal
import threading
import time
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import Engine

from aging import age, registered
from databases import claim_one, claimed, push_all, until
from process_jobs import Line, jobs
from process_roles import is_running, said, said_by
from sakuin.queue import BadMessage, QueueError, ack, claim, read, replay
from sakuin.queue.jobs import job_of
from sakuin.queue.processes import (
    Duty,
    Heartbeat,
    Role,
    RoleRefused,
    prune_dead,
    register,
    roles,
    supervise,
    usual_plan,
)
from sakuin.queue.processes.child_process import ChildProcess
from sakuin.queue.processes.registry import new_id
from sakuin.queue.processes.tidy_beside import tidy_beside
from sakuin.queue.recurring import Task, declare_tasks
from supervisor_program import supervisor_program


def test_a_whole_plan_works_through_a_killed_worker(engine: Engine, tmp_path: Path) -> None:
    """Q5, faults #159, #422: kill -9 of a worker costs a moment; of all of it, leaves nothing.

    Leases are ten minutes long: whatever waited for one to run out would be stuck for the test.
    """
    output, gate, tasks = tmp_path / "said", tmp_path / "gate", tmp_path / "tasks.toml"
    line = Line(str(output), "long", str(gate))
    tasks.write_text(
        '[tick]\nclass = "line"\nschedule = "every 1 second"\nzone = "UTC"\n'
        f'args = {{ output = "{output}", word = "tick" }}\n'
    )
    plan = usual_plan(
        engine.url.render_as_string(hide_password=False),
        jobs="process_jobs:jobs",
        workers=2,
        processes=1,
        lease_seconds=600.0,
        tasks_file=tasks,
        dead_after_seconds=5.0,
    )
    job = replay(engine, lambda connection: jobs.start(connection, "line", line))
    with supervisor_program(plan) as supervisor:
        until(lambda: len(said(output, "begin-long")) == 1 and said(output, "end-tick"))
        there = sorted(one.role for one in registered(engine))
        assert there == ["dispatcher", "scheduler", "supervisor", "worker", "worker"]
        (worker,) = said(output, "begin-long")
        os.kill(worker, signal.SIGKILL)
        killed_at = time.monotonic()
        until(lambda: len(said(output, "begin-long")) == 2)
        print(f"worked on again after {time.monotonic() - killed_at:.2f} s")
        assert worker != said(output, "begin-long")[1]
        until(lambda: [one for one in registered(engine) if one.detail.get("running")])
        gate.touch()
        until(lambda: status(engine, job) == "finished")
        assert len(said(output, "end-long")) == 1
        gate.unlink()
        replay(engine, lambda connection: jobs.push(connection, "line", line))
        until(lambda: len(said(output, "begin-long")) == 3 and len(registered(engine)) == 5)
        pids = {one.pid for one in registered(engine)} - {supervisor.pid}
        pids |= {pid for _, pid in said_by(output, "begin-long")}
        supervisor.kill()
        killed_at = time.monotonic()
        until(lambda: not any(is_running(pid) for pid in pids))
        print(f"all gone after {time.monotonic() - killed_at:.2f} s")
    assert len(pids) >= 6
    assert claim_one(engine, "default").attempts == 2  # given back by who held it


@pytest.mark.parametrize("database_kind", ["mariadb"])
def test_a_frozen_worker_goes_on_under_a_new_id(engine: Engine, tmp_path: Path) -> None:
    """Its job ends while it sleeps, but not for it: another has the message; then it works on."""
    output, gate = tmp_path / "said", tmp_path / "gate"
    url = engine.url.render_as_string(hide_password=False)
    plan = usual_plan(url, jobs="process_jobs:jobs", processes=1, dead_after_seconds=1.0)
    child = ChildProcess(plan, plan.roles[0], new_id())
    try:
        line = Line(str(output), "long", str(gate))
        message = replay(engine, lambda connection: jobs.push(connection, "line", line))
        until(lambda: said(output, "begin-long"))
        os.kill(child.pid, signal.SIGSTOP)
        until(lambda: [one.pid for one in prune_dead(engine)] == [child.pid])
        mine = claim_one(engine, "default")
        assert (mine.id, mine.attempts) == (message, 2)
        gate.touch()
        until(lambda: said(output, "end-long"))
        os.kill(child.pid, signal.SIGCONT)
        short = Line(str(output), "short")
        replay(engine, lambda connection: jobs.push(connection, "line", short))
        until(lambda: said(output, "end-short"))
        assert not ack(engine, [mine])
        until(lambda: has_new_id(child))
        (there,) = registered(engine)
        assert there.id == child.ids[1]
        assert len(said(output, "begin-long")) == 1
    finally:
        child.kill()
        until(child.has_ended)
        child.close()


def has_new_id(child: ChildProcess) -> bool:
    child.hear()
    return len(child.ids) == 2


def status(engine: Engine, job_id: int) -> str | None:
    job = read(engine, lambda connection: job_of(connection, job_id))
    return job.status if job else None


@pytest.mark.parametrize("database_kind", ["sqlite"])
def test_a_process_tidies_and_schedules_beside_its_work(engine: Engine) -> None:
    """One light process: recurring tasks are pushed, and what a dead process held is given back."""
    (message,) = push_all(engine, "q", b"x")
    dead = register(engine, "worker", dead_after_seconds=0.5)
    claim(engine, "q", limit=1, lease_seconds=600, holder=dead.id)
    age(engine, dead.id, 100)
    declare_tasks(engine, [Task("tick", "line", "every 1 second", "UTC", queue="ticks")])
    with tidy_beside(engine, "index", detail=lambda: {"documents": 7}) as heart:
        (own,) = [one for one in registered(engine) if one.role == "index"]
        assert own.id == heart.id
        assert own.detail["documents"] == 7
        until(lambda: claimed(engine, "ticks"))
        until(lambda: [one.role for one in registered(engine)] == ["index"])
        assert claim_one(engine).id == message
    assert registered(engine) == []


@pytest.mark.parametrize("database_kind", ["sqlite"])
def test_mistakes_in_a_plan_are_told_by_name(engine: Engine, tmp_path: Path) -> None:
    url = engine.url.render_as_string(hide_password=False)
    bare = partial(usual_plan, url, has_dispatcher=False, has_scheduler=False)
    with pytest.raises(RoleRefused, match=r"worker: .*no_such_module"):
        supervise(bare(jobs="no_such_module:jobs"), threading.Event())
    with pytest.raises(BadMessage, match="a plan without roles"):
        bare()
    with pytest.raises(BadMessage, match="processes=0"):
        Role("worker", "a:b", processes=0)
    tasks = tmp_path / "tasks.toml"
    tasks.write_text('[tick]\nclass = "line"\n')
    for make_ready, options, told in (
        (roles.work, {"target": "process_jobs:jobs", "queues": ["a b"]}, "'a b'"),
        (roles.schedule, {"tasks": str(tasks)}, r"\[tick\] schedule"),
        (roles.dispatch, {"alerts": str(tmp_path / "none.toml")}, "none.toml"),
    ):
        with Heartbeat(engine, "worker") as heart, pytest.raises(QueueError, match=told):
            make_ready(Duty(engine, threading.Event(), heart, options))


@pytest.mark.parametrize("database_kind", ["sqlite"])
def test_a_worker_that_drains_is_well(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Faults #589, #568: one that hangs stops beating; one that ends waits for its long jobs."""
    with Heartbeat(engine, "worker") as heart:
        duty = Duty(engine, threading.Event(), heart, {"target": "process_jobs:jobs"})
        roles.work(duty)
        assert heart.is_well()
        later = time.monotonic() + roles.STUCK_SECONDS + 1
        with monkeypatch.context() as patch:
            patch.setattr(time, "monotonic", lambda: later)
            assert not heart.is_well()
            duty.stop.set()
            assert heart.is_well()
