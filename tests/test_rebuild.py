"""A full rebuild beside the live copy, and going back: nothing lost, never empty (I1, I2, I5)."""

import fcntl
import json
import os
import threading
from pathlib import Path

import pytest
from sqlalchemy import Engine as Database

from notes import (
    QUICK,
    Note,
    assert_index_is_table,
    drain,
    elapse_back_off,
    eventually,
    fresh_notes,
    held_by,
    on_sqlite,
    save,
    table_of,
    waiting,
    with_both_engines,
    write,
)
from sakuin.indexer.batch import RETRY, run_batch
from sakuin.indexer.build import Copy
from sakuin.indexer.changes import read_changes
from sakuin.indexer.engine import Order, Searcher
from sakuin.indexer.errors import GenerationGone, GenerationMismatch, Outrun
from sakuin.indexer.manifest import FILE_NAME, Manifest
from sakuin.indexer.query import Phrase
from sakuin.indexer.rebuild import rebuild, republish
from sakuin.indexer.rebuild_log import RebuildLog, tell_rebuilds
from sakuin.indexer.sweep import sweep
from sakuin.queue import dead_messages, read, replay
from searching import Searching, open_files

NOTES = {f"n{i:04}": f"text {i} 夜" for i in range(30)}


@pytest.fixture
def copy(engine: Database, tmp_path: Path) -> Copy:
    return fresh_notes(engine, tmp_path)


def write_unsaid(copy: Copy, notes: dict[str, Note | str | None]) -> None:
    """Change rows without a message, as a program does that knows nothing of the index."""
    replay(copy.database, lambda connection: write(connection, notes))


def leftovers(copy: Copy) -> list[str]:
    """Return the names of what is neither a generation nor the publisher's."""
    return [name for name in os.listdir(copy.generations.directory) if name.startswith(".")]


@with_both_engines
def test_a_rebuild_brings_the_index_in_line_with_the_table(
    engine: Database, tmp_path: Path, engine_name: str
) -> None:
    """I2: all rows, none that is gone, in the next generation; told as it goes on."""
    copy = fresh_notes(engine, tmp_path, engine_name=engine_name)
    assert rebuild(copy) == 1
    assert held_by(copy) == {}
    save(copy, {**NOTES, "gone": "text"})
    drain(copy)
    write_unsaid(copy, {"gone": None, "n0001": "other", "more": "text"})
    told: list[int] = []
    assert rebuild(copy, on_progress=told.append) == 3
    assert told[-1] == len(NOTES) + 1
    assert_index_is_table(copy, ["text", "other", "夜"])
    assert Manifest.read(copy.generations.path(3)).parent == 2
    assert leftovers(copy) == []


def test_what_is_indexed_during_a_rebuild_is_not_lost(copy: Copy) -> None:
    """I2, I5: changes before, between and after the reading of the rows, each in a batch."""
    save(copy, NOTES)
    drain(copy)

    def work(step: str, number: int = 0) -> None:
        if step == "applied":
            save(copy, {"n0002": "changed after it was read", "n0003": None, "new": "text"})
            drain(copy)
        if step == "checked":
            save(copy, {"n0004": "outruns", "new": None})
            drain(copy)

    def progress(_: int) -> None:
        save(copy, {"n0005": "during"})
        drain(copy)

    number = rebuild(copy, on_progress=progress, on_step=_once(work))
    assert number == copy.generations.current() == 5
    assert_index_is_table(copy, ["changed", "outruns", "during", "夜"])


def _once(work: object) -> "_Once":
    return _Once(work)


class _Once:
    """An observer that lets work be done at the first of each step only."""

    def __init__(self, work: object) -> None:
        self._work, self._seen = work, set[str]()

    def __call__(self, step: str) -> None:
        if step not in self._seen:
            self._seen.add(step)
            assert callable(self._work)
            self._work(step)


@on_sqlite
def test_a_rebuild_that_is_outrun_again_and_again_goes_on_from_where_it_was(
    engine: Database, tmp_path: Path
) -> None:
    """I2: each round takes up only what the last one missed, so that a rebuild comes to its end."""
    read_bodies: list[str] = []
    copy = fresh_notes(engine, tmp_path, on_body=read_bodies.append)
    save(copy, NOTES)
    drain(copy)
    read_in_rounds: list[list[str]] = []
    left: list[int] = []

    def outrun(step: str) -> None:
        if step == "synced" and len(left) < 6:
            read_in_rounds.append(read_bodies.copy())
            left.append(len(leftovers(copy)))
            save(copy, {f"late{len(left)}": f"text {len(left)}"})
            drain(copy)
            read_bodies.clear()

    assert rebuild(copy, on_step=outrun) == 8
    assert_index_is_table(copy, ["text"])
    assert len(read_in_rounds[0]) == 2 * len(NOTES)
    assert read_in_rounds[1:] == [[f"text {number}"] for number in range(1, 6)]
    assert max(left) <= 4, left  # the log, the rebuilt copy, the last round's and this one's
    assert leftovers(copy) == []


def test_rebuilds_beside_a_stream_of_batches_and_searches(copy: Copy) -> None:
    """I1, I2: searches are never empty nor wrong, batches go on, and the rebuild ends."""
    save(copy, NOTES)
    drain(copy)
    stop, saved = threading.Event(), list[int]()

    def stream() -> None:
        while not stop.is_set():
            save(copy, {f"s{len(saved)}": "stream 夜"})
            saved.append(len(saved))
            try:
                drain(copy)
            except Outrun:
                continue

    def check(_: int, searcher: Searcher) -> None:
        found = searcher.search(Phrase("夜"), order=Order.ID, offset=0, limit=0).total
        assert found == searcher.document_count >= len(NOTES)

    thread = threading.Thread(target=stream)
    with Searching(check, copy, threads=2) as searching:
        thread.start()
        try:
            for _ in range(2):
                searching.wait_until_seen(rebuild(copy))
        finally:
            stop.set()
            thread.join()
    drain(copy)
    assert saved
    assert_index_is_table(copy, ["夜", "stream"])


def test_two_rebuilds_at_once_lose_nothing(copy: Copy) -> None:
    """I2: a batch finds nothing to do, because the other rebuild was first; still this one hears.

    The rows are read by this rebuild, then one changes, then another rebuild publishes the change,
    then its message comes: the current generation holds it already, and nobody would tell.
    """
    save(copy, NOTES)
    drain(copy)

    def meanwhile(step: str) -> None:
        if step == "applied":
            save(copy, {"n0001": "newer"})
            assert rebuild(copy) == 2
            (batch,) = drain(copy)
            assert batch.changed == 0

    assert rebuild(copy, on_step=_once(meanwhile)) == 4
    assert_index_is_table(copy, ["newer", "text"])


def test_two_rebuilds_started_together_both_end(copy: Copy) -> None:
    """I2: one of them is outrun, catches up, and publishes after the other."""
    save(copy, NOTES)
    numbers: list[int] = []
    threads = [threading.Thread(target=lambda: numbers.append(rebuild(copy))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(numbers) == [1, 2]
    drain(copy)
    assert_index_is_table(copy, ["text"])
    assert leftovers(copy) == []


@on_sqlite
def test_a_log_that_looks_dead_before_it_is_locked_is_made_anew(
    copy: Copy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """I2: a batch comes between the making and the locking of a log; the rebuild notices."""
    copy.generations.prepare()
    flock = fcntl.flock
    early: list[bool] = []

    def slow_flock(descriptor: int, how: int) -> None:
        if not early:
            early.append(True)
            early.append(tell_rebuilds(copy.generations, ["too early"]))
        flock(descriptor, how)

    monkeypatch.setattr("fcntl.flock", slow_flock)
    with RebuildLog(copy.generations) as log:
        assert early == [True, False]
        assert tell_rebuilds(copy.generations, ["a", "b"])
        assert tell_rebuilds(copy.generations, ["b", "人間"])
        assert log.take() == ["a", "b", "人間"]
        assert log.take() == []
    assert leftovers(copy) == []


@on_sqlite
def test_the_log_of_a_dead_rebuild_is_removed(copy: Copy) -> None:
    """I8: and does not make batches publish for nothing."""
    save(copy, NOTES)
    drain(copy)
    dead = copy.generations.directory / ".rebuild-0123456789abcdef"
    dead.write_text("[")
    save(copy, {"n0001": NOTES["n0001"]})
    (batch,) = drain(copy)
    assert batch.generation == 1
    assert not dead.exists()


@on_sqlite
def test_a_bad_document_does_not_stop_a_rebuild(engine: Database, tmp_path: Path) -> None:
    """Q4: it is left out, goes through its retries as from any message, and dies by name."""

    def refuse(body: str) -> None:
        if body == "poison":
            raise ValueError("cannot read poison")

    copy = fresh_notes(engine, tmp_path, on_body=refuse)
    write_unsaid(copy, {**NOTES, "bad": "poison"})
    assert rebuild(copy) == 1
    assert held_by(copy).keys() == NOTES.keys()
    for _ in range(RETRY.max_attempts):
        drain(copy)
        elapse_back_off(copy)
    (dead,) = read(copy.database, dead_messages)
    assert read_changes(dead.data) == ("bad",)
    assert dead.reason == "ValueError: cannot read poison"
    assert held_by(copy).keys() == NOTES.keys()


@on_sqlite
def test_a_rebuild_replaces_an_index_that_cannot_be_read(copy: Copy) -> None:
    """I6: the remedy that every error names works, whatever is wrong with the generation."""
    save(copy, NOTES)
    drain(copy)
    path = copy.generations.path(1) / FILE_NAME
    path.write_text(json.dumps(json.loads(path.read_text()) | {"engine": "lucene"}))
    with pytest.raises(GenerationMismatch):
        republish(copy, 1)
    assert rebuild(copy) == 2
    assert_index_is_table(copy, ["text"])


# --- going back ---


@on_sqlite
def test_going_back_publishes_a_clone_under_the_next_number(copy: Copy) -> None:
    """I2: an old generation again, without asking the table; the next change goes on from there."""
    save(copy, NOTES)
    drain(copy)
    save(copy, {"n0001": "wrong", "n0002": None})
    drain(copy)
    assert republish(copy, 1) == 3
    assert held_by(copy) == {key: Note(body) for key, body in NOTES.items()}
    save(copy, {"n0003": "new"})
    drain(copy)
    assert held_by(copy)["n0003"] == Note("new")
    assert held_by(copy)["n0001"] == Note(NOTES["n0001"])
    assert rebuild(copy) == 5
    assert_index_is_table(copy, ["wrong", "text", "new"])


@on_sqlite
def test_going_back_to_what_is_not_there(copy: Copy) -> None:
    """I6: the error names the generation, and how to see those that are kept."""
    save(copy, NOTES)
    drain(copy)
    with pytest.raises(GenerationGone, match=r"generation 7 .* `sakuin index list`"):
        republish(copy, 7)
    assert leftovers(copy) == []


@on_sqlite
def test_going_back_while_batches_publish(copy: Copy) -> None:
    """I2: outrun, it clones again, and is current in the end."""
    save(copy, NOTES)
    drain(copy)

    def outrun(step: str) -> None:
        if step == "synced":
            save(copy, {"late": "text"})
            assert run_batch(copy, QUICK)

    assert republish(copy, 1, on_step=_once(outrun)) == 3
    assert copy.generations.current() == 3
    assert "late" not in held_by(copy)


@on_sqlite
def test_rebuilds_and_returns_leave_nothing_open(copy: Copy) -> None:
    """I6: descriptors and leftovers stay as they were."""
    save(copy, NOTES)
    drain(copy)
    before = open_files()
    for _ in range(3):
        republish(copy, rebuild(copy))
        sweep(copy.generations)
    eventually(lambda: open_files() == before)
    assert leftovers(copy) == []
    assert waiting(copy) == (0, 0, 0)
    assert table_of(copy.database).keys() == NOTES.keys()
