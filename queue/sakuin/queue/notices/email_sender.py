"""Sends a letter as an e-mail, by SMTP. The server is the operator's own choice: it is trusted."""

import re
import smtplib
import ssl
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from email.header import Header
from email.message import Message
from email.policy import compat32
from email.utils import formatdate
from typing import Literal

from sakuin.queue.errors import BadMessage
from sakuin.queue.notices.address import check_mail, mail_address
from sakuin.queue.notices.errors import NoticeDelayed, NoticeError, NoticeRefused
from sakuin.queue.notices.notice import Letter, one_line

_LINES = compat32.clone(linesep="\r\n")
_LINE_END = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True, slots=True)
class MailServer:
    """Where mail is handed in, and as whom. `sender` is a plain address.

    `security` is "starttls" (usual with port 587), "tls" (465), or "none", which takes no
    password. `ca_file` names the authorities that are trusted instead of the system's. A server
    that says nothing for `timeout_seconds` is given up. Raises BadMessage for what cannot be.
    """

    host: str
    sender: str
    port: int = 587
    security: Literal["starttls", "tls", "none"] = "starttls"
    user: str | None = None
    password: str | None = field(default=None, repr=False)
    timeout_seconds: float = 20.0
    ca_file: str | None = None

    def __post_init__(self) -> None:
        check_mail(self.sender)
        if self.security not in ("starttls", "tls", "none"):
            raise BadMessage(f"mail security {self.security!r}: use starttls, tls or none")
        if not self.host or not 1 <= self.port <= 65_535:
            raise BadMessage(f"mail server {self.host!r}, port {self.port}: name a host and a port")
        if (self.user is None) != (self.password is None):
            raise BadMessage("mail server: give user and password, or none of them")
        if self.user is not None and self.security == "none":
            raise BadMessage("mail server: a password is sent with starttls or tls only")
        if not self.timeout_seconds > 0:
            raise BadMessage(f"mail timeout_seconds={self.timeout_seconds}: use above 0")


def send_email(letter: Letter, server: MailServer) -> None:
    """Hand the letter in. Returns when the server has taken it.

    Raises NoticeRefused where it refuses this address or this letter for good, and NoticeDelayed
    where it is away, busy, or does not take our account: that may be mended.
    """
    try:
        recipient = mail_address(letter.to)
    except BadMessage as error:
        raise NoticeRefused(str(error)) from None
    mail = mail_of(letter, server.sender).as_bytes()
    try:
        with _session(server) as smtp:
            smtp.sendmail(server.sender, [recipient], mail)
    except smtplib.SMTPRecipientsRefused as error:
        raise _answered(recipient, *error.recipients[recipient]) from error
    except smtplib.SMTPDataError as error:
        raise _answered(recipient, error.smtp_code, error.smtp_error) from error
    except (smtplib.SMTPException, OSError, UnicodeError) as error:
        raise NoticeDelayed(f"mail server {server.host}:{server.port}: {error}") from error


def mail_of(letter: Letter, sender: str) -> Message:
    """Return the letter as a mail. No text of it can become a header, or an address.

    The older Message is used: EmailMessage decodes a subject like `=?utf-8?q?=0D=0ABcc:…?=` when
    it is set, and writes out the line break that was hidden in it.
    """
    subject = one_line(letter.subject)
    is_plain = subject.isascii() and "=?" not in subject and len(subject) <= 60
    mail = Message(policy=_LINES)
    mail["From"] = sender
    mail["To"] = mail_address(letter.to)
    charset = "us-ascii" if is_plain else "utf-8"
    mail["Subject"] = Header(subject, charset, header_name="Subject").encode()
    mail["Date"] = formatdate()
    mail["Message-ID"] = f"<{letter.id}@{sender.rpartition('@')[2]}>"
    mail["Auto-Submitted"] = "auto-generated"
    mail["MIME-Version"] = "1.0"
    mail.set_payload(_LINE_END.sub("\r\n", letter.text) + "\r\n", "utf-8")
    return mail


@contextmanager
def _session(server: MailServer) -> Iterator[smtplib.SMTP]:
    """Open a session. Saying goodbye may fail: what was taken is taken."""
    own_name = server.sender.rpartition("@")[2]  # smtplib's own way may ask a slow name server
    if server.security == "tls":
        smtp: smtplib.SMTP = smtplib.SMTP_SSL(
            server.host,
            server.port,
            own_name,
            timeout=server.timeout_seconds,
            context=ssl.create_default_context(cafile=server.ca_file),
        )
    else:
        smtp = smtplib.SMTP(server.host, server.port, own_name, timeout=server.timeout_seconds)
    try:
        if server.security == "starttls":
            smtp.starttls(context=ssl.create_default_context(cafile=server.ca_file))
        if server.user is not None and server.password is not None:
            smtp.login(server.user, server.password)
        yield smtp
        with suppress(smtplib.SMTPException, OSError):
            smtp.quit()
    finally:
        smtp.close()


def _answered(recipient: str, code: int, reply: bytes | str) -> NoticeError:
    text = reply.decode("utf-8", "replace") if isinstance(reply, bytes) else reply
    said = f"mail to {recipient}: the server said {code} {one_line(text)}"
    return NoticeRefused(said) if 500 <= code <= 599 else NoticeDelayed(said)
