"""Readers and the sweeper: newest at the next open, kept as long as needed (I1, I6, I8)."""

import gc
import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from sqlalchemy import Engine as Database

from notes import (
    FIELDS,
    QUICK,
    Note,
    drain,
    eventually,
    fresh_notes,
    held_by,
    save,
    with_both_engines,
)
from sakuin.indexer import reader as reader_module
from sakuin.indexer.batch import run_batch
from sakuin.indexer.build import Copy
from sakuin.indexer.clone import clone_segments
from sakuin.indexer.draft import Draft
from sakuin.indexer.engine import Order, Searcher
from sakuin.indexer.errors import GenerationBroken, GenerationGone
from sakuin.indexer.pin import Pin, pin_current
from sakuin.indexer.query import Phrase
from sakuin.indexer.reader import KEPT_SECONDS, MOST_KEPT, Opened, Reader
from sakuin.indexer.rebuild import rebuild
from sakuin.indexer.sweep import sweep
from searching import Searching, open_files

BULK = {f"bulk{i}": os.urandom(1000).hex() for i in range(40)}
"""Notes that make generations large beside what changes in them, as they are in earnest."""

FILES_OF_A_GENERATION = 40
"""More than a generation that is open has here, and less than two."""


@pytest.fixture
def database_kind() -> str:
    """Nothing here has to do with the database."""
    return "sqlite"


@pytest.fixture
def copy(engine: Database, tmp_path: Path) -> Copy:
    return fresh_notes(engine, tmp_path)


@pytest.fixture
def reader(copy: Copy) -> Iterator[Reader]:
    reader = Reader(copy.engine, FIELDS, copy.generations)
    yield reader
    reader.close()


def publish_next(copy: Copy, body: str = "text") -> int:
    """Publish one more generation, in which the note `last` has this body and BULK is as ever."""
    first = {} if copy.generations.current() else BULK
    save(copy, {**first, "last": f"{body} {copy.generations.current()}"})
    batch = run_batch(copy, QUICK)
    assert batch
    return batch.generation


def total(opened: Opened | None, word: str) -> int:
    assert opened
    return opened.searcher.search(Phrase(word), order=Order.ID, offset=0, limit=0).total


# --- which generation a search sees (I1, I6) ---


def test_without_a_generation_there_is_nothing_to_open(copy: Copy, reader: Reader) -> None:
    """I1: an index that was never published is empty, not broken."""
    with reader.open() as opened:
        assert opened is None
    assert pin_current(copy.generations) is None
    assert publish_next(copy) == 1
    with reader.open() as opened:
        assert total(opened, "text") == 1


def test_the_next_open_sees_what_was_published(copy: Copy, reader: Reader) -> None:
    """I1: readers look for a newer generation at every open; an open one does not change."""
    publish_next(copy, "old")
    with reader.open() as before:
        publish_next(copy, "new")
        with reader.open() as after:
            assert before
            assert after
            assert (before.number, after.number) == (1, 2)
            assert (total(before, "old"), total(before, "new")) == (1, 0)
            assert (total(after, "old"), total(after, "new")) == (0, 1)


def test_a_generation_can_be_asked_for_by_number(copy: Copy, reader: Reader) -> None:
    """S4: the pages of one search come from one generation while it is kept."""
    for _ in range(3):
        publish_next(copy)
    for number in (2, 1, 3):
        with reader.open(number) as opened:
            assert opened
            assert opened.number == number
    with pytest.raises(GenerationGone, match="generation 9 of"), reader.open(9):
        pass


def test_a_swept_generation_is_gone_by_name(copy: Copy, reader: Reader) -> None:
    """I6: a link whose generation is gone gets a clear answer."""
    for _ in range(6):
        publish_next(copy)
    sweep(copy.generations)
    with pytest.raises(GenerationGone, match="1 of index 'notes' is not there"), reader.open(1):
        pass


@pytest.mark.filterwarnings("ignore:Exception ignored in")  # whoosh leaves its files to the garbage
@with_both_engines
def test_damaged_files_are_an_error_of_the_index(
    engine: Database, tmp_path: Path, engine_name: str
) -> None:
    """I6: whatever is wrong with the files, the error names the index and the remedy."""
    copy = fresh_notes(engine, tmp_path, engine_name=engine_name)
    publish_next(copy)
    for path in copy.generations.segments(1).iterdir():
        if not copy.engine.is_lock(path.name):
            path.write_bytes(b"\x00" * 10)
    reader = Reader(copy.engine, FIELDS, copy.generations)
    before = open_files()
    with pytest.raises(GenerationBroken, match=r"'notes'.*`sakuin index reb"), reader.open():
        pass
    # What a library had opened before it stumbled goes with its objects.
    eventually(lambda: gc.collect() >= 0 and open_files() <= before)


# --- what a process keeps open (I6) ---


def test_superseded_generations_are_closed_and_files_do_not_add_up(
    copy: Copy, reader: Reader
) -> None:
    """I6: one generation is open, however many were published; file descriptors stay flat."""
    publish_next(copy)
    before = open_files()
    for _ in range(12):
        publish_next(copy)
        sweep(copy.generations)
        with reader.open() as opened:
            assert opened
    # Libraries let go of a file a moment after it is closed.
    eventually(lambda: open_files() < before + FILES_OF_A_GENERATION)
    assert len(copy.generations.numbers()) == 4


def test_what_a_page_linked_to_is_kept_for_its_time(
    copy: Copy, reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    """I6: a generation that was handed out stays for 10 minutes, however much is published."""
    now = time.monotonic()
    monkeypatch.setattr(reader_module, "time", SimpleNamespace(monotonic=lambda: now))
    publish_next(copy, "linked")
    with reader.open() as opened:
        assert opened
        reader.keep(opened)
    for _ in range(6):
        publish_next(copy)
        with reader.open():
            sweep(copy.generations)
    assert copy.generations.numbers() == [1, 4, 5, 6, 7]
    now += KEPT_SECONDS - 1
    publish_next(copy)
    with reader.open(), reader.open(1) as kept:
        assert total(kept, "linked") == 1
    now += 2
    publish_next(copy)
    with reader.open():
        sweep(copy.generations)
    assert 1 not in copy.generations.numbers()


def test_what_is_not_searched_can_be_closed_and_is_opened_again(copy: Copy, reader: Reader) -> None:
    """A reader that was replaced holds nothing, as soon as its last search has ended."""
    publish_next(copy)
    before = open_files()
    with reader.open() as opened:
        assert not reader.close_idle()
        assert total(opened, "text") > 0
    assert reader.close_idle()
    gc.collect()
    assert open_files() <= before + 1
    with reader.open() as opened:
        assert total(opened, "text") > 0


def test_at_most_so_many_are_kept(
    copy: Copy, reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    """I6: beyond the most that may be kept, the oldest is let go, unless it is in use."""
    assert MOST_KEPT == 64
    monkeypatch.setattr(reader_module, "MOST_KEPT", 4)
    publish_next(copy)
    with reader.open() as in_use:
        assert in_use
        for _ in range(8):
            publish_next(copy)
            with reader.open() as opened:
                assert opened
                reader.keep(opened)
        sweep(copy.generations)
        assert copy.generations.numbers() == [1, 6, 7, 8, 9]
        assert total(in_use, "text") == 1


def test_threads_share_generations(copy: Copy) -> None:
    """I1: searches of many threads go on over publishing, with no answer lost or wrong."""
    publish_next(copy)

    def check(number: int, searcher: Searcher) -> None:
        assert searcher.document_count == len(BULK) + 1
        for word, wanted in (("text", 1), (str(number - 1), 1), (str(number), 0)):
            found = searcher.search(Phrase(word), order=Order.ID, offset=0, limit=1)
            assert found.total == len(found.hits) == wanted

    with Searching(check, copy, threads=4) as searching:
        for number in range(2, 7):
            publish_next(copy)
            sweep(copy.generations)
            searching.wait_until_seen(number)


# --- sweeping (I6, I8) ---


def test_the_sweeper_keeps_three_before_the_current_one_and_what_is_pinned(copy: Copy) -> None:
    """I6: and it removes the rest, telling which."""
    for _ in range(4):
        publish_next(copy)
    pin = pin_current(copy.generations)
    assert pin
    for _ in range(6):
        publish_next(copy)
    assert sweep(copy.generations) == [6, 5, 3, 2, 1]
    assert copy.generations.numbers() == [4, 7, 8, 9, 10]
    pin.release()
    assert sweep(copy.generations) == [4]
    assert held_by(copy, 7).keys() == {"last", *BULK}


def test_generations_that_share_nothing_are_bounded_by_bytes(copy: Copy) -> None:
    """I6: what older generations hold beyond the current one is at most twice its bytes."""
    save(copy, {f"n{i}": os.urandom(2000).hex() for i in range(50)})
    drain(copy)
    for _ in range(3):
        rebuild(copy)
    assert copy.generations.numbers() == [1, 2, 3, 4]
    assert sweep(copy.generations) == [1]
    for _ in range(3):
        publish_next(copy)
    assert sweep(copy.generations) == [3, 2]


def test_two_sweepers_and_a_reader_at_once(copy: Copy) -> None:
    """I6: a pin is taken or refused, never half; each generation is removed once."""
    for _ in range(12):
        publish_next(copy)
    start = threading.Barrier(3, timeout=30)
    removed: list[int] = []
    pinned: list[int] = []

    def sweeper() -> None:
        start.wait()
        removed.extend(sweep(copy.generations))

    def pinner() -> None:
        start.wait()
        for number in range(1, 13):
            try:
                with Pin(copy.generations, number):
                    assert held_by(copy, number).keys() == {"last", *BULK}
                    pinned.append(number)
            except GenerationGone:
                pass

    _run_together(sweeper, sweeper, pinner)
    removed += sweep(copy.generations)
    assert sorted(removed) == list(range(1, 9))
    assert set(pinned) >= {9, 10, 11, 12}


def _run_together(*works: Callable[[], None]) -> None:
    errors: list[BaseException] = []

    def run(work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001  raised below
            errors.append(error)

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def test_leftovers_never_block_and_are_removed(copy: Copy) -> None:
    """I8: half copies and half removed ones of crashed runs go; what is being built stays."""
    publish_next(copy)
    old = _abandoned(copy, ".tmp-0123456789abcdef", seconds=60)
    young = _abandoned(copy, ".tmp-00000000000000ff", seconds=0)
    trash = _abandoned(copy, ".trash-7-01234567", seconds=0)
    other = _abandoned(copy, "something else", seconds=60)
    publish_next(copy)
    source = copy.generations.segments(2)
    with Draft(copy.generations, copy.engine, FIELDS, source, bulk=False) as draft:
        os.utime(draft.directory, (0, 0))
        sweep(copy.generations)
        assert not old.exists()
        assert not trash.exists()
        assert young.exists()
        assert draft.directory.exists()
    assert other.exists()
    os.utime(young, (0, 0))
    sweep(copy.generations)
    assert not young.exists()
    assert held_by(copy)["last"] == Note("text 1")


def _abandoned(copy: Copy, name: str, *, seconds: float) -> Path:
    """Make a directory as a process leaves it that was killed so many seconds ago."""
    directory = copy.generations.directory / name
    directory.mkdir()
    clone_segments(copy.engine, copy.generations.segments(1), directory / "segments")
    then = time.time() - seconds
    os.utime(directory, (then, then))
    return directory


def test_a_reader_outlives_the_removal_of_its_generation(copy: Copy, reader: Reader) -> None:
    """I1: even a pinned generation that somebody removes by hand answers to the end."""
    publish_next(copy)
    with reader.open() as opened:
        for path in copy.generations.segments(1).iterdir():
            path.unlink()
        assert total(opened, "text") == 1
    fresh = Reader(copy.engine, FIELDS, copy.generations)
    with pytest.raises(GenerationBroken), fresh.open():
        pass
