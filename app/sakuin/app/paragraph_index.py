"""Paragraphs as documents: how the index reads them. Everything of the indexer's is generic."""

import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime

from sqlalchemy import Connection, select

from sakuin.app.paragraph import Paragraph
from sakuin.indexer.document import Document, Fields
from sakuin.indexer.index import Index

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_COLUMNS = (
    Paragraph.id,
    Paragraph.source,
    Paragraph.position,
    Paragraph.body,
    Paragraph.created_at,
)
_MOST_ID = 2**63 - 1


class ParagraphLoader:
    """Reads paragraphs by id, and walks all their ids."""

    def load(self, connection: Connection, ids: Sequence[str]) -> list[Document]:
        """Return the documents of the paragraphs that are there."""
        numbers = [number for one in ids if (number := _number(one)) is not None]
        if not numbers:
            return []
        rows = connection.execute(select(*_COLUMNS).where(Paragraph.id.in_(numbers)))
        return [_document(*row) for row in rows]

    def ids_after(self, connection: Connection, after: str | None, limit: int) -> list[str]:
        """Return the next ids in key order."""
        statement = select(Paragraph.id).order_by(Paragraph.id).limit(limit)
        if after is not None:
            statement = statement.where(Paragraph.id > int(after))
        return [str(number) for number in connection.execute(statement).scalars()]


def _number(one: str) -> int | None:
    """Return the key that an id names; None when it can be no paragraph's."""
    if not (one.isascii() and one.isdigit()) or len(one) > 19 or one != str(int(one)):
        return None
    return int(one) if int(one) <= _MOST_ID else None


def _document(number: int, source: str, position: int, body: str, created_at: datetime) -> Document:
    at = (created_at.replace(tzinfo=UTC) - _EPOCH) // _MICROSECOND
    content = f"{number}\0{at}\0{source}\0{position}\0{body}"
    digest = hashlib.blake2b(content.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return Document(
        id=str(number),
        number=number,
        at=at,
        digest=int.from_bytes(digest),
        text={"body": body, "source": source, "position": str(position)},
    )


_MICROSECOND = datetime.resolution

PARAGRAPHS = Index(
    name="paragraphs",
    fields=Fields(searched=("body",), stored=("source", "position")),
    loader=ParagraphLoader(),
)
"""The index of paragraphs."""
