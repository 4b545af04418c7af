"""The leases of a worker: what is kept, what is lost, and what is not mixed up."""

from sqlalchemy import Engine

from databases import expire
from sakuin.queue import Message, claim, push, replay
from sakuin.queue.jobs.leases import Leases


def take(engine: Engine) -> Message:
    (message,) = claim(engine, "q", limit=1, lease_seconds=60)
    return message


def test_a_worker_that_claims_its_own_late_message_again_stops_the_first_run(
    engine: Engine,
) -> None:
    """Q3: after an outage that outlasts the lease the newer lease is kept, whatever becomes of
    the run under the older one, which is told to be lost."""
    number = replay(engine, lambda one: push(one, "q", b"x"))
    leases = Leases(engine)
    older = take(engine)
    leases.add([older])
    expire(engine, number)
    newer = take(engine)
    leases.add([newer])
    assert leases.take_lost() == {(number, older.token)}
    leases.forget([older])  # its run has ended
    with leases:
        expire(engine, number)
        third = take(engine)
        leases.add([third])
        assert leases.take_lost() == {(number, newer.token)}
    leases.forget([third])
    assert leases.take_lost() == frozenset()
