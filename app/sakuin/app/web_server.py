"""Serving the application: one process, or several that share an address."""

import contextlib
import multiprocessing.process
import os
import resource
import signal
import socket
import threading
from collections.abc import Callable
from typing import Any

import uvicorn
from fastapi import FastAPI

from sakuin.app.main import create_app
from sakuin.app.settings import Settings, as_environment

_FACTORY = "sakuin.app.web_server:create_child_app"
_OPTIONS: dict[str, Any] = {
    "log_level": "warning",
    "access_log": False,
    "server_header": False,
    "timeout_graceful_shutdown": 10,
    "limit_concurrency": 1000,  # beyond it 503, not an accept loop that fails
}


def serve(
    settings: Settings,
    listener: socket.socket,
    *,
    workers: int = 1,
    on_ready: Callable[[], None] = lambda: None,
) -> None:
    """Serve until SIGTERM or SIGINT. `on_ready` is called once requests are taken."""
    _allow_many_files()
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


def create_child_app() -> FastAPI:
    """Make the application of one of several processes, which ends when their parent is gone."""
    parent = multiprocessing.parent_process()
    if parent is not None:  # known by a pipe of its own, even when it died while we started

        def watch(process: multiprocessing.process.BaseProcess = parent) -> None:
            process.join()
            os.kill(os.getpid(), signal.SIGTERM)

        threading.Thread(target=watch, name="parent", daemon=True).start()
    return create_app()


def _allow_many_files() -> None:
    """Raise the soft limit of open files: idle connections and old generations take many."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = min(hard, 65_536) if hard != resource.RLIM_INFINITY else 65_536
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


class _Server(uvicorn.Server):
    """Tells when it has started."""

    def __init__(self, config: uvicorn.Config, on_ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_ready = on_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._on_ready()
