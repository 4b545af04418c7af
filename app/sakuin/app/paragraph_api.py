"""Paragraphs and receipts as JSON under /api/v1. Handlers are plain functions, run in threads."""

from typing import Annotated

from fastapi import APIRouter, HTTPException, Path, Request
from pydantic import BaseModel, ConfigDict
from starlette.concurrency import run_in_threadpool

from sakuin.app.add import add_at_end
from sakuin.app.assemble import Parts
from sakuin.app.bulk import Outcome, save_lines
from sakuin.app.installed import parts_of, parts_of_receipt
from sakuin.app.read_paragraph import StoredParagraph, stored_paragraph
from sakuin.app.receipt import Receipt, progress, read_receipt, receipt_of, write_receipt
from sakuin.app.save import WEB_SOURCE, Saved, delete_paragraph, update_paragraph
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
    named = read_receipt(receipt)
    found = progress(parts_of_receipt(request, named), named)
    return ReceiptStatus(status=found.status.value, reason=found.reason)


def _accepted(parts: Parts, paragraph_id: int, saved: Saved | None) -> Accepted:
    if saved is None:
        raise _missing(paragraph_id)
    return Accepted(receipt=receipt_of(parts, saved))


def _missing(paragraph_id: Key) -> HTTPException:
    return HTTPException(404, f"there is no paragraph {paragraph_id}")
