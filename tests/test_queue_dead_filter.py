"""Dead messages by what is known of them, retried or discarded in bulk."""

import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import Engine

from databases import claim_one, until
from explained import explained
from sakuin.queue import (
    BadMessage,
    bury,
    create_schema,
    discard_dead,
    push,
    read,
    replay,
    retry_dead,
)
from sakuin.queue.dead_filter import (
    DeadFilter,
    FoundDead,
    _next,
    _parts,
    count_dead,
    discard_found,
    find_dead,
    retry_found,
)
from sakuin.queue.dialect import dialect_of, execute

HOUR = 3600.0


def kill(
    engine: Engine,
    count: int = 1,
    *,
    queue: str = "q",
    kind: str | None = None,
    reason: str = "because",
    ago: float = 0.0,
    first_message: int = 1,
) -> None:
    """Put entries on the dead list, as if they had died some seconds ago."""
    sql = (
        "INSERT INTO sakuin_dead (message_id, queue, kind, priority, attempts, data, reason,"
        " created_at, dead_at) VALUES (?, ?, ?, 5, 3, ?, ?, {now}, {later})"
    )

    def work(connection: Any) -> None:
        then = dialect_of(connection).shift(-ago)
        for number in range(first_message, first_message + count):
            execute(connection, sql, number, queue, kind, b"d%d" % number, reason, then)

    replay(engine, work)


def found(engine: Engine, limit: int = 100, **wanted: Any) -> list[int]:
    """Return the message ids of what is found, in ascending order."""
    seen = read(engine, lambda c: find_dead(c, DeadFilter(**wanted), limit=limit))
    return sorted(one.message_id for one in seen)


def waiting(engine: Engine) -> list[int]:
    sql = "SELECT id FROM sakuin_messages ORDER BY id"
    return list(read(engine, lambda connection: execute(connection, sql).scalars().all()))


def test_each_condition_alone_and_together(engine: Engine) -> None:
    kill(engine, first_message=1, queue="mail", kind="letter", reason="SMTP: 550 宛先不明")
    kill(engine, first_message=2, queue="mail2", kind="letter", ago=3 * HOUR)
    kill(engine, first_message=3, queue="ma", reason="100% of _ and \\ and '")
    kill(engine, first_message=4, queue="index:mail", kind="Letter", ago=30 * HOUR)
    assert found(engine) == [1, 2, 3, 4]
    assert found(engine, queue="mail") == [1]
    assert found(engine, queue="mail*") == [1, 2]
    assert found(engine, queue="*") == [1, 2, 3, 4]
    assert found(engine, queue="nobody") == []
    assert found(engine, kind="letter") == [1, 2]
    assert found(engine, reason="smtp: 550") == [1]
    assert found(engine, reason="宛先") == [1]
    for text in ("100%", "of _ and", "\\", "'"):
        assert found(engine, reason=text) == [3]
    assert found(engine, reason="of X and") == []
    assert found(engine, dead_before=timedelta(hours=2)) == [2, 4]
    assert found(engine, dead_after=timedelta(hours=2)) == [1, 3]
    assert found(engine, dead_before=timedelta(hours=2), dead_after=timedelta(days=1)) == [2]
    assert found(engine, kind="letter", queue="mail*", dead_after=timedelta(hours=2)) == [1]
    assert found(engine, message_id=3) == [3]
    assert found(engine, message_id=3, queue="mail") == []
    tokyo = timezone(timedelta(hours=9))
    two_hours_ago = datetime.now(UTC).astimezone(tokyo) - timedelta(hours=2)
    assert found(engine, dead_before=two_hours_ago) == [2, 4]
    assert found(engine, dead_after=two_hours_ago) == [1, 3]
    assert read(engine, lambda c: count_dead(c, DeadFilter(queue="mail*"))) == 2
    assert read(engine, lambda c: count_dead(c, DeadFilter(), most=3)) == 3


def test_what_is_found_is_whole_but_for_long_data(engine: Engine) -> None:
    kill(engine, kind="letter", reason="r", ago=60)
    (one,) = read(engine, lambda c: find_dead(c, DeadFilter(), most_bytes=1))
    assert isinstance(one, FoundDead)
    assert (one.queue, one.kind, one.reason, one.priority) == ("q", "letter", "r", 5)
    assert (one.attempts, one.errors, one.traceback) == (3, 0, None)
    assert (one.data, one.bytes, one.text) == (b"d", 2, "d")
    assert 50 < (one.created_at - one.dead_at).total_seconds() < 70


def test_pages_newest_first(engine: Engine) -> None:
    kill(engine, 5)
    first = read(engine, lambda c: find_dead(c, DeadFilter(), limit=2))
    rest = read(engine, lambda c: find_dead(c, DeadFilter(), before_id=first[-1].id))
    assert [one.message_id for one in (*first, *rest)] == [5, 4, 3, 2, 1]
    ids = tuple(one.id for one in rest)
    picked = read(engine, lambda c: find_dead(c, DeadFilter(ids=ids), limit=2))
    assert [one.message_id for one in picked] == [3, 2]


@pytest.mark.parametrize(
    ("wanted", "says"),
    [
        ({"queue": "a b"}, "queue name"),
        ({"dead_before": datetime(2026, 1, 1)}, "no time zone"),  # noqa: DTZ001 - refused
        ({"dead_after": timedelta(seconds=-1)}, "dead_after"),
    ],
)
def test_what_cannot_be_asked_is_refused(wanted: dict[str, Any], says: str) -> None:
    with pytest.raises(BadMessage, match=says):
        DeadFilter(**wanted)


def test_bulk_goes_by_five_hundred_and_leaves_the_others(engine: Engine) -> None:
    """Chunks of 500, each committed: who stops after the first has done exactly that one."""
    kill(engine, 700)
    kill(engine, 3, queue="r", first_message=701)
    kill(engine, 400, first_message=704)
    retrying = retry_found(engine, DeadFilter(queue="q"))
    assert next(retrying) == 500
    assert waiting(engine) == list(range(1, 501))
    assert list(retrying) == [500, 100]
    assert waiting(engine) == [*range(1, 701), *range(704, 1_104)]
    assert found(engine) == [701, 702, 703]
    assert list(discard_found(engine, DeadFilter())) == [3]
    assert found(engine) == []
    assert list(retry_found(engine, DeadFilter())) == []


def test_ids_are_taken_once_each_and_only_where_the_rest_holds(engine: Engine) -> None:
    kill(engine, 600)
    kill(engine, 600, queue="r", first_message=601)
    every = [one.id for one in read(engine, lambda c: find_dead(c, DeadFilter(), limit=1_000))]
    ids = (*every, *every, 10**9)
    assert sum(discard_found(engine, DeadFilter(queue="r", ids=ids))) == 600
    assert sum(retry_found(engine, DeadFilter(ids=tuple(every[-2:])))) == 2
    assert waiting(engine) == [201, 202]


def test_what_dies_meanwhile_is_not_retried_again(engine: Engine) -> None:
    """A message that dies at once again does not keep the command going for ever."""
    kill(engine, 501)
    retrying = retry_found(engine, DeadFilter())
    assert next(retrying) == 500
    kill(engine, 7, first_message=1_000)
    assert list(retrying) == [1]
    assert found(engine) == list(range(1_000, 1_007))


def test_two_operators_at_once_retry_each_message_once(
    engine: Engine, database_url: str, open_database: Callable[[str], Engine]
) -> None:
    """Each of 1,500 comes back exactly once, though two retry them all at the same time.

    Under SQLite, too, both are real connections: every message has one id and one row only.
    """
    kill(engine, 1_500)
    start = threading.Barrier(2)
    done: list[int] = []

    def operate() -> None:
        other = open_database(database_url)
        start.wait()
        done.append(sum(retry_found(other, DeadFilter())))

    operators = [threading.Thread(target=operate) for _ in range(2)]
    for one in operators:
        one.start()
    for one in operators:
        one.join()
    assert sum(done) == 1_500
    assert waiting(engine) == list(range(1, 1_501))
    assert found(engine) == []


def test_the_second_of_two_operators_waits_and_finds_nothing(
    mariadb_url: str, open_database: Callable[[str], Engine]
) -> None:
    """Both found the same entries; the first is in its transaction when the second begins."""
    engine, other = open_database(mariadb_url), open_database(mariadb_url)
    create_schema(engine)
    kill(engine, 3)
    ids = [1, 2, 3]
    seconds: list[int] = []
    late = threading.Thread(target=lambda: seconds.append(discard_dead(other, ids)))
    with engine.connect() as holder, holder.begin():
        execute(holder, "SELECT id FROM sakuin_dead WHERE id IN ({ids}) FOR UPDATE", ids=ids).all()
        late.start()
        until_blocked(engine, "DELETE FROM sakuin_dead%")
        execute(holder, "DELETE FROM sakuin_dead WHERE id IN ({ids})", ids=ids)
    late.join()
    assert seconds == [0]
    assert retry_dead(engine, ids) == 0


def test_a_retry_meets_a_push_of_the_same_unique_key(
    mariadb_url: str, open_database: Callable[[str], Engine]
) -> None:
    """The fault "requeue collides with the unique key" (procrastinate 1446): it merges.

    The push is in its transaction while the retry begins, which cannot see it yet.
    """
    engine, other = open_database(mariadb_url), open_database(mariadb_url)
    create_schema(engine)
    with engine.begin() as connection:
        push(connection, "q", b"old", unique_key="k")
    bury(engine, claim_one(engine), "because")
    retried: list[int] = []
    late = threading.Thread(target=lambda: retried.append(retry_dead(other, [1])))
    with engine.begin() as connection:
        newer = push(connection, "q", b"new", unique_key="k")
        late.start()
        until_blocked(engine, "INSERT INTO sakuin_messages (id,%")
    late.join()
    assert retried == [1]
    assert found(engine) == []
    assert waiting(engine) == [newer]


def until_blocked(engine: Engine, statement: str) -> None:
    """Wait until another connection is at this statement: it cannot end it."""
    sql = (
        "SELECT COUNT(*) FROM information_schema.processlist WHERE db = DATABASE()"
        " AND info LIKE ? AND id <> CONNECTION_ID()"
    )
    until(lambda: read(engine, lambda c: execute(c, sql, statement).scalar_one()))


@pytest.mark.parametrize("database_kind", ["mariadb"], indirect=True)
def test_a_long_list_is_walked_by_an_index(engine: Engine) -> None:
    """No question sorts or scans without an index: a bulk over many reads each entry once."""
    kill(engine, 300)
    kill(engine, 300, queue="r", first_message=400)
    for wanted, key in (
        (DeadFilter(), "PRIMARY"),
        (DeadFilter(queue="r"), "sakuin_dead_queue"),
        (DeadFilter(queue="r*", reason="x"), "PRIMARY"),
        (DeadFilter(kind="k", dead_before=timedelta(1)), "PRIMARY"),
        (DeadFilter(message_id=7), "sakuin_dead_message"),
        (DeadFilter(queue="r", ids=(7, 9)), "PRIMARY"),
    ):
        some = next(_parts(wanted.ids))
        for ask in (partial(_next, wanted=wanted, some=some, last=5, highest=900),
                    partial(find_dead, wanted=wanted)):  # fmt: skip
            step = explained(engine, ask)[0]
            assert (step["key"], "filesort" in (step["Extra"] or "")) == (key, False), step


CONDITIONS = st.fixed_dictionaries(
    {},
    optional={
        "queue": st.sampled_from(["a", "ab", "a*", "b*", "*"]),
        "kind": st.sampled_from(["x", "y"]),
        "reason": st.sampled_from(["One", "e", "ö", "%"]),
        "dead_before": st.sampled_from([timedelta(minutes=90), timedelta(hours=5)]),
        "dead_after": st.sampled_from([timedelta(minutes=90), timedelta(hours=5)]),
    },
)


def test_any_conditions_find_what_plain_python_finds(engine: Engine) -> None:
    """An oracle of plain comparisons, over every mixture of conditions."""
    rows = [
        (queue, kind, reason, hours)
        for queue in ("a", "ab", "b")
        for kind in ("x", None)
        for reason in ("one", "schön%")
        for hours in (0, 3)
    ]
    for number, (queue, kind, reason, hours) in enumerate(rows):
        kill(engine, queue=queue, kind=kind, reason=reason, ago=hours * HOUR, first_message=number)

    def is_meant(row: tuple[str, str | None, str, int], wanted: dict[str, Any]) -> bool:
        queue, kind, reason, hours = row
        age = timedelta(hours=hours)
        pattern = wanted.get("queue", "*")
        return (
            (queue.startswith(pattern[:-1]) if pattern.endswith("*") else queue == pattern)
            and wanted.get("kind", kind) == kind
            and wanted.get("reason", "").lower() in reason
            and not ("dead_before" in wanted and age < wanted["dead_before"])
            and not ("dead_after" in wanted and age > wanted["dead_after"])
        )

    @settings(max_examples=60, derandomize=True, database=None)
    @given(CONDITIONS)
    def agree(wanted: dict[str, Any]) -> None:
        expected = [number for number, row in enumerate(rows) if is_meant(row, wanted)]
        assert found(engine, **wanted) == expected
        assert read(engine, lambda c: count_dead(c, DeadFilter(**wanted))) == len(expected)

    agree()
