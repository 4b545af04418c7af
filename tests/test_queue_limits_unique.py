"""A limit that discards, together with a unique key."""

import threading
from collections.abc import Callable

import pytest
from sqlalchemy import Engine

from sakuin.queue import Limit, LimitReached, claim, create_schema, push, replay
from sakuin.queue.dialect import execute
from sakuin.queue.places import lock_key

ONE = Limit("k", on_conflict="discard")


def test_what_waits_already_is_not_refused(engine: Engine) -> None:
    """A repeat adds nothing, so it needs no room; another key does."""
    first = replay(engine, lambda one: push(one, "q", b"x", unique_key="a", limit=ONE))
    again = replay(engine, lambda one: push(one, "q", b"x", unique_key="a", limit=ONE))
    assert again == first
    with pytest.raises(LimitReached):
        replay(engine, lambda one: push(one, "q", b"x", unique_key="b", limit=ONE))


def test_a_repeat_and_a_claim_do_not_lock_each_other_out(
    mariadb_url: str, open_database: Callable[[str], Engine]
) -> None:
    """Q6: the push locks the message before the limit, as the claim does. The claim has the message
    here, and gets the limit while the push waits."""
    engine = open_database(mariadb_url)
    create_schema(engine)
    first = replay(engine, lambda one: push(one, "q", b"x", unique_key="a", limit=ONE))
    found: list[object] = []

    def repeat() -> None:
        found.append(replay(engine, lambda one: push(one, "q", b"x", unique_key="a", limit=ONE)))

    pushing = threading.Thread(target=repeat)
    with engine.connect() as claiming, claiming.begin():
        execute(claiming, "SET innodb_lock_wait_timeout = 1")
        lock = "SELECT id FROM sakuin_messages WHERE id = ? FOR UPDATE"
        assert execute(claiming, lock, first).scalar_one() == first
        pushing.start()
        pushing.join(0.3)
        lock_key(claiming, ONE.stored_key)
    pushing.join(10)
    assert found == [first]
    assert claim(engine, "q", limit=1, lease_seconds=60)
