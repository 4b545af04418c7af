"""The verbs of the queue, one by one, on every database."""

from sqlalchemy import Engine

from sakuin.queue import ack, claim, push


def test_a_pushed_message_is_claimed_and_acked(engine: Engine) -> None:
    """The life of one message."""
    with engine.begin() as connection:
        number = push(connection, "mail", b"hello")
    (message,) = claim(engine, "mail", limit=10, lease_seconds=30)
    assert (message.id, message.data, message.attempts) == (number, b"hello", 1)
    assert claim(engine, "mail", limit=10, lease_seconds=30) == ()
    assert ack(engine, [message]) == frozenset()
