"""The JSON interface under /api/v1. Handlers are plain functions, run in threads."""

from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Path, Query, Request
from pydantic import BaseModel, ConfigDict
from sqlalchemy import select
from sqlalchemy.engine import Connection
from starlette.concurrency import run_in_threadpool

from sakuin.app.add import add_at_end
from sakuin.app.answer import answer
from sakuin.app.assemble import Parts
from sakuin.app.bulk import Outcome, save_lines
from sakuin.app.page import DEFAULT_PER_PAGE, MOST_PAGE, MOST_PER_PAGE
from sakuin.app.paragraph import Paragraph, Refused
from sakuin.app.paragraph_index import PARAGRAPHS
from sakuin.app.present import answer_json
from sakuin.app.receipt import Receipt, progress, read_receipt, write_receipt
from sakuin.app.save import WEB_SOURCE, Saved, delete_paragraph, update_paragraph
from sakuin.indexer.engine import Order
from sakuin.queue import read as read_rows
from sakuin.queue import replay

router = APIRouter(prefix="/api/v1")
Key = Annotated[int, Path(ge=0, le=2**63 - 1)]


class NewBody(BaseModel):
    """A paragraph to be added."""

    model_config = ConfigDict(extra="forbid")

    body: str
    source: str = WEB_SOURCE


class Body(BaseModel):
    """The new text of a paragraph."""

    model_config = ConfigDict(extra="forbid")

    body: str


class Added(BaseModel):
    """What was stored; the receipt tells when it can be found."""

    id: int
    receipt: str


class Accepted(BaseModel):
    """A change that was stored; the receipt tells when it can be found."""

    receipt: str


class RefusedLine(BaseModel):
    """A line of a bulk request that was not stored."""

    line: int
    reason: str


class BulkSaved(BaseModel):
    """What a bulk request stored, and what it did not."""

    saved: int
    refused: list[RefusedLine]
    receipt: str | None


class ReceiptStatus(BaseModel):
    """Where a save is: waiting, indexing, searchable or failed."""

    status: str
    reason: str = ""


class StoredParagraph(BaseModel):
    """A paragraph as the table has it; times are UTC."""

    id: int
    source: str
    position: int
    body: str
    version: int
    created_at: str
    updated_at: str


def parts_of(request: Request) -> Parts:
    """Return the parts that this application was started with."""
    parts: Parts = request.app.state.parts
    return parts


@router.get("/search", response_model=None)
def search(
    request: Request,
    q: Annotated[str, Query(description="words; space means AND")] = "",
    page: Annotated[int, Query(ge=1, le=MOST_PAGE)] = 1,
    per_page: Annotated[int, Query(ge=1, le=MOST_PER_PAGE)] = DEFAULT_PER_PAGE,
    order: Order = Order.RELEVANCE,
    g: Annotated[
        int | None, Query(ge=1, le=10**15, description="generation, from an earlier page")
    ] = None,
    index: Annotated[str, Query(description="name of the index")] = PARAGRAPHS.name,
) -> dict[str, Any]:
    """Search: exact total, one page of items with highlights, and diagnostics of the query."""
    parts = parts_of(request)
    if index != parts.index.name:
        raise Refused("index", f"is {index[:63]!r}; known: {parts.index.name}")
    found = answer(parts, q, page=page, per_page=per_page, order=order, generation=g)
    return answer_json(found, parts.index.name, request.scope.get("root_path", ""))


@router.post("/paragraphs", status_code=202)
def add(request: Request, new: NewBody) -> Added:
    """Add a paragraph; it is stored when this answers, and searchable when its receipt says so."""
    parts = parts_of(request)
    saved = add_at_end(parts.database, new.body, new.source)
    return Added(id=saved.id, receipt=receipt_of(parts, saved))


@router.post("/paragraphs/bulk", status_code=202)
async def add_many(request: Request) -> BulkSaved:
    """Add many paragraphs, one JSON object a line: {"body": …, "source"?: …}."""
    parts = parts_of(request)
    content = await request.body()
    outcome: Outcome = await run_in_threadpool(save_lines, parts.database, content)
    receipt = Receipt(parts.index.name, outcome.messages, outcome.documents)
    return BulkSaved(
        saved=outcome.saved,
        refused=[RefusedLine(line=line, reason=reason) for line, reason in outcome.refused],
        receipt=write_receipt(receipt) if outcome.messages else None,
    )


@router.get("/paragraphs/{paragraph_id}")
def read(request: Request, paragraph_id: Key) -> StoredParagraph:
    """Return a paragraph as the table has it now."""
    found = read_rows(parts_of(request).database, lambda c: stored_paragraph(c, paragraph_id))
    if found is None:
        raise _missing(paragraph_id)
    return found


@router.put("/paragraphs/{paragraph_id}", status_code=202)
def change(request: Request, paragraph_id: Key, new: Body) -> Accepted:
    """Replace a paragraph's body."""
    parts = parts_of(request)
    saved = replay(parts.database, lambda c: update_paragraph(c, paragraph_id, new.body))
    return _accepted(parts, paragraph_id, saved)


@router.delete("/paragraphs/{paragraph_id}", status_code=202)
def delete(request: Request, paragraph_id: Key) -> Accepted:
    """Delete a paragraph."""
    parts = parts_of(request)
    saved = replay(parts.database, lambda c: delete_paragraph(c, paragraph_id))
    return _accepted(parts, paragraph_id, saved)


@router.get("/receipts/{receipt}")
def status(request: Request, receipt: str) -> ReceiptStatus:
    """Tell where a save is."""
    found = progress(parts_of(request), read_receipt(receipt))
    return ReceiptStatus(status=found.status.value, reason=found.reason)


def stored_paragraph(connection: Connection, paragraph_id: Key) -> StoredParagraph | None:
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


def receipt_of(parts: Parts, saved: Saved) -> str:
    """Return the receipt of one paragraph's save."""
    return write_receipt(Receipt(parts.index.name, (saved.message_id,), (str(saved.id),)))


def _accepted(parts: Parts, paragraph_id: int, saved: Saved | None) -> Accepted:
    if saved is None:
        raise _missing(paragraph_id)
    return Accepted(receipt=receipt_of(parts, saved))


def _missing(paragraph_id: Key) -> HTTPException:
    return HTTPException(404, f"there is no paragraph {paragraph_id}")
