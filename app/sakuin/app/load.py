"""Bringing the table in line with a text: one source's paragraphs, in order.

Loading a source again updates it: a paragraph that stands unchanged at its position keeps its
row, a changed one is updated, what the text does not have any more is deleted. Every 1,000 rows
are one transaction with one message.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, Engine, bindparam, delete, func, select, update

from sakuin.app.paragraph import Paragraph, utc_now
from sakuin.app.paragraph_index import PARAGRAPHS
from sakuin.app.save import ROWS_PER_TRANSACTION, NewParagraph, add_paragraphs
from sakuin.indexer.changes import push_changes
from sakuin.queue import read, replay

_MOST_BYTES = 16 << 20


@dataclass(frozen=True, slots=True)
class Loaded:
    """How many rows were added or changed, left as they were, and deleted."""

    saved: int = 0
    unchanged: int = 0
    deleted: int = 0

    def __add__(self, other: "Loaded") -> "Loaded":
        """Both together."""
        return Loaded(
            self.saved + other.saved,
            self.unchanged + other.unchanged,
            self.deleted + other.deleted,
        )


def load_source(
    database: Engine,
    source: str,
    paragraphs: Iterable[NewParagraph],
    *,
    append: bool,
    is_complete: Callable[[], bool] = lambda: True,
    on_saved: Callable[[Loaded], None],
) -> Loaded:
    """Load one source; positions must ascend and bodies be checked. Streams.

    When at the end `is_complete` says no, nothing is taken to be missing from the source.

    With `append` everything is added behind what the source has already. `on_saved` is told of
    each transaction. What was committed stays when a later chunk fails; loading again goes on.
    """
    last = read(database, lambda connection: _last_position(connection, source))
    is_new = append or last == 0
    total, behind = Loaded(), 0
    for chunk in _chunks(paragraphs):
        if append:
            chunk = [NewParagraph(source, last + each.position, each.body) for each in chunk]
        done = _save_chunk(database, source, chunk, behind, is_new=is_new)
        behind = chunk[-1].position
        total += done
        on_saved(done)
    if not is_new and is_complete():
        total += _delete_behind(database, source, behind, on_saved)
    return total


def _save_chunk(
    database: Engine, source: str, chunk: Sequence[NewParagraph], behind: int, *, is_new: bool
) -> Loaded:
    def work(connection: Connection) -> Loaded:
        if is_new:
            add_paragraphs(connection, chunk)
            return Loaded(saved=len(chunk))
        return _update(connection, source, chunk, behind)

    return replay(database, work)


def _update(
    connection: Connection, source: str, chunk: Sequence[NewParagraph], behind: int
) -> Loaded:
    """Make the rows from position `behind` + 1 to the chunk's last one equal to the chunk."""
    rows = connection.execute(
        select(Paragraph.position, Paragraph.id, Paragraph.body).where(
            Paragraph.source == source,
            Paragraph.position.between(behind + 1, chunk[-1].position),
        )
    ).all()
    there = {position: (number, body) for position, number, body in rows}
    new = [each for each in chunk if each.position not in there]
    changed = [
        {"key": there[each.position][0], "body": each.body}
        for each in chunk
        if each.position in there and there[each.position][1] != each.body
    ]
    wanted = {each.position for each in chunk}
    gone = [number for position, (number, _) in there.items() if position not in wanted]
    for row in changed:
        connection.execute(_CHANGE, row)
    if gone:
        connection.execute(delete(Paragraph).where(Paragraph.id.in_(gone)))
    add_paragraphs(connection, new)
    touched = [str(row["key"]) for row in changed] + [str(number) for number in gone]
    push_changes(connection, PARAGRAPHS, touched)
    return Loaded(len(new) + len(changed), len(chunk) - len(new) - len(changed), len(gone))


def _delete_behind(
    database: Engine, source: str, behind: int, on_saved: Callable[[Loaded], None]
) -> Loaded:
    def work(connection: Connection) -> Loaded:
        ids = connection.execute(
            select(Paragraph.id)
            .where(Paragraph.source == source, Paragraph.position > behind)
            .order_by(Paragraph.position)
            .limit(ROWS_PER_TRANSACTION)
        )
        numbers = list(ids.scalars())
        if numbers:
            connection.execute(delete(Paragraph).where(Paragraph.id.in_(numbers)))
            push_changes(connection, PARAGRAPHS, [str(number) for number in numbers])
        return Loaded(deleted=len(numbers))

    total = Loaded()
    while (done := replay(database, work)).deleted:
        total += done
        on_saved(done)
    return total


def _chunks(paragraphs: Iterable[NewParagraph]) -> Iterator[list[NewParagraph]]:
    chunk: list[NewParagraph] = []
    size = 0
    for each in paragraphs:
        chunk.append(each)
        size += len(each.body)
        if len(chunk) >= ROWS_PER_TRANSACTION or size >= _MOST_BYTES:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def _last_position(connection: Connection, source: str) -> int:
    statement = select(func.max(Paragraph.position)).where(Paragraph.source == source)
    return connection.execute(statement).scalar() or 0


_CHANGE = (
    update(Paragraph.__table__)  # type: ignore[arg-type]
    .where(Paragraph.id == bindparam("key"))
    .values(body=bindparam("body"), version=Paragraph.version + 1, updated_at=utc_now())
)
