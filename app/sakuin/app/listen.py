"""Taking the address that the pages are served at, before any work is done. No web framework."""

import errno
import ipaddress
import socket

from sakuin.app.settings import Settings, SettingsError


def listen(settings: Settings) -> socket.socket:
    """Take the address; SettingsError tells who has it, or why it cannot be had."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        return socket.create_server((settings.host, settings.port), family=family, backlog=1024)
    except UnicodeError as error:
        raise SettingsError(f"cannot listen on {settings.host!r}: {error}") from None
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


def is_loopback(host: str) -> bool:
    """Tell whether only this machine reaches the address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
