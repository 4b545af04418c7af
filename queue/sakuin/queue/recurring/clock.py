"""What time it is: the database's clock, so that hosts whose clocks differ agree."""

from collections.abc import Callable
from datetime import datetime

from sqlalchemy import Connection

from sakuin.queue.dialect import execute, moment

Clock = Callable[[Connection], datetime]
"""Gives the time now, aware, in UTC. Another than the database's is for tests."""


def database_clock(connection: Connection) -> datetime:
    """Return the time now by the database."""
    return moment(execute(connection, "SELECT {now}").scalar_one())
