"""Keeps room for searches: what waits for the database may not take every thread.

Searches need no database; saves and pages of rows do. While it hangs, each of these holds one of
the process's 40 threads, so only so many are let in at once.
"""

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

MOST_AT_ONCE = 24
_SEARCHES = (
    "/search",
    "/api/v1/search",
    "/api/v1/suggest",
    "/api/v1/words",
    "/click",
    "/static/",
    "/healthz",
    "/readyz",
)


class LimitWaiting:
    """Answers 503 where too many requests wait for the database already."""

    def __init__(self, app: ASGIApp, most: int = MOST_AT_ONCE) -> None:
        self._app, self._left = app, most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request. `path` is the application's own, without a root path."""
        path = scope.get("path", "").removeprefix(scope.get("root_path", ""))
        if scope["type"] != "http" or path in ("", "/") or path.startswith(_SEARCHES):
            await self._app(scope, receive, send)
            return
        if not self._left:
            busy = {"error": "too many requests wait for the database: try again"}
            await JSONResponse(busy, 503, {"Retry-After": "5"})(scope, receive, send)
            return
        self._left -= 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._left += 1
