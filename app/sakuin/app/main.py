"""The ASGI application: `uvicorn --factory sakuin.app.main:create_app`."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI
from fastapi.staticfiles import StaticFiles
from starlette.middleware import Middleware

from sakuin.app import discovery_api, health, pages, paragraph_api, search_api, search_pages
from sakuin.app.assemble import initialise, installation
from sakuin.app.clicks import click_router
from sakuin.app.failures import LastResort, handle_failures
from sakuin.app.guard import Guard
from sakuin.app.limit_waiting import LimitWaiting
from sakuin.app.render import static_folder
from sakuin.app.root_path import RootPath
from sakuin.app.search_log import search_log
from sakuin.app.settings import Settings, read_settings


def create_app(settings: Settings | None = None) -> FastAPI:
    """Make the application. Without settings they are read from environment and file.

    Opens nothing until it starts, and connects to no database even then (SQLite excepted).
    """
    chosen = settings or read_settings()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        with installation(chosen, is_patient=False) as opened, search_log(chosen) as log:
            if chosen.is_sqlite:
                initialise(opened.parts())
            if opened.synonyms:
                opened.synonyms.check()
            app.state.installation, app.state.search_log = opened, log
            yield

    app = FastAPI(
        title="Sakuin",
        version="1",
        lifespan=lifespan,
        openapi_url="/api/v1/openapi.json",
        docs_url=None,
        redoc_url=None,
        middleware=[
            Middleware(Guard, most_bytes=chosen.max_request_bytes, is_read_only=chosen.read_only),
            Middleware(RootPath, root=chosen.root_path),
            Middleware(LastResort),
            Middleware(LimitWaiting),
        ],
    )
    handle_failures(app)
    for module in (paragraph_api, search_api, discovery_api, health, search_pages, pages):
        app.include_router(module.router)
    app.include_router(click_router)
    app.mount("/static", StaticFiles(directory=static_folder()), name="static")
    return app
