"""Several processes on one queue."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

from sqlalchemy import Engine

import queue_crew
from conftest import Stress
from databases import claimed, until
from sakuin.queue import dead_messages, push_many, read


def test_four_processes_settle_each_message_exactly_once(
    engine: Engine, database_url: str, tmp_path: Path, stress: Stress
) -> None:
    """Q2, Q3, Q6: none twice, none lost, none left, and no deadlock reaches a caller."""
    count = stress.count(20_000)
    with engine.begin() as connection:
        push_many(connection, "q", (b"%d" % number for number in range(count)))
        everything = set(connection.exec_driver_sql("SELECT id FROM sakuin_messages").scalars())
    outputs = [tmp_path / f"crew-{number}.txt" for number in range(4)]
    crew = [
        queue_crew.start("drain", database_url, stress.seed + number, output)
        for number, output in enumerate(outputs)
    ]
    queue_crew.go(crew)
    until(lambda: all(queue_crew.said(output, "C") for output in outputs))
    queue_crew.go(crew)
    for one in crew:
        _, errors = one.communicate(timeout=300)
        assert (one.returncode, errors.decode()) == (0, "")
    settled = Counter(number for output in outputs for number in queue_crew.said(output, "S"))
    assert set(settled) == everything
    assert set(settled.values()) == {1}
    assert all(queue_crew.said(output, "S") for output in outputs)
    assert claimed(engine) == []
    assert read(engine, dead_messages) == ()


def test_processes_may_make_the_tables_at_once(
    database_url: str, tmp_path: Path, open_database: Callable[[str], Engine]
) -> None:
    """create_schema is safe when several processes start on an empty database."""
    crew = [queue_crew.start("make", database_url, 0, tmp_path / f"{n}.txt") for n in range(3)]
    queue_crew.go(crew)
    for one in crew:
        _, errors = one.communicate(timeout=60)
        assert (one.returncode, errors.decode()) == (0, "")
    assert claimed(open_database(database_url)) == [b"x"] * 3
