"""Saving paragraphs: row and message in the caller's one transaction (promise Q1).

A save never touches an index: it costs two INSERTs, however large the index is.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select, update

from sakuin.app.paragraph import Paragraph, check_body, check_source, utc_now
from sakuin.app.paragraph_index import PARAGRAPHS
from sakuin.indexer.changes import push_change, push_changes

ROWS_PER_TRANSACTION = 1000
WEB_SOURCE = "web"


@dataclass(frozen=True, slots=True)
class Saved:
    """What a save stored: the paragraph's id and the message that will make it searchable."""

    id: int
    message_id: int


@dataclass(frozen=True, slots=True)
class NewParagraph:
    """A paragraph to be added: (source, position) must be free."""

    source: str
    position: int
    body: str


def add_paragraph(
    connection: Connection, body: str, source: str = WEB_SOURCE, position: int | None = None
) -> Saved:
    """Add a paragraph, at the end of its source unless a position is given.

    Raises Refused for a bad value, and IntegrityError when the position was taken meanwhile:
    the caller's transaction can then be run again.
    """
    values: dict[str, Any] = {"source": check_source(source), "body": check_body(body)}
    if position is None:
        position = next_position(connection, source)
    result = connection.execute(_INSERT, {**values, "position": position})
    new_id = int(result.lastrowid)
    return Saved(new_id, push_change(connection, PARAGRAPHS, str(new_id)))


def next_position(connection: Connection, source: str) -> int:
    """Return the position behind a source's last paragraph, for this transaction to take.

    Who asks first locks the source's first row, and the others wait for its commit; only the
    very first paragraphs of a source can still meet, which IntegrityError tells.
    """
    rows = select(Paragraph.id).where(Paragraph.source == source).order_by(Paragraph.position)
    connection.execute(rows.limit(1).with_for_update()).all()
    last = select(func.max(Paragraph.position)).where(Paragraph.source == source)
    return (connection.execute(last).scalar() or 0) + 1


def update_paragraph(connection: Connection, paragraph_id: int, body: str) -> Saved | None:
    """Replace a paragraph's body; None when there is no such paragraph."""
    statement = (
        update(Paragraph)
        .where(Paragraph.id == paragraph_id)
        .values(body=check_body(body), version=Paragraph.version + 1, updated_at=utc_now())
    )
    if not connection.execute(statement).rowcount:
        return None
    return Saved(paragraph_id, push_change(connection, PARAGRAPHS, str(paragraph_id)))


def delete_paragraph(connection: Connection, paragraph_id: int) -> Saved | None:
    """Delete a paragraph; None when there is no such paragraph."""
    if not connection.execute(delete(Paragraph).where(Paragraph.id == paragraph_id)).rowcount:
        return None
    return Saved(paragraph_id, push_change(connection, PARAGRAPHS, str(paragraph_id)))


def add_paragraphs(
    connection: Connection, paragraphs: Sequence[NewParagraph]
) -> tuple[list[int], int | None]:
    """Add up to 1,000 paragraphs of one source, positions ascending, with one message.

    Returns their ids and the message's (None when there are none). Bodies and sources must have
    been checked. Raises IntegrityError when a position is taken.
    """
    if not paragraphs:
        return [], None
    first, last = paragraphs[0], paragraphs[-1]
    rows = [
        {"source": each.source, "position": each.position, "body": each.body} for each in paragraphs
    ]
    connection.execute(_INSERT, rows)
    # By the unique key and not by the last id: servers differ in how they number many rows.
    ids = connection.execute(
        select(Paragraph.id)
        .where(
            Paragraph.source == first.source,
            Paragraph.position.between(first.position, last.position),
        )
        .order_by(Paragraph.position)
    ).scalars()
    numbers = list(ids)
    (message_id,) = push_changes(connection, PARAGRAPHS, [str(each) for each in numbers])
    return numbers, message_id


_INSERT = insert(Paragraph.__table__)  # type: ignore[arg-type]
