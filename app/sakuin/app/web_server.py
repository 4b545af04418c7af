"""Serving the application: one process, or several that share an address."""

import errno
import os
import socket
from collections.abc import Callable

import uvicorn

from sakuin.app.main import create_app
from sakuin.app.settings import Settings, SettingsError, as_environment

_FACTORY = "sakuin.app.main:create_app"


def listen(settings: Settings) -> socket.socket:
    """Take the address; SettingsError tells who has it, or why it cannot be had."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        return socket.create_server((settings.host, settings.port), family=family, backlog=1024)
    except OSError as error:
        place = f"{settings.host} port {settings.port}"
        if error.errno == errno.EADDRINUSE:
            raise SettingsError(
                f"{place} is taken by another program: choose another --port (0: any free one)"
            ) from None
        raise SettingsError(f"cannot listen on {place}: {error.strerror}") from None


def address_of(listener: socket.socket, settings: Settings) -> str:
    """Return the address to open in a browser."""
    host, port = listener.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{port}{settings.root_path.rstrip('/')}/"


def serve(
    settings: Settings,
    listener: socket.socket,
    *,
    workers: int,
    on_ready: Callable[[], None] = lambda: None,
) -> None:
    """Serve until SIGTERM or SIGINT. `on_ready` is called once requests are answered."""
    options = {
        "log_level": "warning",
        "access_log": False,
        "server_header": False,
        "proxy_headers": True,
        "timeout_graceful_shutdown": 10,
    }
    if workers == 1:
        _Server(uvicorn.Config(create_app(settings), **options), on_ready).run([listener])  # type: ignore[arg-type]
        return
    os.environ.update(as_environment(settings))  # its processes read their settings anew
    config = uvicorn.Config(_FACTORY, factory=True, workers=workers, **options)  # type: ignore[arg-type]
    on_ready()
    uvicorn.supervisors.Multiprocess(
        config, target=uvicorn.Server(config).run, sockets=[listener]
    ).run()


class _Server(uvicorn.Server):
    """Tells when it has started."""

    def __init__(self, config: uvicorn.Config, on_ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_ready = on_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._on_ready()
