"""Notes: a small index with string keys and two searched fields, which the program does not know.

Everything the indexer promises is proved with it, so that nothing in it can be about paragraphs.
"""

import hashlib
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from sqlalchemy import (
    Column,
    Connection,
    MetaData,
    Row,
    String,
    Table,
    Text,
    delete,
    insert,
    select,
)
from sqlalchemy import Engine as Database
from sqlalchemy.dialects import mysql

from oracle import matching_ids, settle
from sakuin.indexer.batch import Batch, run_batch
from sakuin.indexer.build import Copy, Observer
from sakuin.indexer.changes import push_changes
from sakuin.indexer.document import Document, Fields
from sakuin.indexer.engine import Engine, Order, Searcher
from sakuin.indexer.engines import ENGINE_NAMES, default_engine, engine_named
from sakuin.indexer.gather import Limits
from sakuin.indexer.generations import Generations
from sakuin.indexer.index import Index
from sakuin.indexer.pin import pin_current
from sakuin.indexer.query import Everything, Phrase
from sakuin.queue import create_schema, queue_counts, read, replay, waiting_count

on_sqlite = pytest.mark.parametrize("database_kind", ["sqlite"])
"""For what has nothing to do with the database: the fixtures then give SQLite only."""

with_both_engines = pytest.mark.parametrize("engine_name", ENGINE_NAMES)

FIELDS = Fields(searched=("title", "body"), text_ids=True)
QUICK = Limits(gather_seconds=0.001, lease_seconds=5.0)

NOTES = Table(
    "notes",
    MetaData(),
    Column("id", String(64), primary_key=True),
    Column("title", String(200), nullable=False),
    Column("body", Text().with_variant(mysql.MEDIUMTEXT(), "mysql"), nullable=False),
    mysql_charset="utf8mb4",
    mysql_collate="utf8mb4_bin",
)


@dataclass(frozen=True, slots=True)
class Note:
    """One note. Its id is its key in the table."""

    body: str
    title: str = "note"


class NoteLoader:
    """Reads notes. `on_body` is called with each body: it may raise, or end the process."""

    def __init__(self, on_body: Callable[[str], None] = lambda _: None) -> None:
        self._on_body = on_body

    def load(self, connection: Connection, ids: Sequence[str]) -> list[Document]:
        rows = connection.execute(select(NOTES).where(NOTES.c.id.in_(ids))).all()
        for row in rows:
            self._on_body(row.body)
        return [_document(row) for row in rows]

    def ids_after(self, connection: Connection, after: str | None, limit: int) -> list[str]:
        statement = select(NOTES.c.id).order_by(NOTES.c.id).limit(limit)
        if after is not None:
            statement = statement.where(NOTES.c.id > after)
        return list(connection.execute(statement).scalars())


def _document(row: Row[tuple[str, str, str]]) -> Document:
    content = hashlib.blake2b(f"{row.title}\0{row.body}".encode(), digest_size=8).digest()
    return Document(
        id=row.id,
        number=int.from_bytes(row.id.encode()[:7].ljust(7, b"\0")),
        at=len(row.body),
        digest=int.from_bytes(content),
        text={"title": row.title, "body": row.body},
    )


def notes_copy(
    database: Database,
    root: Path,
    *,
    name: str = "notes",
    engine: Engine | None = None,
    on_body: Callable[[str], None] = lambda _: None,
) -> Copy:
    """Return a copy of an index of all notes, in a folder of its own; several may share a table."""
    index = Index(name, FIELDS, NoteLoader(on_body))
    return Copy(index, engine or default_engine(), Generations(root, name), database)


def fresh_notes(
    database: Database,
    root: Path,
    *,
    engine_name: str | None = None,
    on_body: Callable[[str], None] = lambda _: None,
) -> Copy:
    """Make the tables, and return a copy of the index as `notes_copy` does."""
    create_schema(database)
    NOTES.metadata.create_all(database)
    engine = engine_named(engine_name) if engine_name else None
    return notes_copy(database, root, engine=engine, on_body=on_body)


def write(
    connection: Connection, notes: Mapping[str, Note | str | None], *indexes: Index
) -> list[int]:
    """Write notes (a text is a body, None deletes), with one message an index; return their ids."""
    connection.execute(delete(NOTES).where(NOTES.c.id.in_(notes)))
    made = {key: Note(note) if isinstance(note, str) else note for key, note in notes.items()}
    rows = [{"id": i, "title": n.title, "body": n.body} for i, n in made.items() if n]
    if rows:
        connection.execute(insert(NOTES), rows)
    return [one for index in indexes for one in push_changes(connection, index, list(notes))]


def save(copy: Copy, notes: Mapping[str, Note | str | None]) -> list[int]:
    """Write notes and the message for one index in one transaction."""
    return replay(copy.database, lambda connection: write(connection, notes, copy.index))


def save_each(copy: Copy, notes: Mapping[str, Note | str | None]) -> list[int]:
    """Write notes one by one, each with a message of its own."""
    return [message for key, note in notes.items() for message in save(copy, {key: note})]


def drain(copy: Copy, limits: Limits = QUICK, on_step: Observer = lambda _: None) -> list[Batch]:
    """Run batches until no message is ready."""
    batches = []
    while batch := run_batch(copy, limits, on_step):
        batches.append(batch)
    return batches


def elapse_back_off(copy: Copy) -> None:
    """Make every retry of an index due now, as if its wait were over."""
    sql = "UPDATE sakuin_messages SET locked_until = due_at WHERE queue = '{}' AND token IS NULL"
    replay(copy.database, lambda c: c.exec_driver_sql(sql.format(copy.index.queue)))


def elapse_lease(copy: Copy) -> None:
    """Make every lease of an index run out now, as if its time were over."""
    sql = "UPDATE sakuin_messages SET locked_until = due_at WHERE queue = '{}'"
    replay(copy.database, lambda c: c.exec_driver_sql(sql.format(copy.index.queue)))


def waiting(copy: Copy) -> tuple[int, int, int]:
    """Return how many messages of the index are ready, leased and scheduled."""
    queue = copy.index.queue
    while True:
        counts = read(copy.database, lambda c: queue_counts(c, queue))
        total = read(copy.database, lambda c: waiting_count(c, queue, 1_000_000))
        if counts.ready + counts.leased + counts.scheduled == total:  # none changed meanwhile
            return counts.ready, counts.leased, counts.scheduled


def table_of(database: Database) -> dict[str, Note]:
    """Return what the table holds."""
    with database.connect() as connection:
        return {row.id: Note(row.body, row.title) for row in connection.execute(select(NOTES))}


def held_by(copy: Copy, number: int | None = None) -> dict[str, Note]:
    """Return all documents of a generation, the current one unless told otherwise."""
    segments = copy.generations.segments(number or copy.generations.current())
    searcher = copy.engine.open_searcher(segments, copy.index.fields)
    try:
        return documents_of(searcher)
    finally:
        searcher.close()


def documents_of(searcher: Searcher) -> dict[str, Note]:
    """Return all documents that a searcher sees."""
    count = searcher.document_count
    found = searcher.search(Everything(), order=Order.ID, offset=0, limit=count)
    documents = [hit.document for hit in found.hits]
    assert len({one.id for one in documents}) == found.total == count
    return {one.id: Note(one.text["body"], one.text["title"]) for one in documents}


def found(copy: Copy, *words: str) -> dict[str, set[str]]:
    """Return the ids that the current generation finds for each word."""
    pin = pin_current(copy.generations)
    assert pin
    with pin:
        segments = copy.generations.segments(pin.number)
        searcher = copy.engine.open_searcher(segments, copy.index.fields)
        try:
            answers = {}
            for word in words:
                hits = searcher.search(Phrase(word), order=Order.ID, offset=0, limit=10_000)
                answers[word] = {hit.document.id for hit in hits.hits}
                assert hits.total == len(answers[word])
            return answers
        finally:
            searcher.close()


def assert_index_is_table(copy: Copy, words: Iterable[str] = ()) -> None:
    """Compare every document, and the answers for these words, with the table."""
    table = table_of(copy.database)
    held = held_by(copy)
    assert held == table, f"only in one of both: {held.items() ^ table.items()}"
    texts = {key: [settle(note.title), settle(note.body)] for key, note in table.items()}
    expected = {word: matching_ids(Phrase(word), texts) for word in words}
    answers = found(copy, *expected)
    assert answers == expected, f"answers {answers} instead of {expected}"


def eventually(is_so: Callable[[], bool]) -> None:
    """Wait until it is so; fail after half a minute."""
    deadline = time.monotonic() + 30
    while not is_so():
        assert time.monotonic() < deadline, "not within 30 s"
        time.sleep(0.01)  # between two looks, not instead of one
