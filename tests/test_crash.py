"""Workers that are killed or frozen between any two steps (promises Q3, Q4, Q5, I1, I2, I8)."""

import os
import signal
import time
from pathlib import Path

import pytest
from sqlalchemy import Engine as Database

from conftest import Stress
from crash_worker import DEADLY, SETTINGS, Job
from crashing import crashing
from notes import (
    QUICK,
    Note,
    assert_index_is_table,
    drain,
    eventually,
    fresh_notes,
    held_by,
    notes_copy,
    on_sqlite,
    save,
    save_each,
    waiting,
    write,
)
from sakuin.app.settings import read_settings
from sakuin.app.worker import Worker
from sakuin.indexer import sweep as sweep_module
from sakuin.indexer.build import Copy
from sakuin.indexer.changes import read_changes
from sakuin.indexer.engine import Searcher
from sakuin.indexer.engines import ENGINE_NAMES, engine_named
from sakuin.indexer.gather import KILLER_FROM_ATTEMPT
from sakuin.indexer.sweep import sweep
from sakuin.queue import claim, dead_messages, extend, read, release, replay
from searching import Searching, version, version_held

STEPS = ["claimed", "cloned", "applied", "checked", "synced", "published", "acked"]
MOST_DOINGS = 160
"""More than a worker or a rebuild does here between its start and its end, but not many more."""
LEASE_SECONDS = SETTINGS["lease_seconds"]


def make_copies(database: Database, root: Path, *jobs: Job) -> list[Copy]:
    """Make the jobs' indexes, of one table, each of which holds version 1 and waits for 2."""
    fresh_notes(database, root)
    copies = [
        notes_copy(database, root, name=job.index, engine=engine_named(job.engine)) for job in jobs
    ]
    for number in (1, 2):
        for copy in copies:
            drain(copy)
        write_version(number, *copies)
    return copies


def write_version(number: int, *copies: Copy) -> None:
    """Write a version, with a message for each index."""
    indexes = [copy.index for copy in copies]
    replay(copies[0].database, lambda connection: write(connection, version(number), *indexes))


def restart(copy: Copy, root: Path) -> None:
    """Run a worker until nothing waits, as a supervisor does after a crash."""
    Worker(copy, read_settings({**SETTINGS, "data_dir": root}, {}, root)).drain()


def test_killed_between_every_two_steps(
    engine: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Q5, I2, I8: old or new, never neither; then the restart ends as the table, lease and all."""
    jobs = [Job(f"{one}_{step}", one, at=step) for one in ENGINE_NAMES for step in STEPS]
    jobs += [Job(f"rebuild_{s}", at=s, work="rebuild") for s in ("applied", "synced", "published")]
    copies = make_copies(engine, tmp_path, *jobs)

    def check(number: int, searcher: Searcher) -> None:
        assert version_held(searcher) == number

    with Searching(check, *copies) as searching:
        searching.wait_until_seen(1)
        with crashing(engine, tmp_path, *jobs) as running:
            assert {one.end for one in running.wait().values()} == {-signal.SIGKILL}
        killed_at = time.monotonic()
        for job, copy in zip(jobs, copies, strict=True):
            assert copy.generations.current() == (2 if job.at in ("published", "acked") else 1), job
            assert sum(waiting(copy)) == (0 if job.at == "acked" else 1), job
        for copy in copies:
            restart(copy, tmp_path)
            assert (copy.generations.current(), waiting(copy)) == (2, (0, 0, 0))
            assert_index_is_table(copy, ["version1", "version2", "夜"])
        assert time.monotonic() - killed_at < LEASE_SECONDS + 15
        searching.wait_until_seen(2)
    monkeypatch.setattr(sweep_module, "_YOUNG_SECONDS", 0.0)
    for copy in copies:
        sweep(copy.generations)
        left = set(os.listdir(copy.generations.directory))
        assert left <= {"gen-00000001", "gen-00000002", "publisher.lock"}


def test_frozen_before_the_rename_and_before_the_ack(engine: Database, tmp_path: Path) -> None:
    """I2, Q3: another took over meanwhile; who wakes up publishes nothing wrong, acks nothing."""
    jobs = [Job(step, at=step, how=signal.SIGSTOP) for step in ("synced", "published")]
    copies = make_copies(engine, tmp_path, *jobs)
    held: list[int] = []

    def check(number: int, searcher: Searcher) -> None:
        held.append(version_held(searcher))

    with Searching(check, *copies) as searching:
        with crashing(engine, tmp_path, *jobs) as running:
            frozen = running.wait()
            assert {one.end for one in frozen.values()} == {signal.SIGSTOP}
            assert [copy.generations.current() for copy in copies] == [1, 2]
            write_version(3, *copies)
            for copy in copies:
                take_over(copy)
                assert_index_is_table(copy, ["version3", "夜"])
            taken = {copy.index.name: copy.generations.current() for copy in copies}
            assert taken == {"synced": 2, "published": 3}
            write_version(4, *copies)
            ours = {
                copy.index.name: claim(engine, copy.index.queue, limit=9, lease_seconds=60)
                for copy in copies
            }
            write_version(5, *copies)
            for one in frozen.values():
                os.kill(one.pid, signal.SIGCONT)
            for copy in copies:
                # The frozen one has finished what it was at, and works on what came since.
                next_number = taken[copy.index.name] + 1
                eventually(lambda: waiting(copy) == (0, 1, 0))  # noqa: B023  called at once
                assert copy.generations.current() == next_number
                assert_index_is_table(copy, ["version5", "夜"])
                assert extend(engine, ours[copy.index.name], 60) == frozenset()
                assert release(engine, ours[copy.index.name]) == frozenset()
            assert {one.end for one in running.wait().values()} == {0}
        for copy in copies:
            searching.wait_until_seen(3)
            assert waiting(copy) == (0, 0, 0)
            assert_index_is_table(copy, ["version5", "夜"])
    assert set(held) <= {1, 2, 3, 5}
    assert 5 in held


def take_over(copy: Copy) -> None:
    """Do what waits as soon as its lease has run out."""

    def is_done() -> bool:
        drain(copy, QUICK)
        return waiting(copy) == (0, 0, 0)

    eventually(is_done)


@on_sqlite
def test_a_document_that_kills_dies_alone(engine: Database, tmp_path: Path) -> None:
    """Q4: worked alone, in ever smaller parts, it is found; no neighbour dies or waits for ever."""
    copy = fresh_notes(engine, tmp_path)
    save(copy, {"first": "text 夜"})
    drain(copy)
    notes: dict[str, Note | str | None] = {f"n{i:03}": f"text {i} 夜" for i in range(24)}
    (message,) = save(copy, notes | {"n005": DEADLY})
    save_each(copy, {"behind": "text 夜", "last": "text 夜"})

    def check(_: int, searcher: Searcher) -> None:
        assert searcher.document_count >= 1

    with Searching(check, copy) as searching:
        with crashing(engine, tmp_path, Job("notes", has_killer=True)) as running:
            deaths = 0
            while running.wait()["notes"].end == -signal.SIGKILL:
                deaths += 1
        searching.wait_for_searches(1)
    assert deaths == KILLER_FROM_ATTEMPT - 1
    (dead,) = read(engine, dead_messages)
    assert read_changes(dead.data) == ("n005",)
    assert dead.message_id == message
    assert dead.reason == f"the indexer died {deaths} times while working on it"
    assert waiting(copy) == (0, 0, 0)
    assert held_by(copy).keys() == {"first", "behind", "last", *notes} - {"n005"}


@on_sqlite
def test_told_to_stop_it_ends_the_batch_and_leaves_the_rest_ready(
    engine: Database, tmp_path: Path
) -> None:
    """Q4: SIGTERM in the middle of a batch: exit 0, nothing leased, no attempt counted."""
    copy = fresh_notes(engine, tmp_path)
    save_each(copy, {f"n{i:02}": f"text {i}" for i in range(20)})
    job = Job("notes", at="applied", how=signal.SIGTERM, documents=5)
    with crashing(engine, tmp_path, job) as running:
        assert running.wait()["notes"].end == 0
    assert copy.generations.current() == 1
    assert held_by(copy).keys() == {f"n{i:02}" for i in range(5)}
    assert waiting(copy) == (15, 0, 0)
    assert not (copy.generations.directory / "publisher.json").exists()
    messages = claim(engine, copy.index.queue, limit=50, lease_seconds=60)
    assert {message.attempts for message in messages} == {1}


def test_killed_anywhere(engine: Database, tmp_path: Path, stress: Stress) -> None:
    """Q5, I2, I8: between any two doings, system calls and SQL statements, not steps alone."""
    deaths = [
        Job(f"{one}_{work}_{at}", one, at=at, work=work)
        for one in ENGINE_NAMES
        for work in ("drain", "rebuild")
        for at in range(MOST_DOINGS)
    ]
    chosen = stress.random().sample(deaths, len(deaths) if stress.is_whole else 8)
    ends: list[int] = []
    for start in range(0, len(chosen), 8):
        ends += _die(engine, tmp_path, chosen[start : start + 8])
    assert ends.count(-signal.SIGKILL) > len(ends) // 2
    if stress.is_whole:
        assert 0 in ends, "MOST_DOINGS is too low: there are more places to die at"


def _die(engine: Database, root: Path, jobs: list[Job]) -> list[int]:
    copies = make_copies(engine, root, *jobs)
    with crashing(engine, root, *jobs) as running:
        ends = [one.end for one in running.wait().values()]
    assert set(ends) <= {-signal.SIGKILL, 0}
    for copy in copies:
        number = copy.generations.current()
        assert number in (1, 2)
        assert held_by(copy)["n5"].body.startswith(f"version{number} ")
        restart(copy, root)
        assert waiting(copy) == (0, 0, 0)
        assert copy.generations.current() == 2
        assert_index_is_table(copy, ["version1", "version2", "夜"])
    return ends
