"""Unique keys: one waiting message of a key, which follows the message through its deliveries."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from sqlalchemy import Connection, Engine

from databases import claim_one, claimed, expire
from sakuin.queue import (
    Message,
    RetryPolicy,
    ack,
    bury,
    crash,
    dead_messages,
    fail,
    push,
    read,
    release,
    replay,
    requeue_held,
    retry_dead,
)
from sakuin.queue.claim import claim
from sakuin.queue.dialect import execute

SLOW = RetryPolicy(first_seconds=60)


def push_key(engine: Engine, key: str) -> int:
    return replay(engine, lambda one: push(one, "q", b"x", unique_key=key))


def alive(engine: Engine) -> list[int]:
    sql = "SELECT id FROM sakuin_messages ORDER BY id"
    return list(read(engine, lambda one: execute(one, sql).scalars().all()))


def die_and_retry(engine: Engine, message: Message) -> None:
    bury(engine, message, "no")
    (entry,) = read(engine, dead_messages)
    assert retry_dead(engine, [entry.id]) == 1


ENDS: dict[str, Callable[[Engine, Message], object]] = {
    "release": release,
    "later": lambda engine, one: release(engine, one, 60),
    "fail": lambda engine, one: fail(engine, one, "no", policy=SLOW),
    "crash": lambda engine, one: crash(engine, one, "no", policy=SLOW),
    "retry": die_and_retry,
}


def test_what_waits_again_has_its_key_again(engine: Engine) -> None:
    """Q9: after any end that lets it wait, a push of the key finds it."""
    for end, act in ENDS.items():
        pushed = push_key(engine, end)
        act(engine, claim_one(engine))
        assert push_key(engine, end) == pushed
        expire(engine, pushed)
        ack(engine, claim_one(engine))
    assert alive(engine) == []


def test_what_meets_a_newer_one_merges_into_it(engine: Engine) -> None:
    """Faults (procrastinate #1446, #1543): a job that goes back meets the unique index and fails,
    or stays where it is for ever. Here an edit while the first is worked on makes a new message,
    and the first, if it has to wait again, is that one."""
    for end, act in ENDS.items():
        first = push_key(engine, end)
        message = claim_one(engine)
        newer = push_key(engine, end)
        assert newer != first
        act(engine, message)
        assert alive(engine) == [newer]
        assert release(engine, [message]) == {first}
        ack(engine, claim_one(engine))
    assert read(engine, dead_messages) == ()


def test_two_of_a_key_that_are_leased_end_as_one(engine: Engine) -> None:
    """In one call, or after what held them died."""
    for both_at_once in (True, False):
        push_key(engine, "k")
        held = [claim(engine, "q", limit=1, lease_seconds=60, holder=b"a-holder")[0]]
        push_key(engine, "k")
        held += claim(engine, "q", limit=1, lease_seconds=60, holder=b"a-holder")
        if not both_at_once:
            assert requeue_held(engine, b"a-holder") == 2
            held = list(claim(engine, "q", limit=2, lease_seconds=60))
        assert release(engine, held) == frozenset()
        assert len(alive(engine)) == 1
        assert push_key(engine, "k") in alive(engine)
        ack(engine, claim_one(engine))


@dataclass(slots=True)
class Beside:
    """Work in a thread, which is to wait for a lock."""

    work: Callable[[], object]
    found: list[object] = field(default_factory=list)
    thread: threading.Thread = field(init=False)

    def start(self) -> None:
        self.thread = threading.Thread(target=lambda: self.found.append(self.work()))
        self.thread.start()
        self.thread.join(0.1)  # time to come as far as it can
        assert self.thread.is_alive()

    def end(self) -> object:
        self.thread.join(60)
        (found,) = self.found
        return found


@pytest.mark.parametrize("is_committed", [True, False])
def test_a_give_back_waits_for_a_push_that_is_not_committed(
    engine: Engine,
    database_url: str,
    open_database: Callable[[str], Engine],
    is_committed: bool,
) -> None:
    """With real connections: it merges if the push comes to be, and has its key if not."""
    other = open_database(database_url)
    for end in ("release", "fail", "crash", "retry"):
        first = push_key(engine, "k")
        message = claim_one(engine)
        if end == "retry":
            bury(engine, message, "no")
            (entry,) = read(engine, dead_messages)
        act = ENDS[end] if end != "retry" else lambda one, _: retry_dead(one, [entry.id])  # noqa: B023 - in this turn
        late = Beside(lambda act=act, message=message: act(engine, message))  # type: ignore[misc]
        with other.connect() as connection:
            newer = push(connection, "q", b"x", unique_key="k")
            late.start()
            connection.commit() if is_committed else connection.rollback()
        assert late.end() in (frozenset(), 1)
        assert alive(engine) == [newer if is_committed else first]
        expire(engine, *alive(engine))
        ack(engine, claim_one(engine))


def test_a_push_waits_for_a_give_back_that_is_not_committed(
    engine: Engine, database_url: str, open_database: Callable[[str], Engine]
) -> None:
    """The other order: it is the message that was given back."""
    other = open_database(database_url)
    first = push_key(engine, "k")
    message = claim_one(engine)
    late = Beside(lambda: push_key(other, "k"))

    def meanwhile(_connection: Connection, ids: object) -> None:
        assert list(ids) == [first]  # type: ignore[call-overload]
        late.start()

    release(engine, message, also=meanwhile)
    assert late.end() == first
    assert alive(engine) == [first]


def test_what_a_dead_process_held_waits_under_its_key_again(engine: Engine) -> None:
    """One waiting message of a key, after the death of who held it too: put back, or merged."""
    holder = b"holder-1"
    with engine.begin() as connection:
        first = push(connection, "q", b"first", unique_key="k")
    claim(engine, "q", limit=1, lease_seconds=60, holder=holder)
    assert requeue_held(engine, holder) == 1
    with engine.begin() as connection:
        assert push(connection, "q", b"again", unique_key="k") == first
    claim(engine, "q", limit=1, lease_seconds=60, holder=holder)
    with engine.begin() as connection:
        push(connection, "q", b"newer", unique_key="k")
    assert requeue_held(engine, holder) == 1
    assert claimed(engine) == [b"newer"]
