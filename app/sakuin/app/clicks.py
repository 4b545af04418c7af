"""Links that count that a result was opened: GET /click leads on to the document's own address.

The address comes from the index, never from the parameters: nobody can make it lead elsewhere.
"""

from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, HTTPException, Query, Request
from fastapi.responses import RedirectResponse, Response

from sakuin.app.addresses import root_of
from sakuin.app.installed import parts_of
from sakuin.app.note_search import log_of
from sakuin.app.paragraph_index import PARAGRAPHS
from sakuin.app.search_log_rows import EXACT, Click, Search

click_router = APIRouter(include_in_schema=False)

MOST_POSITION = 1_000_000


def click_url(
    root: str, index: str, document_id: str, logged: str, position: int, mode: str = EXACT
) -> str:
    """Return the address of a result that counts its click, below the root path.

    `logged` is what `logged_text` returned for the search, and `position` the result's place
    from 1. Only for a document that has an address.
    """
    parameters = {"index": index, "id": document_id, "q": logged, "n": str(position)}
    if mode != EXACT:
        parameters["mode"] = mode
    return f"{root}/click?{urlencode(parameters)}"


@click_router.get("/click")
def click(
    request: Request,
    document_id: Annotated[str, Query(alias="id")],
    index: str = str(PARAGRAPHS.name),
    query: Annotated[str, Query(alias="q")] = "",
    position: Annotated[int, Query(alias="n", ge=1, le=MOST_POSITION)] = 1,
    mode: str = EXACT,
) -> Response:
    """Lead on to the document, and count the click where the log is on. Needs no database."""
    parts = parts_of(request, index)
    with parts.reader.open() as opened:
        found = opened.searcher.documents([document_id]) if opened else {}
    document = found.get(document_id)
    url = parts.collection.url_of(document, root_of(request)) if document else None
    if url is None:
        raise HTTPException(404, "there is no such document any more, or it has no page of its own")
    log = log_of(request)
    if log is not None and _is_meant(request):
        log.click(Click(Search(index, query, mode), document_id), position)
    return RedirectResponse(url, 303, headers={"Cache-Control": "no-store"})


def _is_meant(request: Request) -> bool:
    """Tell whether somebody clicked here: not a page of another site, nor a browser ahead of it."""
    is_own = request.headers.get("sec-fetch-site", "none") in ("same-origin", "none")
    return is_own and not {"sec-purpose", "purpose"} & set(request.headers.keys())
