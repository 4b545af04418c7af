"""An attachment's life: repeated, changed, damaged, silenced, ended."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import Connection
from sqlalchemy import Engine as Database

from attaching import PLAIN, attached, drain, found, held, make_articles, run, texts
from databases import claimed
from notes import QUICK, on_sqlite
from sakuin.app.attach import attach, plan
from sakuin.app.attach_errors import AttachError
from sakuin.app.attached import read_attached
from sakuin.app.check_attached import check_attached
from sakuin.app.detach import detach
from sakuin.app.plan_attach import Wanted
from sakuin.app.silence import silenced
from sakuin.app.table_loader import TableLoader
from sakuin.indexer.batch import run_batch
from sakuin.indexer.build import Copy
from sakuin.indexer.changes import push_changes
from sakuin.indexer.errors import GenerationMismatch
from sakuin.indexer.rebuild import rebuild
from sakuin.indexer.verify import verify
from sakuin.queue import queue_counts, read, replay, waiting_count


def waiting(copy: Copy) -> int:
    return read(copy.database, lambda c: waiting_count(c, copy.index.queue, 10_000))


def table_of(copy: Copy) -> TableLoader:
    loader = copy.index.loader
    assert isinstance(loader, TableLoader)
    return loader


def filled(database: Database, root: Path, rows: int = 3) -> Copy:
    make_articles(database)
    values = ", ".join(f"({n}, '題{n}', '本文{n}')" for n in range(1, rows + 1))
    run(database, f"INSERT INTO articles (id, title, body) VALUES {values}")
    return attached(database, root)


def test_attaching_again_does_nothing_more(engine: Database, tmp_path: Path) -> None:
    copy = filled(engine, tmp_path)
    drain(copy)
    again = plan(engine, PLAIN)
    done = attach(engine, again)
    assert (done.triggers, done.pushed, again.needs_rebuild) == (0, 0, False)
    assert waiting(copy) == 0
    (known,) = read(engine, read_attached)
    assert known.index == copy.index


def test_rows_are_pushed_in_thousands_and_go_on_where_they_stopped(
    engine: Database, tmp_path: Path
) -> None:
    """A backfill that was cut off goes on: nothing is pushed twice, nothing is left out."""
    make_articles(engine)
    rows = ", ".join(f"({n}, 'x')" for n in range(1, 2501))
    run(engine, f"INSERT INTO articles (id, body) VALUES {rows}")

    def cut(pushed: int) -> None:
        if pushed == 2000:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        attach(engine, plan(engine, PLAIN), cut)
    done = attach(engine, plan(engine, PLAIN))
    assert (done.triggers, done.pushed) == (0, 500)
    copy = attached(engine, tmp_path)
    assert waiting(copy) == 3
    drain(copy)
    assert len(held(copy)) == 2500


def test_saves_go_before_what_was_there_already(engine: Database, tmp_path: Path) -> None:
    """While a large table is being taken up, a save does not wait behind it."""
    copy = filled(engine, tmp_path)
    run(engine, "INSERT INTO articles (id, body) VALUES (9, 'jetzt')")
    first, second = claimed(engine, copy.index.queue)
    assert (first, second) == (b'{"ids": ["9"]}', b'{"ids":["1","2","3"]}')


def test_another_condition_moves_rows_in_and_out(engine: Database, tmp_path: Path) -> None:
    """Where the fields are the same, changed options need no rebuild."""
    copy = filled(engine, tmp_path)
    drain(copy)
    run(engine, "UPDATE articles SET status = 'draft' WHERE id = 2")
    assert waiting(copy) == 0  # no relevant column
    copy = attached(engine, tmp_path, replace(PLAIN, where="status = 'public'"))
    drain(copy)
    assert sorted(held(copy)) == ["1", "3"]
    run(engine, "UPDATE articles SET status = 'draft' WHERE id = 3")
    assert waiting(copy) == 1
    drain(copy)
    assert (sorted(held(copy)), verify(copy).is_equal) == (["1"], True)


def test_what_a_hit_is_called_needs_no_work(engine: Database, tmp_path: Path) -> None:
    """Weights, title and address are no part of a document: they count at once."""
    copy = filled(engine, tmp_path)
    drain(copy)
    wanted = replace(PLAIN, columns=("title:5", "body"), title="title", url="/a/{id}")
    planned = plan(engine, wanted)
    assert (planned.needs_rebuild, attach(engine, planned).pushed) == (False, 0)
    (known,) = read(engine, read_attached)
    assert known.index.fields.weight("title") == 5
    document = held(copy)["1"]
    assert (known.title_of(document), known.url_of(document)) == ("題1", "/a/1")


def test_other_fields_need_a_rebuild(engine: Database, tmp_path: Path) -> None:
    copy = filled(engine, tmp_path)
    drain(copy)
    wanted = replace(PLAIN, filters=("hits",))
    assert plan(engine, wanted).needs_rebuild
    changed = attached(engine, tmp_path, wanted)
    run(engine, "UPDATE articles SET hits = 9 WHERE id = 1")
    with pytest.raises(GenerationMismatch, match="sakuin index rebuild"):
        run_batch(changed, QUICK)
    rebuild(changed)
    drain(changed)
    assert held(changed)["1"].values == {"hits": 9}
    assert verify(changed).is_equal


def test_vanished_triggers_are_named_and_mended(engine: Database, tmp_path: Path) -> None:
    """A tool that swaps a changed copy for the table leaves the triggers behind."""
    copy = filled(engine, tmp_path)
    drain(copy)
    table = table_of(copy).table
    assert not read(engine, lambda c: check_attached(c, table))
    run(
        engine,
        "CREATE TABLE articles_new (id INTEGER PRIMARY KEY, title VARCHAR(100), body TEXT,"
        " status VARCHAR(10) NOT NULL DEFAULT 'public', hits INT NOT NULL DEFAULT 0, more INT)",
        "INSERT INTO articles_new SELECT id, title, body, status, hits, 1 FROM articles",
        "ALTER TABLE articles RENAME TO articles_old",
        "ALTER TABLE articles_new RENAME TO articles",
        "INSERT INTO articles (id, body) VALUES (9, '間に来た')",
        "DELETE FROM articles WHERE id = 1",
    )
    damage = read(engine, lambda c: check_attached(c, table))
    assert damage.triggers == tuple(
        f"sakuin_articles_{event}" for event in ("insert", "update", "delete")
    )
    assert damage.command == (
        "sakuin attach " + ("" if engine.dialect.name == "sqlite" else f"{table.schema}.")
        + "articles --columns title:2,body --name articles"
    )  # fmt: skip
    report = verify(copy)
    assert (report.missing.first, report.extra.first) == (["9"], ["1"])
    again = attached(engine, tmp_path)
    assert not read(engine, lambda c: check_attached(c, table))
    drain(again)
    assert sorted(held(again)) == ["1", "2", "3", "9"]  # what went unseen is for repair
    run(engine, "UPDATE articles SET body = '変' WHERE id = 2", "DROP TABLE articles_old")
    drain(again)
    assert texts(again, "body")["2"] == ("変",)


def test_a_dropped_column_stops_batches_and_buries_nothing(
    engine: Database, tmp_path: Path
) -> None:
    """The operator's trouble, not the documents': messages wait, verify names the column."""
    copy = filled(engine, tmp_path)
    drain(copy)
    run(engine, "UPDATE articles SET body = 'x'")
    for event in ("insert", "update", "delete"):  # SQLite does not let the column go before
        run(engine, f"DROP TRIGGER sakuin_articles_{event}")
    run(engine, "ALTER TABLE articles DROP COLUMN title")
    with pytest.raises(Exception, match="title"):
        run_batch(copy, QUICK)
    counts = read(engine, lambda c: queue_counts(c, copy.index.queue))
    assert (counts.ready, counts.dead) == (3, 0)
    damage = read(engine, lambda c: check_attached(c, table_of(copy).table))
    assert damage.columns == ("title",)


def test_silence_is_for_this_connection_and_this_block(engine: Database, tmp_path: Path) -> None:
    """§7: a bulk load pushes by itself; a rollback or an error leaves no connection silent."""
    copy = filled(engine, tmp_path)
    drain(copy)

    def load(connection: Connection) -> None:
        with silenced(connection), silenced(connection):
            connection.exec_driver_sql("UPDATE articles SET body = '静か'")
        push_changes(connection, copy.index, ["1"])
        connection.exec_driver_sql("UPDATE articles SET body = '声' WHERE id = 3")

    replay(engine, load)
    assert waiting(copy) == 2
    drain(copy)
    assert texts(copy, "body") == {"1": ("静か",), "2": ("本文2",), "3": ("声",)}
    with pytest.raises(RuntimeError), engine.begin() as connection, silenced(connection):
        raise RuntimeError
    engine.dispose()  # so that the next one gets the very connection that was silent
    with engine.connect() as connection:
        connection.begin()
        abandoned = silenced(connection)
        abandoned.__enter__()
        if engine.dialect.name == "sqlite":
            connection.rollback()
    run(engine, "UPDATE articles SET body = '声' WHERE id = 2")
    assert waiting(copy) == 1
    del abandoned


def test_detaching_leaves_nothing_behind(engine: Database, tmp_path: Path) -> None:
    copy = filled(engine, tmp_path)
    run(engine, "INSERT INTO articles (id, body) VALUES (9, 'x')")
    done = detach(engine, "articles")
    assert (len(done.triggers), done.messages) == (3, 2)
    run(engine, "INSERT INTO articles (id, body) VALUES (10, 'x')")
    assert waiting(copy) == 0
    assert read(engine, read_attached) == []
    with pytest.raises(AttachError, match="no table is attached as 'articles'"):
        detach(engine, "articles")
    attached(engine, tmp_path)
    drain(copy)
    assert found(copy, "x") == ["9", "10"]


@on_sqlite
@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        (Wanted("nothing", ("body",)), "there is no table nothing; there are: articles"),
        (Wanted("a_view", ("body",)), "is a view"),
        (Wanted("keyless", ("body",)), "no primary key"),
        (Wanted("articles", ("boody",)), "no column 'boody'; it has: id, title, body"),
        (Wanted("articles", ()), "--columns names no column"),
        (Wanted("articles", ("body:heavy",)), "must be a number"),
        (Wanted("articles", ("body",), where="statu = 1"), "no such column: statu"),
        (Wanted("articles", ("body",), name="paragraphs"), "Sakuin's own index"),
        (Wanted("articles", ("body",), name="A-B"), "cannot name the index"),
        (Wanted("articles", ("body",), created="hits"), "must be a date or a time"),
        (Wanted("articles", ("body",), filters=("body",)), "named twice"),
        (Wanted("articles", ("body",), url="javascript:{id}"), "must begin with https"),
        (Wanted("articles", ("title",), html=("body",)), "none of --columns"),
        (Wanted("odd", ("pic",)), "holds bytes"),
        (Wanted("odd", ("made",)), "is generated"),
        (Wanted("odd", ("body",), filters=("price",)), "decimal with a fraction"),
        (Wanted("other.odd", ("body",)), "one file only"),
    ],
)
def test_what_will_not_do_is_named(engine: Database, wanted: Wanted, said: str) -> None:
    make_articles(engine)
    run(
        engine,
        "CREATE VIEW a_view AS SELECT * FROM articles",
        "CREATE TABLE keyless (body TEXT)",
        "CREATE TABLE odd (id INTEGER PRIMARY KEY, body TEXT, pic BLOB, price DECIMAL(8, 2),"
        " made TEXT GENERATED ALWAYS AS (body || '!') VIRTUAL)",
    )
    with pytest.raises(AttachError) as caught:
        plan(engine, wanted)
    assert said in str(caught.value)


def test_names_that_are_taken(engine: Database, tmp_path: Path) -> None:
    """Another table's index, and a trigger that is not ours, are left alone and named."""
    filled(engine, tmp_path)
    run(engine, "CREATE TABLE other (id INTEGER PRIMARY KEY, body TEXT)")
    with pytest.raises(AttachError, match=r"attached to .*articles"):
        plan(engine, Wanted("other", ("body",), name="articles"))
    body = "BEGIN SELECT 1; END" if engine.dialect.name == "sqlite" else "FOR EACH ROW SET @x = 1"
    run(engine, f"CREATE TRIGGER sakuin_other_update AFTER UPDATE ON other {body}")
    with pytest.raises(AttachError, match="sakuin_other_update on other is not Sakuin's"):
        plan(engine, Wanted("other", ("body",)))


def test_a_table_without_transactions_is_told(
    mariadb_url: str, open_database: Callable[[str], Database]
) -> None:
    engine = open_database(mariadb_url)
    run(engine, "CREATE TABLE t (id INT PRIMARY KEY, body TEXT) ENGINE = MyISAM")
    planned = plan(engine, Wanted("t", ("body",)))
    assert (planned.facts.engine, planned.facts.is_transactional) == ("MyISAM", False)
