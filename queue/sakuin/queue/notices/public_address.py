"""Which addresses of the net are everybody's: the only ones that a stranger's URL may lead to."""

import socket
from collections.abc import Callable, Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from sakuin.queue.notices.errors import NoticeDelayed, NoticeRefused

Resolve = Callable[[str, int], Sequence[str]]
"""Returns the addresses of a host, as numbers; raises OSError where there is none."""

_NOT_PUBLIC_4 = tuple(
    ip_network(net)
    for net in (
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",  # carriers' own; a cloud's metadata at 100.100.100.200
        "127.0.0.0/8",
        "168.63.129.16/32",  # a cloud's own services, in a public range
        "169.254.0.0/16",  # link-local; most clouds' metadata
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.88.99.0/24",
        "192.168.0.0/16",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/4",
        "240.0.0.0/4",
    )
)
_PUBLIC_6 = ip_network("2000::/3")
"""All else is loopback, local, multicast, reserved, or an IPv4 address in disguise."""

_NOT_PUBLIC_6 = tuple(
    ip_network(net)
    for net in ("2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20")
)


def is_public(address: IPv4Address | IPv6Address) -> bool:
    """Tell whether the address is an ordinary one of the public net.

    IPv4 addresses that are wrapped (mapped, NAT64, 6to4, Teredo) never are. The table is our own:
    what Python's `is_global` says has changed with its versions.
    """
    if isinstance(address, IPv4Address):
        return not any(address in net for net in _NOT_PUBLIC_4)
    return address in _PUBLIC_6 and not any(address in net for net in _NOT_PUBLIC_6)


def look_up(host: str, port: int) -> Sequence[str]:
    """Return the addresses of a host as the system's resolver gives them, each once."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return tuple(dict.fromkeys(str(place[0]) for *_, place in found))


def addresses_of(host: str, port: int, resolve: Resolve, *, any_address: bool) -> Sequence[str]:
    """Return the numeric addresses to connect to; a connection has to be made to just these.

    Raises NoticeDelayed where the name is not known now, and NoticeRefused where any one of its
    addresses is not public, unless `any_address` is given.
    """
    try:
        found = resolve(host, port)
    except (OSError, UnicodeError) as error:
        raise NoticeDelayed(f"host {host}: it has no address: {error}") from error
    if not any_address:
        for address in found:
            if not is_public(ip_address(address)):
                raise NoticeRefused(
                    f"host {host}: {address} is not an address of the public net; an operator may"
                    f" allow {host}:{port}"
                )
    return found
