"""What every request passes: size limit, refusal of other sites' writes, security headers.

Plain ASGI, so that it also covers errors and static files.
"""

import contextlib
from collections.abc import Iterable
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})


class Guard:
    """Wraps the application. `most_bytes` bounds a request's body, whatever it declares."""

    def __init__(self, app: ASGIApp, most_bytes: int, *, is_read_only: bool = False) -> None:
        self._app, self._most_bytes, self._is_read_only = app, most_bytes, is_read_only

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        if scope["method"] == "HEAD":  # as GET; the server leaves the body out
            scope = {**scope, "method": "GET"}
        if scope["method"] not in _SAFE and self._is_read_only:
            await _refuse(scope, receive, send, 403, "this site is read-only")
            return
        if scope["method"] not in _SAFE and _is_foreign(headers):
            await _refuse(scope, receive, send, 403, "this request comes from another site")
            return
        declared = headers.get("content-length", "0")
        if not declared.isascii() or not declared.isdigit() or int(declared) > self._most_bytes:
            await _refuse(scope, receive, send, 413, _too_large(self._most_bytes))
            return
        await self._serve_bounded(scope, receive, send)

    async def _serve_bounded(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve, and answer 413 instead of whatever the application says of a cut body."""
        bounded = _Bounded(receive, self._most_bytes)
        sending = _with_headers(send)

        async def unless_exceeded(message: Message) -> None:
            if not bounded.is_exceeded:
                await sending(message)

        with contextlib.suppress(_TooLarge):
            await self._app(scope, bounded, unless_exceeded)
        if bounded.is_exceeded:
            await _refuse(scope, receive, send, 413, _too_large(self._most_bytes))


class _TooLarge(Exception):
    """A body went on beyond the limit."""


def is_cut(error: Exception) -> bool:
    """Tell whether an error is this module's own, of a body that it cut."""
    return isinstance(error, _TooLarge)


class _Bounded:
    """Receives a body up to a number of bytes."""

    def __init__(self, receive: Receive, most_bytes: int) -> None:
        self._receive, self._left = receive, most_bytes

    @property
    def is_exceeded(self) -> bool:
        """Whether more came than is taken."""
        return self._left < 0

    async def __call__(self) -> Message:
        message = await self._receive()
        self._left -= len(message.get("body", b""))
        if self.is_exceeded:
            raise _TooLarge
        return message


def _too_large(most_bytes: int) -> str:
    return f"the body is larger than {most_bytes:,} bytes: send less at once"


def _is_foreign(headers: Headers) -> bool:
    """Tell whether a browser sent this on behalf of another site's page.

    Browsers say so in Sec-Fetch-Site; older ones only name the Origin. Programs send neither.
    """
    site = headers.get("sec-fetch-site")
    if site is not None:
        return site not in ("same-origin", "none")
    origin = headers.get("origin")
    if origin is None:
        return False
    # Another site's page can set neither header; a proxy may put the name it was asked for here.
    own = {headers.get("host"), headers.get("x-forwarded-host")}
    try:
        return urlsplit(origin).netloc not in own
    except ValueError:  # an Origin that is no address is nobody's own
        return True


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            _set(MutableHeaders(scope=message), HEADERS.items())
        await send(message)

    return sending


def _set(headers: MutableHeaders, pairs: Iterable[tuple[str, str]]) -> None:
    for name, value in pairs:
        headers.setdefault(name, value)


async def _refuse(scope: Scope, receive: Receive, send: Send, status: int, reason: str) -> None:
    await JSONResponse({"error": reason}, status)(scope, receive, _with_headers(send))
