"""Travelling in time with registered processes."""

from sqlalchemy import Engine

from sakuin.queue import read, replay
from sakuin.queue.dialect import dialect_of, execute
from sakuin.queue.processes import Process, processes


def age(engine: Engine, process_id: bytes, seconds: float) -> None:
    """Let the last beat of a process be `seconds` ago."""
    sql = "UPDATE sakuin_processes SET beat_at = {later} WHERE id = ?"
    replay(
        engine,
        lambda connection: execute(
            connection, sql, dialect_of(connection).shift(-seconds), process_id
        ),
    )


def registered(engine: Engine) -> list[Process]:
    """Return all that are registered."""
    return list(read(engine, processes))
