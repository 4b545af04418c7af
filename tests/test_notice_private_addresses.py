"""A webhook never reaches a private address, however it is written (SSRF)."""

from ipaddress import IPv4Address, IPv6Address, ip_address

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sakuin.queue import BadMessage
from sakuin.queue.notices import (
    Letter,
    Notice,
    NoticeRefused,
    Webhooks,
    check_address,
    send_webhook,
)
from sakuin.queue.notices.public_address import is_public
from web_receiver import SECRET, web_receiver

NOTICE = Notice("s", "t")

SPELLINGS = [
    "localhost",
    "LOCALHOST",
    "127.0.0.1",
    "127.1",
    "0x7f.1",
    "0x7f000001",
    "2130706433",
    "0177.0.0.1",
    "0",
    "0.0.0.0",
    "[::1]",
    "[::]",
    "[0:0:0:0:0:0:0:1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[::127.0.0.1]",
    "[64:ff9b::7f00:1]",
    "[2002:7f00:1::]",
]


@pytest.mark.parametrize("host", SPELLINGS)
def test_this_machine_is_not_reached_however_it_is_spelled(host: str) -> None:
    """A receiver does listen there: that nothing comes is not for want of one."""
    with web_receiver() as receiver:
        webhooks = Webhooks((SECRET,), ports=frozenset({receiver.port}))
        letter = Letter.of(NOTICE, receiver.url(host=host))
        with pytest.raises(NoticeRefused, match="not an address of the public net"):
            send_webhook(letter, webhooks)
        assert not receiver.posts
        if host == "127.0.0.1":  # and with leave it is reached
            send_webhook(letter, receiver.allowed())
            assert len(receiver.posts) == 1


NOT_PUBLIC = """
0.0.0.0 0.1.2.3 10.0.0.1 10.255.255.255 100.64.0.1 100.100.100.200 100.127.255.255 127.0.0.1
127.255.255.255 168.63.129.16 169.254.0.1 169.254.169.254 169.254.170.2 172.16.0.1 172.31.255.255
192.0.0.192 192.0.2.1 192.88.99.1 192.168.0.1 192.168.255.255 198.18.0.1 198.19.255.255
198.51.100.1 203.0.113.1 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255
:: ::1 ::ffff:8.8.8.8 ::ffff:10.0.0.1 ::8.8.8.8 64:ff9b::808:808 64:ff9b:1::a00:1 100::1
2001::1 2001:0:53aa:64c:0:fbfe:f5ff:fffe 2001:db8::1 2002:808:808::1 3fff::1 5f00::1 fc00::1
fd00:ec2::254 fe80::1 fe80::1%1 fec0::1 ff02::1 ffff::1
"""
PUBLIC = """
1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 128.0.0.1 169.253.255.255
172.15.255.255 172.32.0.0 192.167.255.255 192.169.0.0 198.17.255.255 198.20.0.0 223.255.255.255
2001:4860:4860::8888 2400:cb00::1 2606:4700:4700::1111 2a00:1450::1 2c0f:f248::1
"""


@pytest.mark.parametrize("address", NOT_PUBLIC.split())
def test_the_table_of_what_is_not_public(address: str) -> None:
    """Judged by name: a name that leads there is refused, also beside a public address."""
    assert not is_public(ip_address(address))
    for found in ((address,), ("8.8.8.8", address)):

        def resolve(host: str, port: int, found: tuple[str, ...] = found) -> tuple[str, ...]:
            return found

        letter = Letter.of(NOTICE, "https://hook.example.org/")
        with pytest.raises(NoticeRefused, match="not an address of the public net"):
            send_webhook(letter, Webhooks((SECRET,)), resolve=resolve)


@pytest.mark.parametrize("address", PUBLIC.split())
def test_the_table_of_what_is_public(address: str) -> None:
    assert is_public(ip_address(address))


@settings(max_examples=500, derandomize=True)
@given(st.ip_addresses(v=4) | st.ip_addresses(v=6))
def test_what_the_standard_library_calls_private_is_not_public(
    address: IPv4Address | IPv6Address,
) -> None:
    """Its own table is younger or older than ours, but where it says no, so do we."""
    is_somebodys = address.is_private or address.is_multicast or address.is_reserved
    if is_somebodys or address.is_link_local or address.is_loopback or address.is_unspecified:
        assert not is_public(address)


def test_only_the_usual_ports_of_others() -> None:
    with pytest.raises(NoticeRefused, match="use one of the ports 80, 443, 8080, 8443"):
        send_webhook(Letter.of(NOTICE, "http://hook.example.org:25/"), Webhooks((SECRET,)))


def test_leave_is_for_that_host_and_port_alone() -> None:
    with web_receiver() as receiver, web_receiver() as other:
        webhooks = receiver.allowed(ports=frozenset({other.port}))
        with pytest.raises(NoticeRefused, match="public net"):
            send_webhook(Letter.of(NOTICE, other.url()), webhooks)
        with pytest.raises(NoticeRefused, match="ports"):
            send_webhook(Letter.of(NOTICE, receiver.url(host="localhost")), webhooks)
        assert not other.posts
        assert not receiver.posts


@pytest.mark.parametrize(
    "address",
    [
        "",
        "hook.example.org",
        "ftp://hook.example.org/",
        "file:///etc/passwd",
        "HTTPS://hook.example.org/",
        "https://",
        "https:///path",
        "https://user@hook.example.org/",
        "https://user:secret@hook.example.org/",
        "https://good.example.org@evil.example.org/",
        "https://evil.example.org\\@good.example.org/",
        "https://hook.example.org/a b",
        "https://hook.example.org/\r\nX-Evil: 1",
        "https://hook.example.org/\t",
        "https://hook.example.org/猫",
        "https://猫.example.org/",
        "https://hook.example.org/#part",
        "https://hook.example.org:0/",
        "https://hook.example.org:65536/",
        "https://hook.example.org:port/",
        "https://hook..example.org/",
        "https://-hook.example.org/",
        "https://[::1/",
        "https://[::1]x/",
        "https://x[::1]/",
        "https://[fe80::1%25eth0]/",
        "https://[not:an:address]/",
        "https://" + "a" * 64 + ".org/",
        "https://hook.example.org/" + "a" * 1000,
    ],
)
def test_an_address_that_cannot_be_is_refused(address: str) -> None:
    with pytest.raises(BadMessage, match="address"):
        check_address(address)
    with pytest.raises(NoticeRefused):
        send_webhook(Letter.of(NOTICE, address), Webhooks((SECRET,)))


@settings(max_examples=500, derandomize=True)
@given(
    st.text(st.sampled_from("http:/.@#?&=[]% \r\n\t\0\\aé猫1-") | st.characters(), max_size=40).map(
        lambda end: "https://a.example" + end
    )
)
def test_header_injection_by_an_address_is_impossible(address: str) -> None:
    """What is taken is one line of visible ASCII, for the host that it names."""
    try:
        check_address(address)
    except BadMessage:
        return
    assert address.isascii()
    assert address.isprintable()
    assert not set(address) & set(" \\#")
