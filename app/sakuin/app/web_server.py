"""Serving the application: one process, or several that share an address."""

import contextlib
import os
import signal
import socket
from collections.abc import Callable
from typing import Any

import uvicorn

from sakuin.app.main import create_app
from sakuin.app.settings import Settings, as_environment

_FACTORY = "sakuin.app.main:create_app"
_OPTIONS: dict[str, Any] = {
    "log_level": "warning",
    "access_log": False,
    "server_header": False,
    "timeout_graceful_shutdown": 10,
}


def serve(
    settings: Settings,
    listener: socket.socket,
    *,
    workers: int = 1,
    on_ready: Callable[[], None] = lambda: None,
) -> None:
    """Serve until SIGTERM or SIGINT. `on_ready` is called once requests are taken."""
    # After a graceful end uvicorn raises the signal again; who called us has things to close.
    signal.signal(signal.SIGTERM, lambda *_: None)
    with contextlib.suppress(KeyboardInterrupt):
        if workers == 1:
            config = uvicorn.Config(create_app(settings), **_OPTIONS)
            _Server(config, on_ready).run([listener])
            return
        os.environ.update(as_environment(settings))  # its processes read their settings anew
        on_ready()
        uvicorn.run(_FACTORY, factory=True, workers=workers, fd=listener.fileno(), **_OPTIONS)


class _Server(uvicorn.Server):
    """Tells when it has started."""

    def __init__(self, config: uvicorn.Config, on_ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_ready = on_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._on_ready()
