"""A real mail server on this machine, which keeps what it takes and answers as it is told."""

import asyncio
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any

from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session

ACCOUNT = ("notices", "open sesame")


@dataclass(slots=True)
class Mailbox:
    """What the server took, as it came, and what it is to answer (None: it takes everything)."""

    taken: list[tuple[str, list[str], bytes]] = field(default_factory=list)
    to_recipient: str | None = None
    to_data: str | None = None
    to_quit: str | None = None
    authenticated: list[bool] = field(default_factory=list)
    encrypted: list[bool] = field(default_factory=list)

    def mails(self) -> list[EmailMessage]:
        """The mails, read by the standard library's newer parser."""
        found = [message_from_bytes(raw, policy=policy.default) for _, _, raw in self.taken]
        return [mail for mail in found if isinstance(mail, EmailMessage)]

    async def handle_RCPT(  # noqa: N802 - the server calls it so
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        if self.to_recipient is None:
            envelope.rcpt_tos.append(address)
        return self.to_recipient or "250 OK"

    async def handle_DATA(  # noqa: N802 - the server calls it so
        self, server: SMTP, session: Session, envelope: Envelope
    ) -> str:
        if self.to_data is not None:
            return self.to_data
        assert isinstance(envelope.original_content, bytes)
        assert envelope.mail_from is not None
        self.taken.append((envelope.mail_from, envelope.rcpt_tos, envelope.original_content))
        self.authenticated.append(bool(session.authenticated))
        self.encrypted.append(session.ssl is not None)
        return "250 taken"

    async def handle_QUIT(  # noqa: N802 - the server calls it so
        self, server: SMTP, session: Session, envelope: Envelope
    ) -> str:
        return self.to_quit or "221 Bye"


def _knows(_server: Any, _session: Any, _envelope: Any, _mechanism: str, data: Any) -> AuthResult:
    is_right = isinstance(data, LoginPassword) and (
        data.login.decode(),
        data.password.decode(),
    ) == (ACCOUNT)
    return AuthResult(success=is_right, handled=False)


@contextmanager
def mail_receiver(tls: ssl.SSLContext | None = None) -> Iterator[tuple[Mailbox, int]]:
    """Start a server; with `tls` it insists on STARTTLS and on the ACCOUNT."""
    box = Mailbox()
    options: dict[str, Any] = {}
    if tls is not None:
        options = {
            "tls_context": tls,
            "require_starttls": True,
            "authenticator": _knows,
            "auth_required": True,
        }
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        start = _serve(lambda: SMTP(box, hostname="test", loop=loop, **options))
        server = asyncio.run_coroutine_threadsafe(start, loop).result(30)
        yield box, server.sockets[0].getsockname()[1]
        asyncio.run_coroutine_threadsafe(_stop(server), loop).result(30)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _serve(session: Callable[[], SMTP]) -> asyncio.Server:
    return await asyncio.get_running_loop().create_server(session, "127.0.0.1", 0)


async def _stop(server: asyncio.Server) -> None:
    server.close()
    rest = asyncio.all_tasks() - {asyncio.current_task()}
    for task in rest:
        task.cancel()
    await asyncio.gather(*rest, return_exceptions=True)
