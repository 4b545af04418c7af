"""The freshness line (S6): what waits is counted, but never without bound in a request."""

from sqlalchemy import Engine

from sakuin.app.messages_en import ENGLISH
from sakuin.app.messages_ja import JAPANESE
from sakuin.indexer.freshness import MOST_COUNTED
from sakuin.queue import ack, claim, push_many, read, replay, waiting_count


def test_messages_in_every_unsettled_state_wait(engine: Engine) -> None:
    def waiting(most: int = 100) -> int:
        return read(engine, lambda c: waiting_count(c, "q", most))

    replay(engine, lambda c: push_many(c, "q", [b"x"] * 3))
    replay(engine, lambda c: push_many(c, "q", [b"x"] * 2, delay_seconds=600))
    replay(engine, lambda c: push_many(c, "other", [b"x"]))
    (first,) = claim(engine, "q", limit=1, lease_seconds=60)
    assert waiting() == 5
    assert waiting(most=4) == 4
    ack(engine, first)
    assert waiting() == 4


def test_a_count_beyond_the_bound_is_told_as_such() -> None:
    assert "10,000" in ENGLISH.freshness(1, MOST_COUNTED)
    assert "more than" not in ENGLISH.freshness(1, MOST_COUNTED)
    assert "more than 10,000" in ENGLISH.freshness(1, MOST_COUNTED + 1)
    assert "10,000件以上" in JAPANESE.freshness(1, MOST_COUNTED + 1)
