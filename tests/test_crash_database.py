"""The database server, or the room on the disk, goes away under a worker (Q5, Q6, I1, I8, S6)."""

import os
import resource
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import Engine as Database

from crash_worker import SETTINGS, Job
from crashing import crashing
from databases import Servers, fresh_schema
from notes import (
    QUICK,
    assert_index_is_table,
    drain,
    eventually,
    fresh_notes,
    notes_copy,
    on_sqlite,
    save,
    waiting,
    with_both_engines,
)
from sakuin.app.private_mariadb import PrivateServer
from sakuin.app.settings import read_settings
from sakuin.app.worker import Worker
from sakuin.indexer import draft as draft_module
from sakuin.indexer.batch import run_batch
from sakuin.indexer.build import Copy, Observer
from sakuin.indexer.engine import Searcher
from sakuin.indexer.engines import engine_named
from sakuin.indexer.errors import DiskFull
from sakuin.queue import DatabaseAway
from searching import Searching, version, version_held

FULL_AT_BYTES = 64 << 10


@pytest.fixture
def server(servers: Servers) -> Iterator[PrivateServer]:
    """The private server, which runs again when the test is over."""
    server = servers.private()
    yield server
    server.restart()


@pytest.fixture
def copy(
    server: PrivateServer, tmp_path: Path, open_database: Callable[[str], Database]
) -> Iterator[Copy]:
    """An index whose rows and messages are on that server."""
    with fresh_schema(server.url) as url:
        yield fresh_notes(open_database(url), tmp_path)


@contextmanager
def working(copy: Copy, root: Path, on_step: Observer = lambda _: None) -> Iterator[None]:
    """Run a worker in a thread until the block ends; its end is waited for."""
    worker = Worker(copy, read_settings({**SETTINGS, "data_dir": root}, {}, root), on_step)
    thread = threading.Thread(target=worker.run)
    thread.start()
    try:
        yield
    finally:
        worker.stop.set()
        thread.join()


def check(_: int, searcher: Searcher) -> None:
    version_held(searcher)


def test_without_its_server_an_index_answers_and_its_worker_waits(
    copy: Copy, server: PrivateServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """S6, Q5: searches need no database; the worker says once that it waits, and goes on."""
    save(copy, version(1))
    with working(copy, tmp_path), Searching(check, copy) as searching:
        searching.wait_until_seen(1)
        server.stop()
        eventually(lambda: "waiting: cannot reach the database" in caplog.text)
        searching.wait_for_searches(20)
        with pytest.raises(DatabaseAway):
            save(copy, version(2))
        server.start()
        save(copy, version(3))
        searching.wait_until_seen(2)
        eventually(lambda: waiting(copy) == (0, 0, 0))
    assert caplog.text.count("waiting: cannot reach the database") == 1
    assert "going on" in caplog.text
    assert_index_is_table(copy, ["version3", "夜"])


def test_a_server_that_is_killed_in_the_middle_of_a_batch_loses_nothing(
    copy: Copy, server: PrivateServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Q5, I2: after the claim and before the ack; the messages come again, the index is right."""
    kills: list[str] = []

    def kill(step: str) -> None:
        if kills and step == kills[0]:
            server.kill()
            kills.clear()

    with working(copy, tmp_path, kill), Searching(check, copy) as searching:
        for number, step in enumerate(["claimed", "published"], start=1):
            caplog.clear()
            kills.append(step)
            save(copy, version(number))
            eventually(lambda: "waiting: cannot reach the database" in caplog.text)
            assert kills == []
            server.start()
            searching.wait_until_seen(number)
            eventually(lambda: waiting(copy) == (0, 0, 0))
            assert copy.generations.current() == number
            assert_index_is_table(copy, [f"version{number}", "夜"])


@on_sqlite
def test_told_to_stop_while_the_database_is_away_it_stops(
    engine: Database, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Q5: waiting for a database is no reason not to end."""
    copy = fresh_notes(engine, tmp_path)
    engine.dispose()
    (tmp_path / "test.db").rename(tmp_path / "elsewhere")
    (tmp_path / "test.db").mkdir()
    with working(copy, tmp_path):
        eventually(lambda: "waiting:" in caplog.text)
    assert "cannot reach the database" in caplog.text


# --- room (I8) ---


def large_notes(count: int) -> dict[str, str]:
    """Return notes of 20,000 bytes that no compression makes smaller than half."""
    return {f"large{i}": os.urandom(10_000).hex() for i in range(count)}


@with_both_engines
@on_sqlite
def test_writes_that_fail_drop_the_copy_and_nothing_else(
    engine: Database, tmp_path: Path, engine_name: str
) -> None:
    """I8: a worker meets files that cannot grow, waits, and goes on once they can."""
    fresh_notes(engine, tmp_path)
    copy = notes_copy(engine, tmp_path, engine=engine_named(engine_name))
    save(copy, {"first": "text"})
    drain(copy)
    save(copy, dict(large_notes(12)))
    job = Job("notes", engine_name, at="claimed", how=signal.SIGSTOP)

    def is_first(number: int, searcher: Searcher) -> None:
        assert searcher.document_count == (1 if number == 1 else 13)

    with Searching(is_first, copy) as searching, crashing(engine, tmp_path, job) as running:
        stopped = running.wait()["notes"]
        assert stopped.end == signal.SIGSTOP
        unlimited = resource.prlimit(stopped.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(stopped.pid, resource.RLIMIT_FSIZE, (FULL_AT_BYTES, unlimited[1]))
        os.kill(stopped.pid, signal.SIGCONT)
        eventually(lambda: "waiting: " in (tmp_path / "log").read_text())
        searching.wait_for_searches(20)
        assert copy.generations.numbers() == [1]
        assert sum(waiting(copy)) == 1
        assert not list(copy.generations.directory.glob(".tmp-*"))
        resource.prlimit(stopped.pid, resource.RLIMIT_FSIZE, unlimited)
        assert running.wait()["notes"].end == 0
        searching.wait_until_seen(2)
    assert waiting(copy) == (0, 0, 0)
    assert_index_is_table(copy)


@contextmanager
def small_disk(place: Path, megabytes: int) -> Iterator[Callable[[int], None]]:
    """Mount a disk of this size; what is given back gives it another one."""
    place.mkdir()

    def mount(options: str) -> bool:
        command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(place)]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0

    if not mount(f"size={megabytes}m"):
        pytest.skip("a full disk is not tested: no right to mount one here")
    try:
        yield lambda size: None if mount(f"remount,size={size}m") else pytest.fail("no remount")
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


@on_sqlite
def test_a_disk_that_is_full(
    engine: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """I8: no room in the middle of a build: it says so, drops the copy, and makes it later."""
    monkeypatch.setattr(draft_module, "_SPARE_BYTES", 64 << 10)
    with small_disk(tmp_path / "disk", 2) as resize:
        copy = fresh_notes(engine, tmp_path / "disk")
        save(copy, {"first": "text"})
        drain(copy)
        save(copy, dict(large_notes(120)))

        def is_one(number: int, searcher: Searcher) -> None:
            assert searcher.document_count == (1 if number == 1 else 121)

        with Searching(is_one, copy) as searching:
            for _ in range(2):
                with pytest.raises(DiskFull, match="0 MB free"):
                    run_batch(copy, QUICK)
                assert os.listdir(copy.generations.directory) == ["gen-00000001"]
                assert waiting(copy) == (1, 0, 0)
                searching.wait_for_searches(5)
            resize(64)
            drain(copy)
            searching.wait_until_seen(2)
        assert_index_is_table(copy)


@on_sqlite
def test_what_a_crashed_run_left_does_not_fill_the_disk_for_ever(
    engine: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """I8: a worker that has no room removes leftovers, and goes on by itself."""
    monkeypatch.setattr(draft_module, "_SPARE_BYTES", 2 << 20)
    with small_disk(tmp_path / "disk", 4):
        copy = fresh_notes(engine, tmp_path / "disk")
        save(copy, {"first": "text"})
        copy.generations.prepare()
        left = copy.generations.directory / ".tmp-0123456789abcdef"
        left.mkdir()
        (left / "half").write_bytes(bytes(3 << 20))
        os.utime(left, (0, 0))
        with pytest.raises(DiskFull):
            run_batch(copy, QUICK)
        with working(copy, tmp_path):
            eventually(lambda: waiting(copy) == (0, 0, 0))
        assert not left.exists()
        assert_index_is_table(copy)
