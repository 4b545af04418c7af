"""Looking at messages without claiming them."""

from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from typing import Any

import pytest
from sqlalchemy import Engine

from databases import claim_one, claimed, expire, push_all
from explained import explained
from sakuin.queue import BadMessage, claim, push, push_many, read
from sakuin.queue.dialect import execute
from sakuin.queue.peek import PeekedMessage, PeekPlace, PeekState, peek

STATES: tuple[PeekState, ...] = ("ready", "leased", "scheduled", "blocked")


def look(engine: Engine, queue: str = "q", **options: Any) -> tuple[PeekedMessage, ...]:
    return read(engine, lambda connection: peek(connection, queue, **options))


def datas(engine: Engine) -> list[bytes]:
    return [one.data for one in look(engine)]


def test_ready_messages_come_in_the_order_of_a_claim(engine: Engine) -> None:
    """Most urgent first, then oldest; a claim afterwards takes the same ones in the same order."""
    push_all(engine, "q", b"a", b"b", b"c")
    with engine.begin() as connection:
        push(connection, "q", b"urgent", priority=0)
        push(connection, "q", b"idle", priority=9)
        push(connection, "q", b"later", delay_seconds=60)
    expire(engine, 2, seconds=-60)
    seen = look(engine)
    assert [one.data for one in seen] == [b"urgent", b"b", b"a", b"c", b"idle"]
    assert datas(engine) == claimed(engine)
    assert datas(engine) == []


def test_each_state_shows_its_own_messages(engine: Engine) -> None:
    """One message of each state in front of the others hides none of them."""
    push_all(engine, "q", b"leased", b"ready")
    claim_one(engine)
    with engine.begin() as connection:
        push(connection, "q", b"scheduled", delay_seconds=5, unique_key="k", expires_seconds=99)
        execute(
            connection,
            "INSERT INTO sakuin_messages (queue, kind, locked_until, limit_key, data)"
            " VALUES ('q', 'mail', '9999-12-31 23:59:59.999999', 'l/k', 'blocked')",
        )
        push(connection, "other", b"ready")
    for state in STATES:
        (one,) = look(engine, state=state)
        assert (one.data, one.state, one.queue) == (state.encode(), state, "q")
    (scheduled,) = look(engine, state="scheduled")
    assert (scheduled.unique_key, scheduled.attempts, scheduled.kind) == (b"k", 0, None)
    assert 4 <= (scheduled.locked_until - scheduled.created_at).total_seconds() <= 6
    assert scheduled.expires_at is not None
    (blocked,) = look(engine, state="blocked")
    assert (blocked.kind, blocked.limit_key) == ("mail", b"l/k")
    (leased,) = look(engine, state="leased")
    assert leased.attempts == 1


@pytest.mark.parametrize("state", ["ready", "scheduled"])
def test_pages_go_on_where_the_last_one_ended_and_back(engine: Engine, state: PeekState) -> None:
    """Whole rows once each, over priorities, and over equal times; backwards the same."""
    delay = {"ready": 0.0, "scheduled": 60.0}[state]
    with engine.begin() as connection:
        for priority in (3, 5, 4):
            push_many(
                connection, "q", [b"%d" % n for n in range(7)],
                priority=priority, delay_seconds=delay,
            )  # fmt: skip
    every = look(engine, state=state, limit=100)
    assert len(every) == 21
    place: PeekPlace | None = None
    forward: list[PeekedMessage] = []
    while page := look(engine, state=state, limit=4, after=place):
        forward += page
        place = page[-1].place
    assert tuple(forward) == every
    back: list[PeekedMessage] = []
    place = PeekPlace(255, datetime(9999, 1, 1, tzinfo=UTC), 1 << 62)
    while page := look(engine, state=state, limit=4, before=place):
        back = [*page, *back]
        place = page[0].place
    assert tuple(back) == every


def test_data_is_cut_and_shown_as_text_where_it_is_text(engine: Engine) -> None:
    """A character cut in two is left out; what is no text says so; its whole size is told."""
    push_all(engine, "q", "人間".encode(), b"\xff\x00", b"", b"a" * 900)
    whole = look(engine)
    assert [one.text for one in whole] == ["人間", None, "", "a" * 900]
    assert [one.bytes for one in whole] == [6, 2, 0, 900]
    cut = look(engine, most_bytes=4)
    assert [(one.text, one.data, one.bytes) for one in cut] == [
        ("人", "人間".encode()[:4], 6),
        (None, b"\xff\x00", 2),
        ("", b"", 0),
        ("aaaa", b"aaaa", 900),
    ]


def test_text_written_by_others_is_counted_in_bytes(engine: Engine) -> None:
    """Q8: a plain INSERT of text (SQLite keeps it as text) is shown and cut like any other."""
    with engine.begin() as connection:
        execute(connection, "INSERT INTO sakuin_messages (queue, data) VALUES ('q', '人間')")
    (one,) = look(engine, most_bytes=4)
    assert (one.text, one.bytes, len(one.data)) == ("人", 6, 4)


def test_a_peek_waits_for_nobody_and_stops_nobody(
    engine: Engine, database_url: str, open_database: Callable[[str], Engine]
) -> None:
    """While another transaction has messages locked, and while ours is open, all go on."""
    push_all(engine, "q", b"a", b"b")
    rival = open_database(database_url)
    with engine.connect() as holder, holder.begin():
        execute(holder, "UPDATE sakuin_messages SET attempts = 1 WHERE data = ?", b"a")
        assert [(one.data, one.attempts) for one in look(rival)] == [(b"a", 0), (b"b", 0)]
    reading = rival.connect().execution_options(sakuin_read_only=True)
    with reading:
        assert len(peek(reading, "q")) == 2
        assert len(claim(engine, "q", limit=2, lease_seconds=60)) == 2


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"limit": 0}, "limit"),
        ({"limit": 1_001}, "limit"),
        ({"queue": "a b"}, "queue name"),
        ({"state": "gone"}, "state"),
        ({name: PeekPlace(5, datetime(2026, 1, 1, tzinfo=UTC), 1) for name in ("after", "before")},
         "not both"),
    ],
)  # fmt: skip
def test_what_cannot_be_asked_is_refused(
    tmp_path: object, open_database: Callable[[str], Engine], options: dict[str, Any], says: str
) -> None:
    engine = open_database(f"sqlite:///{tmp_path}/no-tables.db")
    with pytest.raises(BadMessage, match=says):
        look(engine, **options)


@pytest.mark.parametrize("database_kind", ["mariadb"], indirect=True)
def test_peeking_reads_ranges_of_the_claim_index(engine: Engine) -> None:
    """No state, page or direction scans the table, or sorts more than what is shown (EXPLAIN)."""
    with engine.begin() as connection:
        push_many(connection, "q", [b"x"] * 500)
        push_many(connection, "q", [b"x"] * 500, delay_seconds=60, priority=3)
    (first,) = look(engine, limit=1)
    for state in STATES:
        for after, before in ((None, None), (first.place, None), (None, first.place)):
            ask = partial(peek, queue="q", state=state, after=after, before=before)
            steps = explained(engine, ask)
            for step in steps:
                if step["table"] != "sakuin_messages":
                    continue
                assert step["type"] in ("ref", "range", "eq_ref"), step
                assert step["key"] in ("sakuin_messages_claim", "PRIMARY"), step
                assert "filesort" not in (step["Extra"] or ""), step
