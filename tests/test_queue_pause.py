"""Paused queues, lists of queue names, and what a dead process held."""

from collections.abc import Callable

import pytest
from sqlalchemy import Connection, Engine

from databases import claim_one, claimed, expire, push_all, row
from explained import explained
from sakuin.queue import (
    BadMessage,
    Limit,
    ack,
    check_patterns,
    claim,
    create_schema,
    extend,
    fail,
    matching,
    pause,
    paused_queues,
    push,
    push_many,
    queue_names,
    read,
    release,
    replay,
    requeue_held,
    resume,
)
from sakuin.queue.dialect import execute

HOLDER = b"\x00holder\xff"


def test_a_paused_queue_gives_nothing_on_any_connection(
    engine: Engine, database_url: str, open_database: Callable[[str], Engine]
) -> None:
    """Claims stop at once; pushing and settling go on, and the other queues do."""
    other = open_database(database_url)
    push_all(engine, "q", b"a", b"b", b"c", b"d")
    push_all(engine, "r", b"r")
    held = [claim_one(other) for _ in range(3)]
    assert pause(engine, "q")
    assert not pause(other, "q")
    assert claim(other, "q", limit=9, lease_seconds=60) == ()
    assert claimed(other, "r") == [b"r"]
    push_all(other, "q", b"e")
    assert not extend(other, held, 60)
    ack(other, held[0])
    release(other, held[1])
    fail(other, held[2], "no")
    assert claim(engine, "q", limit=9, lease_seconds=60) == ()
    assert read(other, paused_queues) == ("q",)
    assert resume(other, "q")
    assert not resume(engine, "q")
    assert claimed(engine) == [b"b", b"d", b"e"]
    expire(engine, held[2].id)
    assert claimed(other) == [b"c"]


def test_names_of_queues_are_a_few_looks_into_the_index(
    mariadb_url: str, open_database: Callable[[str], Engine]
) -> None:
    """With 50,000 messages in three queues: a look for each queue, and one more."""
    engine = open_database(mariadb_url)
    create_schema(engine)
    for name, count in (("a", 10), ("b", 49_980), ("c", 10)):
        replay(engine, lambda one, name=name, count=count: push_many(one, name, [b"x"] * count))  # type: ignore[misc]

    def looks(connection: Connection) -> int:
        rows = execute(connection, "SHOW SESSION STATUS LIKE 'Handler_read%%'").all()
        return sum(int(one.Value) for one in rows)

    with engine.connect() as connection:
        before = looks(connection)
        assert queue_names(connection) == ("a", "b", "c")
        assert looks(connection) - before < 20
    assert {step["key"] for step in explained(engine, queue_names)} == {"sakuin_messages_claim"}


def test_lists_of_queues_are_in_the_order_of_the_list() -> None:
    """A name stands for itself, a beginning for all that have it, and none comes twice."""
    names = ("mail", "mail:slow", "index:b", "index:a", "zeta")
    assert matching(names, ("zeta", "mail")) == ("zeta", "mail")
    assert matching(names, ("index:*", "*")) == (
        *("index:a", "index:b"),
        *("mail", "mail:slow", "zeta"),
    )
    assert matching(names, ("mail*", "not-yet", "mail")) == ("mail", "mail:slow", "not-yet")
    assert matching((), ("*",)) == ()
    assert check_patterns(["a", "b*", "*"]) == ("a", "b*", "*")


@pytest.mark.parametrize("patterns", [[], [""], ["a" * 101], ["**a" + "x" * 100]])
def test_a_list_that_names_no_queue_is_refused(patterns: list[str]) -> None:
    """Before anything is claimed."""
    with pytest.raises(BadMessage):
        check_patterns(patterns)


def test_only_what_that_holder_holds_is_given_back(engine: Engine) -> None:
    """Q5: thousands at once, in all queues and priorities, ready at the head; attempts counted;
    others keep theirs; and the holder, should it live, changes nothing any more."""
    many = 1_200
    for queue in ("q", "r"):
        replay(engine, lambda one, queue=queue: push_many(one, queue, [b"x"] * many))  # type: ignore[misc]
    limited = replay(engine, lambda one: push(one, "q", b"l", limit=Limit("k"), priority=0))
    blocked = replay(engine, lambda one: push(one, "q", b"l", limit=Limit("k"), priority=0))
    others = claim(engine, "r", limit=100, lease_seconds=60, holder=b"\x00holder\xfe")
    nobodys = claim(engine, "r", limit=100, lease_seconds=60)
    held = claim(engine, "q", limit=1_000, lease_seconds=60, holder=HOLDER)
    held += claim(engine, "r", limit=800, lease_seconds=60, holder=HOLDER)
    ack(engine, done := held[-10:])
    assert held[0].id == limited
    assert requeue_held(engine, HOLDER) == len(held) - len(done)
    assert requeue_held(engine, HOLDER) == 0
    assert extend(engine, held, 60) == {one.id for one in held}
    assert ack(engine, held) == {one.id for one in held}
    assert not extend(engine, others, 60)
    assert not ack(engine, nobodys)
    again = claim(engine, "q", limit=4, lease_seconds=60)  # one gets no place
    assert [(one.id, one.attempts) for one in again] == [
        *[(limited, 2)],
        *[(one.id, 2) for one in held[1:3]],
    ]
    stored = row(engine, blocked)
    assert stored is not None
    assert str(stored["locked_until"]).startswith("9999")


@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
@pytest.mark.parametrize("holder", [b"", b"1234567", b"123456789"])
def test_a_holder_has_eight_bytes(engine: Engine, holder: bytes) -> None:
    """A shorter one would be the beginning of many."""
    with pytest.raises(ValueError, match="8 bytes"):
        requeue_held(engine, holder)
    with pytest.raises(BadMessage, match="give 8"):
        claim(engine, "q", limit=1, lease_seconds=60, holder=holder)
