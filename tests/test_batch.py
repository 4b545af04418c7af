"""One batch = one generation: order, limits, and what becomes of its messages (I2, I5, Q3, Q5)."""

import random
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import Engine as Database

from conftest import Stress
from notes import (
    QUICK,
    Note,
    assert_index_is_table,
    drain,
    fresh_notes,
    held_by,
    on_sqlite,
    save,
    save_each,
    waiting,
    with_both_engines,
    write,
)
from sakuin.indexer.batch import run_batch
from sakuin.indexer.build import Copy
from sakuin.indexer.changes import push_changes
from sakuin.indexer.errors import Outrun
from sakuin.queue import Message, claim, dead_messages, read, replay

WORDS = ["人間", "殺し", "残酷", "夜", "rain", "iphone15", "ガラス", "42", "。", "と"]
STEPS = ["claimed", "cloned", "applied", "checked", "synced", "published", "acked"]


@pytest.fixture
def copy(engine: Database, tmp_path: Path) -> Copy:
    return fresh_notes(engine, tmp_path)


@on_sqlite
def test_a_batch_takes_its_steps_in_order_and_acks_last(copy: Copy) -> None:
    """I2: claim, clone, apply, check, sync, publish, ack; the message is there until the end."""
    save(copy, {"a": "one"})
    seen: list[tuple[str, int, int]] = []

    def watch(step: str) -> None:
        seen.append((step, copy.generations.current(), sum(waiting(copy))))

    batch = run_batch(copy, QUICK, watch)
    assert [step for step, _, _ in seen] == STEPS
    assert [number for _, number, _ in seen] == [0, 0, 0, 0, 0, 1, 1]
    assert [count for _, _, count in seen] == [1, 1, 1, 1, 1, 1, 0]
    assert batch
    assert (batch.generation, batch.messages, batch.documents, batch.changed) == (1, 1, 1, 1)
    assert run_batch(copy, QUICK) is None


def test_the_rows_are_read_after_the_claim(copy: Copy) -> None:
    """I5: a batch indexes the rows as they are now: newest wins, a missing row is a delete."""
    save(copy, {"a": "old", "b": "old"})

    def change(step: str) -> None:
        if step == "claimed":
            replay(copy.database, lambda c: write(c, {"a": "new", "b": None, "c": "unsaid"}))

    batch = run_batch(copy, QUICK, change)
    assert batch
    assert batch.documents == 2
    assert held_by(copy) == {"a": Note("new")}


@with_both_engines
def test_doing_a_batch_twice_gives_the_same_index(
    engine: Database, tmp_path: Path, engine_name: str
) -> None:
    """I2: at least once is enough: a repeated message changes nothing, and publishes nothing."""
    copy = fresh_notes(engine, tmp_path, engine_name=engine_name)
    notes = {f"n{i}": f"{WORDS[i % 10]} {i}" for i in range(30)}
    save(copy, notes)
    drain(copy)
    save(copy, {"n3": None, "n4": "夜と rain"})
    drain(copy)
    before = held_by(copy)
    for _ in range(2):
        replay(copy.database, lambda c: push_changes(c, copy.index, [*notes, *notes, "no such"]))
        (batch,) = drain(copy)
        assert (batch.generation, batch.documents, batch.changed) == (2, 31, 0)
    assert held_by(copy) == before
    assert_index_is_table(copy, WORDS)


@on_sqlite
def test_a_batch_that_was_outrun_gives_its_messages_back(copy: Copy) -> None:
    """I2: only what is current is acked; the loser's messages are ready again, uncounted."""
    save(copy, {"a": "one"})

    def outrun(step: str) -> None:
        if step == "synced":
            replay(copy.database, lambda c: write(c, {"b": "two"}, copy.index))
            assert run_batch(copy, QUICK)

    with pytest.raises(Outrun):
        run_batch(copy, QUICK, outrun)
    assert held_by(copy) == {"b": Note("two")}
    assert waiting(copy) == (1, 0, 0)
    (batch,) = drain(copy)
    assert batch.generation == 2
    assert_index_is_table(copy)
    assert [p for p in copy.generations.directory.iterdir() if p.name.startswith(".tmp-")] == []


@on_sqlite
def test_unchanged_documents_are_acked_only_if_the_generation_is_still_current(
    copy: Copy,
) -> None:
    """I2: "nothing to do" is also an answer about one generation, and void when it is passed."""
    save(copy, {"a": "one"})
    drain(copy)
    save(copy, {"a": "one"})

    def outrun(step: str) -> None:
        if step == "applied":
            replay(copy.database, lambda c: write(c, {"b": "two"}, copy.index))
            assert run_batch(copy, QUICK)

    with pytest.raises(Outrun):
        run_batch(copy, QUICK, outrun)
    assert waiting(copy) == (1, 0, 0)


def test_a_message_that_another_took_over_is_not_acked(copy: Copy) -> None:
    """Q3: under a lease that is not ours any more nothing is settled, and the batch says so."""
    first, second = save_each(copy, {"a": "one", "b": "two"})
    taken: list[Message] = []

    def take_over(step: str) -> None:
        if step == "published":
            sql = "UPDATE sakuin_messages SET locked_until = due_at WHERE id = {}"
            replay(copy.database, lambda c: c.exec_driver_sql(sql.format(first)))
            taken.extend(claim(copy.database, copy.index.queue, limit=9, lease_seconds=60))

    batch = run_batch(copy, QUICK, take_over)
    assert batch
    assert batch.lost == 1
    assert [message.id for message in taken] == [first]
    assert waiting(copy) == (0, 1, 0)
    assert second
    assert_index_is_table(copy)


@on_sqlite
def test_a_batch_that_takes_longer_than_its_lease_keeps_its_messages(copy: Copy) -> None:
    """Q4: the lease is extended while the batch works, so that nobody else gets the messages."""
    save(copy, {"a": "one"})
    limits = replace(QUICK, lease_seconds=1.0)

    def dawdle(step: str) -> None:
        if step == "applied":
            until = time.monotonic() + 1.5 * limits.lease_seconds
            while time.monotonic() < until:
                assert claim(copy.database, copy.index.queue, limit=9, lease_seconds=60) == ()
                threading.Event().wait(0.05)  # who claims without pause locks others out

    batch = run_batch(copy, limits, dawdle)
    assert batch
    assert batch.lost == 0
    assert waiting(copy) == (0, 0, 0)


@on_sqlite
@pytest.mark.parametrize("stop", [*STEPS[:-1]])
def test_what_stops_a_batch_puts_its_messages_back(copy: Copy, stop: str) -> None:
    """Q4, I8: after any error before the end all is ready again, and no attempt was counted."""
    save_each(copy, {"a": "one", "b": "two"})

    def interrupt(step: str) -> None:
        if step == stop:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_batch(copy, QUICK, interrupt)
    assert waiting(copy) == (2, 0, 0)
    assert copy.generations.current() == (1 if stop == "published" else 0)
    messages = claim(copy.database, copy.index.queue, limit=9, lease_seconds=60)
    assert [message.attempts for message in messages] == [1, 1]


@on_sqlite
def test_a_batch_ends_at_its_limits_and_loses_nothing(copy: Copy) -> None:
    """Q4: limits by documents and by bytes; a message in part done shrinks to the rest."""
    save(copy, {f"n{i:03}": "x" * 100 for i in range(300)})
    save_each(copy, {f"m{i:03}": "y" * 100 for i in range(30)})
    batches = drain(copy, replace(QUICK, documents=100))
    assert all(batch.documents <= 100 for batch in batches)
    assert sum(batch.documents for batch in batches) == 330
    assert_index_is_table(copy)
    save(copy, {f"n{i:03}": "z" * 1000 for i in range(300)})
    batches = drain(copy, replace(QUICK, text_bytes=10_000))
    assert [batch.messages for batch in batches] == [1] * len(batches)
    assert len(batches) == 5
    assert sum(batch.documents for batch in batches) == 300
    assert_index_is_table(copy)
    assert waiting(copy) == (0, 0, 0)


@on_sqlite
def test_single_saves_of_one_moment_share_a_batch(copy: Copy) -> None:
    """I5: many messages, one generation."""
    save_each(copy, {f"n{i}": f"text {i}" for i in range(60)})
    (batch,) = drain(copy)
    assert (batch.generation, batch.messages, batch.documents) == (1, 60, 60)


def test_ids_that_can_be_no_key_are_deletes_of_nothing(copy: Copy) -> None:
    """I5: whatever string an id is, the batch goes on."""
    odd = ["", "x" * 70_000, "\x00", "人間" * 40, "a' OR 1=1 --", "[1,2]", "\U0001f600", "A "]
    replay(copy.database, lambda c: push_changes(c, copy.index, odd))
    save(copy, {"a": "one"})
    assert sum(batch.documents for batch in drain(copy)) == len(odd) + 1
    assert_index_is_table(copy)
    assert read(copy.database, dead_messages) == ()


def test_any_history_in_any_order_ends_as_the_table(copy: Copy, stress: Stress) -> None:
    """I5: inserts, updates, deletes, re-inserts, duplicates, any order and size: index = table."""
    for _ in range(stress.count(30)):
        _play(copy, stress.random(), messages=60)
        stress = replace(stress, seed=stress.seed + 1)


@with_both_engines
def test_a_history_on_each_engine(
    engine: Database, tmp_path: Path, stress: Stress, engine_name: str
) -> None:
    """I5, S5: the same with either engine, batch after batch."""
    copy = fresh_notes(engine, tmp_path, engine_name=engine_name)
    _play(copy, stress.random(), messages=80)


def _play(copy: Copy, chance: random.Random, messages: int) -> None:
    """Change notes at random, push messages in another order and repeated, between batches."""
    keys = [f"k{i}" for i in range(25)]
    pending: list[list[str]] = []
    actions: dict[str, Callable[[], None]] = {
        "write": lambda: _write_some(copy, chance, keys, pending),
        "push": lambda: _push_some(copy, chance, pending),
        "batch": lambda: _batch(copy, chance),
    }
    for _ in range(messages):
        actions[chance.choices([*actions], weights=[6, 5, 1])[0]]()
    while pending:
        _push_some(copy, chance, pending)
    drain(copy)
    assert_index_is_table(copy, WORDS)
    assert waiting(copy) == (0, 0, 0)


def _write_some(
    copy: Copy, chance: random.Random, keys: list[str], pending: list[list[str]]
) -> None:
    chosen = chance.sample(keys, chance.choice([1, 1, 1, 5, 20]))
    notes = {key: _some_note(chance) for key in chosen}
    replay(copy.database, lambda c: write(c, notes))
    pending.append(chosen)


def _some_note(chance: random.Random) -> Note | None:
    if chance.random() < 0.3:
        return None
    return Note(" ".join(chance.choices(WORDS, k=4)), title=chance.choice(WORDS))


def _push_some(copy: Copy, chance: random.Random, pending: list[list[str]]) -> None:
    """Push a message for changes that were committed, not always the oldest, sometimes twice."""
    if not pending:
        return
    place = chance.randrange(len(pending))
    ids = pending[place] if chance.random() < 0.2 else pending.pop(place)
    replay(copy.database, lambda c: push_changes(c, copy.index, ids))


def _batch(copy: Copy, chance: random.Random) -> None:
    run_batch(copy, replace(QUICK, documents=chance.choice([1, 3, 1000])))
