"""Workers: real processes run the jobs, and every message comes to its end."""

import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import Engine

from databases import claim_one, expire, push_all, row, until
from example_jobs import Mail, Step, jobs
from sakuin.queue import BadMessage, SchemaMismatch, claim, push, queue_counts, read, replay
from sakuin.queue.dialect import execute
from sakuin.queue.jobs import BadTarget, Worker, job_of, measures, measures_by_minute
from sakuin.queue.jobs.fetch import Wanted
from working import TARGET, dead, drain, lines, working

ON_SQLITE = pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
ON_MARIADB = pytest.mark.parametrize("database_kind", ["mariadb"], indirect=True)
"""Where the database makes no difference one kind will do: children take their time to start."""


def push_job(engine: Engine, kind: str, args: object, **options: object) -> int:
    return replay(engine, lambda on: jobs.push(on, kind, args, **options))  # type: ignore[arg-type]


def push_raw(engine: Engine, data: bytes, kind: str | None) -> int:
    return replay(engine, lambda on: push(on, "default", data, kind=kind))


def test_every_message_comes_to_its_end(engine: Engine, tmp_path: Path) -> None:
    """Results are kept, errors retried and then dead, what cannot be run is dead at once.

    Q4, faults "poison" and "then loops for ever": an unknown kind, none, and arguments that do
    not fit go to the dead list with the field named, at the first delivery, and stop nobody.
    """
    notes = Step(str(tmp_path / "notes"))
    job_id = replay(engine, lambda on: jobs.start(on, "mail", Mail("tama", 2)))
    report_id = replay(engine, lambda on: jobs.start(on, "report", notes))
    failing_id = replay(engine, lambda on: jobs.start(on, "raise", Step(str(tmp_path / "raised"))))
    misshapen = push_raw(engine, b'{"to": 5}', "mail")
    broken = push_raw(engine, b"\xff\x00", "mail")
    unknown = push_raw(engine, b"{}", "male")
    kindless = push_raw(engine, b"{}", None)
    exiting = push_raw(engine, b"{}", "exit")
    drain(engine)
    job, report, failed = (
        read(engine, lambda on, number=number: job_of(on, number))  # type: ignore[misc]
        for number in (job_id, report_id, failing_id)
    )
    assert job
    assert report
    assert failed
    assert (job.status, job.result) == ("finished", b'{"letters":["1. to tama","1. to tama"]}')
    assert (report.status, report.result) == ("finished", str(report_id).encode())
    assert report.progress is not None
    assert (report.progress.done, report.progress.total) == (1000, 1000)
    assert failed.status == "failed"
    assert failed.error == "ValueError: this cannot be done"
    gone = dead(engine)
    assert set(gone) == {failed.message_id, misshapen, broken, unknown, kindless, exiting}
    assert lines(tmp_path / "raised") == ["raised"] * 3
    assert (gone[failed.message_id].attempts, gone[failed.message_id].errors) == (3, 3)
    assert "raise ValueError" in (gone[failed.message_id].traceback or "")
    assert "field to: Input should be a valid string" in gone[misshapen].reason
    assert "mail: Invalid JSON" in gone[broken].reason
    assert gone[unknown].reason.startswith("no kind of job is registered as 'male'; known: ")
    assert gone[kindless].reason.startswith("it has no kind")
    assert gone[exiting].reason == "SystemExit: no more"
    assert {gone[one].attempts for one in (misshapen, broken, unknown, kindless)} == {1}
    assert read(engine, lambda on: queue_counts(on, "default")).ready == 0
    check_measures(engine)


def check_measures(engine: Engine) -> None:
    """What ran is counted by kind and minute."""
    seen = {one.kind: one for one in read(engine, measures)}
    assert set(seen) == {"mail", "report", "raise", "exit"}
    assert (seen["mail"].runs, seen["mail"].failed) == (3, 2)
    assert (seen["raise"].runs, seen["raise"].failure_rate) == (3, 1.0)
    assert 0 < seen["report"].mean_seconds <= seen["report"].longest_seconds < 10
    minutes = read(engine, lambda on: measures_by_minute(on, "raise"))
    assert sum(one.runs for one in minutes) == 3


def test_three_crashes_are_dead(engine: Engine, tmp_path: Path) -> None:
    """A handler that kills its process: dead after three, no error counted; the others go on."""
    crashing = push_job(engine, "segfault", Step(str(tmp_path / "crashes")))
    others = [push_job(engine, "note", Step(str(tmp_path / "notes"))) for _ in range(20)]
    drain(engine)
    (gone,) = dead(engine).values()
    assert gone.message_id == crashing
    assert (gone.attempts, gone.errors) == (3, 0)
    assert gone.reason == "the process that ran it died (SIGSEGV)"
    assert lines(tmp_path / "crashes") == ["crashed"] * 3
    assert sorted(lines(tmp_path / "notes")) == sorted(f"{one} 1 0" for one in others)


@ON_SQLITE
def test_deaths_of_whole_workers_count_too(engine: Engine, tmp_path: Path) -> None:
    """Whoever was delivered three times without an end, each time by a worker that died: dead."""
    message_id = push_job(engine, "note", Step(str(tmp_path / "notes")))
    sql = "UPDATE sakuin_messages SET attempts = ? WHERE id = ?"
    replay(engine, lambda on: execute(on, sql, 3, message_id))
    drain(engine, processes=1)
    assert not lines(tmp_path / "notes")
    gone = dead(engine)[message_id]
    assert (gone.reason, gone.errors) == ("the process that ran it died 3 times", 0)


@ON_SQLITE
def test_time_limits_really_stop(engine: Engine, tmp_path: Path) -> None:
    """A handler that ignores SIGTERM, one that loops in C, and one that tidies up."""
    ids = {
        kind: push_job(engine, kind, Step(str(tmp_path / kind)))
        for kind in ("stubborn", "c-loop", "tidy")
    }
    began = time.monotonic()
    worker = drain(engine, processes=3)
    assert time.monotonic() - began < 40, "they would sleep for 60"
    gone = dead(engine)
    for kind, message_id in ids.items():
        assert gone[message_id].reason == "took longer than its limit of 0.3 s"
        assert gone[message_id].errors == 1
        assert "ended" not in lines(tmp_path / kind)
    assert "time.sleep(60)" in (gone[ids["tidy"]].traceback or "")
    assert lines(tmp_path / "tidy")[1:] == ["tidied"]
    assert worker.detail()["ended"] == {"late": 3}


@ON_MARIADB
def test_a_graceful_stop_gives_back(engine: Engine, tmp_path: Path) -> None:
    """Q4: what could not end, and what had not begun, is as if it had never been delivered."""
    kinds = ("wait", "stay", "note", "note")
    paths = [tmp_path / f"{number}" for number in range(len(kinds))]
    with working(engine, processes=2, stop_seconds=0.3):
        ids = [
            push_job(engine, kind, Step(str(path), 60.0))
            for kind, path in zip(kinds, paths, strict=True)
        ][:2]
        until(lambda: lines(paths[0]) and lines(paths[1]))
        later = push_job(engine, "note", Step(str(tmp_path / "later")))
    assert lines(paths[0])[1:] == ["asked"]
    assert lines(paths[1])[1:] == ["interrupted"]
    for message_id in (*ids, later):
        held = row(engine, message_id)
        assert held is not None
        assert (held["attempts"], held["errors"], held["token"]) == (0, 0, None)
    assert not dead(engine)
    assert [one.id for one in claim(engine, "default", limit=9, lease_seconds=9)][:2] == ids


@ON_MARIADB
def test_a_lost_lease_stops_the_job(engine: Engine, tmp_path: Path) -> None:
    """Q3: another has the message: its work is not done twice to the end, and nothing is settled.

    Fault "same job run twice", "a limit-1 job ran 11 times at once".
    """
    with working(engine, lease_seconds=0.6) as worker:
        message_id = push_job(engine, "stay", Step(str(tmp_path / "notes")))
        until(lambda: lines(tmp_path / "notes"))
        sql = "UPDATE sakuin_messages SET token = ? WHERE id = ?"
        replay(engine, lambda on: execute(on, sql, b"another" + b"-" * 9, message_id))
        expire(engine, message_id, seconds=60)
        until(lambda: worker.detail()["ended"] == {"lost": 1})
        assert lines(tmp_path / "notes")[1:] == ["interrupted"]
        push_job(engine, "note", Step(str(tmp_path / "next")))
        until(lambda: lines(tmp_path / "next"))
    held = row(engine, message_id)
    assert held is not None
    assert held["token"] == b"another" + b"-" * 9


@ON_MARIADB
def test_leases_are_kept(engine: Engine, tmp_path: Path) -> None:
    """A job that takes many times its lease is delivered once; one holder names all tokens.

    Fault "6-minute rescue against a 47-minute job".
    """
    with working(engine, lease_seconds=0.3, holder=b"8 bytes.") as worker:
        message_id = push_job(engine, "wait", Step(str(tmp_path / "notes"), 1.5))
        until(lambda: lines(tmp_path / "notes"))
        assert (row(engine, message_id) or {})["token"].startswith(b"8 bytes.")
        while worker.detail()["ended"] == {}:
            assert not claim(engine, "default", limit=1, lease_seconds=60)
    assert lines(tmp_path / "notes")[1:] == ["ended"]
    assert row(engine, message_id) is None


@ON_MARIADB
def test_what_was_claimed_ahead_is_shared(engine: Engine, tmp_path: Path) -> None:
    """Fault "batch_size hoards jobs in one worker": behind a long job nothing waits for long."""
    path = tmp_path / "notes"
    with working(engine, batch=50, stop_seconds=0.0):
        for _ in range(100):
            push_raw(engine, b"{}", "nothing")
        push_job(engine, "stay", Step(str(path)))
        behind = [push_raw(engine, b"{}", "nothing") for _ in range(30)]
        until(lambda: lines(path))
        got: list[int] = []

        def all_come() -> bool:
            got.extend(one.id for one in claim(engine, "default", limit=50, lease_seconds=60))
            return sorted(got) == behind

        until(all_come)
    assert (row(engine, behind[0]) or {})["attempts"] == 1


@ON_SQLITE
def test_a_bad_worker_is_refused_before_it_claims(
    engine: Engine, tmp_path: Path, open_database: Callable[[str], Engine]
) -> None:
    push_all(engine, "q", b"{}")
    with pytest.raises(BadTarget, match="no_such_module cannot be imported"):
        Worker(engine, "no_such_module:jobs").run(threading.Event())
    assert claim_one(engine).attempts == 1
    for options, said in (
        ({"processes": 0}, "processes=0"),
        ({"batch": 0}, "batch=0"),
        ({"queues": ("a b",)}, "queue name 'a b'"),
        ({"max_jobs": 0}, "max_jobs=0"),
        ({"lease_seconds": 0}, "lease_seconds=0"),
    ):
        with pytest.raises(BadMessage, match=said):
            Worker(engine, TARGET, **options)
    empty = open_database(f"sqlite:///{tmp_path}/empty.db")
    with pytest.raises(SchemaMismatch, match="sakuin init"):
        Worker(empty, TARGET, processes=1).run(threading.Event())


def test_order_of_queues() -> None:
    """The list is an order; `*` takes no queue of an index, unless it is named."""
    names = ("a", "index:p", "mail", "mail-slow", "sakuin:notices", "urgent")

    def among(*patterns: str) -> tuple[str, ...]:
        return Wanted(patterns, ("index:",), 1, 1.0, 1.0).among(names)

    assert among("urgent", "mail*", "*") == (
        "urgent",
        "mail",
        "mail-slow",
        "a",
        "sakuin:notices",
    )
    assert among("*", "a") == ("a", "mail", "mail-slow", "sakuin:notices", "urgent")
    assert among("index:*") == ("index:p",)
    assert among("nothing-in-it", "a") == ("a",)


@ON_MARIADB
def test_queues_are_emptied_in_order_and_children_recycled(engine: Engine, tmp_path: Path) -> None:
    """Order beats priority. A child is replaced after so many jobs, and loses none."""
    path = tmp_path / "notes"
    for queue, priority in (("z", 0), ("mail-2", 3), ("mail-1", 9), ("urgent", 200)):
        for _ in range(2):
            push_job(engine, "note", Step(str(path)), queue=queue, priority=priority)
    push_job(engine, "pid", Step(str(tmp_path / "pids")), queue="z")
    drain(engine, processes=1, batch=1, queues=("urgent", "mail*", "*"), max_jobs=4)
    assert [int(line.split()[0]) for line in lines(path)] == [7, 8, 5, 6, 3, 4, 1, 2]
    assert len(lines(tmp_path / "pids")) == 1


def test_without_a_list_a_worker_takes_the_queues_of_its_kinds(
    engine: Engine, tmp_path: Path
) -> None:
    """What others push for programs of their own is left alone, though it has no kind."""
    replay(engine, lambda connection: push(connection, "theirs", b"plain"))
    push_job(engine, "note", Step(str(tmp_path / "notes")))
    worker = drain(engine, queues=())
    assert len(lines(tmp_path / "notes")) == 1
    assert "theirs" not in str(worker.detail()["queues"])
    assert read(engine, lambda connection: queue_counts(connection, "theirs")).ready == 1
    assert dead(engine) == {}


@pytest.mark.parametrize("name", ["mail queue", "a/b", "索引"])
def test_a_name_that_nobody_can_push_to_stops_no_other_queue(
    engine: Engine, tmp_path: Path, caplog: pytest.LogCaptureFixture, name: str
) -> None:
    """Q8: plain SQL may write any name; who works on `*` tells of it and goes on."""
    sql = "INSERT INTO sakuin_messages (queue, data) VALUES (?, '{}')"
    replay(engine, lambda on: execute(on, sql, name))
    notes = Step(str(tmp_path / "notes"))
    for queue in ("a", "z"):
        push_job(engine, "note", notes, queue=queue)
    drain(engine, processes=1)
    assert len(lines(tmp_path / "notes")) == 2
    assert [one.args for one in caplog.records if "left alone" in one.msg] == [(name,)]
