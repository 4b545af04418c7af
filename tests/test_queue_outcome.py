"""A connection that is lost during COMMIT: found out by token, never replayed blindly (Q6)."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from sqlalchemy import Connection, Engine, event

from cut_path import EVERYWHERE, Path, cut_path
from cut_proxy import Where
from databases import Servers, claim_one, expire, push_all, row
from sakuin.queue import (
    LeaseLost,
    OutcomeUnknown,
    RetryPolicy,
    ack,
    bury,
    bury_part,
    claim,
    dead_messages,
    discard_dead,
    extend,
    fail,
    push,
    read,
    release,
    replay,
    retry_dead,
    shrink,
)


@pytest.fixture
def path(servers: Servers) -> Iterator[Path]:
    with cut_path(servers) as path:
        yield path


def dead(path: Path) -> list[tuple[bytes, str]]:
    return [(one.data, one.reason) for one in read(path.whole, dead_messages)]


@pytest.mark.parametrize("where", EVERYWHERE)
def test_a_push_of_the_callers_is_the_callers_matter(path: Path, where: Where) -> None:
    """Q6: OutcomeUnknown, and truly unknown: one case has committed, the other has not."""
    path.proxy.cut(where)
    with pytest.raises(OutcomeUnknown, match="lost during COMMIT"):
        replay(path.cut, lambda connection: push(connection, "q", b"a"))
    assert path.proxy.cuts == 1
    found = claim(path.whole, "q", limit=9, lease_seconds=60)
    assert [one.data for one in found] == ([b"a"] if where == "after" else [])


@pytest.mark.parametrize("where", EVERYWHERE)
def test_a_claim_is_found_by_its_token(path: Path, where: Where) -> None:
    """Q6: the claim returns what it holds, and holds nothing else."""
    ids = push_all(path.whole, "q", b"a", b"b", b"c")
    path.proxy.cut(where)
    messages = claim(path.cut, "q", limit=2, lease_seconds=60)
    assert path.proxy.cuts == 1
    assert [one.id for one in messages] == ids[:2]
    assert [one.attempts for one in messages] == [1, 1]
    rest = claim(path.whole, "q", limit=9, lease_seconds=60)
    assert [one.id for one in rest] == ids[2:]
    assert ack(path.whole, [*messages, *rest]) == frozenset()


@pytest.mark.parametrize("where", EVERYWHERE)
def test_a_claim_that_only_buries_is_done_once(path: Path, where: Where) -> None:
    push_all(path.whole, "q", b"a")
    expire(path.whole, claim_one(path.whole).id)
    path.proxy.cut(where)
    once = RetryPolicy(max_attempts=1)
    assert claim(path.cut, "q", limit=9, lease_seconds=60, policy=once) == ()
    assert path.proxy.cuts == 1
    assert [data for data, _ in dead(path)] == [b"a"]


@pytest.mark.parametrize("where", EVERYWHERE)
@pytest.mark.parametrize("verb", ["ack", "release", "fail", "spent", "extend"])
def test_settling_is_not_taken_for_a_loss(path: Path, verb: str, where: Where) -> None:
    """Q6: what was ours is settled once and not reported lost; what was lost is."""
    push_all(path.whole, "q", b"a", b"b", b"c")
    batch = claim(path.whole, "q", limit=3, lease_seconds=60)
    lost = batch[1]
    expire(path.whole, lost.id)
    claim_one(path.whole)
    spent = RetryPolicy(max_attempts=1)
    acts: dict[str, Callable[[], object]] = {
        "ack": lambda: ack(path.cut, batch),
        "release": lambda: release(path.cut, batch, delay_seconds=50),
        "fail": lambda: fail(path.cut, batch, "no"),
        "spent": lambda: fail(path.cut, batch, "no", policy=spent),
        "extend": lambda: extend(path.cut, batch, 500),
    }
    path.proxy.cut(where)
    result = acts[verb]()
    assert path.proxy.cuts == 1
    assert result == {lost.id}
    rows = [row(path.whole, one.id) for one in batch]
    states = [found and (found["attempts"], found["token"] is None) for found in rows]
    ours = {"release": (0, True), "fail": (1, True), "extend": (1, False)}.get(verb)
    assert states == [ours, (2, False), ours]
    assert sorted(dead(path)) == ([(b"a", "no"), (b"c", "no")] if verb == "spent" else [])


@pytest.mark.parametrize("where", EVERYWHERE)
def test_a_message_is_buried_once(path: Path, where: Where) -> None:
    push_all(path.whole, "q", b"a")
    message = claim_one(path.whole)
    path.proxy.cut(where)
    bury(path.cut, message, "no")
    assert path.proxy.cuts == 1
    assert dead(path) == [(b"a", "no")]


@pytest.mark.parametrize("where", EVERYWHERE)
@pytest.mark.parametrize("rest", [b"1", None])
def test_a_part_is_buried_once(path: Path, rest: bytes | None, where: Where) -> None:
    (number,) = push_all(path.whole, "q", b"1,2")
    message = claim_one(path.whole)
    path.proxy.cut(where)
    bury_part(path.cut, message, b"2", rest, "bad")
    assert path.proxy.cuts == 1
    assert dead(path) == [(b"2", "bad")]
    found = row(path.whole, number)
    assert (found and found["data"]) == rest


@pytest.mark.parametrize("where", EVERYWHERE)
def test_a_late_worker_learns_of_its_loss_all_the_same(path: Path, where: Where) -> None:
    """Q3 holds on a bad network too."""
    (number,) = push_all(path.whole, "q", b"a")
    late = claim_one(path.whole)
    expire(path.whole, number)
    claim_one(path.whole)
    path.proxy.cut(where)
    with pytest.raises(LeaseLost):
        ack(path.cut, late)
    with path.cut.connect():
        pass
    path.proxy.cut(where)
    assert shrink(path.cut, late, b"") is False
    assert path.proxy.cuts == 2


@pytest.mark.parametrize("where", EVERYWHERE)
@pytest.mark.parametrize("act", [retry_dead, discard_dead])
def test_the_dead_list_is_changed_once(
    path: Path, act: Callable[[Engine, Any], int], where: Where
) -> None:
    push_all(path.whole, "q", b"a")
    bury(path.whole, claim_one(path.whole), "no")
    ids = [one.id for one in read(path.whole, dead_messages)]
    path.proxy.cut(where)
    assert act(path.cut, ids) == 1
    assert path.proxy.cuts == 1
    assert dead(path) == []
    back = claim(path.whole, "q", limit=9, lease_seconds=60)
    assert len(back) == (1 if act is retry_dead else 0)


def test_an_outcome_that_cannot_be_looked_up_stays_unknown(
    path: Path,
) -> None:
    """The database goes away for good at COMMIT: nobody claims to know."""
    push_all(path.whole, "q", b"a")
    message = claim_one(path.cut)

    def gone(connection: Connection) -> None:
        path.proxy.cut("before")
        path.proxy.close()

    event.listen(path.cut, "commit", gone)
    with pytest.raises(OutcomeUnknown, match="cannot be looked up"):
        ack(path.cut, message)
