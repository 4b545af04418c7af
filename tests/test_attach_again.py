"""Attachments that follow one another under one name, and records that cannot be read."""

import json
import logging
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import Engine as Database
from sqlalchemy import event

from attaching import PLAIN, attached, drain, held, make_articles, run
from notes import on_sqlite
from sakuin.app import lock_patience
from sakuin.app.assemble import Installation, installation
from sakuin.app.attach import attach, plan
from sakuin.app.attach_errors import AttachError, NotAttached
from sakuin.app.attached import read_attached, unreadable_attachments
from sakuin.app.catalogue import Catalogue
from sakuin.app.detach import detach, purge
from sakuin.app.paragraph_index import PARAGRAPHS_COLLECTION
from sakuin.app.plan_attach import Wanted
from sakuin.app.row_check import RowCheck
from sakuin.app.settings import read_settings
from sakuin.indexer.engine import Order
from sakuin.indexer.errors import GenerationGone
from sakuin.indexer.query import Everything
from sakuin.indexer.reader import Reader
from sakuin.indexer.verify import verify
from sakuin.queue import DatabaseBusy, create_schema, read


def test_another_table_under_a_name_has_no_ghosts(engine: Database, tmp_path: Path) -> None:
    """§7: generations of the table before count as none: no old row is found, none is kept."""
    make_articles(engine)
    run(
        engine,
        "INSERT INTO articles (id, title, body) VALUES (1, 'a', 'x'), (2, 'b', 'y')",
        "CREATE TABLE others (id INTEGER PRIMARY KEY, title VARCHAR(9), body TEXT)",
        "INSERT INTO others VALUES (2, 'c', 'z')",
    )
    first = attached(engine, tmp_path)
    drain(first)
    detach(engine, "articles")
    second = attached(engine, tmp_path, replace(PLAIN, table="others", name="articles"))
    assert (held(second), verify(second).missing.count) == ({}, 0)
    reader = Reader(second.engine, second.index.fields, second.generations)
    with pytest.raises(GenerationGone), reader.open(1):
        pass
    drain(second)
    assert (list(held(second)), verify(second).is_equal) == (["2"], True)
    assert second.generations.current() == 2
    assert read(engine, read_attached)[0].index != first.index


def test_purged_and_attached_again(engine: Database, tmp_path: Path) -> None:
    """§7: whoever searches meanwhile sees another collection, and so opens a new reader."""
    make_articles(engine)
    run(engine, "INSERT INTO articles (id, title, body) VALUES (1, 'a', 'x')")
    first = attached(engine, tmp_path)
    drain(first)
    (before,) = read(engine, read_attached)
    detach(engine, "articles")
    (tmp_path / ".trash-articles-0badcafe").mkdir()  # an earlier purge was killed
    assert purge(tmp_path, "articles")
    assert (list(tmp_path.glob(".trash*")), purge(tmp_path, "articles")) == ([], False)
    with pytest.raises(NotAttached):
        detach(engine, "articles")
    second = attached(engine, tmp_path)
    (after,) = read(engine, read_attached)
    assert before != after
    assert plan(engine, PLAIN).table.token == after.index.fields.source  # and again: the same
    drain(second)
    assert list(held(second)) == ["1"]


@on_sqlite
def test_a_program_that_searches_notices_that_the_index_is_another(
    engine: Database, database_url: str, tmp_path: Path
) -> None:
    """§7: purged and attached again, generation 1 is not the generation 1 that was open."""
    make_articles(engine)
    run(engine, "INSERT INTO articles (id, title, body) VALUES (1, 'a', 'x')")
    settings = read_settings({"database_url": database_url, "data_dir": str(tmp_path)}, {})
    root = settings.index_root
    drain(attached(engine, root))

    def searched(installed: Installation) -> list[str] | None:
        installed.catalogue._read_again_at = 0.0
        with installed.parts("articles").reader.open() as opened:
            if opened is None:
                return None
            hits = opened.searcher.search(Everything(), order=Order.ID, offset=0, limit=9).hits
            return [hit.document.id for hit in hits]

    with installation(settings) as installed:
        assert searched(installed) == ["1"]
        detach(engine, "articles")
        assert purge(root, "articles")
        run(engine, "UPDATE articles SET id = 7")
        copy = attached(engine, root)
        assert searched(installed) is None
        drain(copy)
        assert (searched(installed), copy.generations.current()) == (["7"], 1)


@on_sqlite
def test_purging_under_a_writer(engine: Database, tmp_path: Path) -> None:
    """§7: a worker that goes on writing does not keep the folder from going."""
    make_articles(engine)
    copy = attached(engine, tmp_path)
    drain(copy)
    copy.generations.prepare()
    ended, began = threading.Event(), threading.Event()

    def write() -> None:
        count = 0
        while not ended.is_set():
            try:
                (copy.generations.directory / f"file{(count := count + 1)}").touch()
            except FileNotFoundError:
                copy.generations.prepare()
            began.set()

    writer = threading.Thread(target=write)
    writer.start()
    try:
        assert began.wait(10)
        detach(engine, "articles")
        assert all(purge(tmp_path, "articles") in (True, False) for _ in range(20))
    finally:
        ended.set()
        writer.join()
    purge(tmp_path, "articles")
    assert not [each for each in tmp_path.iterdir() if each.is_dir()]


def test_a_record_of_a_newer_version_stands_alone(
    engine: Database, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """§7: one record that cannot be read takes no other index along, and is named once."""
    make_articles(engine)
    run(engine, "CREATE TABLE others (id INTEGER PRIMARY KEY, body TEXT)")
    attached(engine, tmp_path)
    attached(engine, tmp_path, Wanted("others", ("body",)))
    newer = json.dumps({"version": 2, "whatever": True})
    run(engine, f"UPDATE sakuin_attached SET config = '{newer}' WHERE name = 'others'")
    (known,) = read(engine, read_attached)
    assert known.index.name == "articles"
    (sentence,) = read(engine, unreadable_attachments)
    assert "'others'" in sentence
    assert "version 2" in sentence
    catalogue = Catalogue([], RowCheck(engine).ask)
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            assert [each.index.name for each in catalogue.every()] == ["paragraphs", "articles"]
            catalogue._read_again_at = 0.0
    assert [record.message for record in caplog.records] == [sentence]
    assert catalogue.troubles() == (sentence,)
    for refused in (
        lambda: plan(engine, Wanted("others", ("body",))),
        lambda: detach(engine, "others"),
    ):
        with pytest.raises(AttachError, match="version 2"):
            refused()
    run(engine, "UPDATE sakuin_attached SET config = '{' WHERE name = 'others'")
    assert len(read(engine, unreadable_attachments)) == 1


@on_sqlite
def test_a_name_that_a_model_has(
    engine: Database, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """§7: two tables cannot be one index: it is refused, and where it happened the model wins."""
    create_schema(engine)
    run(engine, "CREATE TABLE article (id INTEGER PRIMARY KEY, body TEXT)")
    wanted = Wanted("article", ("body",))
    with pytest.raises(AttachError, match="--name with another"):
        plan(engine, wanted, {"paragraphs", "article"})
    planned = plan(engine, wanted)
    attach(engine, planned)
    run(
        engine,
        "UPDATE sakuin_attached SET name = 'paragraphs', config = replace(config,"
        ' \'"name": "article", "schema"\', \'"name": "paragraphs", "schema"\')',
    )
    assert [each.index.name for each in read(engine, read_attached)] == ["paragraphs"]
    catalogue = Catalogue([], RowCheck(engine).ask)
    with caplog.at_level(logging.WARNING):
        (only,) = catalogue.every()
    assert only is PARAGRAPHS_COLLECTION
    assert "is a model's" in caplog.text
    run(engine, "INSERT INTO sakuin_messages (queue, data) VALUES ('index:paragraphs', '{}')")
    assert detach(engine, "paragraphs", has_model=True).messages == 0


def test_detaching_waits_for_a_table_only_a_moment(
    mariadb_url: str, open_database: Callable[[str], Database], monkeypatch: pytest.MonkeyPatch
) -> None:
    """S1: a DROP TRIGGER behind a long transaction holds no save for long, and says so."""
    monkeypatch.setattr(lock_patience, "WAIT_SECONDS", 1)
    engine = open_database(mariadb_url)
    run(engine, "CREATE TABLE t (id INT PRIMARY KEY, body TEXT)")
    attach(engine, plan(engine, Wanted("t", ("body",))))
    with engine.connect() as other, other.begin():
        other.exec_driver_sql("SELECT * FROM t").all()
        with pytest.raises(DatabaseBusy, match="waited 1 s"):
            detach(engine, "t")
    assert len(detach(engine, "t").triggers) == 3


def test_a_session_that_breaks_is_not_blamed_on_the_wait(
    mariadb_url: str, open_database: Callable[[str], Database]
) -> None:
    """What broke the session is raised, not that its time-out could not be set back."""
    engine = open_database(mariadb_url)
    with engine.connect() as connection, engine.connect() as other:
        number = connection.exec_driver_sql("SELECT CONNECTION_ID()").scalar_one()

        def break_it() -> None:
            with lock_patience.patience(connection, "t"):
                other.exec_driver_sql(f"KILL {number}")
                raise RuntimeError("the cause")

        with pytest.raises(RuntimeError, match="the cause"):
            break_it()
        assert connection.invalidated


def test_triggers_are_replaced_where_mysql_cannot_in_one_statement(
    mariadb_url: str,
    open_database: Callable[[str], Database],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """§7: MySQL has no CREATE OR REPLACE TRIGGER: DROP, then CREATE."""
    engine = open_database(mariadb_url)
    make_articles(engine)
    attached(engine, tmp_path)
    monkeypatch.setattr(engine.dialect, "is_mariadb", False)
    statements = list[str]()
    event.listen(engine, "before_cursor_execute", lambda *a: statements.append(a[2]))
    copy = attached(engine, tmp_path, replace(PLAIN, where="hits > 0"))
    assert sum(each.startswith("DROP TRIGGER") for each in statements) == 1
    assert sum(each.startswith("CREATE TRIGGER") for each in statements) == 1
    run(engine, "INSERT INTO articles (id, body, hits) VALUES (1, 'x', 1), (2, 'x', 0)")
    run(engine, "UPDATE articles SET hits = 1 - hits")
    drain(copy)
    assert (list(held(copy)), verify(copy).is_equal) == (["2"], True)
