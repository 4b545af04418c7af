"""The pages that change something: add a paragraph, follow its receipt, edit, delete.

Every form works without JavaScript: a POST that stores answers 303 to the receipt's page.
"""

from datetime import datetime
from typing import Annotated, TypeVar

from fastapi import APIRouter, Depends, HTTPException, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from sqlalchemy.exc import SQLAlchemyError

from sakuin.app.add import add_at_end
from sakuin.app.addresses import root_of, site_of
from sakuin.app.assemble import Parts
from sakuin.app.contexts import (
    AddPage,
    Context,
    ParagraphPage,
    Problem,
    ReceiptPage,
    Standing,
    Step,
)
from sakuin.app.installed import parts_of, parts_of_receipt
from sakuin.app.paragraph import MOST_BODY_BYTES, PARAGRAPH_URL
from sakuin.app.read_paragraph import StoredParagraph, stored_paragraph
from sakuin.app.receipt import progress, read_receipt, receipt_of
from sakuin.app.refused import Refused
from sakuin.app.render import choose_language, render
from sakuin.app.save import WEB_SOURCE, Saved, delete_paragraph, update_paragraph
from sakuin.indexer.freshness import Freshness, freshness
from sakuin.queue import QueueError, read, replay

router = APIRouter(include_in_schema=False)

MOST_FIELD_BYTES = 4 * MOST_BODY_BYTES
"""What a form's field may take on its way, far above a body: that is refused by name later."""


async def posted(request: Request) -> dict[str, str]:
    """Read the text fields of a form."""
    form = await request.form(max_files=0, max_fields=20, max_part_size=MOST_FIELD_BYTES)
    return {name: value for name, value in form.items() if isinstance(value, str)}


Posted = Annotated[dict[str, str], Depends(posted)]
_Found = TypeVar("_Found")


def show(request: Request, context: Context, status: int = 200) -> HTMLResponse:
    """Return a page in the reader's language."""
    lang = choose_language(request.headers.get("accept-language"))
    headers = {"Vary": "Accept-Language", "Cache-Control": "no-cache", "Content-Language": lang}
    return HTMLResponse(render(context, lang), status, headers=headers)


def standing_of(parts: Parts, fresh: Freshness | None) -> Standing:
    """Return the freshness line; without a database only the generation is known."""
    if fresh is None:
        return Standing(parts.copy.generations.current(), waiting=None, has_indexer=False)
    paused = parts.index.queue if fresh.is_paused else ""
    return Standing(fresh.generation, fresh.waiting, fresh.has_indexer, paused)


def look_standing(parts: Parts) -> Standing:
    """Ask the database for the freshness line."""
    try:
        fresh = parts.row_check.ask(lambda c: freshness(c, parts.index, parts.copy.generations))
    except (QueueError, SQLAlchemyError):
        return standing_of(parts, None)
    return standing_of(parts, fresh)


@router.get("/add")
def add_form(request: Request) -> Response:
    """Show the form for a new paragraph."""
    return show(request, _add_page(request, body="", source=WEB_SOURCE, problem=None))


@router.post("/add")
def add(request: Request, form: Posted) -> Response:
    """Store a paragraph and lead to its receipt; show the form again when it is refused."""
    parts = parts_of(request)
    body = _plain(form.get("body", ""))
    source = form.get("source", "").strip() or WEB_SOURCE
    try:
        saved = add_at_end(parts.database, body, source)
    except Refused as error:
        problem = Problem(error.field, error.reason)
        return show(request, _add_page(request, body=body, source=source, problem=problem), 422)
    return _to_receipt(request, parts, saved)


@router.get("/receipts/{receipt}")
def receipt_page(request: Request, receipt: str) -> Response:
    """Show where a save is."""
    named = read_receipt(receipt)
    parts = parts_of_receipt(request, named)
    found = progress(parts, named)
    root = root_of(request)
    document = named.documents[0] if named.documents else ""
    rows = read(parts.database, lambda c: parts.index.loader.load(c, [document]))
    page = ReceiptPage(
        site=site_of(request),
        standing=look_standing(parts),
        step=Step(found.status.value),
        deletes=not rows,
        reason=found.reason,
        paragraph_url=parts.collection.url_of(rows[0], root) if rows else None,
        receipt_url=f"{root}/receipts/{receipt}",
        json_url=f"{root}/api/v1/receipts/{receipt}",
    )
    return show(request, page)


@router.get("/paragraphs/{paragraph_id}")
def paragraph_page(request: Request, paragraph_id: str) -> Response:
    """Show one paragraph as the table has it."""
    stored = _stored(request, paragraph_id)
    return show(request, _paragraph_page(request, stored, draft=None, problem=None))


@router.post("/paragraphs/{paragraph_id}")
def edit(request: Request, paragraph_id: str, form: Posted) -> Response:
    """Replace a paragraph's body and lead to the receipt."""
    parts, stored = parts_of(request), _stored(request, paragraph_id)
    body = _plain(form.get("body", ""))
    try:
        saved = replay(parts.database, lambda c: update_paragraph(c, stored.id, body))
    except Refused as error:
        problem = Problem(error.field, error.reason)
        return show(request, _paragraph_page(request, stored, draft=body, problem=problem), 422)
    return _to_receipt(request, parts, _there(saved, paragraph_id))


@router.post("/paragraphs/{paragraph_id}/delete")
def delete(request: Request, paragraph_id: str) -> Response:
    """Delete a paragraph and lead to the receipt."""
    parts, stored = parts_of(request), _stored(request, paragraph_id)
    saved = replay(parts.database, lambda c: delete_paragraph(c, stored.id))
    return _to_receipt(request, parts, _there(saved, paragraph_id))


def _stored(request: Request, paragraph_id: str) -> StoredParagraph:
    is_key = paragraph_id.isascii() and paragraph_id.isdigit() and len(paragraph_id) < 20
    stored = None
    if is_key:
        number = int(paragraph_id)
        stored = read(parts_of(request).database, lambda c: stored_paragraph(c, number))
    return _there(stored, paragraph_id)


def _there(found: _Found | None, paragraph_id: str) -> _Found:
    if found is None:
        raise HTTPException(404, f"there is no paragraph {paragraph_id[:40]}")
    return found


def _to_receipt(request: Request, parts: Parts, saved: Saved) -> Response:
    return RedirectResponse(f"{root_of(request)}/receipts/{receipt_of(parts, saved)}", 303)


def _plain(text: str) -> str:
    """Return a form's text with the line ends that were typed (forms are sent with CRLF)."""
    return text.replace("\r\n", "\n").strip("\n")


def _add_page(request: Request, *, body: str, source: str, problem: Problem | None) -> AddPage:
    return AddPage(
        site=site_of(request),
        standing=look_standing(parts_of(request)),
        action=f"{root_of(request)}/add",
        body=body,
        source=source,
        problem=problem,
    )


def _paragraph_page(
    request: Request, stored: StoredParagraph, *, draft: str | None, problem: Problem | None
) -> ParagraphPage:
    url = root_of(request) + PARAGRAPH_URL.format(id=stored.id)
    return ParagraphPage(
        site=site_of(request),
        standing=look_standing(parts_of(request)),
        id=stored.id,
        source=stored.source,
        position=stored.position,
        body=stored.body,
        version=stored.version,
        created_at=datetime.fromisoformat(stored.created_at),
        updated_at=datetime.fromisoformat(stored.updated_at),
        edit_action=url,
        delete_action=f"{url}/delete",
        draft=draft,
        problem=problem,
    )
