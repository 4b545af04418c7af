"""The whole way: a worker ends jobs, a batch ends, an alert fires, and people are told."""

import json
import threading
from pathlib import Path

import pytest
from sqlalchemy import Engine

from mail_receiver import mail_receiver
from sakuin.queue import dead_messages, read, replay
from sakuin.queue.jobs import Worker, end_batches, load_jobs, open_batch, push_to_batch, seal_batch
from sakuin.queue.notices import Rule, evaluate_alerts
from web_receiver import SECRET, web_receiver

MAIL = "mailto:neko@example.org"
REGISTRY = """\
from sakuin.queue import RetryPolicy
from sakuin.queue.jobs import Jobs
from sakuin.queue.notices import MailServer, Senders, Webhooks, notice_jobs

jobs = Jobs()

@jobs.job("divide", policy=RetryPolicy(max_attempts=1))
def divide(by: int) -> int:
    return 6 // by

server = MailServer("127.0.0.1", "sakuin@example.org", {port}, security="none")
webhooks = Webhooks(("{secret}",), allow=frozenset({{"{place}"}}))
jobs.include(notice_jobs(lambda: Senders(server, webhooks)))
"""


def test_the_end_of_jobs_and_batches_and_an_alert_are_told(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each once, by mail or webhook, sent by the worker itself; nothing is left."""
    module = f"told_{engine.dialect.name}"
    monkeypatch.syspath_prepend(str(tmp_path))
    with mail_receiver() as (box, port), web_receiver() as receiver:
        text = REGISTRY.format(port=port, secret=SECRET, place=receiver.place())
        (tmp_path / f"{module}.py").write_text(text, encoding="utf-8")
        jobs = load_jobs(f"{module}:jobs")

        def drain() -> None:
            worker = Worker(engine, f"{module}:jobs", processes=1, lease_seconds=60.0)
            worker.run(threading.Event(), until_drained=True)

        def start(by: int, to: str) -> int:
            return replay(engine, lambda on: jobs.start(on, "divide", by, notify=[to]))

        good, bad = start(2, MAIL), start(0, receiver.url())
        batch = replay(engine, lambda on: open_batch(on, "an import", notify=[MAIL]))
        replay(engine, lambda on: push_to_batch(on, batch, "default", b"3", kind="divide"))
        replay(engine, lambda on: seal_batch(on, batch))
        drain()
        assert end_batches(engine) == 1
        rule = Rule("half", "failure_rate", (MAIL,), above=0.3, kind="divide", least_runs=3)
        assert len(evaluate_alerts(engine, [rule])) == 1
        drain()
    assert sorted(str(mail["Subject"]) for mail in box.mails()) == [
        "Alert half: firing",
        f"Batch {batch} (an import) has ended",
        f"Job {good} (divide) has finished",
    ]
    (post,) = receiver.posts
    told = json.loads(post.body)
    assert told["subject"] == f"Job {bad} (divide) has failed"
    assert told["facts"]["error"].startswith("ZeroDivisionError")
    assert [one.kind for one in read(engine, dead_messages)] == ["divide"]
