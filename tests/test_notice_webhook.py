"""Webhooks, posted to a real web server on this machine, which the operator allows."""

import base64
import hashlib
import hmac
import json
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from own_certificates import own_certificate
from sakuin.queue import BadMessage
from sakuin.queue.notices import (
    Letter,
    Notice,
    NoticeDelayed,
    NoticeRefused,
    Webhooks,
    send_webhook,
)
from sakuin.queue.notices.signature import secret_bytes, sign
from web_receiver import KEY, SECRET, answer, web_receiver

NEWER_KEY = bytes(range(64))
NEWER_SECRET = f"whsec_{base64.b64encode(NEWER_KEY).decode()}"
FACTS = {"job": 7, "rate": 0.5, "error": None}
NOTICE = Notice("終わりました", "取り込みが\n終わりました。", FACTS)


def test_the_body_and_its_signature() -> None:
    """Verified as Standard Webhooks says: HMAC-SHA256 of id.timestamp.body, any of several keys."""
    with web_receiver() as receiver:
        letter = Letter.of(NOTICE, receiver.url("/hook?a=1&b=%E7%8C%AB"))
        send_webhook(letter, receiver.allowed(secrets=(SECRET, NEWER_SECRET)))
    (post,) = receiver.posts
    assert post.path == "/hook?a=1&b=%E7%8C%AB"
    assert post.headers["Host"] == receiver.place()
    assert post.headers["Content-Type"] == "application/json"
    told = json.loads(post.body)
    assert told == {
        "id": letter.id,
        "type": "sakuin.notice",
        "subject": NOTICE.subject,
        "text": NOTICE.text,
        "facts": NOTICE.facts,
    }
    assert abs(int(post.headers["webhook-timestamp"]) - time.time()) < 60
    signed = f"{post.headers['webhook-id']}.{post.headers['webhook-timestamp']}.".encode()
    for key, signature in zip(
        (KEY, NEWER_KEY), post.headers["webhook-signature"].split(), strict=True
    ):
        version, _, value = signature.partition(",")
        assert version == "v1"
        right = hmac.new(key, signed + post.body, hashlib.sha256).digest()
        assert base64.b64decode(value) == right


def test_a_known_signature() -> None:
    """The example that the Standard Webhooks libraries test themselves with."""
    key = secret_bytes("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    signature = sign(key, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, b'{"test": 2432232314}')
    assert signature == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_500_then_200_is_tried_again_under_the_same_id() -> None:
    with web_receiver(answer(500, b"out of\r\nink"), answer(204)) as receiver:
        letter = Letter.of(NOTICE, receiver.url())
        with pytest.raises(NoticeDelayed, match="answered 500 out of ink"):
            send_webhook(letter, receiver.allowed())
        send_webhook(letter, receiver.allowed())
        first, again = receiver.posts
        assert first.headers["webhook-id"] == again.headers["webhook-id"] == letter.id
        assert first.body == again.body


@pytest.mark.parametrize(
    ("status", "is_for_good"),
    [
        *((status, True) for status in (400, 401, 404, 410, 422, 499)),
        *((status, False) for status in (408, 425, 429, 500, 503, 599)),
    ],
)
def test_which_answers_are_for_good(status: int, is_for_good: bool) -> None:
    with (
        web_receiver(answer(status)) as receiver,
        pytest.raises(NoticeRefused if is_for_good else NoticeDelayed, match=str(status)),
    ):
        send_webhook(Letter.of(NOTICE, receiver.url()), receiver.allowed())


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_no_redirect_is_followed(status: int) -> None:
    with web_receiver() as other, web_receiver(answer(status, Location=other.url())) as receiver:
        both = receiver.allowed(allow=frozenset({receiver.place(), other.place()}))
        with pytest.raises(NoticeRefused, match="redirects are not followed"):
            send_webhook(Letter.of(NOTICE, receiver.url()), both)
        assert len(receiver.posts) == 1
        assert not other.posts


def test_who_hangs_or_drips_is_cut_off() -> None:
    """A byte now and then keeps a socket's own time-out from ever coming."""

    def hang(handler: BaseHTTPRequestHandler) -> None:
        receiver.gone.wait(30)

    def drip(handler: BaseHTTPRequestHandler) -> None:
        handler.wfile.write(b"HTTP/1.1 200 OK\r\n")
        while not receiver.gone.wait(0.02):
            handler.wfile.write(b"X-More: 1\r\n")
            handler.wfile.flush()

    for trouble in (hang, drip):
        with web_receiver(trouble) as receiver:
            began = time.monotonic()
            with pytest.raises(NoticeDelayed, match=r"no whole answer within 0.3 s|timed out"):
                send_webhook(
                    Letter.of(NOTICE, receiver.url()), receiver.allowed(answer_seconds=0.3)
                )
            assert time.monotonic() - began < 5


def test_an_endless_answer_is_read_up_to_a_bound() -> None:
    def endless(handler: BaseHTTPRequestHandler) -> None:
        handler.wfile.write(b"HTTP/1.1 503 Busy\r\n\r\n")
        while not receiver.gone.is_set():
            handler.wfile.write(b"x" * 65536)

    with web_receiver(endless) as receiver, pytest.raises(NoticeDelayed, match="answered 503 x"):
        send_webhook(Letter.of(NOTICE, receiver.url()), receiver.allowed(answer_seconds=10.0))


def test_done_is_done_even_if_the_answers_text_never_comes() -> None:
    def unfinished(handler: BaseHTTPRequestHandler) -> None:
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nx")

    with web_receiver(unfinished) as receiver:
        send_webhook(Letter.of(NOTICE, receiver.url()), receiver.allowed())
        assert len(receiver.posts) == 1


def test_what_is_no_http_and_who_is_away_are_tried_later() -> None:
    def noise(handler: BaseHTTPRequestHandler) -> None:
        handler.wfile.write(b"SSH-2.0-no\r\n" * 10)

    with web_receiver(noise) as receiver:
        webhooks, letter = receiver.allowed(), Letter.of(NOTICE, receiver.url())
        with pytest.raises(NoticeDelayed, match="SSH"):
            send_webhook(letter, webhooks)
    with pytest.raises(NoticeDelayed, match="refused"):
        send_webhook(letter, webhooks)


@contextmanager
def one_look_up(host: str) -> Iterator[list[str]]:
    """Count what the system's resolver is asked: only numbers, which it does not look up."""
    asked: list[str] = []
    real = socket.getaddrinfo

    def counting(name: object, *more: object, **options: object) -> object:
        asked.append(str(name))
        return real(name, *more, **options)  # type: ignore[arg-type]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket, "getaddrinfo", counting)
        yield asked
    assert host not in asked


def test_dns_rebinding_finds_no_second_look_up() -> None:
    """The connection is made to the very address that was judged; Host says the name."""
    looked_up: list[str] = []

    def resolve(host: str, port: int) -> tuple[str, ...]:
        looked_up.append(host)
        return ("127.0.0.1",)

    with web_receiver() as receiver, one_look_up("receiver.test") as asked:
        url = receiver.url(host="Receiver.TEST")
        allow = frozenset({f"receiver.test:{receiver.port}"})
        send_webhook(Letter.of(NOTICE, url), receiver.allowed(allow=allow), resolve=resolve)
        assert asked == ["127.0.0.1"]
    assert looked_up == ["receiver.test"]
    assert receiver.posts[0].headers["Host"] == f"receiver.test:{receiver.port}"


def test_tls_asks_for_the_name_in_the_address(tmp_path: Path) -> None:
    certificate = own_certificate(tmp_path, "DNS:receiver.test")

    def resolve(host: str, port: int) -> tuple[str, ...]:
        return ("127.0.0.1",)

    with web_receiver(tls=certificate.server) as receiver:
        names = {"receiver.test": None, "other.test": "mismatch"}
        for name, trouble in names.items():
            place = f"{name}:{receiver.port}"
            letter = Letter.of(NOTICE, f"https://{place}/hook")
            allow = frozenset({place})
            webhooks = receiver.allowed(allow=allow, ca_file=certificate.ca_file)
            if trouble is None:
                send_webhook(letter, webhooks, resolve=resolve)
                with pytest.raises(NoticeDelayed, match="certificate verify failed"):
                    send_webhook(letter, receiver.allowed(allow=allow), resolve=resolve)
            else:
                with pytest.raises(NoticeDelayed, match=trouble):
                    send_webhook(letter, webhooks, resolve=resolve)
    assert [post.headers["Host"] for post in receiver.posts] == [f"receiver.test:{receiver.port}"]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"secrets": ()}, "give a secret"),
        ({"secrets": ("sesame",)}, "whsec_"),
        ({"secrets": ("whsec_c2hvcnQ=",)}, "24 to 64"),
        ({"secrets": ("whsec_!!!",)}, "base64"),
        ({"allow": frozenset({"localhost"})}, "host:port"),
        ({"allow": frozenset({"Localhost:80"})}, "lower case"),
        ({"answer_seconds": 0}, "answer_seconds"),
    ],
)
def test_settings_that_cannot_be_are_refused(wrong: dict[str, object], said: str) -> None:
    options: dict[str, object] = {"secrets": (SECRET,), **wrong}
    with pytest.raises(BadMessage, match=said):
        Webhooks(**options)  # type: ignore[arg-type]


def test_the_secret_is_not_shown() -> None:
    assert SECRET[6:] not in repr(Webhooks((SECRET,)))
