"""Serving below a path prefix, whether the proxy in front strips the prefix or not."""

from starlette.types import ASGIApp, Receive, Scope, Send


class RootPath:
    """Tells the application, in the way of ASGI, that it is mounted at `root`."""

    def __init__(self, app: ASGIApp, root: str) -> None:
        self._app, self._root = app, root.rstrip("/")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request with the prefix in its path, as ASGI wants it."""
        if self._root and scope["type"] == "http":
            path = str(scope["path"])
            if path != self._root and not path.startswith(self._root + "/"):
                path = self._root + path
            scope = {**scope, "root_path": self._root, "path": path}
        await self._app(scope, receive, send)
