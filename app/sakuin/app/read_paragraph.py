"""Reading one paragraph as the table has it."""

from pydantic import BaseModel
from sqlalchemy import Connection, select

from sakuin.app.paragraph import Paragraph


class StoredParagraph(BaseModel):
    """A paragraph as the table has it; times are UTC."""

    id: int
    source: str
    position: int
    body: str
    version: int
    created_at: str
    updated_at: str


def stored_paragraph(connection: Connection, paragraph_id: int) -> StoredParagraph | None:
    """Return a paragraph by its key; None when there is none."""
    if not 0 < paragraph_id < 2**63:
        return None
    table = Paragraph.__table__
    found = connection.execute(select(table).where(Paragraph.id == paragraph_id))
    row = found.mappings().one_or_none()
    if row is None:
        return None
    values = dict(row)
    for name in ("created_at", "updated_at"):
        values[name] = values[name].isoformat(timespec="microseconds") + "Z"
    return StoredParagraph(**values)
