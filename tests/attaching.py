"""Attached tables as the tests need them: attach, drain, and compare with the table itself."""

from collections.abc import Mapping
from pathlib import Path

from sqlalchemy import Connection
from sqlalchemy import Engine as Database

from notes import QUICK
from sakuin.app.attach import attach, plan
from sakuin.app.attached import collection_of
from sakuin.app.plan_attach import Wanted
from sakuin.indexer.batch import run_batch
from sakuin.indexer.build import Copy
from sakuin.indexer.document import Document
from sakuin.indexer.engine import Engine, Order
from sakuin.indexer.engines import default_engine
from sakuin.indexer.generations import Generations
from sakuin.indexer.query import Everything, Phrase, Query
from sakuin.indexer.reader import Reader
from sakuin.queue import replay

PLAIN = Wanted("articles", ("title:2", "body"))

MYSQL_ARTICLES = (
    "CREATE TABLE articles (id BIGINT UNSIGNED AUTO_INCREMENT PRIMARY KEY, title VARCHAR(100),"
    " body MEDIUMTEXT, status VARCHAR(10) NOT NULL DEFAULT 'public', hits INT NOT NULL DEFAULT 0)"
    " CHARACTER SET utf8mb4"
)
SQLITE_ARTICLES = (
    "CREATE TABLE articles (id INTEGER PRIMARY KEY, title VARCHAR(100),"
    " body TEXT, status VARCHAR(10) NOT NULL DEFAULT 'public', hits INT NOT NULL DEFAULT 0)"
)


def run(database: Database, *statements: str) -> None:
    """Run SQL as any program would, in one transaction."""

    def work(connection: Connection) -> None:
        for statement in statements:
            connection.exec_driver_sql(statement)

    replay(database, work)


def make_articles(database: Database) -> None:
    """Make a table of articles that knows nothing of Sakuin."""
    run(database, SQLITE_ARTICLES if database.dialect.name == "sqlite" else MYSQL_ARTICLES)


def attached(
    database: Database, root: Path, wanted: Wanted = PLAIN, engine: Engine | None = None
) -> Copy:
    """Attach a table and return the copy of its index."""
    planned = plan(database, wanted)
    attach(database, planned)
    index = collection_of(planned.table).index
    return Copy(index, engine or default_engine(), Generations(root, index.name), database)


def drain(copy: Copy) -> None:
    """Do batches until nothing is ready."""
    while run_batch(copy, QUICK):
        pass


def held(copy: Copy, query: Query | None = None) -> dict[str, Document]:
    """Return what the current generation holds, by id."""
    reader = Reader(copy.engine, copy.index.fields, copy.generations)
    try:
        with reader.open() as opened:
            if opened is None:
                return {}
            found = opened.searcher.search(
                query or Everything(), order=Order.ID, offset=0, limit=100_000
            )
        return {hit.document.id: hit.document for hit in found.hits}
    finally:
        reader.close()


def found(copy: Copy, text: str) -> list[str]:
    """Return the ids of what a phrase finds."""
    return list(held(copy, Phrase(text)))


def texts(copy: Copy, *names: str) -> Mapping[str, tuple[str, ...]]:
    """Return these fields of all documents, by id."""
    return {one: tuple(each.text[name] for name in names) for one, each in held(copy).items()}
