"""What an engine does to files: clones cost the change and harm nothing (promises I1, I3)."""

import errno
import gc
import hashlib
import os
from pathlib import Path

import pytest

from sakuin.indexer.engine import Engine, Order, orders
from sakuin.indexer.engines import ENGINE_NAMES, engine_named
from sakuin.indexer.library_trouble import uninterrupted
from sakuin.indexer.query import Everything, Phrase
from small_index import BODY, build, change, document, documents, found_ids


@pytest.fixture(params=ENGINE_NAMES)
def engine(request: pytest.FixtureRequest) -> Engine:
    return engine_named(request.param)


def contents(directory: Path) -> dict[str, str]:
    return {
        file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in directory.iterdir()
    }


def test_a_batch_on_a_clone_leaves_the_original_as_it_was(engine: Engine, tmp_path: Path) -> None:
    """I3: hard links, then adding, replacing, deleting and merging, batch after batch."""
    place = build(engine, tmp_path, documents([f"語{n} word{n}" for n in range(40)]), batch=5)
    shared = 0
    for turn in range(25):
        before = contents(place)
        rows = [document(turn, f"新{turn}"), document(100 + turn, "語")]
        clone = change(engine, place, rows, [str(30 + turn % 10)])
        assert contents(place) == before
        shared += any(file.stat().st_nlink > 1 for file in clone.iterdir())
        place = clone
    assert shared > 15  # in the other turns all segments were merged into a new one
    searcher = engine.open_searcher(place, BODY)
    assert searcher.document_count == 40 + 25 - 10
    assert len(found_ids(searcher, Phrase("新"))) == 25
    searcher.close()


def test_a_clone_without_links_works_too(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EPERM, "no hard links here")

    place = build(engine, tmp_path, documents(["one", "two"]))
    before = contents(place)
    monkeypatch.setattr(os, "link", refuse)
    clone = change(engine, place, [document(2, "three")], ["0"])
    assert contents(place) == before
    searcher = engine.open_searcher(clone, BODY)
    assert sorted(found_ids(searcher, Everything())) == ["1", "2"]
    searcher.close()


def test_searching_writes_into_no_file(engine: Engine, tmp_path: Path) -> None:
    place = build(engine, tmp_path, documents(["one", "two"]))
    before = {name: digest for name, digest in contents(place).items() if not engine.is_lock(name)}
    searcher = engine.open_searcher(place, BODY)
    for order in orders(BODY):
        searcher.search(Everything(), order=order, offset=0, limit=5)
    searcher.close()
    after = {name: digest for name, digest in contents(place).items() if not engine.is_lock(name)}
    assert after == before


def test_files_stay_few_over_many_small_batches(engine: Engine, tmp_path: Path) -> None:
    """Merging keeps the number of segments, and with it of files, bounded; no leftovers."""
    place = build(engine, tmp_path, documents(["語"] * 30))
    most = 0
    for turn in range(60):
        previous, place = place, change(engine, place, [document(turn, f"語{turn}")], [])
        most = max(most, len(list(place.iterdir())))
        for file in previous.iterdir():
            file.unlink()
    assert most <= (4 + 8 * 8 if engine.name == "tantivy" else 3 + 6 * 7 * 3)  # of 60 segments
    searcher = engine.open_searcher(place, BODY)
    assert searcher.document_count == 60
    searcher.close()


def test_a_writer_ends_its_threads_and_frees_its_files(engine: Engine, tmp_path: Path) -> None:
    place = build(engine, tmp_path, documents(["one"] * 10))

    def held() -> int:
        return sum(str(place) in str(link.resolve()) for link in Path("/proc/self/fd").iterdir())

    for commit in (True, False):
        with engine.open_writer(place, BODY, bulk=True) as writer:
            writer.upsert(documents(["two"] * 10))
            assert held() > 0
            if commit:
                writer.commit()
        assert held() == 0


def test_two_writers_cannot_have_one_index(engine: Engine, tmp_path: Path) -> None:
    place = build(engine, tmp_path, [])
    with engine.open_writer(place, BODY, bulk=False), pytest.raises(OSError, match=r"(?i)lock"):
        engine.open_writer(place, BODY, bulk=False)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_what_a_signal_interrupts_is_called_again() -> None:
    """I1: tantivy's file lock gives up at any signal; a search must not fail because of one."""
    left = ["Interrupted system call", "Interrupted system call"]

    def call() -> str:
        if left:
            raise ValueError(f"Failed to acquire Lockfile: {left.pop()}")
        return "opened"

    assert uninterrupted(call) == "opened"
    with pytest.raises(ZeroDivisionError):
        uninterrupted(lambda: 1 // 0)


@pytest.mark.filterwarnings("ignore::ResourceWarning")  # whoosh leaves what it opened open
def test_a_damaged_index_is_an_error_not_the_end_of_the_process(
    engine: Engine, tmp_path: Path
) -> None:
    """S5: what an empty or a cut file raises is an OSError, whatever the library does."""
    place = build(engine, tmp_path, documents([f"語{n} word" for n in range(50)]))
    names = [file.name for file in place.iterdir() if not engine.is_lock(file.name)]
    refused = 0
    for name in names:
        for damage in (b"", (place / name).read_bytes()[:-7]):
            broken = tmp_path / "broken"
            broken.mkdir(exist_ok=True)
            for file in place.iterdir():
                (broken / file.name).write_bytes(file.read_bytes())
            (broken / name).write_bytes(damage)
            try:
                searcher = engine.open_searcher(broken, BODY)
                found = searcher.search(Phrase("語4"), order=Order.ID, offset=0, limit=50)
                searcher.close()
            except OSError:
                refused += 1
            else:
                assert found.total <= 50
    gc.collect()
    assert refused > 0
