"""Where a notice may go: `mailto:somebody@example.org`, or a web address."""

import re
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

from sakuin.queue.errors import BadMessage

MOST_URL = 1_000
_ATOM = r"[A-Za-z0-9!$&'*+/=^_`{|}~-]+"
_LABEL = r"[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?"
_NAME = re.compile(rf"(?=.{{1,253}}\Z){_LABEL}(?:\.{_LABEL})*\.?")
_MAIL = re.compile(rf"(?=[^@]{{1,64}}@.{{1,189}}\Z){_ATOM}(?:\.{_ATOM})*@{_LABEL}(?:\.{_LABEL})*")
_IPV6 = re.compile(r"\[[0-9A-Fa-f:.]+\](?::[0-9]*)?")
_USER = re.compile(r"^(https?:/*)[^/]*@", re.IGNORECASE)
_VISIBLE = re.compile(r"[!-~]+")
_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The parts of a web address. `host` is in lower case; `target` is the path and the query."""

    scheme: Literal["http", "https"]
    host: str
    port: int
    target: str

    @property
    def authority(self) -> str:
        """What the Host header says."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def place(self) -> str:
        """Host and port, as a list of allowed receivers names them."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def check_address(address: str) -> str:
    """Return the address, or raise BadMessage that says what is wrong. Looks up no name."""
    if address.startswith("mailto:"):
        mail_address(address)
    else:
        endpoint(address)
    return address


def mail_address(address: str) -> str:
    """Return what stands behind `mailto:`, or raise BadMessage."""
    plain = address.removeprefix("mailto:")
    if plain == address:
        raise _bad(address, "it does not begin with mailto:")
    return check_mail(plain)


def check_mail(plain: str) -> str:
    """Return the plain mail address, or raise BadMessage."""
    if not _MAIL.fullmatch(plain):
        raise _bad(
            plain,
            "use one plain address, as somebody@example.org: no name beside it, no second one, no"
            " subject; a domain of other letters in its xn-- form",
        )
    return plain


def endpoint(address: str) -> Endpoint:
    """Return the parts of a web address, or raise BadMessage."""
    if not address.startswith(("https://", "http://")):
        raise _bad(address, "use mailto:somebody@example.org, or an address with https:// or http")
    if len(address) > MOST_URL:
        raise _bad(address, f"it has {len(address):,} characters; the limit is {MOST_URL:,}")
    if not _VISIBLE.fullmatch(address) or "\\" in address:
        raise _bad(address, "write blanks and other letters as %XX, and names in their xn-- form")
    try:
        parts = urlsplit(address)
        port = parts.port
        host = parts.hostname or ""
    except ValueError as error:
        raise _bad(address, str(error)) from None
    if "@" in parts.netloc:
        raise _bad(address, "it may hold no user and no password")
    if "#" in address:
        raise _bad(address, "the part from # on is never sent: leave it out")
    if port == 0 or not (_NAME.fullmatch(host) or _IPV6.fullmatch(parts.netloc)):
        raise _bad(address, "it names no host, or none that can be")
    scheme: Literal["http", "https"] = "https" if parts.scheme == "https" else "http"
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Endpoint(scheme, host, port or _PORTS[scheme], target)


def _bad(address: str, why: str) -> BadMessage:
    """Return the error; a password in the address is not repeated in it."""
    shown = _USER.sub(r"\1…@", address)[:120]
    return BadMessage(f"address {shown!r}: {why}")
