"""A document that cannot be indexed dies alone; its neighbours do not notice (promise Q4)."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection
from sqlalchemy import Engine as Database
from sqlalchemy.exc import SQLAlchemyError

from notes import (
    NOTES,
    QUICK,
    assert_index_is_table,
    drain,
    elapse_back_off,
    elapse_lease,
    fresh_notes,
    held_by,
    on_sqlite,
    save,
    save_each,
    waiting,
    with_both_engines,
    write,
)
from sakuin.indexer import draft as draft_module
from sakuin.indexer.batch import RETRY, run_batch
from sakuin.indexer.build import Copy
from sakuin.indexer.changes import read_changes
from sakuin.indexer.document import Document, Fields
from sakuin.indexer.errors import DiskFull
from sakuin.indexer.gather import CLAIMING, KILLER_FROM_ATTEMPT, gather
from sakuin.indexer.tantivy_engine import TantivyEngine
from sakuin.queue import DeadMessage, claim, dead_messages, push, read, replay, retry_dead

_MEND_B = NOTES.update().where(NOTES.c.id == "b").values(body="mended")


def refuse_poison(body: str) -> None:
    """Raise for some bodies, as a loader does that cannot parse what is in a row."""
    if "poison" in body:
        raise ValueError(f"cannot read {body!r}")


@pytest.fixture
def copy(engine: Database, tmp_path: Path) -> Copy:
    return fresh_notes(engine, tmp_path, on_body=refuse_poison)


def dead(copy: Copy) -> dict[str, DeadMessage]:
    """Return the dead list of the index by the ids of each entry, which must be one each."""
    listed = read(copy.database, dead_messages)
    by_id = {read_changes(one.data): one for one in listed}
    assert len(by_id) == len(listed)
    return {ids[0]: one for ids, one in by_id.items() if len(ids) == 1}


def push_raw(copy: Copy, data: bytes) -> None:
    """Push a message as another program might."""
    replay(copy.database, lambda connection: push(connection, copy.index.queue, data))


def live_on(copy: Copy, tries: int) -> None:
    """Run batches through so many rounds of retries."""
    for _ in range(tries):
        drain(copy)
        elapse_back_off(copy)


@with_both_engines
def test_a_bad_document_dies_alone_after_its_attempts(
    engine: Database, tmp_path: Path, engine_name: str
) -> None:
    """Q4: neighbours are indexed at once, the message shrinks, and that one id ends as dead."""
    copy = fresh_notes(engine, tmp_path, engine_name=engine_name, on_body=refuse_poison)
    notes = {f"n{i:03}": "poison" if i in (3, 77) else f"text {i}" for i in range(100)}
    good = notes.keys() - {"n003", "n077"}
    (message,) = save(copy, notes)
    batch = run_batch(copy, QUICK)
    assert batch
    assert (batch.documents, batch.failed) == (98, 2)
    assert held_by(copy).keys() == good
    assert waiting(copy) == (0, 0, 1)
    row = read(copy.database, lambda c: c.exec_driver_sql("SELECT data FROM sakuin_messages").one())
    assert read_changes(row.data) == ("n003", "n077")
    live_on(copy, RETRY.max_attempts)
    assert waiting(copy) == (0, 0, 0)
    buried = dead(copy)
    assert buried.keys() == {"n003", "n077"}
    assert {one.message_id for one in buried.values()} == {message}
    assert buried["n003"].attempts == RETRY.max_attempts
    assert buried["n003"].reason == "ValueError: cannot read 'poison'"
    assert "refuse_poison" in (buried["n003"].traceback or "")
    assert held_by(copy).keys() == good


@on_sqlite
def test_what_was_bad_is_indexed_once_it_is_mended(copy: Copy) -> None:
    """Q4: a retry reads the row as it is now; from the dead list it can be tried again."""
    save(copy, {"a": "poison", "b": "poison", "c": "fine"})
    drain(copy)
    save(copy, {"a": "mended"})
    live_on(copy, RETRY.max_attempts)
    assert dead(copy).keys() == {"b"}
    assert held_by(copy).keys() == {"a", "c"}
    assert replay(copy.database, lambda c: c.execute(_MEND_B))
    assert retry_dead(copy.database, [dead(copy)["b"].id]) == 1
    drain(copy)
    assert_index_is_table(copy)


@on_sqlite
def test_what_comes_behind_is_not_held_up(copy: Copy) -> None:
    """Q4: while a bad document waits for its retry, later messages go through."""
    save(copy, {"a": "poison"})
    drain(copy)
    for key in ("b", "c"):
        save(copy, {key: "text"})
        assert [batch.documents for batch in drain(copy)] == [1]
    assert waiting(copy) == (0, 0, 1)


def test_a_payload_that_cannot_be_read_dies_at_once(copy: Copy) -> None:
    """Q4: with the reason, whole, and without a retry; good messages beside it are done."""
    bad = [b"", b"{", b'{"ids": [null]}', b'{"ids": "17"}', b"[]", b"\xff", b'{"ids": ["\\ud800"]}']
    for data in bad:
        push_raw(copy, data)
    save(copy, {"a": "text"})
    (batch,) = drain(copy)
    assert batch.documents == 1
    listed = read(copy.database, dead_messages)
    assert sorted(one.data for one in listed) == sorted(bad)
    assert all(one.reason.startswith("not a message of an index: ") for one in listed)
    assert waiting(copy) == (0, 0, 0)


class FailingLoader:
    """Refuses poison once; after that the database refuses every statement."""

    def __init__(self, copy: Copy) -> None:
        self._loader, self._fails = copy.index.loader, False

    def load(self, connection: Connection, ids: Sequence[str]) -> Sequence[Document]:
        if self._fails:
            connection.exec_driver_sql("SELECT nothing FROM nowhere WHERE")
        self._fails = True
        return self._loader.load(connection, ids)

    def ids_after(self, connection: Connection, after: str | None, limit: int) -> Sequence[str]:
        return self._loader.ids_after(connection, after, limit)


def test_a_program_that_pushes_numbers_is_understood(copy: Copy) -> None:
    """Q8: a message made by hand may name ids as numbers."""
    replay(copy.database, lambda connection: write(connection, {"17": "text"}))
    push_raw(copy, b'{"ids": [17, "18"]}')
    (batch,) = drain(copy)
    assert (batch.documents, batch.changed) == (2, 1)
    assert_index_is_table(copy)


def test_a_database_that_fails_is_no_fault_of_the_documents(copy: Copy) -> None:
    """Q4: while faults are looked for the database fails: nothing is blamed, nothing dies."""
    save(copy, {"a": "poison", "b": "text"})
    failing = replace(copy, index=replace(copy.index, loader=FailingLoader(copy)))
    with pytest.raises(SQLAlchemyError, match="nowhere"):
        run_batch(failing, QUICK)
    assert waiting(copy) == (1, 0, 0)
    (message,) = claim(copy.database, copy.index.queue, limit=9, lease_seconds=60)
    assert message.attempts == 1
    assert read_changes(message.data) == ("a", "b")


@on_sqlite
def test_a_full_disk_is_no_fault_of_the_documents(
    copy: Copy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Q4, I8: while faults are looked for the disk fills up: nothing is blamed, nothing dies."""
    save(copy, {"a": "poison", "b": "text"})

    def fill(step: str) -> None:
        if step == "cloned":
            monkeypatch.setattr(draft_module, "_SPARE_BYTES", 1 << 60)

    with pytest.raises(DiskFull):
        run_batch(copy, QUICK, fill)
    monkeypatch.undo()
    assert waiting(copy) == (1, 0, 0)
    live_on(copy, RETRY.max_attempts)
    assert dead(copy).keys() == {"a"}


class ForgetfulEngine(TantivyEngine):
    """An engine with a fault: it loses documents that hold a certain word, and says nothing."""

    def open_writer(self, directory: Path, fields: Fields, *, bulk: bool) -> Any:
        writer = super().open_writer(directory, fields, bulk=bulk)
        upsert = writer.upsert

        def forget(documents: Iterable[Document]) -> None:
            upsert(each for each in documents if "forgotten" not in each.text["body"])

        writer.upsert = forget  # type: ignore[method-assign]
        return writer


@on_sqlite
def test_a_document_that_the_engine_loses_is_found_out(engine: Database, tmp_path: Path) -> None:
    """I2, Q4: the check refuses the copy, the document dies by name, the others are published."""
    copy = fresh_notes(engine, tmp_path)
    copy = replace(copy, engine=ForgetfulEngine())
    save(copy, {f"n{i}": "forgotten" if i == 4 else "text" for i in range(9)})
    batch = run_batch(copy, QUICK)
    assert batch
    assert (batch.documents, batch.failed, batch.generation) == (8, 1, 1)
    live_on(copy, RETRY.max_attempts)
    assert dead(copy).keys() == {"n4"}
    assert "the copy holds 0 documents instead of 1" in dead(copy)["n4"].reason


class CarelessLoader:
    """A loader over a key that compares without case, as a column's collation can make it."""

    def __init__(self, copy: Copy) -> None:
        self._loader = copy.index.loader

    def load(self, connection: Connection, ids: Sequence[str]) -> Sequence[Document]:
        return self._loader.load(connection, [one.lower() for one in ids])

    def ids_after(self, connection: Connection, after: str | None, limit: int) -> Sequence[str]:
        return self._loader.ids_after(connection, after, limit)


@on_sqlite
def test_a_loader_that_returns_what_was_not_asked_for_is_named(copy: Copy) -> None:
    """I2, Q4: one row under two ids would be counted twice; the odd id dies, with the remedy."""
    index = replace(copy.index, loader=CarelessLoader(copy))
    copy = replace(copy, index=index)
    save(copy, {"a": "text", "b": "text"})
    drain(copy)
    push_raw(copy, b'{"ids": ["A", "c"]}')
    live_on(copy, RETRY.max_attempts)
    assert dead(copy).keys() == {"A"}
    assert "'a', which was not asked for" in dead(copy)["A"].reason
    assert held_by(copy).keys() == {"a", "b"}


# --- a document that ends the process (with whole processes: test_crash.py) ---


@on_sqlite
def test_a_message_that_was_lost_twice_is_worked_alone(copy: Copy) -> None:
    """Q4: what is claimed with it goes back at once, uncounted; of its ids an eighth is tried."""
    (suspect,) = save(copy, {f"n{i:02}": "text" for i in range(20)})
    save_each(copy, {"b": "text", "c": "text"})
    for _ in range(2):
        claim(copy.database, copy.index.queue, limit=1, lease_seconds=60)
        elapse_lease(copy)
    (alone,) = gather(copy.database, copy.index.queue, QUICK)
    assert alone.message.id == suspect
    assert alone.is_suspect
    assert alone.next_ids == ("n00", "n01", "n02")
    assert waiting(copy) == (2, 1, 0)
    others = claim(copy.database, copy.index.queue, limit=9, lease_seconds=60)
    assert [message.attempts for message in others] == [1, 1]


@on_sqlite
def test_after_two_crashes_innocent_messages_come_in_groups(copy: Copy) -> None:
    """Q4: all that a killed worker held is suspect, but later saves do not wait for each of it."""
    save_each(copy, {f"n{i:03}": "text" for i in range(300)})
    for _ in range(2):
        claim(copy.database, copy.index.queue, limit=1000, lease_seconds=60)
        elapse_lease(copy)
    groups = [len(gather(copy.database, copy.index.queue, QUICK))]
    save_each(copy, {"later": "text"})
    elapse_lease(copy)
    batches = drain(copy)
    assert groups == [256]
    assert sorted(batch.messages for batch in batches) == [1, *(32 for _ in range(8)), 44]
    assert len(held_by(copy)) == 301


@on_sqlite
def test_a_message_without_ids_is_done(copy: Copy) -> None:
    """Q4: however often it was lost."""
    push_raw(copy, b'{"ids": []}')
    for _ in range(KILLER_FROM_ATTEMPT):
        claim(copy.database, copy.index.queue, limit=1, lease_seconds=60, policy=CLAIMING)
        elapse_lease(copy)
    (batch,) = drain(copy)
    assert (batch.messages, batch.documents, batch.failed) == (1, 0, 0)
    assert waiting(copy) == (0, 0, 0)
