"""The dead list, and messages that die in parts."""

import pytest
from sqlalchemy import Engine

from databases import claim_one, claimed, expire, push_all, row
from sakuin.queue import (
    BadMessage,
    DeadMessage,
    LeaseLost,
    Message,
    State,
    ack,
    bury,
    bury_part,
    dead_messages,
    discard_dead,
    push,
    read,
    retry_dead,
    shrink,
    state_of,
)


def dead(engine: Engine, queue: str | None = None) -> tuple[DeadMessage, ...]:
    return read(engine, lambda connection: dead_messages(connection, queue))


def buried(engine: Engine, *datas: bytes, queue: str = "q") -> list[int]:
    """Push and bury messages; return their ids."""
    push_all(engine, queue, *datas)
    messages = [claim_one(engine, queue) for _ in datas]
    for message in messages:
        bury(engine, message, "because")
    return [message.id for message in messages]


def test_bury_moves_all_of_the_message(engine: Engine) -> None:
    """Q4: the dead list keeps what was pushed, with the reason and the traceback."""
    with engine.begin() as connection:
        number = push(connection, "q", b"\x00\xff", priority=7)
    message = claim_one(engine)
    bury(engine, message, "理由 😀", "trace\nback")
    assert row(engine, number) is None
    (one,) = dead(engine)
    assert (one.message_id, one.queue, one.priority, one.attempts) == (number, "q", 7, 1)
    assert (one.data, one.reason, one.traceback) == (b"\x00\xff", "理由 😀", "trace\nback")
    assert one.created_at == message.created_at
    assert one.dead_at >= one.created_at
    with pytest.raises(LeaseLost):
        bury(engine, message, "again")
    assert len(dead(engine)) == 1


def test_long_and_broken_texts_are_kept_as_far_as_they_can(engine: Engine) -> None:
    """The start of the reason, the end of the traceback; a lone surrogate is spelled out."""
    push_all(engine, "q", b"a")
    bury(engine, claim_one(engine), "r\ud800" + "x" * 9_000, "あ" * 200_000 + "the end")
    (one,) = dead(engine)
    assert one.reason.startswith("r\\ud800xxx")
    assert len(one.reason) < 3_000
    assert one.traceback is not None
    assert one.traceback.endswith("ああthe end")
    assert len(one.traceback) == 100_000


def test_the_list_is_read_in_pages_newest_first(engine: Engine) -> None:
    first = buried(engine, b"a", b"b", b"c")
    other = buried(engine, b"d", queue="r")
    assert [one.message_id for one in dead(engine)] == [*other, *reversed(first)]
    assert [one.message_id for one in dead(engine, "q")] == list(reversed(first))
    page = read(engine, lambda connection: dead_messages(connection, "q", limit=2))
    rest = read(
        engine, lambda connection: dead_messages(connection, "q", limit=2, before_id=page[-1].id)
    )
    assert [one.data for one in (*page, *rest)] == [b"c", b"b", b"a"]


@pytest.mark.parametrize("limit", [0, 1_001])
def test_a_bad_limit_is_refused(engine: Engine, limit: int) -> None:
    with pytest.raises(BadMessage, match=f"limit={limit}"):
        read(engine, lambda connection: dead_messages(connection, limit=limit))


def test_retry_brings_messages_back_with_their_ids(engine: Engine) -> None:
    """They join the end of the queue with no attempts, and the dead list forgets them."""
    a, b = buried(engine, b"a", b"b")
    (waiting,) = push_all(engine, "q", b"waiting")
    expire(engine, waiting)  # a clock of milliseconds may not tell it from what comes next
    assert retry_dead(engine, [one.id for one in dead(engine)]) == 2
    assert dead(engine) == ()
    stored = row(engine, a)
    assert stored is not None
    assert (stored["attempts"], stored["token"], stored["priority"]) == (0, None, 5)
    got = [claim_one(engine) for _ in range(3)]
    assert [one.id for one in got] == [waiting, a, b]
    assert [one.attempts for one in got] == [1, 1, 1]


def test_retry_and_discard_ignore_what_is_gone(engine: Engine) -> None:
    buried(engine, b"a", b"b")
    (b_dead, a_dead) = (one.id for one in dead(engine))
    assert discard_dead(engine, [a_dead, a_dead, 999]) == 1
    assert discard_dead(engine, [a_dead]) == 0
    assert retry_dead(engine, [a_dead, b_dead, 999]) == 1
    assert retry_dead(engine, []) == 0
    assert claimed(engine) == [b"b"]


def test_a_part_dies_and_the_rest_goes_on(engine: Engine) -> None:
    """Q4: one transaction puts a part on the dead list and leaves the rest, still leased."""
    (number,) = push_all(engine, "q", b"1,2,3")
    message = claim_one(engine)
    bury_part(engine, message, b"2", b"1,3", "bad document", "trace")
    stored = row(engine, number)
    assert stored is not None
    assert (bytes(stored["data"]), stored["token"]) == (b"1,3", message.token)
    assert read(engine, lambda connection: state_of(connection, number)) == State("leased")
    bury_part(engine, message, b"3", b"1", "bad too")
    assert ack(engine, message) == frozenset()
    parts = read(engine, lambda connection: dead_messages(connection, message_id=number))
    assert [(one.data, one.reason) for one in parts] == [(b"3", "bad too"), (b"2", "bad document")]
    assert {one.message_id for one in parts} == {number}
    found = read(engine, lambda connection: state_of(connection, number))
    assert found == State("dead", "bad too")


def test_the_last_part_takes_the_message_along(engine: Engine) -> None:
    (number,) = push_all(engine, "q", b"1")
    bury_part(engine, claim_one(engine), b"1", None, "bad document")
    assert row(engine, number) is None
    assert [one.data for one in dead(engine)] == [b"1"]


def test_a_retried_part_gets_an_id_of_its_own_while_the_rest_lives(engine: Engine) -> None:
    """Two dead parts of one message, and a rest that is leased: three messages, three ids."""
    (number,) = push_all(engine, "q", b"1,2,3")
    message = claim_one(engine)
    bury_part(engine, message, b"2", b"1,3", "bad")
    bury_part(engine, message, b"3", b"1", "bad")
    assert retry_dead(engine, [one.id for one in dead(engine)]) == 2
    got = [claim_one(engine), claim_one(engine)]
    assert [one.data for one in got] == [b"2", b"3"]
    assert len({number, *(one.id for one in got)}) == 3
    assert ack(engine, [message, *got]) == frozenset()


def lost(engine: Engine) -> tuple[Message, Message]:
    """Return a message whose lease was lost, and the same as its new owner holds it."""
    (number,) = push_all(engine, "q", b"1,2")
    late = claim_one(engine)
    expire(engine, number)
    return late, claim_one(engine)


def test_a_late_worker_buries_no_part(engine: Engine) -> None:
    """Q3: nothing dies, nothing shrinks."""
    late, current = lost(engine)
    for rest in (b"1", None):
        with pytest.raises(LeaseLost, match=f"message {late.id} "):
            bury_part(engine, late, b"2", rest, "bad")
    assert dead(engine) == ()
    assert ack(engine, current) == frozenset()


def test_shrink_rewrites_under_the_token_only(engine: Engine) -> None:
    """Q3, Q4: a leased message may be given less data by who holds it."""
    late, current = lost(engine)
    assert shrink(engine, late, b"2") is False
    stored = row(engine, late.id)
    assert stored is not None
    assert bytes(stored["data"]) == b"1,2"
    assert shrink(engine, current, b"1") is True
    assert shrink(engine, current, b"1") is True
    expire(engine, current.id)
    assert claim_one(engine).data == b"1"
