"""A real web server on this machine, which keeps what is posted and answers as it is told."""

import base64
import contextlib
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from sakuin.queue.notices import Webhooks

KEY = b"k" * 32
SECRET = f"whsec_{base64.b64encode(KEY).decode()}"


@dataclass(frozen=True, slots=True)
class Post:
    """What was posted, where to."""

    path: str
    headers: Message
    body: bytes


Answer = Callable[[BaseHTTPRequestHandler], None]


@dataclass(slots=True)
class Receiver:
    """What came, and the answers to give in turn; the last one is given for ever."""

    port: int = 0
    posts: list[Post] = field(default_factory=list)
    answers: list[Answer] = field(default_factory=list)
    gone: threading.Event = field(default_factory=threading.Event)
    """Set when the test ends: who hangs, hangs until then."""

    def place(self, host: str = "127.0.0.1") -> str:
        return f"{host}:{self.port}"

    def allowed(self, **options: object) -> Webhooks:
        """Settings of a sender that may send here, or as the options say."""
        settings = {"secrets": (SECRET,), "allow": frozenset({self.place()}), **options}
        return Webhooks(**settings)  # type: ignore[arg-type]

    def url(self, path: str = "/hook", host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.port}{path}"


def answer(status: int, body: bytes = b"", **headers: str) -> Answer:
    """Answer with this status."""

    def give(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    return give


@contextmanager
def web_receiver(*answers: Answer, tls: ssl.SSLContext | None = None) -> Iterator[Receiver]:
    """Start a server that gives these answers in turn (200 where none are given)."""
    receiver = Receiver(answers=list(answers) or [answer(200)])

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            receiver.posts.append(Post(self.path, self.headers, body))
            give = receiver.answers[min(len(receiver.posts), len(receiver.answers)) - 1]
            with contextlib.suppress(OSError):  # the sender may have left
                give(self)

        def do_GET(self) -> None:
            receiver.posts.append(Post(self.path, self.headers, b""))

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name there
            pass

    class Server(ThreadingHTTPServer):
        def handle_error(self, request: object, client_address: object) -> None:
            pass  # who hung up is seen by the test

    server = Server(("127.0.0.1", 0), Handler)
    receiver.port = server.server_address[1]
    if tls is not None:
        server.socket = tls.wrap_socket(
            server.socket, server_side=True, do_handshake_on_connect=False
        )
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield receiver
    finally:
        receiver.gone.set()
        server.shutdown()
        thread.join()
        server.server_close()
