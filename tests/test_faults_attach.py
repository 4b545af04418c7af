"""Faults that other systems were reported for, about what is said to be indexed and is not.

Named after the numbers of the list of reports (43: the ledger and the index disagree, 44: hooks
that see no bulk statement, or see it before it is committed).
"""

from dataclasses import replace
from pathlib import Path

from sqlalchemy import Engine as Database

from attaching import PLAIN, attached, drain, held, make_articles, run, texts
from notes import QUICK, on_sqlite
from sakuin.indexer.batch import run_batch
from sakuin.indexer.build import Copy
from sakuin.indexer.verify import repair, verify
from sakuin.queue import read, waiting_count


def filled(database: Database, root: Path) -> Copy:
    make_articles(database)
    run(database, "INSERT INTO articles (id, body) VALUES (1, '一'), (2, '二'), (3, '三')")
    copy = attached(database, root)
    drain(copy)
    return copy


def waiting(copy: Copy) -> int:
    return read(copy.database, lambda c: waiting_count(c, copy.index.queue, 1000))


def test_fault_43_messages_that_were_flushed_do_not_read_as_indexed(
    engine: Database, tmp_path: Path
) -> None:
    """I7: nobody's success is believed; index and rows are compared, and the rest pushed."""
    copy = filled(engine, tmp_path)
    run(
        engine,
        "INSERT INTO articles (id, body) VALUES (4, '四')",
        "UPDATE articles SET body = '弐' WHERE id = 2",
        "DELETE FROM articles WHERE id = 3",
        "DELETE FROM sakuin_messages",
    )
    report = verify(copy)
    assert (report.missing.first, report.changed.first, report.extra.first) == (
        ["4"],
        ["2"],
        ["3"],
    )
    repair(copy)
    drain(copy)
    assert texts(copy, "body") == {"1": ("一",), "2": ("弐",), "4": ("四",)}
    assert verify(copy).is_equal


def test_fault_43_a_busy_index_is_not_called_broken(engine: Database, tmp_path: Path) -> None:
    """I7: counts that differ because changes wait are no fault, and repair destroys nothing."""
    copy = filled(engine, tmp_path)
    run(
        engine,
        "INSERT INTO articles (id, body) VALUES (4, 'x')",
        "DELETE FROM articles WHERE id = 1",
    )
    report = verify(copy)
    assert (report.is_equal, report.rows, report.documents) == (True, 3, 3)
    assert (report.under_way, report.waiting) == (2, 2)
    repair(copy)
    assert waiting(copy) == 2  # nothing was pushed
    assert sorted(held(copy)) == ["1", "2", "3"]


def test_fault_43_truncate_and_cascades_are_found(engine: Database, tmp_path: Path) -> None:
    """§7: what triggers cannot see, verify finds and repair mends."""
    is_sqlite = engine.dialect.name == "sqlite"
    run(
        engine,
        "CREATE TABLE authors (id INT PRIMARY KEY)",
        "CREATE TABLE books (id INT PRIMARY KEY, author INT NOT NULL, body TEXT,"
        " FOREIGN KEY (author) REFERENCES authors (id) ON DELETE CASCADE)",
        "INSERT INTO authors VALUES (1), (2)",
        "INSERT INTO books VALUES (10, 1, 'x'), (11, 1, 'y'), (12, 2, 'z')",
    )
    copy = attached(engine, tmp_path, replace(PLAIN, table="books", columns=("body",)))
    drain(copy)
    run(engine, "DELETE FROM authors WHERE id = 1")
    assert waiting(copy) == (2 if is_sqlite else 0)  # SQLite's triggers do see cascades
    report = verify(copy)
    assert report.under_way + report.extra.count == 2
    assert report.extra.first == ([] if is_sqlite else ["10", "11"])
    repair(copy)
    drain(copy)
    assert sorted(held(copy)) == ["12"]
    if not is_sqlite:
        run(engine, "TRUNCATE TABLE books")
        assert verify(copy).extra.first == ["12"]
        repair(copy)
        drain(copy)
        assert held(copy) == {}


@on_sqlite
def test_fault_43_a_replace_that_deletes_another_row_is_found(
    engine: Database, tmp_path: Path
) -> None:
    """SQLite tells no trigger what REPLACE deletes for another unique key: verify finds it."""
    run(engine, "CREATE TABLE books (id INTEGER PRIMARY KEY, isbn TEXT UNIQUE, body TEXT)")
    run(engine, "INSERT INTO books VALUES (1, 'a', 'x'), (2, 'b', 'y')")
    copy = attached(engine, tmp_path, replace(PLAIN, table="books", columns=("body",)))
    drain(copy)
    run(engine, "REPLACE INTO books VALUES (3, 'a', 'z')")
    drain(copy)
    assert verify(copy).extra.first == ["1"]
    repair(copy)
    drain(copy)
    assert sorted(held(copy)) == ["2", "3"]


def test_fault_44_bulk_statements_and_other_connections_are_heard(
    engine: Database, tmp_path: Path
) -> None:
    """Q1: no hook of an object is needed; the message is in the transaction of the rows."""
    copy = filled(engine, tmp_path)
    with engine.connect() as writer, writer.begin() as changing:
        writer.exec_driver_sql("UPDATE articles SET body = 'まだ'")
        if engine.dialect.name != "sqlite":  # where a reader and a writer may be at it at once
            assert run_batch(copy, QUICK) is None
        changing.rollback()
    assert (waiting(copy), run_batch(copy, QUICK)) == (0, None)
    run(engine, "UPDATE articles SET body = 'もう' WHERE id > 1")
    drain(copy)
    assert texts(copy, "body") == {"1": ("一",), "2": ("もう",), "3": ("もう",)}


def test_fault_44_only_what_is_searched_or_shown_makes_work(
    engine: Database, tmp_path: Path
) -> None:
    """A counter that every page view raises pushes nothing; a save that changes nothing neither."""
    copy = filled(engine, tmp_path)
    run(engine, "UPDATE articles SET hits = hits + 1", "UPDATE articles SET body = body")
    assert waiting(copy) == 0
    run(engine, "UPDATE articles SET title = '' WHERE id = 1")  # it was NULL
    assert waiting(copy) == 1


def test_fault_44_one_table_in_two_indexes(engine: Database, tmp_path: Path) -> None:
    """Each index has triggers and a queue of its own; neither takes the other's messages."""
    copy = filled(engine, tmp_path)
    other = attached(
        engine, tmp_path, replace(PLAIN, name="public_only", where="status = 'public'")
    )
    run(engine, "UPDATE articles SET body = '変', status = 'draft' WHERE id = 1")
    drain(copy)
    drain(other)
    assert (texts(copy, "body")["1"], sorted(held(other))) == (("変",), ["2", "3"])
    assert verify(copy).is_equal
    assert verify(other).is_equal
