"""Keys that a database takes and an index must be careful with: no save fails, no row is unseen."""

from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import Engine as Database

from attaching import attached, drain, held, run
from notes import on_sqlite
from sakuin.app.attach import plan
from sakuin.app.attach_errors import AttachError
from sakuin.app.plan_attach import Wanted
from sakuin.indexer.errors import SourceChanged
from sakuin.indexer.verify import verify
from sakuin.queue import create_schema, queue_counts, read

BODY = Wanted("t", ("body",))


@on_sqlite
@pytest.mark.parametrize("declared", ["INT", "TEXT", "UUID", "STRING", "DATE", "VARCHAR(9)"])
def test_no_save_fails_for_its_key(engine: Database, tmp_path: Path, declared: str) -> None:
    """§7: what was saved before the triggers is saved with them; what is no key is counted."""
    run(engine, f"CREATE TABLE t (id {declared} PRIMARY KEY, body TEXT)")
    copy = attached(engine, tmp_path, BODY)
    keys = ("NULL", "NULL", "17", "'a\"b'", "X'00FF'", "0.1 + 0.2", "'007'", "1.5")
    run(engine, *(f"INSERT INTO t VALUES ({key}, 'x')" for key in keys))
    run(
        engine,
        "UPDATE t SET body = 'y'",
        "UPDATE t SET id = 'c\"d' WHERE id IS NULL AND rowid = 1",
        "UPDATE t SET id = NULL WHERE id = 17",
        "UPDATE t SET id = 18 WHERE id IS NULL AND rowid = 3",
        "DELETE FROM t WHERE id IS NULL",
        "INSERT INTO t VALUES (NULL, 'z')",
    )
    drain(copy)
    report = verify(copy)
    count = read(engine, lambda c: c.exec_driver_sql("SELECT COUNT(*) FROM t").scalar_one())
    strays = report.unreadable.count
    assert (strays > 0, report.documents + strays, report.rows + strays) == (True, count, count)
    assert (report.missing.count, report.extra.count, report.changed.count) == (0, 0, 0)
    assert (report.dead, report.waiting) == (0, 0)
    assert {"INT": {"18", "7"}}.get(declared, {"18", 'a"b', 'c"d'}) <= set(held(copy))
    assert "NULL" in report.unreadable.first


@on_sqlite
@pytest.mark.parametrize("declared", ["UUID", "STRING", "CHAR(36)"])
def test_texts_in_columns_of_any_declared_type(
    engine: Database, tmp_path: Path, declared: str
) -> None:
    """§7: SQLite's affinity decides, not the name: rows from before and after are documents."""
    first, second = (f"00000000-0000-0000-0000-0000000000a{n}" for n in (1, 2))
    run(
        engine,
        f"CREATE TABLE t (id {declared} PRIMARY KEY, body TEXT, tag {declared})",
        f"INSERT INTO t VALUES ('{first}', 'x', 'red')",
    )
    copy = attached(engine, tmp_path, Wanted("t", ("body",), filters=("tag",)))
    run(engine, f"INSERT INTO t VALUES ('{second}', 'y', 'blue')")
    drain(copy)
    assert {one: dict(each.values) for one, each in held(copy).items()} == {
        first: {"tag": "red"},
        second: {"tag": "blue"},
    }
    assert verify(copy).is_equal


@on_sqlite
def test_odd_parts_of_a_composite_key(engine: Database, tmp_path: Path) -> None:
    run(engine, "CREATE TABLE t (a INT, b UUID, body TEXT, PRIMARY KEY (a, b))")
    copy = attached(engine, tmp_path, BODY)
    run(engine, "INSERT INTO t VALUES (1, 'u', 'x'), (1, 7, 'x'), (NULL, 'u', 'x'), (2, NULL, 'x')")
    run(engine, "UPDATE t SET b = 'v' WHERE a = 2", "UPDATE t SET b = NULL WHERE b = 7")
    drain(copy)
    assert sorted(held(copy)) == ['[1,"u"]', '[2,"v"]']
    report = verify(copy)
    assert (report.unreadable.count, report.unreadable.first) == (2, ["NULL, 'u'", "1, NULL"])


@pytest.mark.parametrize("charset", ["cp932", "eucjpms"])
def test_characters_that_a_charset_has_twice(
    mariadb_url: str, open_database: Callable[[str], Database], tmp_path: Path, charset: str
) -> None:
    """§8: ≒ and 纊 in both their places: each row is a document of its own, and can change."""
    engine = open_database(mariadb_url)
    create_schema(engine)
    keys = {
        "cp932": ("8790", "81E0", "ED40", "FA5C", "F040", "82A0"),
        "eucjpms": ("A2E2", "ADF0", "A4A2"),
    }[charset]
    made = [f"(CONVERT(X'{key}' USING {charset}), 'x')" for key in keys]
    run(
        engine,
        f"CREATE TABLE t (k VARCHAR(20) COLLATE {charset}_bin PRIMARY KEY, body TEXT)"
        f" CHARACTER SET {charset}",
        f"INSERT INTO t VALUES {', '.join(made[:3])}",
    )
    copy = attached(engine, tmp_path, BODY)
    run(engine, *(f"INSERT INTO t VALUES {each}" for each in made[3:]))
    run(engine, "UPDATE t SET body = 'y'")
    drain(copy)
    report = verify(copy)
    assert (report.is_equal, report.rows, report.documents) == (True, len(keys), len(keys))
    assert {each.text["body"] for each in held(copy).values()} == {"y"}
    loader, walked, after = copy.index.loader, list[str](), None
    while page := read(engine, lambda c: loader.ids_after(c, after, 1)):  # noqa: B023
        walked += page
        after = page[-1]
    assert sorted(walked) == sorted(held(copy))
    run(engine, "DELETE FROM t")
    drain(copy)
    assert (held(copy), verify(copy).is_equal) == ({}, True)


@on_sqlite
def test_a_key_that_is_no_text_is_the_operator_s(engine: Database, tmp_path: Path) -> None:
    """Q4: bytes in a textual key that are not UTF-8: the save goes on, and the table is named."""
    run(engine, "CREATE TABLE t (k TEXT PRIMARY KEY, body TEXT)")
    copy = attached(engine, tmp_path, BODY)
    run(engine, "INSERT INTO t VALUES (CAST(X'FF' AS TEXT), 'x'), ('b' || char(0) || 'c', 'y')")
    drain(copy)
    assert list(held(copy)) == ["b\0c"]
    with pytest.raises(SourceChanged, match="a key of t cannot be read"):
        verify(copy)
    run(engine, "DELETE FROM t WHERE body = 'x'")
    assert verify(copy).rows == 1


def test_tables_of_our_own_are_refused(engine: Database) -> None:
    """§7: a trigger on the queue would push for every push."""
    create_schema(engine)
    for table in ("sakuin_messages", "SAKUIN_Dead", "sakuin_attached"):
        with pytest.raises(AttachError, match="Sakuin's own"):
            plan(engine, Wanted(table, ("queue",)))
    assert read(engine, lambda c: queue_counts(c, "index:sakuin_messages")).ready == 0


def test_names_with_backticks_and_dots(
    mariadb_url: str, open_database: Callable[[str], Database], tmp_path: Path
) -> None:
    """§8: a backtick in a column's name is none of our business; a dot in a table's is told."""
    engine = open_database(mariadb_url)
    create_schema(engine)
    run(
        engine,
        "CREATE TABLE t (`i``d` INT PRIMARY KEY, `a``b` INT, body TEXT)",
        "CREATE TABLE `d.t` (id INT PRIMARY KEY, body TEXT)",
    )
    copy = attached(engine, tmp_path, BODY)
    run(engine, "INSERT INTO t VALUES (1, 2, 'x')", "UPDATE t SET `i``d` = 3")
    drain(copy)
    assert (sorted(held(copy)), verify(copy).is_equal) == (["3"], True)
    with pytest.raises(AttachError, match="own name has a dot"):
        plan(engine, Wanted("d.t", ("body",)))


def test_a_date_of_zeros_is_no_time(
    mariadb_url: str, open_database: Callable[[str], Database], tmp_path: Path
) -> None:
    """Q7: TIMESTAMP 0000-00-00 is not 1970; the first second of it is."""
    engine = open_database(mariadb_url)
    create_schema(engine)
    run(
        engine,
        "CREATE TABLE t (id INT PRIMARY KEY, body TEXT, ts TIMESTAMP NULL)",
        "SET sql_mode = '', time_zone = '+00:00'",
        "INSERT INTO t VALUES (1, 'x', '0000-00-00 00:00:00'), (2, 'x', '1970-01-01 00:00:01')",
        "SET sql_mode = DEFAULT, time_zone = DEFAULT",
    )
    copy = attached(engine, tmp_path, Wanted("t", ("body",), filters=("ts",), title="{ts}"))
    drain(copy)
    assert {one: dict(each.values) for one, each in held(copy).items()} == {
        "1": {},
        "2": {"ts": 1_000_000},
    }
