"""Tables that are altered after they were attached: nothing is lost, and what mends it is said."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import Engine as Database

from attaching import attached, drain, held, run
from notes import QUICK
from sakuin.app.attached_table import AttachedTable
from sakuin.app.check_attached import check_attached
from sakuin.app.plan_attach import Wanted
from sakuin.app.table_loader import TableLoader
from sakuin.indexer.batch import run_batch
from sakuin.indexer.build import Copy
from sakuin.indexer.errors import SourceChanged
from sakuin.indexer.verify import verify
from sakuin.queue import create_schema, queue_counts, read

BODY = Wanted("t", ("body",))


@pytest.fixture
def mariadb(mariadb_url: str, open_database: Callable[[str], Database]) -> Database:
    engine = open_database(mariadb_url)
    create_schema(engine)
    return engine


def table_of(copy: Copy) -> AttachedTable:
    assert isinstance(copy.index.loader, TableLoader)
    return copy.index.loader.table


@pytest.mark.parametrize(
    ("key", "alter", "new"),
    [
        ("k VARCHAR(9) CHARACTER SET latin1", "CONVERT TO CHARACTER SET utf8mb4", "漢"),
        ("k INT", "MODIFY k VARCHAR(9) NOT NULL", "abc"),
        ("k DATE", "MODIFY k DATETIME NOT NULL", "2024-01-02 03:04:05"),
    ],
)
def test_a_changed_key_stops_batches_until_it_is_attached_again(
    mariadb: Database, tmp_path: Path, key: str, alter: str, new: str
) -> None:
    """Q4: the operator's trouble: messages wait, the sentence says what to run, that mends it."""
    old = {"INT": "5", "DATE": "2024-01-01"}.get(key.split()[1], "a")
    run(
        mariadb,
        f"CREATE TABLE t ({key} PRIMARY KEY, body TEXT)",
        f"INSERT INTO t VALUES ('{old}', 'x')",
    )
    copy = attached(mariadb, tmp_path, BODY)
    drain(copy)
    run(mariadb, f"ALTER TABLE t {alter}", f"INSERT INTO t VALUES ('{new}', 'y')")
    for _ in range(2):
        with pytest.raises(SourceChanged, match=r"primary key was k .* run `sakuin attach"):
            run_batch(copy, QUICK)
    counts = read(mariadb, lambda c: queue_counts(c, copy.index.queue))
    assert (counts.ready, counts.dead) == (1, 0)
    damage = read(mariadb, lambda c: check_attached(c, table_of(copy)))
    assert "its primary key was" in damage.fault
    again = attached(mariadb, tmp_path, BODY)
    assert not read(mariadb, lambda c: check_attached(c, table_of(again)))
    drain(again)
    assert [each.text["body"] for each in held(again).values()].count("y") == 1
    assert (len(held(again)), verify(again).is_equal) == (2, True)


def test_a_wider_key_stops_batches(mariadb: Database, tmp_path: Path) -> None:
    """Two rows of one old id are a change of the table, not two documents' fault."""
    run(mariadb, "CREATE TABLE t (k INT PRIMARY KEY, n INT NOT NULL DEFAULT 0, body TEXT)")
    copy = attached(mariadb, tmp_path, BODY)
    run(mariadb, "ALTER TABLE t DROP PRIMARY KEY, ADD PRIMARY KEY (k, n)")
    run(mariadb, "INSERT INTO t VALUES (1, 1, 'x'), (1, 2, 'y')")
    with pytest.raises(SourceChanged, match=r"was k \(integer\) and is k \(integer\), n"):
        run_batch(copy, QUICK)


def test_charsets_of_other_columns_are_no_matter(mariadb: Database, tmp_path: Path) -> None:
    run(mariadb, "CREATE TABLE t (k INT PRIMARY KEY, body TEXT) CHARACTER SET latin1")
    copy = attached(mariadb, tmp_path, BODY)
    run(mariadb, "ALTER TABLE t CONVERT TO CHARACTER SET utf8mb4", "INSERT INTO t VALUES (1, '漢')")
    drain(copy)
    assert held(copy)["1"].text["body"] == "漢"
    assert not read(mariadb, lambda c: check_attached(c, table_of(copy)))


def test_keys_that_change_in_case_only_in_a_large_batch(engine: Database, tmp_path: Path) -> None:
    """A collation finds a row by its old key too, in another part of the batch: it comes once."""
    collation = "COLLATE NOCASE" if engine.dialect.name == "sqlite" else ""
    run(engine, f"CREATE TABLE t (k VARCHAR(9) {collation} PRIMARY KEY, body TEXT)")
    rows = ", ".join(f"('k{n}', 'x')" for n in range(700))
    run(engine, f"INSERT INTO t VALUES {rows}")
    copy = attached(engine, tmp_path, BODY)
    drain(copy)
    run(engine, "UPDATE t SET k = UPPER(k)")
    drain(copy)
    assert (len(held(copy)), "K699" in held(copy), verify(copy).is_equal) == (700, True, True)


def test_a_condition_on_a_generated_column(engine: Database, tmp_path: Path) -> None:
    """What a generated column is made of is watched."""
    run(
        engine,
        "CREATE TABLE t (id INT PRIMARY KEY, body TEXT, base INT,"
        " twice INT GENERATED ALWAYS AS (base * 2) VIRTUAL)",
        "INSERT INTO t (id, body, base) VALUES (1, 'x', 1), (2, 'x', 5)",
    )
    copy = attached(engine, tmp_path, replace(BODY, where="twice > 4"))
    drain(copy)
    run(engine, "UPDATE t SET base = 6 - base")
    drain(copy)
    assert (list(held(copy)), verify(copy).is_equal) == (["1"], True)
