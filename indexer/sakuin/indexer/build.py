"""From ids to a published generation: load → clone → apply → check → publish (promises I2, I5).

Knows no message: what is done with the outcome is the batch's business.
"""

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Engine as Database
from sqlalchemy.exc import SQLAlchemyError

from sakuin.indexer.document import Document
from sakuin.indexer.draft import Draft
from sakuin.indexer.engine import Engine
from sakuin.indexer.errors import GenerationForeign, GenerationMismatch, IndexerError, Outrun
from sakuin.indexer.generations import Generations
from sakuin.indexer.index import Index
from sakuin.indexer.manifest import Manifest
from sakuin.indexer.pin import pin_current
from sakuin.indexer.publish import publish
from sakuin.indexer.rebuild_log import tell_rebuilds
from sakuin.queue import QueueError, read

Observer = Callable[[str], None]
"""Told the name of each step of a batch when it is done: for logs, and for tests that kill."""

BULK_DOCUMENTS = 2000
_FIRST_CHUNK, _LARGEST_CHUNK = 64, 1000
_CHUNK_BYTES = 8 << 20
_UNDECODABLE = "Could not decode to UTF-8"


@dataclass(frozen=True, slots=True)
class Copy:
    """One index's copy on this host: where it is, and what makes it."""

    index: Index
    engine: Engine
    generations: Generations
    database: Database


@dataclass(frozen=True, slots=True)
class Built:
    """What a build did: the generation that now holds `done`, and how many documents differed."""

    generation: int
    done: frozenset[str]
    changed: int


class ChunkFailed(Exception):
    """Documents among these ids could not be loaded or indexed: a fault of theirs, not ours."""

    def __init__(self, ids: Sequence[str]) -> None:
        super().__init__(f"{len(ids)} documents from {ids[0]!r} on failed")
        self.ids = tuple(ids)


def build(copy: Copy, ids: Sequence[str], *, most_bytes: int, on_step: Observer) -> Built:
    """Bring these documents up to date in a new generation.

    Stops early, at a chunk's end, after `most_bytes` of text: `done` then holds fewer ids.
    When nothing differs from the current generation none is published, unless the index is being
    rebuilt. Raises Outrun when another publisher was first, ChunkFailed when documents are at
    fault, GenerationBroken when the copy does not hold what it should.
    """
    with contextlib.ExitStack() as held:
        pin = pin_current(copy.generations)
        parent = held.enter_context(pin).number if pin else 0
        source = _segments_of_ours(copy, parent) if parent else None
        bulk = len(ids) >= BULK_DOCUMENTS
        draft = held.enter_context(
            Draft(copy.generations, copy.engine, copy.index.fields, source, bulk=bulk)
        )
        on_step("cloned")
        done, changed = _apply(copy, draft, ids, most_bytes)
        on_step("applied")
        # A rebuild that is going on may have read older rows: only a publish makes it look again.
        if tell_rebuilds(copy.generations, done) or changed or source is None:
            parent = publish_draft(copy, draft, parent, on_step)
        if copy.generations.current() != parent:
            raise Outrun(copy.index.name, parent)
        return Built(parent, frozenset(done), changed)


def publish_draft(copy: Copy, draft: Draft, parent: int, on_step: Observer) -> int:
    """Check, seal and publish a draft after generation `parent`; return the new number."""
    draft.check()
    on_step("checked")
    draft.seal(parent)
    on_step("synced")
    number = publish(copy.generations, draft.directory, parent)
    on_step("published")
    return number


def _segments_of_ours(copy: Copy, number: int) -> Path | None:
    """Return what to go on from; None when it is of another source, and all begins anew."""
    try:
        require_match(copy, number)
    except GenerationForeign:
        return None
    return copy.generations.segments(number)


def _apply(copy: Copy, draft: Draft, ids: Sequence[str], most_bytes: int) -> tuple[list[str], int]:
    done: list[str] = []
    changed = loaded_bytes = 0
    size = _FIRST_CHUNK
    while len(done) < len(ids) and loaded_bytes < most_bytes:
        chunk = ids[len(done) : len(done) + size]
        chunk_changed, chunk_bytes = take(copy, draft, chunk)
        done += chunk
        changed += chunk_changed
        loaded_bytes += chunk_bytes
        size = min(_LARGEST_CHUNK, size * 4 if chunk_bytes < _CHUNK_BYTES else max(1, size // 4))
    return done, changed


def take(copy: Copy, draft: Draft, ids: Sequence[str]) -> tuple[int, int]:
    """Load documents and apply them to a draft; return how many differed, and their text's size.

    ChunkFailed when documents are at fault: the draft can then take the others again.
    """
    documents, missing = load(copy, ids)
    try:
        changed = draft.apply(documents, missing)
    except (OSError, MemoryError):
        raise
    except Exception as error:
        raise ChunkFailed(ids) from error
    return changed, sum(sum(map(len, one.text.values())) for one in documents)


def load(copy: Copy, ids: Sequence[str]) -> tuple[Sequence[Document], list[str]]:
    """Read documents as they are now, in a transaction of their own; return them and the gone.

    A database that is away or refuses raises the queue's or SQLAlchemy's error; any other
    failure of the loader is its documents' and raises ChunkFailed.
    """
    try:
        documents = read(copy.database, lambda c: copy.index.loader.load(c, ids))
        _require_asked(documents, ids)
    except (SQLAlchemyError, QueueError, IndexerError, OSError, MemoryError) as error:
        if _UNDECODABLE in str(error):  # SQLite keeps any bytes as text: a fault of that row
            raise ChunkFailed(ids) from error
        raise
    except Exception as error:
        raise ChunkFailed(ids) from error
    there = {document.id for document in documents}
    return documents, [one for one in ids if one not in there]


def _require_asked(documents: Sequence[Document], ids: Sequence[str]) -> None:
    """Refuse what would be counted twice; a key that compares without case can cause it."""
    left = set(ids)
    for document in documents:
        if document.id not in left:
            raise ValueError(
                f"the loader returned document {document.id!r}, which was not asked for or came "
                "twice: compare keys exactly"
            )
        left.remove(document.id)


def require_match(copy: Copy, number: int) -> None:
    """Raise GenerationMismatch unless this program can use the generation.

    GenerationForeign when it is of another source.
    """
    try:
        manifest = Manifest.read(copy.generations.path(number))
    except ValueError as error:
        raise GenerationMismatch(copy.index.name, number, str(error)) from None
    if not manifest.is_of(copy.index.fields):
        raise GenerationForeign(copy.index.name, number)
    if difference := manifest.difference(copy.engine, copy.index.fields):
        raise GenerationMismatch(copy.index.name, number, difference)
