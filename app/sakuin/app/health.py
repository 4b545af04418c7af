"""/healthz, /readyz and /metrics: for load balancers and monitors, not for people."""

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, PlainTextResponse
from sqlalchemy.exc import SQLAlchemyError

from sakuin.app.installed import installation_of, parts_of
from sakuin.app.note_search import log_of
from sakuin.app.status import read_status
from sakuin.indexer.errors import IndexerError
from sakuin.queue import DatabaseRefused, QueueError

router = APIRouter(include_in_schema=False)


@router.get("/healthz")
async def healthz() -> PlainTextResponse:
    """Answer as long as the process does."""
    return PlainTextResponse("ok\n")


@router.get("/readyz")
def readyz(request: Request) -> JSONResponse:
    """Answer 200 when searches can be answered; the database being away is told, no more."""
    parts = parts_of(request)
    try:
        with parts.reader.open() as opened:
            index = f"generation {opened.number}" if opened else "no generation yet"
        ready = True
    except (IndexerError, OSError) as error:
        index, ready = str(error), False
    try:
        parts.row_check.ask(lambda connection: connection.exec_driver_sql("SELECT 1").scalar())
        database = "ok"
    except DatabaseRefused:
        database = "refused"  # `sakuin doctor` says why; this answer may be public
    except (QueueError, SQLAlchemyError):
        database = "away"
    content = {"ready": ready, "index": index, "database": database}
    return JSONResponse(content, 200 if ready else 503)


@router.get("/metrics")
def metrics(request: Request) -> PlainTextResponse:
    """Give the queue and the index in Prometheus' text format."""
    installed = installation_of(request)
    lines: list[str] = []
    is_up = True
    for collection in installed.catalogue.known():
        parts = installed.parts_of(collection)
        name = f'index="{parts.index.name}"'
        lines.append(f"sakuin_generation{{{name}}} {parts.copy.generations.current()}")
        try:
            status = read_status(parts, parts.row_check.ask)
        except (QueueError, SQLAlchemyError, IndexerError, OSError):
            is_up = False
            continue
        lines.append(f"sakuin_documents{{{name}}} {status['index']['documents']}")
        lines.append(f"sakuin_paused{{{name}}} {int(status['index']['is_paused'])}")
        lines += [
            f'sakuin_messages{{{name},state="{state}"}} {count}'
            for state, count in status["queue"].items()
        ]
    log = log_of(request)
    if log is not None:  # of this process alone
        lines.append(f"sakuin_search_log_dropped_total {log.dropped}")
    lines.append(f"sakuin_up {int(is_up)}")
    return PlainTextResponse("\n".join(lines) + "\n", media_type="text/plain; version=0.0.4")
