"""The registry of processes: who lives is left alone, what the dead held is ready at once."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import Engine

from aging import age, registered
from databases import push_all, until
from sakuin.queue import BadMessage, Message, ack, claim, replay
from sakuin.queue.dialect import execute
from sakuin.queue.processes import Heartbeat, deregister, prune_dead, register
from sakuin.queue.processes.prune_dead import Touch
from sakuin.queue.processes.registry import beat


def claim_as(engine: Engine, holder: bytes, limit: int = 1) -> tuple[Message, ...]:
    return claim(engine, "q", limit=limit, lease_seconds=600, holder=holder)


def test_a_process_is_listed_with_the_age_of_its_beat(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Q7: a host whose clock is a day off is not taken for dead, nor kept alive by it."""
    skewed = time.time() + 86400
    monkeypatch.setattr(time, "time", lambda: skewed)
    supervisor = register(engine, "supervisor")
    worker = register(engine, "worker", supervisor.id, {"queues": ["索引"]}, 20.0)
    assert worker.supervisor_id == supervisor.id
    assert worker.detail == {"queues": ["索引"]}
    assert {one.id for one in registered(engine)} == {supervisor.id, worker.id}
    age(engine, worker.id, 21)
    late = {one.id: one for one in registered(engine)}[worker.id]
    assert 21 <= late.age_seconds < 30
    assert late.is_dead
    assert beat(engine, worker.id, {"jobs": 3})
    alive = {one.id: one for one in registered(engine)}[worker.id]
    assert alive.age_seconds < 10
    assert not alive.is_dead
    assert alive.detail == {"jobs": 3}
    assert deregister(engine, worker.id) == 0
    assert not beat(engine, worker.id, {})
    assert deregister(engine, worker.id) == 0
    assert [one.id for one in registered(engine)] == [supervisor.id]


def test_what_a_dead_process_held_is_ready_at_once(engine: Engine) -> None:
    """Faults #159, #542, #422: not lost, not failed, not a lease later; its late ack is void."""
    ids = push_all(engine, "q", b"a", b"b", b"c")
    dead, alive = register(engine, "worker"), register(engine, "worker")
    lost = claim_as(engine, dead.id, limit=2)
    (kept,) = claim_as(engine, alive.id)
    age(engine, dead.id, 31)
    assert [one.id for one in prune_dead(engine)] == [dead.id]
    assert prune_dead(engine) == ()
    again = claim_as(engine, alive.id, limit=10)
    assert [(one.id, one.attempts) for one in again] == [(ids[0], 2), (ids[1], 2)]
    assert ack(engine, lost) == {ids[0], ids[1]}
    assert not ack(engine, [kept, *again])


def test_a_live_process_keeps_its_long_job(engine: Engine) -> None:
    """Faults hexpm#1825, #1302: a beat is enough, however long the job; no time limit steals it."""
    push_all(engine, "q", b"a")
    alive = register(engine, "worker")
    (long,) = claim_as(engine, alive.id)
    age(engine, alive.id, 29)
    assert prune_dead(engine) == ()
    assert claim_as(engine, register(engine, "worker").id) == ()
    assert not ack(engine, [long])


def test_more_than_a_page_of_dead_processes_are_all_found(engine: Engine) -> None:
    """Faults river (later ones starved) and #609: three prune at once, each is removed by one."""
    ids = {register(engine, "worker").id for _ in range(60)}
    alive = register(engine, "worker")
    messages = push_all(engine, "q", *[b"x"] * 20)
    holders = sorted(ids)[-20:]
    for holder in holders:
        assert len(claim_as(engine, holder)) == 1
    for one in ids:
        age(engine, one, 100)
    with ThreadPoolExecutor(3) as threads:
        found = [threads.submit(prune_dead, engine) for _ in range(3)]
    pruned = [one.id for each in found for one in each.result()]
    assert sorted(pruned) == sorted(ids)
    assert [one.id for one in registered(engine)] == [alive.id]
    assert sorted(one.id for one in claim_as(engine, alive.id, limit=100)) == messages


def test_after_an_outage_everybody_gets_time_to_beat(engine: Engine) -> None:
    """Fault #609's neighbour: the database was away, so all beats are old, and nobody is dead."""
    one = register(engine, "worker", dead_after_seconds=10.0)
    age(engine, one.id, 100)
    assert prune_dead(engine, lambda: 4.9) == ()
    assert [each.id for each in prune_dead(engine, lambda: 5.0)] == [one.id]


def test_a_gap_begins_the_time_in_touch_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    touch = Touch(most_gap_seconds=5.0)
    seen = []
    for step in (0.0, 4.0, 5.0, 5.1, 1.0):
        now += step
        seen.append(touch())
    assert seen == [0.0, 4.0, 9.0, 0.0, 1.0]


def test_a_heartbeat_goes_on_until_the_last_job_is_drained(engine: Engine) -> None:
    """Faults #589, #568: it beats while jobs end, and only then is the process gone."""
    jobs = iter(range(1000))
    with Heartbeat(
        engine, "worker", dead_after_seconds=3.0, detail=lambda: {"jobs": next(jobs)}
    ) as heart:
        first = registered(engine)[0]
        assert first.id == heart.id
        rss = first.detail["rss_bytes"]
        assert isinstance(rss, int)
        assert rss > 1_000_000
        until(lambda: registered(engine)[0].detail["jobs"] == 1)
        assert prune_dead(engine) == ()
    assert registered(engine) == []


def test_who_was_pruned_goes_on_under_a_new_id(engine: Engine) -> None:
    """Fault #422: taken for dead by mistake, it learns of it, and claims as somebody else."""
    push_all(engine, "q", b"a")
    told: list[bytes] = []
    with Heartbeat(engine, "worker", dead_after_seconds=0.5, on_id=told.append) as heart:
        first = heart.id
        (old,) = claim_as(engine, first)
        deregister(engine, first)
        until(lambda: heart.was_pruned)
        until(lambda: [one.id for one in registered(engine)] == [heart.id])
        assert told == [first, heart.id]
        assert first != heart.id
        (new,) = claim_as(engine, heart.id)
        assert ack(engine, [old]) == {old.id}
        assert not ack(engine, [new])


def test_a_process_that_is_not_well_stops_beating(engine: Engine) -> None:
    """Faults #778, #763: a thread that beats for work that hangs would hide it for ever."""
    well = threading.Event()
    well.set()
    with Heartbeat(engine, "scheduler", dead_after_seconds=0.2, is_well=well.is_set) as heart:
        well.clear()
        until(lambda: any(one.is_dead for one in registered(engine)))
        assert [one.id for one in prune_dead(engine)] == [heart.id]
        well.set()
        until(lambda: registered(engine))
        assert heart.was_pruned == 1


def test_what_cannot_be_told_does_not_stop_the_beat(engine: Engine) -> None:
    with Heartbeat(engine, "worker", detail=lambda: {"x": "x" * 70_000}):
        (one,) = registered(engine)
        assert "70" in str(one.detail["error"])
    one = register(engine, "worker")
    replay(engine, lambda c: execute(c, "UPDATE sakuin_processes SET detail = '{'"))
    assert registered(engine)[0].detail == {"unreadable": "{"}
    deregister(engine, one.id)
    with pytest.raises(BadMessage, match="cannot be written as JSON"):
        register(engine, "worker", detail={"x": object()})
    with pytest.raises(BadMessage, match="role 'Two Words'"):
        register(engine, "Two Words")
    with pytest.raises(BadMessage, match="process id"):
        deregister(engine, b"short")
