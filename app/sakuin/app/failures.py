"""What each error means on the web: a status, a sentence, and never a traceback.

Programs (everything under /api) get JSON {"error": …, "field"?: …}, people a page.
"""

import logging
import secrets
from collections.abc import Mapping

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, Response
from sqlalchemy.exc import SQLAlchemyError
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sakuin.app.addresses import root_of, site_of
from sakuin.app.catalogue import NoSuchIndex
from sakuin.app.contexts import ErrorPage
from sakuin.app.guard import is_cut
from sakuin.app.receipt import UnknownReceipt
from sakuin.app.refused import Refused
from sakuin.app.render import choose_language, render
from sakuin.indexer.errors import IndexerError
from sakuin.queue import OutcomeUnknown, QueueError, SchemaMismatch

_LOG = logging.getLogger("sakuin.web")
_RETRY = {"Retry-After": "5"}


def handle_failures(app: FastAPI) -> None:
    """Give an application its error answers."""
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(Refused, _refused)
    app.add_exception_handler(NoSuchIndex, _no_such_index)
    app.add_exception_handler(UnknownReceipt, _unknown_receipt)
    for kind in (QueueError, SQLAlchemyError):
        app.add_exception_handler(kind, _database)
    for other in (IndexerError, OSError):
        app.add_exception_handler(other, _index)


def fail(
    request: Request,
    status: int,
    detail: str,
    *,
    field: str | None = None,
    headers: Mapping[str, str] | None = None,
    request_id: str = "",
) -> Response:
    """Return an error's answer, as JSON or as a page."""
    if request.scope["path"].startswith(f"{root_of(request)}/api/"):
        content = {"error": detail} | ({"field": field} if field else {})
        if request_id:
            content["request_id"] = request_id
        return JSONResponse(content, status, headers=dict(headers or {}))
    page = ErrorPage(
        site=site_of(request), standing=None, status=status, detail=detail, request_id=request_id
    )
    lang = choose_language(request.headers.get("accept-language"))
    return HTMLResponse(render(page, lang), status, headers=dict(headers or {}))


def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return fail(request, error.status_code, str(error.detail), headers=error.headers)


def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    if first["type"] == "json_invalid":
        return fail(request, 422, "body: is not JSON", field="body")
    field = ".".join(str(part) for part in first["loc"][1:]) or str(first["loc"][0])
    reason = str(first["msg"])
    # The message may quote what was sent, which may be no valid text.
    clean = reason.encode("utf-8", "backslashreplace").decode()
    return fail(request, 422, f"{field}: {clean}", field=field)


def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, Refused)
    return fail(request, 422, str(error), field=error.field)


def _no_such_index(request: Request, error: Exception) -> Response:
    return fail(request, 422, str(error), field="index")


def _unknown_receipt(request: Request, error: Exception) -> Response:
    return fail(request, 404, str(error))


def _database(request: Request, error: Exception) -> Response:
    _LOG.warning("%s %s: %s", request.method, request.scope["path"], error)
    if isinstance(error, OutcomeUnknown):
        detail = "outcome unknown: the database went away during the save; look before repeating it"
    elif isinstance(error, SchemaMismatch):
        detail = "the tables are not there, or of another version: run `sakuin init`"
    else:
        detail = "the database cannot be used now; nothing was changed, try again later"
    return fail(request, 503, detail, headers=_RETRY)


def _index(request: Request, error: Exception) -> Response:
    _LOG.warning("%s %s: %s", request.method, request.scope["path"], error)
    detail = str(error) if isinstance(error, IndexerError) else "the index cannot be read now"
    return fail(request, 503, detail, headers=_RETRY)


class LastResort:
    """Answers what nobody expected, within the guard: its headers and the root path count."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        has_begun = False

        async def sending(message: Message) -> None:
            nonlocal has_begun
            has_begun = has_begun or message["type"] == "http.response.start"
            await send(message)

        try:
            await self._app(scope, receive, sending)
        except Exception as error:
            if scope["type"] != "http" or has_begun or is_cut(error):
                raise
            await _unexpected(Request(scope), error)(scope, receive, send)


def _unexpected(request: Request, error: Exception) -> Response:
    request_id = secrets.token_hex(8)
    _LOG.error("request %s failed", request_id, exc_info=error)
    return fail(request, 500, "something went wrong here; the log has it", request_id=request_id)
