"""Sends a letter to a web address: one signed POST, to the public net only, no redirect followed.

The address is a stranger's. Its name is looked up once, every address found is judged, and the
connection is made to one of just these, so that a name cannot change its mind in between.
"""

import http.client
import json
import socket
import ssl
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from sakuin.queue.errors import BadMessage
from sakuin.queue.notices.address import Endpoint, endpoint
from sakuin.queue.notices.errors import NoticeDelayed, NoticeError, NoticeRefused
from sakuin.queue.notices.notice import Letter, one_line
from sakuin.queue.notices.public_address import Resolve, addresses_of, look_up
from sakuin.queue.notices.signature import secret_bytes, sign

MOST_ANSWER_BYTES = 2_048
"""How much of an answer is read: enough to say what a receiver complained about."""

MOST_ADDRESSES = 4
"""How many addresses of one host are tried."""

_LATER = frozenset({408, 425, 429})


@dataclass(frozen=True, slots=True)
class Webhooks:
    """How webhooks are sent.

    Each of `secrets` signs (two of them while one replaces the other). `allow` names receivers
    (host:port, as in the address) that may be anywhere; all others must be public, on one of
    `ports`. A whole delivery takes `connect_seconds` for each address and then `answer_seconds` at
    most. `ca_file` names the authorities that are trusted instead of the system's. Raises
    BadMessage for what cannot be.
    """

    secrets: tuple[str, ...] = field(repr=False)
    allow: frozenset[str] = frozenset()
    ports: frozenset[int] = frozenset({80, 443, 8080, 8443})
    connect_seconds: float = 5.0
    answer_seconds: float = 20.0
    ca_file: str | None = None

    def __post_init__(self) -> None:
        if not self.secrets:
            raise BadMessage("webhooks: give a secret to sign with")
        for secret in self.secrets:
            secret_bytes(secret)
        for place in self.allow:
            if not _is_place(place):
                raise BadMessage(f"webhooks allow {place!r}: write host:port, in lower case")
        if not (self.connect_seconds > 0 and self.answer_seconds > 0):
            raise BadMessage("webhooks: connect_seconds and answer_seconds must be above 0")


def send_webhook(letter: Letter, webhooks: Webhooks, *, resolve: Resolve = look_up) -> None:
    """POST the letter. Returns when the receiver has answered 2xx.

    Raises NoticeRefused for a bad or private address, a redirect, and other answers 4xx than 408,
    425 and 429; NoticeDelayed for these, 5xx, time-outs and everything that may be mended.
    """
    try:
        to = endpoint(letter.to)
    except BadMessage as error:
        raise NoticeRefused(str(error)) from None
    is_allowed = to.place in webhooks.allow
    if not is_allowed and to.port not in webhooks.ports:
        ports = ", ".join(str(port) for port in sorted(webhooks.ports))
        raise NoticeRefused(
            f"webhook to {to.place}: use one of the ports {ports}; an operator may allow others"
        )
    addresses = addresses_of(to.host, to.port, resolve, any_address=is_allowed)
    try:
        with _connected(to, addresses, webhooks) as connection:
            answer, said = _post(connection, to, letter, webhooks)
    except (OSError, http.client.HTTPException) as error:
        reason = str(error) or type(error).__name__
        raise NoticeDelayed(f"webhook to {to.place}: {reason}") from error
    _judge(to, answer, said)


def body_of(letter: Letter) -> bytes:
    """Return the JSON that a receiver gets."""
    told = {
        "id": letter.id,
        "type": "sakuin.notice",
        "subject": letter.subject,
        "text": letter.text,
        "facts": letter.facts,
    }
    return json.dumps(told, ensure_ascii=False, allow_nan=False).encode()


def _post(
    connection: http.client.HTTPConnection, to: Endpoint, letter: Letter, webhooks: Webhooks
) -> tuple[int, bytes]:
    body, now = body_of(letter), int(time.time())
    signatures = (sign(secret_bytes(one), letter.id, now, body) for one in webhooks.secrets)
    headers = {
        "Host": to.authority,
        "User-Agent": "Sakuin",
        "Content-Type": "application/json",
        "Connection": "close",
        "webhook-id": letter.id,
        "webhook-timestamp": str(now),
        "webhook-signature": " ".join(signatures),
    }
    connection.request("POST", to.target, body, headers)
    with connection.getresponse() as response:
        status = response.status
        # What was done is done, even if the text of the answer does not arrive.
        said = b"" if 200 <= status <= 299 else response.read(MOST_ANSWER_BYTES)
        return status, said


def _judge(to: Endpoint, status: int, said: bytes) -> None:
    if 200 <= status <= 299:
        return
    complaint = one_line(said.decode("utf-8", "replace"))
    answer = f"webhook to {to.place}: it answered {status} {complaint}".rstrip()
    error: type[NoticeError] = NoticeDelayed
    if 300 <= status <= 399:
        raise NoticeRefused(f"{answer}; redirects are not followed: give the address itself")
    if 400 <= status <= 499 and status not in _LATER:
        error = NoticeRefused
    raise error(answer)


@contextmanager
def _connected(
    to: Endpoint, addresses: Sequence[str], webhooks: Webhooks
) -> Iterator[http.client.HTTPConnection]:
    """Connect to one of the addresses, by the name and for the time that are right."""
    context = ssl.create_default_context(cafile=webhooks.ca_file)
    with _reach(addresses, to.port, webhooks.connect_seconds) as plain:
        line = plain
        line.settimeout(webhooks.answer_seconds)
        if to.scheme == "https":
            line = context.wrap_socket(
                plain, server_hostname=to.host.rstrip("."), do_handshake_on_connect=False
            )
        with line, _cut_after(webhooks.answer_seconds, line):
            if isinstance(line, ssl.SSLSocket):
                line.do_handshake()
            connection = http.client.HTTPConnection(to.host, to.port)
            connection.sock = line
            yield connection


def _reach(addresses: Sequence[str], port: int, seconds: float) -> socket.socket:
    trouble: OSError = OSError("its name has no address")
    for address in addresses[:MOST_ADDRESSES]:
        try:
            return socket.create_connection((address, port), timeout=seconds)
        except OSError as error:
            trouble = error
    raise trouble


@contextmanager
def _cut_after(seconds: float, line: socket.socket) -> Iterator[None]:
    """End the connection when its time is up: a time-out of the socket itself bounds one read
    only, and a receiver that sends a byte now and then would hold us for ever."""
    is_late = threading.Event()

    def cut() -> None:
        is_late.set()
        with suppress(OSError):
            socket.socket.shutdown(line, socket.SHUT_RDWR)  # an SSLSocket's own is not for threads

    timer = threading.Timer(seconds, cut)
    timer.daemon = True
    timer.start()
    try:
        yield
    except (OSError, http.client.HTTPException):
        if not is_late.is_set():
            raise
    finally:
        timer.cancel()
    if is_late.is_set():
        raise TimeoutError(f"no whole answer within {seconds:g} s")


def _is_place(place: str) -> bool:
    try:
        return endpoint(f"http://{place}/").place == place
    except BadMessage:
        return False
