"""Measures: what ran, of which kind, how long it took and waited, how much of it failed."""

from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import Engine

from sakuin.queue import BadMessage, create_schema, read, replay
from sakuin.queue.dialect import dialect_of, execute
from sakuin.queue.jobs import Old, measures, measures_by_minute, prune
from sakuin.queue.jobs.measures import KEEP_MEASURES_SECONDS, MeasureBuffer


def age(engine: Engine, kind: str, seconds: float) -> None:
    """Travel in time: what was measured of this kind was measured so long ago."""
    sql = "UPDATE sakuin_measures SET at = {later} WHERE kind = ?"
    replay(engine, lambda on: execute(on, sql, dialect_of(on).shift(-seconds), kind))


def test_what_was_counted_is_read(engine: Engine) -> None:
    """Several workers add to the same minute; the window, the kinds and the minutes are told."""
    first, second = MeasureBuffer(), MeasureBuffer()
    first.add("mail", 2.0, 0.5, is_failed=False)
    first.add("mail", 4.0, -1.0, is_failed=True)  # clocks of a database may step back: never < 0
    second.add("mail", 3.0, 1.5, is_failed=True)
    second.add("long", 60.0, 0.0, is_failed=False)
    for buffer in (first, second, first):  # the second flush of one has nothing to write
        buffer.flush(engine)
    long, mail = read(engine, measures)
    assert (mail.kind, mail.runs, mail.failed) == ("mail", 3, 2)
    assert (mail.seconds, mail.longest_seconds, mail.waited_seconds) == (9.0, 4.0, 2.0)
    assert mail.mean_seconds == 3.0
    assert mail.failure_rate == pytest.approx(2 / 3)
    assert mail.mean_waited_seconds == pytest.approx(2 / 3)
    assert 3600 <= mail.of_seconds < 3660
    assert mail.runs_a_second == pytest.approx(3 / mail.of_seconds)
    assert long.longest_seconds == 60.0
    assert read(engine, lambda on: measures(on, "long")) != ()
    assert read(engine, lambda on: measures(on, "none")) == ()
    every = read(engine, measures_by_minute)
    assert sum(one.runs for one in every) == 4
    assert {one.of_seconds for one in every} == {60.0}
    age(engine, "mail", 7200)
    assert [one.kind for one in read(engine, measures)] == ["long"]
    (old,) = read(engine, lambda on: measures_by_minute(on, "mail", since_seconds=9000))
    assert (old.kind, old.runs) == ("mail", 3)
    with pytest.raises(BadMessage, match="since_seconds"):
        read(engine, lambda on: measures(on, since_seconds=0))


def test_what_cannot_be_written_now_is_written_later(
    tmp_path: Path, open_database: Callable[[str], Engine]
) -> None:
    engine = open_database(f"sqlite:///{tmp_path}/later.db")
    buffer = MeasureBuffer()
    buffer.add("mail", 1.0, 0.0, is_failed=False)
    buffer.flush(engine)  # there is no table yet
    buffer.add("mail", 2.0, 0.0, is_failed=True)
    create_schema(engine)
    buffer.flush(engine)
    (mail,) = read(engine, measures)
    assert (mail.runs, mail.failed, mail.longest_seconds) == (2, 1, 2.0)


def test_the_history_is_bounded(engine: Engine) -> None:
    """Fault "finished jobs never cleaned": what is older than the limit is pruned."""
    buffer = MeasureBuffer()
    for kind in ("old", "new"):
        buffer.add(kind, 1.0, 0.0, is_failed=False)
    buffer.flush(engine)
    age(engine, "old", KEEP_MEASURES_SECONDS + 60)
    old = Old("sakuin_measures", "at", KEEP_MEASURES_SECONDS, key=("kind", "at"))
    assert prune(engine, old) == 1
    year = 365 * 86400.0
    (new,) = read(engine, lambda on: measures(on, since_seconds=year))
    assert new.kind == "new"
