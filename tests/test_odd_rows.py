"""Rows that SQLite keeps although they are none: one must not stop the others (promises Q4, S6)."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine

from notes import drain, elapse_back_off
from sakuin.indexer.batch import RETRY
from sakuin.queue import (
    RetryPolicy,
    claim,
    dead_messages,
    fail,
    known_queues,
    peek,
    queue_counts,
    queue_stats,
    read,
    replay,
)
from web import Web, serving


@pytest.fixture
def web(tmp_path: Path) -> Iterator[Web]:
    with serving(tmp_path, f"sqlite:///{tmp_path / 'q.db'}") as opened:
        yield opened


def run(database: Engine, *statements: str) -> None:
    for statement in statements:
        replay(database, lambda c, s=statement: c.exec_driver_sql(s))  # type: ignore[misc]


MESSAGE = "INSERT INTO sakuin_messages (queue, data) VALUES ('index:paragraphs', '{\"ids\": [%d]}')"


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("body", "CAST(x'906c8ad4' AS TEXT)"),  # CP932, as a program in another language may write
        ("created_at", "'1700000000'"),
        ("position", "'abc'"),
    ],
)
def test_a_row_that_is_no_paragraph_dies_alone(web: Web, column: str, value: str) -> None:
    """Q4: the row goes to the dead list by its id; saves before and behind it are searchable."""
    columns = {"source": "'php'", "position": "1", "body": "'人間'", column: value}
    names, values = ", ".join(columns), ", ".join(columns.values())
    run(web.parts.database, f"INSERT INTO paragraphs (id, {names}) VALUES (7, {values})")
    run(web.parts.database, MESSAGE % 7)
    good = web.add("人間")
    for _ in range(RETRY.max_attempts):
        drain(web.parts.copy)
        elapse_back_off(web.parts.copy)
    assert web.status(good["receipt"]) == "searchable"
    (dead,) = read(web.parts.database, lambda c: dead_messages(c, "index:paragraphs"))
    assert b'"7"' in dead.data


@pytest.mark.parametrize("value", ["'garbage'", "strftime('%s', 'now')", "x'ff'", "-1e300"])
def test_a_row_that_became_odd_after_it_was_indexed_is_still_found(web: Web, value: str) -> None:
    """S6: the index answers; the row check's trouble is no failure of the search."""
    added = web.add("人間")
    web.drain()
    run(web.parts.database, f"UPDATE paragraphs SET created_at = {value}")
    for path in ("/api/v1/search", "/search"):
        assert web.get(path, q="人間").status_code == 200
    assert web.get("/api/v1/search", q="人間").json()["items"][0]["id"] == added["id"]


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("created_at", "'garbage'"),
        ("created_at", "strftime('%s', 'now')"),
        ("created_at", "x'80ff'"),
        ("locked_until", "date('now', '-1 day')"),
        ("attempts", "'x'"),
        ("kind", "CAST(x'83418365' AS TEXT)"),
        ("limit_key", "CAST(x'83418365' AS TEXT)"),
        ("unique_key", "CAST(x'83418365' AS TEXT)"),
    ],
)
def test_an_odd_message_stops_no_queue(web: Web, column: str, value: str) -> None:
    """Q4, Q8: anybody may INSERT; a column that is no time, number or UTF-8 holds nobody up."""
    run(
        web.parts.database,
        f"INSERT INTO sakuin_messages (queue, data, {column}) VALUES ('q', 'odd', {value})",
        "INSERT INTO sakuin_messages (queue, data) VALUES ('q', 'good')",
    )
    claimed = claim(web.parts.database, "q", limit=10, lease_seconds=60)
    assert sorted(message.data for message in claimed) == [b"good", b"odd"]


@pytest.mark.parametrize(
    ("column", "value"), [("created_at", "'garbage'"), ("locked_until", "date('now', '-1 day')")]
)
def test_an_odd_time_hides_no_message_from_people(web: Web, column: str, value: str) -> None:
    """Q8: counts and the dead list show it and its neighbours, whatever its times are."""
    run(
        web.parts.database,
        "INSERT INTO sakuin_messages (queue, data) VALUES ('q', 'good')",
        f"INSERT INTO sakuin_messages (queue, data, {column}) VALUES ('q', 'odd', {value})",
    )
    with web.parts.database.begin() as connection:
        assert queue_counts(connection, "q").ready == queue_stats(connection, "q").ready == 2
    claimed = claim(web.parts.database, "q", limit=10, lease_seconds=60)
    assert not fail(web.parts.database, claimed, "no", policy=RetryPolicy(max_attempts=1))
    found = read(web.parts.database, dead_messages)
    assert sorted(one.data for one in found) == [b"good", b"odd"]


def test_text_of_another_encoding_is_claimed_as_it_is(web: Web) -> None:
    """Q4, Q8: PHP binds Shift_JIS as text, and SQLite keeps it: its bytes arrive."""
    run(
        web.parts.database,
        "INSERT INTO sakuin_messages (queue, data) VALUES ('q', CAST(x'83418365' AS TEXT))",
        "INSERT INTO sakuin_messages (queue, data) VALUES (x'80', '{}')",
    )
    with web.parts.database.begin() as connection:
        assert [one.text for one in peek(connection, "q")] == [None]
        assert "q" in known_queues(connection)
    (message,) = claim(web.parts.database, "q", limit=10, lease_seconds=60)
    fail(web.parts.database, message, "no", policy=RetryPolicy(max_attempts=1))
    (dead,) = read(web.parts.database, dead_messages)
    assert message.data == dead.data == "アテ".encode("shift_jis")
