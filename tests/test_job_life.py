"""Jobs with a life: what the row says while its message waits, is worked on, and ends."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import Engine, event

from databases import claim_one, expire
from sakuin.queue import (
    BadMessage,
    Message,
    RetryPolicy,
    ack,
    bury,
    claim,
    dead_messages,
    fail,
    push,
    read,
    replay,
    requeue_held,
    retry_dead,
)
from sakuin.queue.dialect import execute
from sakuin.queue.jobs import (
    BadReceipt,
    Job,
    Progress,
    Receipt,
    StaleReceipt,
    fail_jobs_on,
    finish_jobs_on,
    is_live,
    job_of,
    job_of_receipt,
    jobs_page,
    push_job,
    receive_jobs_on,
    repoint_jobs_on,
    retry_jobs_on,
    set_progress,
    settle_by_receipt,
)
from sakuin.queue.jobs.job import MAX_RESULT_BYTES

NEVER_RETRIED = RetryPolicy(max_attempts=1)
LONG_WAIT = RetryPolicy(first_seconds=500, most_seconds=500)


def job(engine: Engine, job_id: int) -> Job:
    found = read(engine, lambda connection: job_of(connection, job_id))
    assert found is not None
    return found


def start(engine: Engine, data: bytes = b"x", **options: Any) -> int:
    return replay(engine, lambda connection: push_job(connection, "q", data, **options))


def receive(engine: Engine) -> Message:
    (message,) = claim(engine, "q", limit=1, lease_seconds=60, also=receive_jobs_on)
    return message


def finish(engine: Engine, message: Message, result: bytes | None = None) -> None:
    results = {} if result is None else {message.id: result}
    ack(engine, message, also=lambda on, ids: finish_jobs_on(on, ids, results))


def run(engine: Engine, sql: str, *values: object) -> None:
    replay(engine, lambda on: execute(on, sql, *values))


def notices(engine: Engine) -> list[dict[str, Any]]:
    messages = claim(engine, "sakuin:notices", limit=100, lease_seconds=60)
    assert {message.kind for message in messages} <= {"sakuin.notice"}
    return [json.loads(message.data) for message in messages]


def test_the_life_of_a_job_to_a_good_end(engine: Engine) -> None:
    """The article's table: waiting, making with a handle, finished with a result and no handle."""
    job_id = start(engine, kind="mail", notify=["mailto:a@example.org"], keep_seconds=100)
    waiting = job(engine, job_id)
    assert (waiting.status, waiting.receipt, waiting.kind) == ("waiting", None, "mail")
    assert waiting.queue == "q"
    message = receive(engine)
    making = job(engine, job_id)
    assert (making.status, making.message_id) == ("making", message.id)
    assert making.receipt == Receipt.of(message)
    assert making.started_at is not None
    assert making.updated_at >= waiting.updated_at == waiting.created_at
    assert set_progress(engine, str(Receipt.of(message)), 3, 10, "three")
    assert job(engine, job_id).progress == Progress(3, 10, "three")
    finish(engine, message, b"done")
    ended = job(engine, job_id)
    assert (ended.status, ended.receipt, ended.result, ended.error) == (
        "finished",
        None,
        b"done",
        None,
    )
    assert ended.ended_at is not None
    assert ended.keep_until is not None
    assert abs((ended.keep_until - ended.ended_at).total_seconds() - 100) < 0.01
    (notice,) = notices(engine)
    assert notice["to"] == "mailto:a@example.org"
    assert notice["facts"] == {
        "job": job_id,
        "status": "finished",
        "queue": "q",
        "kind": "mail",
        "error": None,
    }
    (listed,) = read(engine, lambda connection: jobs_page(connection, status="finished"))
    assert (listed.id, listed.result) == (job_id, None)


def test_a_job_and_its_message_commit_together_or_not_at_all(engine: Engine) -> None:
    """Q1: after a rollback there is neither; the caller's own row decides for both."""
    with engine.connect() as connection:
        connection.begin()
        job_id = push_job(connection, "q", b"x")
        connection.rollback()
    assert read(engine, lambda connection: job_of(connection, job_id)) is None
    assert claim(engine, "q", limit=1, lease_seconds=60) == ()


def test_a_failed_delivery_waits_again_and_the_last_one_fails_the_job(engine: Engine) -> None:
    """A retry clears the handle and says why; death is for good, until it is pushed again."""
    job_id = start(engine, notify=["https://example.org/hook"])
    first = receive(engine)
    fail(engine, first, "no", policy=LONG_WAIT, also=lambda on, ids: retry_jobs_on(on, ids, "no"))
    waiting = job(engine, job_id)
    assert (waiting.status, waiting.receipt, waiting.error) == ("waiting", None, "no")
    expire(engine, first.id)
    second = receive(engine)
    assert not set_progress(engine, Receipt.of(first), 1, 2)
    bury(engine, second, "never")
    failed = job(engine, job_id)
    assert (failed.status, failed.receipt, failed.error) == ("failed", None, "never")
    assert failed.keep_until is not None
    (notice,) = notices(engine)
    assert notice["facts"]["status"] == "failed"
    assert "never" in notice["text"]
    replay(engine, lambda on: finish_jobs_on(on, [second.id], {}))  # a late word changes nothing
    assert job(engine, job_id).status == "failed"
    assert retry_dead(engine, [read(engine, dead_messages)[0].id]) == 1
    again = job(engine, job_id)
    assert (again.status, again.ended_at, again.keep_until) == ("waiting", None, None)
    assert notices(engine) == []


def test_a_job_fails_however_its_message_dies(engine: Engine) -> None:
    """Expired, delivered too often, failed for the last time: the job says why."""
    ids = [start(engine, expires_seconds=0.001), start(engine), start(engine)]
    _, spent, last = (job(engine, one).message_id for one in ids)
    run(engine, "UPDATE sakuin_messages SET expires_at = created_at WHERE expires_at IS NOT NULL")
    run(engine, "UPDATE sakuin_messages SET attempts = 9 WHERE id = ?", spent)
    (message,) = claim(engine, "q", limit=9, lease_seconds=60, also=receive_jobs_on)
    assert message.id == last
    fail(engine, message, "the last time", policy=NEVER_RETRIED)
    jobs = [job(engine, one) for one in ids]
    assert {one.status for one in jobs} == {"failed"}
    assert [(one.error or "")[:16] for one in jobs] == [
        "it expired befor",
        "it was delivered",
        "the last time",
    ]


def test_a_waiting_message_of_the_key_gives_its_job(engine: Engine) -> None:
    """A key that meets a waiting message: its job; while it is leased, a new one."""
    first = start(engine, unique_key="k")
    assert start(engine, unique_key="k") == first
    receive(engine)
    second = start(engine, unique_key="k")
    assert second != first
    plain = replay(engine, lambda on: push(on, "q", b"", unique_key="plain"))
    third = start(engine, unique_key="plain")
    assert job(engine, third).message_id == plain
    assert start(engine, unique_key="plain") == third


def test_merged_messages_take_their_jobs_along(engine: Engine) -> None:
    """A merge: the job of the message that is gone waits for the newer one."""
    old = start(engine)
    message = receive(engine)
    new = start(engine)
    newer_id = job(engine, new).message_id
    replay(engine, lambda on: repoint_jobs_on(on, message.id, newer_id))
    assert (job(engine, old).status, job(engine, old).message_id) == ("waiting", newer_id)
    assert job(engine, old).receipt is None
    assert ack(engine, [message]) == frozenset()
    newer = receive(engine)
    finish(engine, newer, b"r")
    assert {job(engine, one).status for one in (old, new)} == {"finished"}


def test_a_malformed_receipt_is_told_so() -> None:
    """Bad input: a clear error that shows the text and says what a receipt is."""
    for text in ("", "17", "17-zz", "0-" + "a" * 32, "17-" + "a" * 31, "x" * 500):
        with pytest.raises(BadReceipt, match="32 hexadecimal digits"):
            Receipt.parse(text)
    assert str(Receipt.parse("17-" + "0a" * 16)) == "17-" + "0a" * 16


def test_a_receipt_settles_once_and_a_stale_one_changes_nothing(engine: Engine) -> None:
    """A receipt that is out of date cannot settle a message, report on it, or end its job."""
    job_id = start(engine)
    stale = str(Receipt.of(receive(engine)))
    expire(engine, job(engine, job_id).message_id)
    fresh = str(Receipt.of(receive(engine)))
    verbs: list[dict[str, Any]] = [{"result": b"r"}, {"error": "no"}]
    for verb in verbs:
        with pytest.raises(StaleReceipt, match="out of date"):
            settle_by_receipt(engine, stale, **verb)
    assert not set_progress(engine, stale, 1)
    assert not read(engine, lambda on: is_live(on, stale))
    assert read(engine, lambda on: is_live(on, fresh))
    assert job(engine, job_id).status == "making"
    settle_by_receipt(engine, fresh, result=b"r")
    assert (job(engine, job_id).status, job(engine, job_id).result) == ("finished", b"r")
    with pytest.raises(StaleReceipt):
        settle_by_receipt(engine, fresh, result=b"again")
    found = read(engine, lambda on: job_of_receipt(on, fresh))
    assert found == job(engine, job_id)


def test_solid_queue_422_a_job_of_a_dead_process_waits_again(engine: Engine) -> None:
    """Jobs of pruned processes became failed: here they wait again, and others are left alone."""
    mine, other = start(engine), start(engine)
    options: dict[str, Any] = {"limit": 1, "lease_seconds": 60, "also": receive_jobs_on}
    (first,) = claim(engine, "q", holder=b"deadbeef", **options)
    claim(engine, "q", holder=b"deadbeeg", **options)
    assert requeue_held(engine, b"deadbeef") == 1
    waiting, making = job(engine, mine), job(engine, other)
    assert (waiting.status, waiting.receipt, making.status) == ("waiting", None, "making")
    assert waiting.error == "the process that worked on it died"
    assert not set_progress(engine, Receipt.of(first), 1)
    receive(engine)
    assert job(engine, mine).status == "making"


def test_limits_of_what_a_job_may_say(engine: Engine) -> None:
    """Bad input is refused by name, and the message stays ours."""
    with pytest.raises(BadMessage, match="mailto:"):
        start(engine, notify=["a@example.org"])
    with pytest.raises(BadMessage, match="keep_seconds=nan"):
        start(engine, keep_seconds=float("nan"))
    job_id = start(engine)
    message = receive(engine)
    with pytest.raises(BadReceipt, match="receipt 'x'"):
        settle_by_receipt(engine, "x")
    with pytest.raises(BadMessage, match="not both"):
        settle_by_receipt(engine, Receipt.of(message), result=b"", error="")
    with pytest.raises(BadMessage, match="progress 3 of 2"):
        set_progress(engine, Receipt.of(message), 3, 2)
    with pytest.raises(BadMessage, match="progress -1"):
        set_progress(engine, Receipt.of(message), -1)
    with pytest.raises(BadMessage, match="MAX_RESULT_BYTES"):
        finish(engine, message, b"x" * (MAX_RESULT_BYTES + 1))
    assert job(engine, job_id).status == "making"
    assert set_progress(engine, Receipt.of(message), 1, None, "\ud800" + "あ" * 300)
    progress = job(engine, job_id).progress
    assert progress is not None
    assert (progress.total, len(progress.note), progress.note[:6]) == (None, 255, "\\ud800")
    finish(engine, message, b"x" * MAX_RESULT_BYTES)
    assert len(job(engine, job_id).result or b"") == MAX_RESULT_BYTES


def test_messages_without_jobs_cost_one_statement(engine: Engine) -> None:
    """Telling jobs of 500 messages that have none is one short read; a claim knows without."""
    seen: list[str] = []
    ids = list(range(1, 501))
    acts: list[Callable[[Any], None]] = [
        lambda on: finish_jobs_on(on, ids, {}),
        lambda on: retry_jobs_on(on, ids, "no"),
        lambda on: fail_jobs_on(on, ids, "no"),
    ]
    replay(engine, lambda on: push(on, "q", b""))
    message = claim_one(engine)
    event.listen(engine, "before_cursor_execute", lambda *args: seen.append(args[2]))
    assert not message.has_job
    replay(engine, lambda on: receive_jobs_on(on, [message]))
    assert [sql for sql in seen if not sql.startswith("BEGIN")] == []
    for act in acts:
        seen.clear()
        replay(engine, act)
        assert len([sql for sql in seen if not sql.startswith("BEGIN")]) == 1
