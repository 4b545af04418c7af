"""A network path to a MySQL server that can be cut at COMMIT, just before it or just after it."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Literal

from sqlalchemy import make_url

Where = Literal["before", "after"]


class CutProxy:
    """Carries bytes to the server; `cut` arms it for the next COMMIT that passes."""

    def __init__(self, host: str, port: int) -> None:
        self.cuts = 0
        self._server = (host, port)
        self._where: Where | None = None
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self, where: Where) -> None:
        """Cut the connection of the next COMMIT: it never arrives, or its answer never does."""
        self._where = where

    def close(self) -> None:
        """Take no more connections."""
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.create_connection(self._server)
            threading.Thread(target=self._answers, args=(server, client), daemon=True).start()
            threading.Thread(target=self._requests, args=(client, server), daemon=True).start()

    def _answers(self, server: socket.socket, client: socket.socket) -> None:
        try:
            while data := server.recv(65536):
                client.sendall(data)
        except OSError:
            pass  # either end has gone: so does the other
        finally:
            _hang_up(client, server)

    def _requests(self, client: socket.socket, server: socket.socket) -> None:
        try:
            while data := client.recv(65536):
                where = self._where if data[4:] == b"\x03COMMIT" else None
                if where is not None:
                    self._where = None
                    self.cuts += 1
                if where == "before":
                    break
                if where == "after":
                    _hang_up(client)
                    server.sendall(data)
                    server.recv(1)
                    break
                server.sendall(data)
        except OSError:
            pass
        finally:
            _hang_up(client, server)


def _hang_up(*ends: socket.socket) -> None:
    for end in ends:
        with suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)
        end.close()


@contextmanager
def cut_proxy(url: str) -> Iterator[tuple[CutProxy, str]]:
    """Give a proxy to the server of this address, and the address that leads through it."""
    address = make_url(url)
    assert address.host is not None
    proxy = CutProxy(address.host, address.port or 3306)
    try:
        through = address.set(host="127.0.0.1", port=proxy.port)
        yield proxy, through.render_as_string(hide_password=False)
    finally:
        proxy.close()
