"""Indexes made from plain texts, as the engine tests need them: in one batch or in many."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from sakuin.indexer.clone import clone_segments
from sakuin.indexer.document import Document, Fields
from sakuin.indexer.engine import Engine, Order, Searcher
from sakuin.indexer.query import Query

BODY = Fields(("body",))


def document(number: int, body: str, *, at: int | None = None) -> Document:
    """Make a document of one field; its id is its number as text."""
    return Document(
        str(number), number, number if at is None else at, number * 31 + 7, {"body": body}
    )


def documents(bodies: Iterable[str]) -> list[Document]:
    """Number these texts from 0."""
    return [document(number, body) for number, body in enumerate(bodies)]


def build(
    engine: Engine,
    root: Path,
    rows: Sequence[Document],
    *,
    batch: int = 1_000_000,
    fields: Fields = BODY,
) -> Path:
    """Index the documents, each batch in a clone of what was before; return the last directory."""
    directory = root / "copy-0"
    directory.mkdir(parents=True)
    engine.create(directory, fields)
    for start in range(0, len(rows), batch):
        directory = change(engine, directory, rows[start : start + batch], (), fields=fields)
    return directory


def change(
    engine: Engine,
    source: Path,
    rows: Sequence[Document],
    gone: Sequence[str],
    *,
    fields: Fields = BODY,
) -> Path:
    """Clone a directory, apply one batch to the clone, and return the clone."""
    target = source.with_name(f"copy-{int(source.name.rpartition('-')[2]) + 1}")
    clone_segments(engine, source, target)
    with engine.open_writer(target, fields, bulk=len(rows) > 2000) as writer:
        writer.upsert(rows)
        writer.delete(gone)
        writer.commit()
    return target


def found_ids(searcher: Searcher, query: Query, *, order: Order = Order.RELEVANCE) -> list[str]:
    """Return all ids found, in order; the total must agree."""
    found = searcher.search(query, order=order, offset=0, limit=searcher.document_count + 1)
    ids = [hit.document.id for hit in found.hits]
    assert found.total == len(ids)
    assert len(set(ids)) == len(ids)
    return ids
