"""What MariaDB plans for the statements that some code really runs."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, Engine, event

from sakuin.queue import read


@contextmanager
def _recorded(engine: Engine) -> Iterator[list[tuple[str, Any]]]:
    ran: list[tuple[str, Any]] = []

    def note(_connection: object, _cursor: object, sql: str, values: Any, *_: object) -> None:
        ran.append((sql, values))

    event.listen(engine, "before_cursor_execute", note)
    try:
        yield ran
    finally:
        event.remove(engine, "before_cursor_execute", note)


def explained(engine: Engine, work: Callable[[Connection], object]) -> list[dict[str, Any]]:
    """Run the work on MariaDB, and return a step of EXPLAIN for each table it read."""
    with _recorded(engine) as ran:
        read(engine, work)
    steps: list[dict[str, Any]] = []
    with engine.connect() as connection:
        for sql, values in ran:
            if sql.lstrip().startswith("SELECT"):
                plan = connection.exec_driver_sql("EXPLAIN " + sql, values or None).mappings()
                steps += [dict(step) for step in plan]
    return steps
