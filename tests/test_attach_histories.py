"""Whatever changes a table, by whichever way: after the drain the index equals the table."""

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from sqlalchemy import Engine as Database
from sqlalchemy import String, Text, delete, update
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

from attaching import PLAIN, attached, drain, held, make_articles, run
from conftest import Stress
from notes import QUICK
from sakuin.indexer.batch import run_batch
from sakuin.indexer.verify import verify
from sakuin.queue import read

WANTED = replace(
    PLAIN, where="status = 'public' AND hits >= 0", filters=("hits", "status"), title="{id}"
)
WORDS = ("人間", "殺し", "残酷", "a cat", "iPhone15", "ｶﾞ", "100%", "it's", "\\", "😀", "")
LOADED = "{id}\t題{id}\tロード%\t{status}\t{hits}\n"


class _Base(DeclarativeBase):
    pass


class Article(_Base):
    __tablename__ = "articles"
    id: Mapped[int] = mapped_column(primary_key=True)
    title: Mapped[str | None] = mapped_column(String(100))
    body: Mapped[str | None] = mapped_column(Text)
    status: Mapped[str] = mapped_column(default="public")
    hits: Mapped[int] = mapped_column(default=0)


class Program:
    """A program that knows nothing of Sakuin, and changes articles in every way there is."""

    def __init__(self, database: Database, others: Database, chance: random.Random, folder: Path):
        self.database, self.others, self.chance = database, others, chance
        self.folder = folder

    def one_change(self) -> None:
        ways: list[Callable[[], None]] = [
            self.orm_insert,
            self.orm_change,
            self.raw,
            self.bulk,
            self.insert_select,
            self.replace,
            self.upsert,
            self.change_key,
            self.roll_back,
        ]
        if self.database.dialect.name != "sqlite":
            ways.append(self.load_data)
        self.chance.choice(ways)()

    def article(self) -> Article:
        some = self.chance.choice
        return Article(
            title=some((None, *WORDS)),
            body=" ".join(self.chance.choices(WORDS, k=3)),
            status=some(("public", "public", "draft")),
            hits=some((-1, 0, 7)),
        )

    def some_id(self) -> int:
        return self.chance.randrange(1, 30)

    def orm_insert(self) -> None:
        with Session(self.database) as session, session.begin():
            session.add_all([self.article() for _ in range(3)])

    def orm_change(self) -> None:
        with Session(self.database) as session, session.begin():
            found = session.get(Article, self.some_id())
            if found and self.chance.random() < 0.5:
                session.delete(found)
            elif found:
                found.body, found.hits = "orm", self.chance.randrange(3)

    def raw(self) -> None:
        some = self.some_id()
        run(
            self.database,
            f"UPDATE articles SET title = 'Raw' WHERE id = {some}",
            f"UPDATE articles SET title = 'raw' WHERE id = {some}",
            f"DELETE FROM articles WHERE id = {some + 1}",
        )

    def bulk(self) -> None:
        with Session(self.database) as session, session.begin():
            session.execute(
                update(Article)
                .where(Article.id % 3 == self.chance.randrange(3))
                .values(status=self.chance.choice(("public", "draft")), body="bulk")
            )
            low = self.some_id()
            session.execute(delete(Article).where(Article.id.between(low, low + 2)))

    def insert_select(self) -> None:
        base = self.chance.randrange(100, 10**6)
        run(
            self.database,
            f"DELETE FROM articles WHERE id >= {base}",
            "INSERT INTO articles (id, title, body, status, hits)"
            f" SELECT id + {base}, title, body, status, hits FROM articles WHERE id < 10",
        )

    def replace(self) -> None:
        run(
            self.database,
            f"REPLACE INTO articles (id, title, body) VALUES ({self.some_id()}, 'replaced', '葦')",
        )

    def upsert(self) -> None:
        way = (
            "ON CONFLICT (id) DO UPDATE SET"
            if self.database.dialect.name == "sqlite"
            else "ON DUPLICATE KEY UPDATE"
        )
        run(
            self.database,
            f"INSERT INTO articles (id, title) VALUES ({self.some_id()}, '新')"
            f" {way} body = 'upserted', status = 'public'",
        )

    def change_key(self) -> None:
        some, other = self.some_id(), self.some_id() + 1000
        run(
            self.database,
            f"DELETE FROM articles WHERE id = {other}",
            f"UPDATE articles SET id = {other} WHERE id = {some}",
        )

    def roll_back(self) -> None:
        with self.others.connect() as connection, connection.begin() as trying:
            some = self.some_id()
            connection.exec_driver_sql(f"UPDATE articles SET body = 'never' WHERE id = {some}")
            connection.exec_driver_sql("INSERT INTO articles (title) VALUES ('never')")
            trying.rollback()

    def load_data(self) -> None:
        rows = [
            LOADED.format(id=one, status=self.chance.choice(("public", "draft")), hits=one)
            for one in self.chance.sample(range(1, 40), 5)
        ]
        path = self.folder / "rows.tsv"
        path.write_text("".join(rows), encoding="utf-8")
        run(
            self.others,
            f"LOAD DATA LOCAL INFILE '{path}' REPLACE INTO TABLE articles CHARACTER SET utf8mb4"
            " (id, title, body, status, hits)",
        )


def should_hold(database: Database) -> dict[str, tuple[str, str, int]]:
    """The table itself, asked without Sakuin."""
    with database.connect() as connection:
        rows = connection.exec_driver_sql(
            "SELECT id, COALESCE(title, ''), COALESCE(body, ''), hits FROM articles"
            " WHERE status = 'public' AND hits >= 0"
        ).all()
    return {str(row[0]): (row[1], row[2], row[3]) for row in rows}


def test_random_histories(
    engine: Database,
    tmp_path: Path,
    stress: Stress,
    open_database: Callable[[str], Database],
) -> None:
    """I5, §7: 100 random histories on each database; each ends with index = table."""
    make_articles(engine)
    copy = attached(engine, tmp_path / "index", WANTED)
    url = engine.url.render_as_string(hide_password=False)
    others = open_database(url if engine.dialect.name == "sqlite" else f"{url}&local_infile=1")
    chance = stress.random()
    program = Program(engine, others, chance, tmp_path)
    for _ in range(stress.count(100)):
        run(engine, "DELETE FROM articles")
        rows = ", ".join(f"({n}, '題', '本文{n}')" for n in range(1, 25))
        run(engine, f"INSERT INTO articles (id, title, body) VALUES {rows}")
        for _ in range(9):
            program.one_change()
            if chance.random() < 0.2:
                run_batch(copy, QUICK)
        drain(copy)
        found = {
            one: (each.text["title"], each.text["body"], each.values["hits"])
            for one, each in held(copy).items()
        }
        assert found == should_hold(engine)
        report = verify(copy)
        assert report.is_equal
        assert (report.waiting, report.dead) == (0, 0)


def test_the_oracle_is_not_empty(engine: Database) -> None:
    """The comparison above compares something: rows within and without the condition."""
    make_articles(engine)
    run(engine, "INSERT INTO articles (id, body, status) VALUES (1, 'x', 'public'), (2, 'y', 'no')")
    assert should_hold(engine) == {"1": ("", "x", 0)}
    assert read(engine, lambda c: c.exec_driver_sql("SELECT COUNT(*) FROM articles").scalar()) == 2
