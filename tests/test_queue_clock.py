"""Times come from the database's clock, in UTC, whatever the host and the session believe (Q7)."""

import datetime as datetime_module
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import Engine, event

import sakuin.queue
from databases import claim_one, claimed, expire, row
from sakuin.queue import ack, claim, create_schema, extend, push, queue_counts, read, release

ZONES = ("+00:00", "+13:00", "-12:00")


def zoned(engine: Engine, zone: str) -> Engine:
    """Set the session time zone of every new connection, after our own preparation."""

    def set_zone(connection: object, _record: object) -> None:
        with connection.cursor() as cursor:  # type: ignore[attr-defined]
            cursor.execute(f"SET time_zone = '{zone}'")

    event.listen(engine, "connect", set_zone)
    return engine


@pytest.mark.parametrize("zone", ZONES)
def test_the_session_time_zone_does_not_matter(
    mariadb_url: str, open_database: Callable[[str], Engine], zone: str
) -> None:
    """Q7: a message pushed in one zone is ready, leased and released the same in another."""
    here, there = zoned(open_database(mariadb_url), zone), open_database(mariadb_url)
    create_schema(here)
    with here.begin() as connection:
        number = push(connection, "q", b"now")
        later = push(connection, "q", b"later", delay_seconds=60)
        connection.exec_driver_sql("INSERT INTO sakuin_messages SET queue = 'q', data = 'raw'")
    message = claim_one(there)
    assert message.id == number
    assert claimed(here) == [b"raw"]
    assert extend(here, message, 60) == frozenset()
    assert claimed(there) == claimed(here) == []
    assert release(there, message) == frozenset()
    (again,) = claim(here, "q", limit=9, lease_seconds=60)
    assert again.created_at == message.created_at
    assert abs(again.locked_until - message.locked_until) < timedelta(seconds=30)
    counts = read(here, lambda connection: queue_counts(connection, "q"))
    assert (counts.ready, counts.leased, counts.scheduled) == (0, 2, 1)
    expire(here, later)
    assert claimed(there) == [b"later"]


def test_the_hosts_clock_does_not_matter(
    mariadb_url: str, open_database: Callable[[str], Engine], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Q7: with this host's clock a day off, leases run by the database's clock all the same."""
    engine = open_database(mariadb_url)
    create_schema(engine)
    true_time = time.time

    class WrongDatetime(datetime):
        @classmethod
        def now(cls, tz: datetime_module.tzinfo | None = None) -> "WrongDatetime":
            return super().now(tz) + timedelta(days=1)

    with monkeypatch.context() as wrong:
        wrong.setattr(time, "time", lambda: true_time() + 86_400)
        wrong.setattr(datetime_module, "datetime", WrongDatetime)
        with engine.begin() as connection:
            push(connection, "q", b"a", delay_seconds=30)
            number = push(connection, "q", b"b")
        message = claim_one(engine)
        assert claimed(engine) == []
    assert message.id == number
    assert abs(message.created_at.timestamp() - true_time()) < 600
    assert ack(engine, message) == frozenset()


def test_no_module_asks_the_hosts_clock() -> None:
    """Q7: durations are monotonic, moments are the database's; SQLite's own clock is the host's."""
    folder = Path(sakuin.queue.__file__).parent
    for module in folder.glob("*.py"):
        text = module.read_text(encoding="utf-8")
        for forbidden in ("time.time(", ".now(", "utcnow", "NOW()", "CURRENT_TIMESTAMP"):
            assert forbidden not in text, f"{module.name} uses {forbidden}"


def test_stored_times_have_six_digits_and_sort_as_text(engine: Engine) -> None:
    """So that SQLite's texts compare as times do."""
    with engine.begin() as connection:
        number = push(connection, "q", b"a", delay_seconds=12.3456, expires_seconds=86_400)
    found = row(engine, number)
    assert found is not None
    for name in ("locked_until", "due_at", "created_at", "expires_at"):
        text = str(found[name]) if "." in str(found[name]) else f"{found[name]}.000000"
        assert len(text) == len("2026-01-01 00:00:00.000000")
        assert datetime.fromisoformat(text)
    waits = datetime.fromisoformat(str(found["due_at"])) - datetime.fromisoformat(
        str(found["created_at"])
    )
    assert abs(waits.total_seconds() - 12.3456) < 0.002
