"""Bringing the table in line with a text: one source's paragraphs, in order.

Loading a source again updates it: a paragraph whose text is still there keeps its row, wherever
it stands now, an edited one is updated, what the text does not have any more is deleted. Every
1,000 rows are one transaction with one message.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence

from sqlalchemy import Connection, Engine, func, select
from sqlalchemy.exc import IntegrityError

from sakuin.app.add import replay_while_taken
from sakuin.app.batches import batches
from sakuin.app.loaded import Loaded, SourceChanged
from sakuin.app.paragraph import Paragraph
from sakuin.app.save import NewParagraph, add_paragraphs, next_position
from sakuin.app.update_source import update_source
from sakuin.queue import read, replay

__all__ = ["load_source"]


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
    each transaction. What was committed stays when a later one fails; loading again goes on.
    Raises SourceChanged when somebody else changed the source at the same time.
    """
    try:
        if append:
            return _append(database, source, paragraphs, on_saved)
        if not _has_rows(database, source):
            return _fill(database, source, paragraphs, on_saved)
        return update_source(
            database, source, paragraphs, is_complete=is_complete, on_saved=on_saved
        )
    except IntegrityError as error:
        raise SourceChanged(source) from error


def _fill(
    database: Engine,
    source: str,
    paragraphs: Iterable[NewParagraph],
    on_saved: Callable[[Loaded], None],
) -> Loaded:
    """Add everything to a source that has no rows, and see that they are all it has then."""
    total, sums = Loaded(), (0, 0, 0, 0)
    for chunk in _chunks(paragraphs):

        def work(connection: Connection, chunk: Sequence[NewParagraph] = chunk) -> list[int]:
            return add_paragraphs(connection, chunk)[0]

        ids = replay(database, work)
        more = (len(ids), sum(ids), sum(each.position for each in chunk), len(ids))
        sums = tuple(map(sum, zip(sums, more, strict=True)))  # type: ignore[assignment]
        done = Loaded(saved=len(chunk))
        total += done
        on_saved(done)
    if read(database, lambda connection: _sums(connection, source)) != sums:
        raise SourceChanged(source)
    return total


def _append(
    database: Engine,
    source: str,
    paragraphs: Iterable[NewParagraph],
    on_saved: Callable[[Loaded], None],
) -> Loaded:
    """Add everything behind what there is by then, whoever else adds at the same time."""
    total, behind = Loaded(), 0
    for chunk in _chunks(paragraphs):

        def work(
            connection: Connection, chunk: Sequence[NewParagraph] = chunk, behind: int = behind
        ) -> None:
            by = next_position(connection, source) - 1 - behind
            moved = [NewParagraph(source, by + each.position, each.body) for each in chunk]
            add_paragraphs(connection, moved)

        replay_while_taken(database, work)
        behind = chunk[-1].position
        done = Loaded(saved=len(chunk))
        total += done
        on_saved(done)
    return total


def _has_rows(database: Engine, source: str) -> bool:
    statement = select(Paragraph.id).where(Paragraph.source == source).limit(1)
    return read(database, lambda connection: connection.execute(statement).first()) is not None


def _chunks(paragraphs: Iterable[NewParagraph]) -> Iterator[list[NewParagraph]]:
    return batches(paragraphs, lambda each: len(each.body))


def _sums(connection: Connection, source: str) -> tuple[int, ...]:
    """Return the number of rows, and the sums of ids, positions and versions (1 is unedited)."""
    columns = (Paragraph.id, Paragraph.position, Paragraph.version)
    statement = select(func.count(), *map(func.sum, columns)).where(Paragraph.source == source)
    return tuple(int(number or 0) for number in connection.execute(statement).one())
