"""Who publishes: a lease that saves work, a hot standby, and taking over (promises I4, S6)."""

import json
import os
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import Engine as Database

from notes import assert_index_is_table, eventually, fresh_notes, save, save_each, waiting
from sakuin.app.settings import Settings, read_settings
from sakuin.app.worker import Worker
from sakuin.indexer.build import Copy
from sakuin.indexer.freshness import freshness
from sakuin.indexer.generations import Generations
from sakuin.indexer.manifest import FILE_NAME
from sakuin.indexer.publisher import STALE_SECONDS, PublisherLease, last_beat_seconds
from sakuin.indexer.rebuild import rebuild
from sakuin.queue import read


@pytest.fixture
def database_kind() -> str:
    """Nothing here has to do with the database."""
    return "sqlite"


@pytest.fixture
def generations(tmp_path: Path) -> Generations:
    return Generations(tmp_path, "notes")


@pytest.fixture
def copy(engine: Database, tmp_path: Path) -> Copy:
    return fresh_notes(engine, tmp_path)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    flags = {"data_dir": tmp_path, "lease_seconds": 1, "poll_seconds": 0.01, "gather_seconds": 0.01}
    return read_settings(flags, {}, tmp_path)


def write_holder(generations: Generations, **entry: object) -> None:
    """Say in the lease's file that another process holds it."""
    here = str(Path("/proc/self/ns/pid").readlink())
    holder = {"token": "other", "pid": os.getpid(), "pid_namespace": here, **entry}
    holder.setdefault("beat_at", time.time())
    generations.prepare()
    (generations.directory / "publisher.json").write_text(json.dumps(holder))


def test_one_holds_the_lease_and_the_other_stands_by(generations: Generations) -> None:
    """I4: whoever beats first publishes; the standby takes over as soon as it is given back."""
    first, second = PublisherLease(generations), PublisherLease(generations)
    assert first.beat()
    assert first.beat()
    assert not second.beat()
    second.release()  # not its own: no effect
    assert not second.beat()
    first.release()
    assert second.beat()
    assert not first.beat()


@pytest.mark.parametrize("age", [STALE_SECONDS + 1, -STALE_SECONDS - 1])
def test_a_holder_that_does_not_beat_is_replaced(generations: Generations, age: float) -> None:
    """I4: so is one whose last beat lies in the future, because a clock was set back."""
    lease = PublisherLease(generations)
    write_holder(generations, beat_at=time.time() - age)
    assert lease.beat()


def test_a_holder_that_is_alive_is_not_replaced(generations: Generations) -> None:
    """I4: as long as it beats."""
    write_holder(generations, beat_at=time.time() - STALE_SECONDS + 5)
    assert not PublisherLease(generations).beat()


def test_a_holder_in_another_container_is_known_by_its_beat_alone(
    generations: Generations,
) -> None:
    """I4: its process number may be anybody's here, or nobody's."""
    write_holder(generations, pid=2**22 - 1, pid_namespace="pid:[1]")
    assert not PublisherLease(generations).beat()


def test_a_dead_holder_is_replaced_at_once(generations: Generations) -> None:
    """I4: a process that is gone, however young its last beat."""
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    write_holder(generations, pid=gone.pid)
    assert PublisherLease(generations).beat()


@pytest.mark.parametrize("content", ["", "{", "[]", '{"token": 1}', '{"pid": "x", "token": ""}'])
def test_a_damaged_lease_is_no_lease(generations: Generations, content: str) -> None:
    """I4, I8: what is in the file never stops a worker."""
    generations.prepare()
    (generations.directory / "publisher.json").write_text(content)
    assert last_beat_seconds(generations) is None
    assert PublisherLease(generations).beat()


def test_of_many_at_once_one_gets_it(generations: Generations) -> None:
    """I4: taking the lease is one step, and leaves nothing behind but its two files."""
    leases = [PublisherLease(generations) for _ in range(8)]
    start, held = threading.Barrier(len(leases), timeout=30), []

    def take(lease: PublisherLease) -> None:
        start.wait()
        held.append(lease.beat())

    threads = [threading.Thread(target=take, args=(lease,)) for lease in leases]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(held) == [False] * 7 + [True]
    assert sorted(os.listdir(generations.directory)) == ["publisher.json", "publisher.lock"]


def test_everybody_can_see_whether_an_indexer_is_alive(copy: Copy) -> None:
    """S6: the pages say when nobody works on what waits."""
    save(copy, {"a": "one"})

    def is_alive() -> bool:
        return read(copy.database, lambda c: freshness(c, copy.index, copy.generations)).has_indexer

    assert not is_alive()
    lease = PublisherLease(copy.generations)
    lease.beat()
    assert is_alive()
    lease.release()
    assert not is_alive()
    write_holder(copy.generations, beat_at=time.time() - STALE_SECONDS - 1)
    assert not is_alive()


# --- workers ---


def test_two_workers_one_publishes_and_the_other_takes_over(copy: Copy, settings: Settings) -> None:
    """I4: the standby does nothing until the first one stops, and then all there is to do."""
    worked: dict[str, int] = {"first": 0, "second": 0}
    workers = {name: Worker(copy, settings) for name in worked}

    def run(name: str) -> None:
        def count(_: object) -> None:
            worked[name] += 1

        workers[name].run(count)

    threads = {name: threading.Thread(target=run, args=(name,)) for name in workers}
    threads["first"].start()
    save(copy, {"a": "one"})
    eventually(lambda: waiting(copy) == (0, 0, 0) and worked["first"] == 1)
    threads["second"].start()
    for number in range(3):
        save(copy, {"b": f"text {number}"})
        eventually(lambda: waiting(copy) == (0, 0, 0))
        assert copy.generations.current() == number + 2
    assert worked["second"] == 0
    workers["first"].stop.set()
    threads["first"].join()
    save(copy, {"c": "three"})
    eventually(lambda: waiting(copy) == (0, 0, 0) and worked["second"] == 1)
    workers["second"].stop.set()
    threads["second"].join()
    assert_index_is_table(copy)
    assert not (copy.generations.directory / "publisher.json").exists()


def test_two_workers_at_once_are_safe_without_any_lease(copy: Copy, settings: Settings) -> None:
    """I2, I4: with the lease out of order both publish; nothing is lost, each number once."""
    save_each(copy, {f"n{i}": f"text {i}" for i in range(16)})
    settings = replace(settings, batch_documents=1)
    workers = [Worker(copy, settings) for _ in range(2)]
    for worker in workers:
        worker._lease = PublisherLease(Generations(copy.generations.directory, f"{id(worker)}"))
    threads = [threading.Thread(target=worker.drain) for worker in workers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert_index_is_table(copy)
    assert waiting(copy) == (0, 0, 0)


def test_a_worker_waits_for_a_rebuild_that_was_asked_for(
    copy: Copy, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    """I6: after an upgrade the worker says once what to do, and goes on when it is done."""
    save(copy, {"a": "one"})
    Worker(copy, settings).drain()
    path = copy.generations.path(1) / FILE_NAME
    path.write_text(json.dumps(json.loads(path.read_text()) | {"analysis_version": 0}))
    save(copy, {"b": "two"})
    worker = Worker(copy, settings)
    thread = threading.Thread(target=worker.drain)
    thread.start()
    eventually(lambda: "`sakuin index rebuild --index" in caplog.text)
    assert waiting(copy)[2] == 0
    assert rebuild(copy) == 2
    thread.join()
    assert caplog.text.count("`sakuin index rebuild --index") == 1
    assert_index_is_table(copy)
