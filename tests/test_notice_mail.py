"""E-mails, handed in to a real SMTP server."""

from collections.abc import Iterator
from email import message_from_bytes, policy
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mail_receiver import ACCOUNT, Mailbox, mail_receiver
from own_certificates import own_certificate
from sakuin.queue import BadMessage
from sakuin.queue.notices import (
    Letter,
    MailServer,
    Notice,
    NoticeDelayed,
    NoticeRefused,
    check_address,
    send_email,
)
from sakuin.queue.notices.email_sender import mail_of
from sakuin.queue.notices.notice import one_line

SUBJECT = (
    "取り込みが終わりました: 坊っちゃん、吾輩は猫である、銀河鉄道の夜、注文の多い料理店、走れメロス"
)
TEXT = "一行目\n\n" + "とても長い行。" * 400 + "\n.\n..\nFrom here to there\nplain"


def letter(to: str = "mailto:neko@example.org", subject: str = "s", text: str = "t") -> Letter:
    return Letter.of(Notice(subject, text), to)


@pytest.fixture
def mail() -> Iterator[tuple[Mailbox, MailServer]]:
    with mail_receiver() as (box, port):
        yield box, MailServer("127.0.0.1", "sakuin@example.org", port, security="none")


def test_japanese_arrives_whole(mail: tuple[Mailbox, MailServer]) -> None:
    box, server = mail
    sent = letter(subject=SUBJECT, text=TEXT)
    send_email(sent, server)
    ((sender, recipients, raw),) = box.taken
    assert (sender, recipients) == ("sakuin@example.org", ["neko@example.org"])
    assert max(len(line) for line in raw.split(b"\r\n")) <= 78
    assert raw.isascii()
    (got,) = box.mails()
    assert got["Subject"] == SUBJECT
    assert got.get_content().replace("\r\n", "\n") == TEXT + "\n"
    assert got["Message-ID"] == f"<{sent.id}@example.org>"
    assert got["Auto-Submitted"] == "auto-generated"


def test_a_repeat_has_the_same_message_id(mail: tuple[Mailbox, MailServer]) -> None:
    box, server = mail
    sent = letter()
    send_email(sent, server)
    send_email(sent, server)
    send_email(letter(), server)
    first, again, other = (one["Message-ID"] for one in box.mails())
    assert first == again != other


def test_5xx_for_the_address_or_the_mail_is_for_good_4xx_is_not(
    mail: tuple[Mailbox, MailServer],
) -> None:
    box, server = mail
    box.to_recipient = "550 5.1.1 no such user"
    with pytest.raises(NoticeRefused, match=r"neko@example.org: the server said 550 5.1.1 no such"):
        send_email(letter(), server)
    box.to_recipient = "450 4.2.1 mailbox busy"
    with pytest.raises(NoticeDelayed, match="450"):
        send_email(letter(), server)
    box.to_recipient, box.to_data = None, "554 5.6.0 not such a mail"
    with pytest.raises(NoticeRefused, match="554"):
        send_email(letter(), server)
    box.to_data = "451 4.3.0 later"
    with pytest.raises(NoticeDelayed, match="451"):
        send_email(letter(), server)
    box.to_data = None
    send_email(letter(), server)
    assert len(box.taken) == 1


def test_what_was_taken_is_taken_whatever_comes_of_the_goodbye(
    mail: tuple[Mailbox, MailServer],
) -> None:
    box, server = mail
    box.to_quit = "451 never heard of it"
    send_email(letter(), server)
    assert len(box.taken) == 1


def test_a_server_that_is_away_is_tried_later() -> None:
    with mail_receiver() as (_, port):
        pass
    server = MailServer("127.0.0.1", "sakuin@example.org", port, security="none")
    with pytest.raises(NoticeDelayed, match=f"127.0.0.1:{port}"):
        send_email(letter(), server)


def test_starttls_and_password(tmp_path: Path) -> None:
    """The password goes out encrypted only, to a server whose certificate was checked."""
    certificate = own_certificate(tmp_path, "DNS:localhost")
    user, password = ACCOUNT
    with mail_receiver(certificate.server) as (box, port):

        def server(host: str, password: str, ca_file: str | None) -> MailServer:
            return MailServer(
                host, "sakuin@example.org", port, user=user, password=password, ca_file=ca_file
            )

        send_email(letter(), server("localhost", password, certificate.ca_file))
        assert box.authenticated == [True]
        assert box.encrypted == [True]
        with pytest.raises(NoticeDelayed, match="535"):  # our account: the operator can mend it
            send_email(letter(), server("localhost", "wrong", certificate.ca_file))
        with pytest.raises(NoticeDelayed, match="certificate verify failed"):
            send_email(letter(), server("localhost", password, None))
        with pytest.raises(NoticeDelayed, match="mismatch"):
            send_email(letter(), server("127.0.0.1", password, certificate.ca_file))
        assert len(box.taken) == 1


def test_a_server_without_tls_gets_nothing(mail: tuple[Mailbox, MailServer]) -> None:
    box, server = mail
    strict = MailServer(server.host, server.sender, server.port, user="u", password="p")
    with pytest.raises(NoticeDelayed, match="STARTTLS"):
        send_email(letter(), strict)
    assert not box.taken


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"sender": "Sakuin <a@b>"}, "plain address"),
        ({"sender": "a@b\r\nBcc: c@d"}, "plain address"),
        ({"security": "ssl"}, "starttls, tls or none"),
        ({"port": 0}, "port"),
        ({"user": "u"}, "user and password"),
        ({"user": "u", "password": "p", "security": "none"}, "starttls or tls only"),
        ({"timeout_seconds": 0}, "timeout_seconds"),
    ],
)
def test_settings_that_cannot_be_are_refused(wrong: dict[str, object], said: str) -> None:
    options: dict[str, object] = {"sender": "a@example.org", **wrong}
    with pytest.raises(BadMessage, match=said):
        MailServer("localhost", **options)  # type: ignore[arg-type]


def test_the_password_is_not_shown() -> None:
    server = MailServer("localhost", "a@example.org", user="u", password="open sesame")
    assert "sesame" not in repr(server)


_HEADERS = ["From", "To", "Subject", "Date", "Message-ID", "Auto-Submitted", "MIME-Version"]
_CONTENT = ["Content-Type", "Content-Transfer-Encoding"]
_ANY = st.text(
    st.sampled_from('aB =?_.:;,<>@"\\\r\n\t\0\x0b\x85\u2028索引😀é') | st.characters(), max_size=300
)


@settings(max_examples=300, derandomize=True)
@given(subject=_ANY, text=_ANY)
@example(subject="a\r\nBcc: evil@example.org", text="t")
@example(subject="=?utf-8?q?x=0D=0ABcc:_evil@example.org?= y", text="t")
@example(subject="=?utf-8?b?YQ0KQmNjOiB4QHk=?=", text="=?utf-8?q?x?=")
@example(subject="x" * 200, text="y" * 5000)
@example(subject="\ud800", text="\udfff")
def test_no_text_becomes_a_header(subject: str, text: str) -> None:
    """Header injection: the mail has the headers we wrote, its own subject, and nothing else."""
    sent = letter(subject=subject, text=text)
    raw = mail_of(sent, "sakuin@example.org").as_bytes()
    got = message_from_bytes(raw, policy=policy.default)
    assert sorted(got.keys()) == sorted(_HEADERS + _CONTENT)
    assert got["To"] == "neko@example.org"
    assert got["Subject"] == one_line(sent.subject)
    lines = sent.text.replace("\r\n", "\n").replace("\r", "\n") + "\n"
    assert got.get_content().replace("\r\n", "\n") == lines


@settings(max_examples=500, derandomize=True)
@given(st.text(st.sampled_from('ab.@<>,;: \r\n\t\0%?&"\\()[]é索=') | st.characters(), max_size=40))
@example("a@b\r\nBcc: c@d")
@example("a@b,c@d")
@example("a@b?bcc=c@d")
@example("a@b\n")
def test_an_address_is_one_plain_address_or_refused(text: str) -> None:
    """Header injection: what is taken can neither end the header nor name a second receiver."""
    try:
        check_address("mailto:" + text)
    except BadMessage:
        return
    assert text.isascii()
    assert text.isprintable()
    assert text.count("@") == 1
    assert not set(text) & set(' ,;:<>"\\()[]%?#')
    assert mail_of(letter(f"mailto:{text}"), "sakuin@example.org")["To"] == text


def test_a_bad_address_in_a_letter_is_refused_when_sent(mail: tuple[Mailbox, MailServer]) -> None:
    """It was pushed by plain SQL, which checks nothing."""
    box, server = mail
    with pytest.raises(NoticeRefused, match="plain address"):
        send_email(letter("mailto:a@b\r\nBcc: c@d"), server)
    assert not box.taken
