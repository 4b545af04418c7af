"""Hundreds of publishes under readers that never pause (promises I1, I2, I6)."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine as Database

from conftest import Stress
from notes import QUICK, assert_index_is_table, fresh_notes, save, with_both_engines
from sakuin.indexer.batch import run_batch
from sakuin.indexer.build import Copy
from sakuin.indexer.manifest import Manifest
from sakuin.indexer.sweep import sweep
from search_worker import step
from searching import open_files

READERS = 4
MOST_FILES = 160
"""Of two generations; with one leaked in ten publishes there would soon be more."""
_PROGRAM = Path(__file__).with_name("search_worker.py")


@pytest.fixture
def database_kind() -> str:
    """Nothing here has to do with the database."""
    return "sqlite"


class Readers:
    """Running processes that search without pause."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    def end(self) -> list[dict[str, Any]]:
        """Tell them to end; return what each did. They must not have failed."""
        os.killpg(self._process.pid, signal.SIGTERM)
        output, errors = self._process.communicate()
        assert self._process.returncode == 0, errors
        return [json.loads(line) for line in output.splitlines()]


@contextmanager
def readers(root: Path, engine_name: str, deadline_seconds: float) -> Iterator[Readers]:
    """Start the readers and wait until each has searched."""
    plan = {"root": str(root), "engine": engine_name, "readers": READERS}
    process = subprocess.Popen(
        [sys.executable, str(_PROGRAM), json.dumps(plan)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        process_group=0,
    )

    def kill() -> None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)

    alarm = threading.Timer(deadline_seconds, kill)
    alarm.start()
    try:
        assert process.stdout
        for _ in range(READERS):
            assert process.stdout.readline() == "searching\n"
        yield Readers(process)
    finally:
        alarm.cancel()
        kill()
        process.communicate()


def publish_step(copy: Copy, number: int) -> None:
    """Publish generation `number`, and sweep, as a worker does."""
    save(copy, dict(step(number)))
    batch = run_batch(copy, QUICK)
    assert batch
    assert batch.generation == number
    sweep(copy.generations)


def disk_bytes(copy: Copy) -> int:
    """Return what the index takes on the disk: linked files count once."""
    files: dict[int, int] = {}
    for folder, _, names in os.walk(copy.generations.directory):
        for name in names:
            with suppress(FileNotFoundError):
                status = os.stat(os.path.join(folder, name))  # noqa: PTH118  as the walk gives it
                files[status.st_ino] = status.st_size
    return sum(files.values())


@with_both_engines
def test_publishing_under_readers_that_never_pause(
    engine: Database, tmp_path: Path, engine_name: str, stress: Stress
) -> None:
    """I1, I6: 200 publishes, 4 readers: no search fails or is wrong; disk and files are bounded."""
    copy = fresh_notes(engine, tmp_path, engine_name=engine_name)
    publish_step(copy, 1)
    publishes = stress.count(200)
    used, files, kept = list[float](), list[int](), list[int]()
    with readers(tmp_path, engine_name, deadline_seconds=60 + publishes) as searching:
        for number in range(2, publishes + 2):
            publish_step(copy, number)
            used.append(disk_bytes(copy) / Manifest.read(copy.generations.path(number)).bytes)
            files.append(open_files())
            kept.append(len(copy.generations.numbers()))
        reports = searching.end()
    assert len(reports) == READERS
    for report in reports:
        print(report)
        assert report["last"] == publishes + 1
        assert report["generations"] >= 5
        assert report["files"] <= MOST_FILES
    assert max(used) < 4, used
    assert max(files) <= MOST_FILES, files
    assert max(kept) <= 4 + 2 * READERS, kept
    sweep(copy.generations)
    assert copy.generations.numbers() == list(range(publishes - 2, publishes + 2))
    assert_index_is_table(copy, ["夜", "even", "odd", "bulk"])
