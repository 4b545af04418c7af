"""Notices as messages: pushed with the caller's rows, sent by a worker's child or without one."""

import json
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection, Engine

from databases import claim_one, claimed, expire, row
from mail_receiver import mail_receiver
from noticing_jobs import NOBODY
from sakuin.queue import (
    GiveUp,
    Message,
    PayloadError,
    Payloads,
    RetryPolicy,
    dead_messages,
    push,
    read,
    replay,
)
from sakuin.queue.jobs.child import Failed, Ready, Setup
from sakuin.queue.jobs.runner import Child
from sakuin.queue.notices import (
    NOTICE_KIND,
    NOTICE_POLICY,
    NOTICE_QUEUE,
    Letter,
    MailServer,
    Notice,
    NoticeRefused,
    Senders,
    deliver_notices,
    notice_jobs,
    push_notices_on,
    send_notice,
)
from sakuin.queue.notices.notice import Fact
from web_receiver import answer, web_receiver

TO = ("mailto:neko@example.org", "https://hook.example.org/x")
NOTICE = Notice("Job 7 has finished", "It is\ndone.", {"job": 7, "rate": 0.5, "error": None})
LETTERS = Payloads().register(NOTICE_KIND, Letter)


def test_a_notice_is_a_message_for_each_address_with_the_callers_rows(engine: Engine) -> None:
    """Q1: in the caller's transaction, or not at all; no address is told twice."""
    with suppress(ZeroDivisionError), engine.begin() as connection:
        push_notices_on(connection, TO, NOTICE)
        raise ZeroDivisionError
    assert claimed(engine, NOTICE_QUEUE) == []
    ids = replay(engine, lambda connection: push_notices_on(connection, (*TO, TO[0]), NOTICE))
    assert len(ids) == len(TO)
    for message_id, to in zip(ids, TO, strict=True):
        message = claim_one(engine, NOTICE_QUEUE)
        letter = LETTERS.decode(message.data)
        assert (message.id, message.kind) == (message_id, NOTICE_KIND)
        assert (letter.to, letter.subject, letter.text) == (to, NOTICE.subject, NOTICE.text)
        assert letter.facts == NOTICE.facts


_TEXT = st.text(st.characters() | st.sampled_from("\ud800\0\r\n\u2028"), max_size=40)
_FACTS: st.SearchStrategy[Mapping[str, Fact]] = st.dictionaries(
    _TEXT, _TEXT | st.integers() | st.floats() | st.none(), max_size=4
)


@settings(max_examples=200, derandomize=True)
@given(_TEXT, _TEXT, _FACTS, _TEXT)
def test_any_notice_can_be_pushed_and_read(
    subject: str, text: str, facts: Mapping[str, Fact], to: str
) -> None:
    """It is made in the transaction that ends a job: no text of a job may make that fail."""
    letter = Letter.of(Notice(subject, text, facts), to)
    assert LETTERS.decode(letter.data()) == letter
    assert letter.subject == letter.subject.strip()
    assert letter.subject.isprintable() or not subject.isprintable()


def test_long_texts_are_cut() -> None:
    letter = Letter.of(Notice("s" * 9999, "t" * 99_999, {"n" * 9999: "v" * 9999}), "x" * 9999)
    assert len(letter.data()) < 40_000
    assert (len(letter.subject), len(letter.text)) == (200, 20_000)


def test_notices_are_sent_where_no_worker_is(engine: Engine) -> None:
    """Done is gone, what is refused is dead with the reason, what is delayed waits its turn."""
    with (
        mail_receiver() as (box, port),
        web_receiver(answer(200), answer(410), answer(503), answer(200)) as receiver,
    ):
        server = MailServer("127.0.0.1", "sakuin@example.org", port, security="none")
        senders = Senders(server, receiver.allowed())
        to = ["mailto:neko@example.org", "mailto:no one", *(receiver.url(f"/{n}") for n in "abc")]
        *_, late = replay(engine, lambda connection: push_notices_on(connection, to, NOTICE))

        def push_others(connection: Connection) -> None:
            push(connection, NOTICE_QUEUE, b"{}", kind="other")
            push(connection, NOTICE_QUEUE, b'{"id": "a b"}', kind=NOTICE_KIND)

        replay(engine, push_others)
        assert deliver_notices(engine, senders, for_seconds=0) == 0
        assert deliver_notices(engine, senders) == 7
        assert len(box.taken) == 1
        assert [post.path for post in receiver.posts] == ["/a", "/b", "/c"]
        assert deliver_notices(engine, senders) == 0
        waiting = row(engine, late)
        assert waiting is not None
        assert waiting["errors"] == 1
        expire(engine, late)
        assert deliver_notices(engine, senders) == 1
        assert receiver.posts[2].headers["webhook-id"] == receiver.posts[3].headers["webhook-id"]
    assert row(engine, late) is None
    reasons = sorted(one.reason for one in read(engine, dead_messages))
    starts = (
        "address 'no one': use one plain address",
        "kind 'other' in queue sakuin:notices",
        "the notice cannot be read",
        f"webhook to {receiver.place()}: it answered 410",
    )
    for reason, start in zip(reasons, starts, strict=True):
        assert reason.startswith(start)


def test_what_the_operator_has_not_set_is_refused_by_name() -> None:
    for to, said in (("mailto:a@b", "no mail server"), ("https://a.b/", "no secret")):
        with pytest.raises(NoticeRefused, match=said):
            send_notice(Letter.of(NOTICE, to), Senders())
    assert issubclass(NoticeRefused, GiveUp)


def test_the_kind_for_a_workers_registry() -> None:
    """In a worker's child: what is refused is for the dead list at once, the rest is retried."""
    kind = notice_jobs(Senders).get(NOTICE_KIND)
    assert (kind.queue, kind.rules.policy) == (NOTICE_QUEUE, NOTICE_POLICY)
    assert kind.rules.seconds is not None
    child = Child(Setup("noticing_jobs:jobs", "sqlite://", None, None))
    now = datetime.now(UTC)
    try:
        assert isinstance(child.hear(), Ready)
        answers = []
        for to in ("mailto:neko@example.org", f"http://{NOBODY}/"):
            data = Letter.of(NOTICE, to).data()
            child.begin(Message(7, "q", 5, b"t" * 16, 1, data, now, now, kind=NOTICE_KIND), None)
            answers.append(child.hear())
    finally:
        child.kill()
        child.close()
    refused, delayed = answers
    assert isinstance(refused, Failed)
    assert isinstance(delayed, Failed)
    assert (refused.is_refused, delayed.is_refused) == (True, False)
    assert "no mail server is set" in refused.reason
    assert "refused" in delayed.reason


def test_tries_go_on_for_about_a_day() -> None:
    policy: RetryPolicy = NOTICE_POLICY
    waits = [policy.delay_seconds(n, 0.5) for n in range(1, policy.max_attempts)]
    assert 24 * 3600 <= sum(waits) <= 28 * 3600
    assert waits == sorted(waits)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"id": "a\r\nb: c"}, "notice id"),
        ({"facts": {"x": True}}, "field facts.x"),
        ({"facts": []}, "field facts"),
        ({"to": None}, "field to"),
        ({"facts": {"x": float("inf")}}, "notice fact 'x'"),
    ],
)
def test_a_letter_by_plain_sql_is_checked_by_field(wrong: dict[str, object], said: str) -> None:
    good = json.loads(Letter.of(NOTICE, TO[0]).data())
    with pytest.raises(PayloadError, match=f"sakuin.notice: .*{said}"):
        LETTERS.decode(json.dumps({**good, **wrong}).encode())
