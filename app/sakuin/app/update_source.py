"""Bringing the rows of a source in line with its new text, whatever moved.

    compare → match → delete what is gone → park, move and edit → add what is new → look again

Nothing is written before the text was read to its end; texts to be written wait in a temporary
file, rows are known by digest. Every transaction is up to 1,000 rows with one message, and a
row's text changes only to a line of the new one, so readers see no wrong text. A row that waits
for a position in a ring of them stands behind the end meanwhile; after a crash the next load
finds it there, by its text.
"""

import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import BinaryIO, TypeVar

from sqlalchemy import Connection, Engine, bindparam, delete, insert, select, update

from sakuin.app.batches import BYTES_PER_BATCH, ROWS_PER_BATCH, batches
from sakuin.app.loaded import Loaded, SourceChanged
from sakuin.app.match_lines import Line, Row, Step, Stored, compare, in_steps, match, seal
from sakuin.app.paragraph import Paragraph, utc_now
from sakuin.app.paragraph_index import PARAGRAPHS
from sakuin.app.save import NewParagraph
from sakuin.indexer.changes import push_changes
from sakuin.queue import read, replay

T = TypeVar("T")

_FIRST_PAGE_ROWS = 16
_ASIDE = 1 << 40
"""Added to the positions of a batch while its rows move; no transaction ends with such a one."""


def update_source(
    database: Engine,
    source: str,
    paragraphs: Iterable[NewParagraph],
    *,
    is_complete: Callable[[], bool],
    on_saved: Callable[[Loaded], None],
) -> Loaded:
    """Make the source's rows equal to the paragraphs, positions ascending.

    When at the end `is_complete` says no, nothing is taken to be missing: rows that were not
    found again stay, behind what was read where a line has their position now. Raises
    SourceChanged when somebody else changed the source meanwhile, and IntegrityError when they
    took a position.
    """
    with tempfile.TemporaryFile(prefix="sakuin-load-") as texts:
        writing = _Writing(database, source, texts, on_saved)
        kept = _Kept(on_saved)
        found = compare(stored(database, source), paragraphs, _keep_in(texts), kept.one_more)
        total = kept.tell()
        if not found.rows and not found.lines:
            return total
        matched = match(found.rows, found.lines)
        if not is_complete():
            matched = matched.keeping_all(found.last)
        first, then = in_steps(matched.pairs, found.last)
        total += writing.delete(matched.gone)
        total += writing.take(first, park=True)
        total += writing.take(then)
        total += writing.add(matched.new)
        if is_complete() and _seal_of(database, source) != found.seal:
            raise SourceChanged(source)
        return total


def stored(database: Engine, source: str) -> Iterator[Stored]:
    """Yield the rows of a source by position, a page of them in memory at a time."""
    position, limit = -1, _FIRST_PAGE_ROWS
    while rows := read(database, _Page(source, position, limit)):
        yield from rows
        position = rows[-1].position
        # Texts are as large as their neighbours, more or less: a page stays near 16 MiB.
        largest = max(len(row.body) for row in rows)
        limit = max(_FIRST_PAGE_ROWS, min(ROWS_PER_BATCH, BYTES_PER_BATCH // max(1, largest)))


@dataclass(frozen=True, slots=True)
class _Page:
    """Reads up to `limit` rows behind a position."""

    source: str
    position: int
    limit: int

    def __call__(self, connection: Connection) -> list[Stored]:
        rows = connection.execute(
            select(Paragraph.position, Paragraph.id, Paragraph.body)
            .where(Paragraph.source == self.source, Paragraph.position > self.position)
            .order_by(Paragraph.position)
            .limit(self.limit)
        )
        return [Stored(*row) for row in rows]


class _Kept:
    """Counts rows that stay as they are, and tells of each thousand."""

    def __init__(self, on_saved: Callable[[Loaded], None]) -> None:
        self._on_saved = on_saved
        self._untold = 0
        self._total = Loaded()

    def one_more(self) -> None:
        self._untold += 1
        if self._untold >= ROWS_PER_BATCH:
            self.tell()

    def tell(self) -> Loaded:
        """Tell of the rest; return how many there were in all."""
        done, self._untold = Loaded(unchanged=self._untold), 0
        self._total += done
        if done.unchanged:
            self._on_saved(done)
        return self._total


@dataclass(frozen=True, slots=True)
class _Writing:
    """What is done to the rows of one source, in batches; `texts` holds the texts of lines."""

    database: Engine
    source: str
    texts: BinaryIO
    on_saved: Callable[[Loaded], None]

    def delete(self, rows: Iterable[Row]) -> Loaded:
        def work(connection: Connection, batch: Sequence[Row]) -> Loaded:
            self._expect(connection, {row.id: row.position for row in batch})
            ids = [row.id for row in batch]
            connection.execute(delete(Paragraph).where(Paragraph.id.in_(ids)))
            _push(connection, ids)
            return Loaded(deleted=len(ids))

        return self._in_batches(rows, lambda _: 0, work)

    def take(self, steps: Iterable[Step], *, park: bool = False) -> Loaded:
        """Move and edit rows; only parking them is not yet counted."""

        def work(connection: Connection, batch: Sequence[Step]) -> Loaded:
            self._expect(connection, {step.id: step.start for step in batch})
            _move(connection, [step for step in batch if step.start != step.end])
            edits = [(step.id, step.edit) for step in batch if step.edit is not None]
            if edits:
                rows = [{"key": row_id, "body": self._text(line)} for row_id, line in edits]
                connection.execute(_CHANGE, rows)
            _push(connection, [step.id for step in batch])
            moved = 0 if park else len(batch) - len(edits)
            return Loaded(saved=len(edits), unchanged=moved, moved=moved)

        return self._in_batches(steps, lambda step: step.edit.size if step.edit else 0, work)

    def add(self, lines: Iterable[Line]) -> Loaded:
        def work(connection: Connection, batch: Sequence[Line]) -> Loaded:
            rows = [
                {"source": self.source, "position": line.position, "body": self._text(line)}
                for line in batch
            ]
            connection.execute(_INSERT, rows)
            # Other rows may stand between these, so that they are asked for one by one.
            positions = [line.position for line in batch]
            ids = select(Paragraph.id).where(
                Paragraph.source == self.source, Paragraph.position.in_(positions)
            )
            _push(connection, connection.execute(ids).scalars().all())
            return Loaded(saved=len(batch))

        return self._in_batches(lines, lambda line: line.size, work)

    def _in_batches(
        self,
        items: Iterable[T],
        weigh: Callable[[T], int],
        work: Callable[[Connection, Sequence[T]], Loaded],
    ) -> Loaded:
        total = Loaded()
        for batch in batches(items, weigh):
            done = replay(self.database, lambda c, batch=batch: work(c, batch))  # type: ignore[misc]
            total += done
            self.on_saved(done)
        return total

    def _expect(self, connection: Connection, positions: Mapping[int, int]) -> None:
        """Lock these rows, and see that each stands where it stood when it was compared."""
        # Not by source too: MariaDB then walks through all of it, and locks that.
        columns = select(Paragraph.id, Paragraph.position)
        statement = columns.where(Paragraph.id.in_(list(positions)))
        found = connection.execute(statement.with_for_update()).all()
        if {row.id: row.position for row in found} != positions:
            raise SourceChanged(self.source)

    def _text(self, line: Line) -> str:
        self.texts.seek(line.place)
        return self.texts.read(line.size).decode()


def _move(connection: Connection, steps: Sequence[Step]) -> None:
    """Move rows at once: all of them aside and then to their positions, so none is in the way."""
    by_distance: dict[int, list[int]] = {}
    for step in steps:
        by_distance.setdefault(step.end - step.start, []).append(step.id)
    for distance, ids in by_distance.items():
        connection.execute(_SHIFT, {"ids": ids, "distance": _ASIDE + distance})
    if steps:
        connection.execute(_SHIFT, {"ids": [step.id for step in steps], "distance": -_ASIDE})


def _push(connection: Connection, ids: Iterable[int]) -> None:
    push_changes(connection, PARAGRAPHS, [str(row_id) for row_id in ids])


def _seal_of(database: Engine, source: str) -> int:
    found = 0
    for row in stored(database, source):
        found = seal(found, row.position, row.body)
    return found


def _keep_in(texts: BinaryIO) -> Callable[[bytes], int]:
    def keep(text: bytes) -> int:
        place = texts.tell()
        texts.write(text)
        return place

    return keep


_INSERT = insert(Paragraph.__table__)  # type: ignore[arg-type]
_CHANGE = (
    update(Paragraph.__table__)  # type: ignore[arg-type]
    .where(Paragraph.id == bindparam("key"))
    .values(body=bindparam("body"), version=Paragraph.version + 1, updated_at=utc_now())
)
_SHIFT = (
    update(Paragraph.__table__)  # type: ignore[arg-type]
    .where(Paragraph.id.in_(bindparam("ids", expanding=True)))
    .values(position=Paragraph.position + bindparam("distance"))
)
