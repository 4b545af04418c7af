"""A claim knows which of its messages have a job, also of those that it meets just in time."""

from collections.abc import Callable

from sqlalchemy import Engine

from sakuin.queue import create_schema, replay
from sakuin.queue.dialect import execute
from sakuin.queue.jobs import push_job
from sakuin.queue.ready import READY

PACKED, HAS_JOB = 2, 5


def test_the_job_of_a_message_pushed_this_moment_is_not_overlooked(
    mariadb_url: str, open_database: Callable[[str], Engine]
) -> None:
    """The messages are read as they are now, with locks; their jobs must be, too. A view that is
    older than the push stands for one that a statement took before its last row."""
    engine = open_database(mariadb_url)
    create_schema(engine)
    with engine.connect() as claiming:
        claiming = claiming.execution_options(isolation_level="REPEATABLE READ")
        with claiming.begin():
            assert not execute(claiming, "SELECT id FROM sakuin_jobs").all()
            replay(engine, lambda one: push_job(one, "q", b"x"))
            assert not execute(claiming, "SELECT id FROM sakuin_jobs").all()
            sql = READY["mysql"]
            (row,) = execute(claiming, sql, "q", 5, "2020-01-01", 10).all()
            assert row[PACKED].split("|")[HAS_JOB] == "1"
