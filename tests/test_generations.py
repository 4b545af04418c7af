"""Making and publishing generations: clone, check, compare-and-swap, manifest (I2, I3, I6)."""

import hashlib
import json
import os
import tempfile
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import Engine as Database

from notes import (
    FIELDS,
    QUICK,
    assert_index_is_table,
    drain,
    fresh_notes,
    held_by,
    save,
    save_each,
    with_both_engines,
)
from sakuin.indexer import draft as draft_module
from sakuin.indexer.batch import run_batch
from sakuin.indexer.build import Copy
from sakuin.indexer.clone import clone_segments
from sakuin.indexer.document import Document, Fields
from sakuin.indexer.durable import require_space
from sakuin.indexer.engines import engine_named
from sakuin.indexer.errors import DiskFull, GenerationMismatch, Outrun
from sakuin.indexer.generations import PIN, Generations
from sakuin.indexer.manifest import FILE_NAME, Manifest
from sakuin.indexer.publish import publish
from sakuin.indexer.reader import Reader
from sakuin.indexer.sweep import sweep


@pytest.fixture
def database_kind() -> str:
    """Nothing here has to do with the database."""
    return "sqlite"


@pytest.fixture
def copy(engine: Database, tmp_path: Path) -> Copy:
    return fresh_notes(engine, tmp_path)


def content(directory: Path) -> dict[str, str]:
    """Return the hash of every file below a directory."""
    return {
        str(path.relative_to(directory)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(directory.rglob("*"))
        if path.is_file()
    }


def sealed(generations: Generations, mark: str) -> Path:
    """Make what looks like a sealed copy, with a mark to know it again."""
    directory = generations.new_temporary()
    (directory / PIN).touch()
    (directory / "mark").write_text(mark)
    return directory


# --- clone (I3) ---


@with_both_engines
def test_a_clone_links_segments_and_leaves_locks_out(
    engine: Database, tmp_path: Path, engine_name: str
) -> None:
    """I3: the copy costs the change: segments are hard links, lists are copied, locks left out."""
    copy = fresh_notes(engine, tmp_path, engine_name=engine_name)
    save(copy, {"a": "one", "b": "two"})
    drain(copy)
    source, target = copy.generations.segments(1), tmp_path / "clone"
    (source / "sakuin.lock").touch()
    lock = "_WRITELOCK" if engine_name == "whoosh" else ".tantivy-writer.lock"
    (source / lock).touch()
    clone_segments(copy.engine, source, target)
    names = {name for name in os.listdir(source) if not copy.engine.is_lock(name)}
    assert set(os.listdir(target)) == names
    assert lock not in names
    linked = {name for name in names if (source / name).samefile(target / name)}
    assert linked == {name for name in names if not copy.engine.is_rewritten(name)}
    assert len(linked) >= 1


@with_both_engines
def test_batches_on_clones_leave_every_original_as_it_was(
    engine: Database, tmp_path: Path, engine_name: str
) -> None:
    """I2, I3: a published generation never changes by one byte, whatever is built from it."""
    copy = fresh_notes(engine, tmp_path, engine_name=engine_name)
    before: dict[int, dict[str, str]] = {}
    for step in range(10):
        save(copy, {f"n{step}": f"text {step}", f"n{step // 2}": f"changed {step}", "gone": None})
        batch = run_batch(copy, QUICK)
        assert batch
        assert batch.generation == step + 1
        before[step + 1] = content(copy.generations.path(step + 1))
    for number, files in before.items():
        now = content(copy.generations.path(number))
        assert {name: now[name] for name in files} == files
        assert all(copy.engine.is_lock(Path(name).name) for name in set(now) - set(files))
    assert_index_is_table(copy, ["text", "changed"])


@with_both_engines
def test_where_links_are_refused_the_clone_is_a_copy(
    engine: Database, tmp_path: Path, engine_name: str
) -> None:
    """I3: another file system refuses links (EXDEV); the clone then is a plain copy that works."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as elsewhere:
        if Path(elsewhere).stat().st_dev == tmp_path.stat().st_dev:
            pytest.skip("/dev/shm and the folder for tests are one file system here")
        copy = fresh_notes(engine, Path(elsewhere), engine_name=engine_name)
        save(copy, {"a": "one", "b": "two"})
        drain(copy)
        source, target = copy.generations.segments(1), tmp_path / "clone"
        original = content(source)
        clone_segments(copy.engine, source, target)
        assert content(target) == {
            name: one for name, one in original.items() if not copy.engine.is_lock(name)
        }
        assert all(path.stat().st_nlink == 1 for path in target.iterdir())
        document = Document("c", 3, 0, 7, {"title": "", "body": "three"})
        with copy.engine.open_writer(target, FIELDS, bulk=False) as writer:
            writer.upsert([document])
            writer.commit()
        searcher = copy.engine.open_searcher(target, FIELDS)
        assert set(searcher.documents(["a", "b", "c"])) == {"a", "b", "c"}
        searcher.close()
        assert content(source) == original


# --- room (I8) ---


def test_too_little_room_is_named_before_anything_is_written(
    copy: Copy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """I8: the error says where, how much is free and how much is needed."""
    save(copy, {"a": "one"})
    monkeypatch.setattr(draft_module, "_SPARE_BYTES", 1 << 60)
    with pytest.raises(DiskFull, match=r"notes: \d+ MB free, a copy of the index needs \d+ MB"):
        run_batch(copy, QUICK)
    assert os.listdir(copy.generations.directory) == []
    monkeypatch.undo()
    assert len(drain(copy)) == 1
    assert_index_is_table(copy)


def test_a_copy_without_links_needs_room_for_all_of_it(tmp_path: Path) -> None:
    """I8: what is asked for is what is compared with the free bytes."""
    require_space(tmp_path, 1)
    with pytest.raises(DiskFull):
        require_space(tmp_path, 1 << 60)


# --- publish (I2) ---


def test_new_folders_and_all_that_is_published_are_forced_to_the_disk(
    copy: Copy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """I2: before a message is acked: every new file, every folder that has a new name in it."""
    synced: set[str] = set()
    fsync = os.fsync

    def note(descriptor: int) -> None:
        synced.add(str(Path(f"/proc/self/fd/{descriptor}").readlink()))
        fsync(descriptor)

    deep = replace(copy, generations=Generations(copy.generations.directory / "a/b", "notes"))
    save(deep, {"a": "one"})
    synced_before_ack: set[str] = set()

    def look(step: str) -> None:
        if step == "published":
            synced_before_ack.update(synced)

    monkeypatch.setattr("os.fsync", note)
    assert run_batch(deep, QUICK, look)
    monkeypatch.undo()
    top, directory = copy.generations.directory, deep.generations.directory
    folders = {top.parent, top, top / "a", top / "a/b", directory}
    assert {str(folder) for folder in folders} <= synced_before_ack
    inside = {Path(path).name for path in synced_before_ack if "/.tmp-" in path}
    files = {path for path in deep.generations.path(1).rglob("*") if path.is_file()}
    assert {path.name for path in files if not copy.engine.is_lock(path.name)} <= inside
    assert "segments" in inside


def test_of_many_publishers_exactly_one_gets_the_number(tmp_path: Path) -> None:
    """I2: the rename is a compare-and-swap: one winner a number, the others keep their copy."""
    generations, rivals, numbers = Generations(tmp_path, "notes"), 4, 20
    start = threading.Barrier(rivals, timeout=30)
    won: list[tuple[int, str]] = []

    def compete(rival: int) -> None:
        for parent in range(numbers):
            mark = f"{parent}-{rival}"
            directory = sealed(generations, mark)
            start.wait()
            try:
                won.append((publish(generations, directory, parent), mark))
            except Outrun:
                assert (directory / "mark").read_text() == mark

    with ThreadPoolExecutor(rivals) as pool:
        list(pool.map(compete, range(rivals)))
    assert sorted(number for number, _ in won) == list(range(1, numbers + 1))
    for number, mark in won:
        assert (generations.path(number) / "mark").read_text() == mark


class Frozen(Generations):
    """Generations whose owner is frozen right after it looked which one is current, once."""

    def __init__(self, root: Path, index: str, meanwhile: Callable[[], None]) -> None:
        super().__init__(root, index)
        self._meanwhile: Callable[[], None] | None = meanwhile

    def current(self) -> int:
        seen = super().current()
        meanwhile, self._meanwhile = self._meanwhile, None
        if meanwhile:
            meanwhile()
        return seen


def test_frozen_before_the_rename_onto_a_number_that_is_taken(tmp_path: Path) -> None:
    """I2: whoever wakes up late finds the number taken and changes nothing."""
    others = Generations(tmp_path, "notes")
    publish(others, sealed(others, "first"), 0)
    late = Frozen(tmp_path, "notes", lambda: _publish_next(others, 1))
    directory = sealed(late, "late")
    with pytest.raises(Outrun, match="generation 2 of index 'notes' was published by another"):
        publish(late, directory, 1)
    assert (directory / "mark").exists()
    assert (others.path(2) / "mark").read_text() == "on time"


def test_frozen_so_long_that_its_number_is_free_again(tmp_path: Path) -> None:
    """I2: a late, lower number is told that it lost, is never current, and is swept."""
    others = Generations(tmp_path, "notes")
    publish(others, sealed(others, "first"), 0)

    def meanwhile() -> None:
        _publish_next(others, 8)
        sweep(others)
        assert 2 not in others.numbers()

    late = Frozen(tmp_path, "notes", meanwhile)
    with pytest.raises(Outrun):
        publish(late, sealed(late, "late"), 1)
    assert others.current() == 9
    assert (others.path(2) / "mark").read_text() == "late"
    assert sweep(others) == [2]
    assert others.current() == 9


def _publish_next(generations: Generations, count: int) -> None:
    for _ in range(count):
        publish(generations, sealed(generations, "on time"), generations.current())


# --- check before publishing (I2) ---


def test_texts_whose_cut_would_fold_differently_pass_the_check(copy: Copy) -> None:
    """I2: the sample query is right for any text, or a sound copy would be refused for ever."""
    texts = {
        "ignorable": "\u200b" * 175 + "a" + "\u0323\u0307" * 10 + " end",
        "hangul": "\u1112\u1161" * 11 + "\u1100\u1161\u11a8",
        "blank": "\u3000 \n",
        "nothing": "\u200b",
        "marks": "\u0301" * 500,
        "long": "x" * 5000,
    }
    for key, text in texts.items():
        save(copy, {key: text})
        assert len(drain(copy)) == 1
    assert held_by(copy).keys() == texts.keys()


# --- manifest (I6) ---


def test_a_manifest_tells_what_a_generation_is(copy: Copy) -> None:
    """I6: engine, version, analysis, fields, count, parent, time and size."""
    save(copy, {"a": "one", "b": "two"})
    save_each(copy, {"c": "three"})
    drain(copy)
    save(copy, {"a": None})
    drain(copy)
    manifest = Manifest.read(copy.generations.path(2))
    files = list(copy.generations.segments(2).iterdir())
    assert manifest.documents == 2
    assert manifest.parent == 1
    assert manifest.engine == copy.engine.name
    assert manifest.bytes == sum(path.stat().st_size for path in files)
    assert manifest.fields["searched"] == ["title", "body"]
    assert manifest.difference(copy.engine, FIELDS) is None


@pytest.mark.parametrize(
    ("entry", "value", "named"),
    [
        ("engine", "lucene", "engine 'lucene'"),
        ("engine_version", "0.1.0", "0.1.0"),
        ("analysis_version", 0, "analysis is version 0"),
        ("fields", {"searched": ["body"]}, r"fields differ in 'searched': \['body'\]"),
    ],
)
def test_a_generation_of_another_make_is_refused_with_the_remedy(
    copy: Copy, entry: str, value: object, named: str
) -> None:
    """I6: reader and batch name the difference and `sakuin index rebuild`; nothing is lost."""
    save(copy, {"a": "one"})
    drain(copy)
    path = copy.generations.path(1) / FILE_NAME
    path.write_text(json.dumps(json.loads(path.read_text()) | {entry: value}))
    save(copy, {"b": "two"})
    wanted = rf"generation 1 .*{named}.*`sakuin index rebuild --index notes`"
    with pytest.raises(GenerationMismatch, match=wanted):
        run_batch(copy, QUICK)
    reader = Reader(copy.engine, FIELDS, copy.generations)
    with pytest.raises(GenerationMismatch, match=wanted), reader.open():
        pass


def test_another_engine_is_refused_with_the_remedy(copy: Copy) -> None:
    """I6: an index of one engine, opened by the other."""
    save(copy, {"a": "one"})
    drain(copy)
    other = replace(copy, engine=engine_named("whoosh"))
    save(copy, {"b": "two"})
    with pytest.raises(GenerationMismatch, match="'tantivy', not 'whoosh'; run `sakuin index reb"):
        run_batch(other, QUICK)
    assert len(drain(copy)) == 1


def test_no_damage_of_a_manifest_goes_unnoticed(copy: Copy) -> None:
    """I6: whatever byte is changed, reading gives a manifest or says what is wrong."""
    save(copy, {"a": "one"})
    drain(copy)
    directory = copy.generations.path(1)
    sound = (directory / FILE_NAME).read_bytes()
    refused = 0
    for place in range(len(sound)):
        damaged = bytearray(sound)
        damaged[place] ^= 0x20
        (directory / FILE_NAME).write_bytes(damaged)
        try:
            Manifest.read(directory)
        except ValueError:
            refused += 1
    assert refused > len(sound) // 3
    for odd in (b"", b"[]", b"{}", b"7"):
        (directory / FILE_NAME).write_bytes(odd)
        with pytest.raises(ValueError, match=r"manifest|Expecting"):
            Manifest.read(directory)


def test_fields_that_cannot_be_are_refused() -> None:
    """An index that could not be searched is refused where it is declared."""
    with pytest.raises(ValueError, match="not-a-name"):
        Fields(searched=("not-a-name",))
