"""Concurrency limits: never more than `to` leases of a key at once, and nobody blocked for ever."""

import threading
from collections.abc import Callable, Sequence

import pytest
from sqlalchemy import Engine

from databases import expire
from sakuin.queue import (
    Limit,
    LimitReached,
    Message,
    RetryPolicy,
    ack,
    bury,
    claim,
    crash,
    dead_messages,
    extend,
    fail,
    free_stale_limits,
    pause,
    push,
    read,
    release,
    replay,
    resume,
    retry_dead,
)
from sakuin.queue.dialect import execute
from sakuin.queue.limits import MAX_SECONDS

NO_WAIT = RetryPolicy(first_seconds=0, most_seconds=0)


def push_limited(engine: Engine, limit: Limit, *, queue: str = "q", **options: object) -> int:
    return replay(engine, lambda one: push(one, queue, b"x", limit=limit, **options))  # type: ignore[arg-type]


def take(engine: Engine, limit: int = 1, queue: str = "q") -> tuple[Message, ...]:
    return claim(engine, queue, limit=limit, lease_seconds=60)


def ids(messages: Sequence[Message]) -> list[int]:
    return [one.id for one in messages]


def blocked(engine: Engine) -> list[int]:
    sql = "SELECT id FROM sakuin_messages WHERE locked_until > '9999-01-01' ORDER BY id"
    return list(read(engine, lambda one: execute(one, sql).scalars().all()))


def at_once(*works: Callable[[], object]) -> list[object]:
    """Run all in threads that begin together; return what each returned or raised."""
    gate = threading.Barrier(len(works))
    found: list[object] = [None] * len(works)

    def run(number: int, work: Callable[[], object]) -> None:
        gate.wait(30)
        try:
            found[number] = work()
        except Exception as error:  # noqa: BLE001  looked at by the caller
            found[number] = error

    threads = [threading.Thread(target=run, args=pair) for pair in enumerate(works)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return found


def test_the_seven_steps_of_a_limit_of_three(
    engine: Engine, database_url: str, open_database: Callable[[str], Engine]
) -> None:
    """Three get a place, the fourth is blocked; an end signals, and that releases just one."""
    workers = [open_database(database_url) for _ in range(5)]
    pushed = [push_limited(engine, Limit("k", to=3)) for _ in range(5)]
    held: list[Message] = []
    for worker, left in zip(workers[:3], (2, 1, 0), strict=True):  # 1 to 3: places left
        held += take(worker)
        assert 3 - len(held) == left
    assert ids(held) == pushed[:3]
    assert take(workers[3]) == ()  # 4: no place
    assert blocked(engine) == pushed[3:]
    assert not ack(workers[0], [held[0]])  # 5: the end of one calls the next one, and only that
    assert blocked(engine) == pushed[4:]
    (fourth,) = take(workers[4], limit=10)  # 6: which gets the place
    assert fourth.id == pushed[3]
    assert take(workers[0]) == ()
    assert not ack(workers[1], [held[1], held[2], fourth])  # 7: and so on, until nobody is left
    (fifth,) = take(workers[2])
    assert fifth.id == pushed[4]
    assert not ack(workers[2], [fifth])
    assert free_stale_limits(engine) == 0
    assert read(engine, lambda one: execute(one, "SELECT * FROM sakuin_limited").all()) == []


def test_every_end_of_a_holder_calls_the_next(engine: Engine) -> None:
    """With to=1: whatever becomes of the holder, somebody can work on the key at once."""
    slow = RetryPolicy(first_seconds=60)
    ends: dict[str, Callable[[Message], object]] = {
        "ack": lambda one: ack(engine, one),
        "release": lambda one: release(engine, one, 60),
        "fail": lambda one: fail(engine, one, "no", policy=slow),
        "crash": lambda one: crash(engine, one, "no", policy=slow),
        "bury": lambda one: bury(engine, one, "no"),
    }
    for end, act in ends.items():
        first, second = (push_limited(engine, Limit(end)) for _ in range(2))
        (holder,) = take(engine, limit=9)
        assert blocked(engine) == [second]
        act(holder)
        assert blocked(engine) == []
        (other,) = take(engine)
        assert other.id == second
        if end in ("release", "fail", "crash"):
            expire(engine, first)
            assert take(engine) == ()
            ack(engine, other)
            (other,) = take(engine)
            assert other.id == first
        ack(engine, other)


def test_one_that_is_called_into_a_paused_queue_blocks_no_other_queue(engine: Engine) -> None:
    """Nobody is blocked for ever: the place of one that was called, and cannot be claimed, is
    not kept for it; and the limit holds all the same when its queue goes on."""
    limit = Limit("k")
    push_limited(engine, limit)
    (holder,) = take(engine)
    paused = push_limited(engine, limit, queue="a")
    other = push_limited(engine, limit)
    assert take(engine, queue="a") == take(engine) == ()
    pause(engine, "a")
    ack(engine, holder)
    assert blocked(engine) == [other]  # the older one was called, in vain
    assert free_stale_limits(engine) == 1
    (second,) = take(engine)
    assert second.id == other
    resume(engine, "a")
    assert take(engine, queue="a") == ()
    ack(engine, second)
    assert ids(take(engine, queue="a")) == [paused]


def test_a_limit_of_senseless_seconds_stops_no_claim(engine: Engine) -> None:
    """Q8: the columns are open to plain SQL; what is behind such a message is claimed all the
    same, and the lease has a length that can be."""
    sql = "INSERT INTO sakuin_messages (queue, limit_key, limit_seconds, data) VALUES (?, ?, ?, ?)"
    for key, seconds in ((b"g/long", 1e300), (b"g/past", -5.0)):
        replay(engine, lambda one, row=(key, seconds): execute(one, sql, "q", *row, b"x"))  # type: ignore[misc]
    push_limited(engine, Limit("k"))
    found = take(engine, limit=9)
    assert [one.lease_seconds for one in found] == [MAX_SECONDS, 60, 60]
    replay(engine, lambda one: execute(one, sql, "q", 5, 9.0, b"x"))  # SQLite keeps the number
    push_limited(engine, Limit("other"))
    assert [one.limit_key for one in take(engine, limit=9)] == [b"5", b"/other"]


def test_a_killed_holder_frees_its_place_within_its_seconds(engine: Engine) -> None:
    """Q5: the lease is as long as the limit says, whatever the worker wishes; then a late holder
    can neither extend nor ack, once its place was given to another."""
    first, second = (push_limited(engine, Limit("k", seconds=7)) for _ in range(2))
    (late,) = claim(engine, "q", limit=2, lease_seconds=900)
    assert (late.id, late.lease_seconds) == (first, 7)
    assert free_stale_limits(engine) == 0
    expire(engine, first)
    assert free_stale_limits(engine) == 1
    (other,) = take(engine)
    assert {other.id} < {first, second}
    assert take(engine) == ()
    assert extend(engine, [late], 60) == {first}
    assert ack(engine, [late]) == {first}
    ack(engine, other)
    assert len(take(engine)) == 1


def test_a_batch_longer_than_the_limit_hoards_nothing(engine: Engine) -> None:
    """Fault (pgqueuer #173): a claim of ten gets two of the key, and others that it may have."""
    limited = [push_limited(engine, Limit("k", to=2)) for _ in range(5)]
    free = [replay(engine, lambda one: push(one, "q", b"y")) for _ in range(5)]
    got = take(engine, limit=20)
    assert ids(got) == limited[:2] + free
    assert blocked(engine) == limited[2:]


def test_only_blocked_ones_at_the_head_hide_nothing(engine: Engine) -> None:
    """A claim that meets only such as find no place goes on behind them."""
    holder = push_limited(engine, Limit("k"))
    assert ids(take(engine)) == [holder]
    crowd = [push_limited(engine, Limit("k"), priority=0) for _ in range(30)]
    free = replay(engine, lambda one: push(one, "q", b"y"))
    assert ids(take(engine)) == [free]
    assert blocked(engine) == crowd


def test_a_key_counts_across_queues_and_kinds_and_a_group_parts_them(engine: Engine) -> None:
    """The key, with its group, says what counts together: nothing else does."""
    push_limited(engine, Limit("k", group="mail"), kind="a")
    other = push_limited(engine, Limit("k", group="mail"), queue="other", kind="b")
    third = push_limited(engine, Limit("k", group="print"), queue="other", kind="b")
    (holder,) = take(engine)
    assert ids(take(engine, 9, "other")) == [third]
    assert blocked(engine) == [other]
    ack(engine, holder)
    assert ids(take(engine, 9, "other")) == [other]


def test_a_limit_may_be_raised_and_lowered_between_pushes(engine: Engine) -> None:
    """Each message is judged by the limit that it was pushed with, and nobody is stuck."""
    narrow = push_limited(engine, Limit("k", to=1))
    wide = [push_limited(engine, Limit("k", to=3)) for _ in range(3)]
    late = push_limited(engine, Limit("k", to=1))
    got = take(engine, limit=9)
    assert ids(got) == [narrow, *wide[:2]]
    assert blocked(engine) == [wide[2], late]
    ack(engine, got[0])
    assert ids(take(engine, limit=9)) == wide[2:]
    ack(engine, got[1:])
    assert blocked(engine) == [late]
    expire(engine, wide[2])
    assert free_stale_limits(engine) == 1


def test_discard_neither_piles_up_nor_duplicates(engine: Engine) -> None:
    """Faults (solid_queue #804, #597): what waits, is delayed, runs, failed or was retried from
    the dead list counts; what is done or dead does not."""
    limit = Limit("k", on_conflict="discard")

    def nothing_is_pushed() -> None:
        with pytest.raises(LimitReached, match="1 of 1"):
            push_limited(engine, limit)

    first = push_limited(engine, limit, delay_seconds=60)
    nothing_is_pushed()
    expire(engine, first)
    (got,) = take(engine)
    nothing_is_pushed()
    fail(engine, got, "no", policy=NO_WAIT)
    nothing_is_pushed()
    (got,) = take(engine)
    bury(engine, got, "no")
    push_limited(engine, limit)
    (other,) = take(engine)
    ack(engine, other)
    (entry,) = read(engine, dead_messages)
    assert retry_dead(engine, [entry.id]) == 1
    nothing_is_pushed()
    ack(engine, take(engine))
    push_limited(engine, limit)


def test_a_unique_key_leads_to_a_message_of_another_limit(engine: Engine) -> None:
    """The older message keeps its own limit: it is called when that one has room."""
    push_limited(engine, Limit("a"))
    older = push_limited(engine, Limit("a"), unique_key="u")
    (holder,) = take(engine, limit=9)
    assert blocked(engine) == [older]
    discarding = Limit("b", on_conflict="discard")
    assert push_limited(engine, discarding, unique_key="u") == older
    ack(engine, holder)
    assert ids(take(engine)) == [older]


def test_two_claims_at_once_share_no_place(
    engine: Engine, database_url: str, open_database: Callable[[str], Engine]
) -> None:
    """Fault (pgqueuer #761): a count of what another has not committed yet lets both in."""
    workers = [open_database(database_url) for _ in range(3)]
    for number in range(8):
        for _ in range(3):
            push_limited(engine, Limit(f"k{number}"))
        found = at_once(*[lambda worker=worker: take(worker) for worker in workers])
        got = [one for some in found if isinstance(some, tuple) for one in some]
        assert [some for some in found if not isinstance(some, tuple)] == []
        assert len(got) == 1
        while got:
            ack(engine, got)
            got = list(take(engine, limit=9))
            assert len(got) <= 1
    assert blocked(engine) == []


def test_pushes_that_make_a_key_at_once_do_not_deadlock(
    engine: Engine, database_url: str, open_database: Callable[[str], Engine]
) -> None:
    """Fault (solid_queue #99): in the caller's own transaction, which nobody replays."""
    workers = [open_database(database_url) for _ in range(3)]

    def push_one(worker: Engine, key: str) -> int:
        with worker.begin() as connection:
            return push(connection, "q", b"x", limit=Limit(key, on_conflict="discard"))

    for number in range(10):
        works = [lambda worker=worker: push_one(worker, f"k{number}") for worker in workers]  # noqa: B023 - run in this turn
        found = at_once(*works)
        assert sum(isinstance(one, int) for one in found) == 1, found
        assert sum(isinstance(one, LimitReached) for one in found) == 2, found
