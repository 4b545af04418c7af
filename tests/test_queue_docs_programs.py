"""The commands, the SQL, the PHP and the shell programs of docs/queue.md run."""

import base64
import configparser
import json
import os
import shlex
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import Engine
from typer.testing import CliRunner

from client_programs import client_program, need_php, php_program, skip
from databases import claim_one
from doc_blocks import block
from sakuin.app.cli import app
from sakuin.app.maintenance import maintenance_tasks
from sakuin.app.settings import read_settings
from sakuin.queue import Message, claim, create_schema, pause, read, replay, resume
from sakuin.queue.jobs import (
    Job,
    Receipt,
    job_of,
    push_job,
    receive_jobs_on,
    set_progress,
    settle_by_receipt,
)
from sakuin.queue.notices import Letter, Notice, send_webhook
from sakuin.queue.notices.signature import secret_bytes, sign
from sakuin.queue.processes.usual_plan import END_SECONDS
from sakuin.queue.recurring import declare_tasks
from web_receiver import SECRET, web_receiver

QUEUE = "queue.md"


def test_its_commands(tmp_path: Path, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the order of the page, on both databases; those of the text are looked up elsewhere."""
    monkeypatch.setenv("SAKUIN_DATABASE_URL", engine.url.render_as_string(hide_password=False))
    monkeypatch.setenv("SAKUIN_DATA_DIR", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "letter.pdf").write_bytes(b"\x00\xff")
    declare_tasks(engine, maintenance_tasks(read_settings()), "sakuin")
    for name in ("schedule-commands", "pause-commands", "command-examples"):
        for line in block(QUEUE, name).splitlines():
            program, *arguments = shlex.split(line)
            assert program == "sakuin"
            done = CliRunner().invoke(app, arguments)
            assert done.exit_code == 0, f"{line}\n{done.output}"
    assert claim_one(engine, "invoices").unique_key == b"17"
    assert claim_one(engine, "sakuin:maintenance").kind == "sakuin.sweep"


def looked_up(engine: Engine, job_id: int) -> Job:
    job = read(engine, lambda connection: job_of(connection, job_id))
    assert job is not None
    return job


def start(engine: Engine, number: int, unique_key: str | None = None) -> int:
    data = json.dumps({"number": number}).encode()
    return replay(
        engine,
        lambda connection: push_job(
            connection, "invoices", data, kind="invoice", unique_key=unique_key
        ),
    )


def test_php_pushes_a_job_with_a_limit_and_looks_at_it(engine: Engine, tmp_path: Path) -> None:
    """Q8: what PHP pushes is worked on by Sakuin, under its limit, and PHP sees how far it is."""
    php = php_program(engine, tmp_path)
    jobs = []
    for number in ("17", "18", "19"):
        _, job = php(block(QUEUE, "PHP_JOB_PUSH"), "cats", number).split()
        jobs.append(int(job))
        seen = json.loads(php(block(QUEUE, "PHP_JOB_LOOK"), job))
        assert (seen["status"], "receipt" in seen) == ("waiting", False)
    assert php(block(QUEUE, "PHP_JOB_CLAIM"), "invoices") == "", "a limit is for Sakuin alone"
    messages = receive(engine)
    assert [message.data for message in messages] == [b'{"number":17}', b'{"number":18}']
    assert {message.limit_key for message in messages} == {b"invoice/cats"}
    assert receive(engine) == []
    seen = json.loads(php(block(QUEUE, "PHP_JOB_LOOK"), str(jobs[0])))
    assert seen["status"] == "making"
    settle_by_receipt(engine, seen["receipt"], result=b"1")
    seen = json.loads(php(block(QUEUE, "PHP_JOB_LOOK"), str(jobs[0])))
    assert (seen["status"], str(seen["result"])) == ("finished", "1")
    (last,) = receive(engine)
    assert last.data == b'{"number":19}'


def test_php_works_on_a_job(engine: Engine, tmp_path: Path) -> None:
    """Q3, Q8: received, reported on and settled by its receipt; what is late changes nothing."""
    php = php_program(engine, tmp_path)
    claiming, settling = block(QUEUE, "PHP_JOB_CLAIM"), block(QUEUE, "PHP_JOB_SETTLE")
    first, second = start(engine, 17, "seventeen"), start(engine, 18)
    pause(engine, "invoices")
    assert php(claiming, "invoices") == ""
    resume(engine, "invoices")
    number, token, kind, data = php(claiming, "invoices").split(" ", 3)
    assert (kind, json.loads(data)) == ("invoice", {"number": 17})
    receipt = f"{number}-{token}"
    assert str(looked_up(engine, first).receipt) == receipt
    assert start(engine, 17, "seventeen") != first, "its key is free while it is worked on"
    assert php(settling, receipt, "progress", "half") == "ours"
    assert (looked_up(engine, first).status, looked_up(engine, first).note) == ("making", "half")
    assert php(settling, receipt, "finish", '{"yen": 3}') == "ours"
    ended = looked_up(engine, first)
    assert (ended.status, ended.result, ended.receipt) == ("finished", b'{"yen": 3}', None)
    assert ended.keep_until is not None
    assert ended.ended_at is not None
    assert (ended.keep_until - ended.ended_at).total_seconds() == pytest.approx(604800, abs=1)
    for what in ("progress", "finish", "fail"):
        assert php(settling, receipt, what, "late") == "stale"
    assert looked_up(engine, first) == ended

    number, token, _ = php(claiming, "invoices").split(" ", 2)
    assert php(settling, f"{number}-{token}", "fail", "no paper") == "ours"
    failed = looked_up(engine, second)
    assert (failed.status, failed.error, failed.receipt) == ("waiting", "no paper", None)


def receive(engine: Engine) -> list[Message]:
    """Claim what is ready, as a worker does."""
    return list(claim(engine, "invoices", limit=9, lease_seconds=60, also=receive_jobs_on))


def test_the_shell_pushes_a_job_and_looks_at_it(
    mariadb_url: str, open_database: Callable[[str], Engine]
) -> None:
    """Q8: by the client of the database alone."""
    engine = open_database(mariadb_url)
    create_schema(engine)
    shell = client_program(engine)
    shell(block(QUEUE, "SHELL_JOB_PUSH"))
    (message,) = receive(engine)
    assert (message.kind, json.loads(message.data)) == ("invoice", {"number": 17})
    job_id = start(engine, 18)
    (message,) = receive(engine)
    assert set_progress(engine, Receipt.of(message), 3, 10, "three")
    told = shell(block(QUEUE, "SHELL_JOB_LOOK"), str(job_id)).split("\t")
    assert told == ["making", "3", "10", "three", str(Receipt.of(message))]


def test_receivers_of_webhooks_tell_real_ones_from_forged(tmp_path: Path) -> None:
    """What Sakuin sends is genuine to PHP and to the shell; changed, old or of another key not."""
    with web_receiver() as receiver:
        letter = Letter.of(Notice("終わりました", "…", {"job": 7}), receiver.url("/hook"))
        send_webhook(letter, receiver.allowed())
    (post,) = receiver.posts
    headers = {name.lower(): value for name, value in post.headers.items()}
    assert json.loads(post.body).keys() == json.loads(block(QUEUE, "webhook-body")).keys()
    other = f"whsec_{base64.b64encode(bytes(32)).decode()}"
    old = {**headers, "webhook-timestamp": str(int(headers["webhook-timestamp"]) - 301)}
    old["webhook-signature"] = sign(
        secret_bytes(SECRET), letter.id, int(old["webhook-timestamp"]), post.body
    )
    both = {**headers, "webhook-signature": "v1,AAAA " + headers["webhook-signature"]}
    for check in (by_php(tmp_path), by_shell()):
        assert check(SECRET, headers, post.body)
        assert check(SECRET, both, post.body)
        assert not check(SECRET, headers, post.body + b" ")
        assert not check(SECRET, {**headers, "webhook-id": "notice_1"}, post.body)
        assert not check(SECRET, old, post.body)
        assert not check(other, headers, post.body)


Check = Callable[[str, dict[str, str], bytes], bool]


def by_php(folder: Path) -> Check:
    need_php("hash")
    source = folder / "receiver.php"
    source.write_text(
        "<?php\n" + block(QUEUE, "WEBHOOK_PHP") + "$headers = json_decode($argv[2], true);\n"
        "echo is_genuine($argv[1], $headers, file_get_contents('php://stdin')) ? 'genuine' : '';\n"
    )

    def check(secret: str, headers: dict[str, str], body: bytes) -> bool:
        program = ["php", str(source), secret, json.dumps(headers)]
        done = subprocess.run(program, input=body, capture_output=True, check=True)
        assert done.stdout in (b"genuine", b""), done.stdout
        return done.stdout == b"genuine"

    return check


def by_shell() -> Check:
    if shutil.which("openssl") is None:
        skip("shell not tested: no openssl; apt-get install openssl")

    def check(secret: str, headers: dict[str, str], body: bytes) -> bool:
        given = {name.removeprefix("webhook-"): value for name, value in headers.items()}
        variables = {name: given[name] for name in ("id", "timestamp", "signature")}
        done = subprocess.run(
            ["sh", "-uc", block(QUEUE, "WEBHOOK_SHELL")],
            env={**os.environ, **variables, "secret": secret},
            input=body,
            capture_output=True,
            check=False,
        )
        assert not done.stderr, done.stderr
        return done.stdout == b"genuine\n"

    return check


def test_a_secret_can_be_made() -> None:
    if shutil.which("openssl") is None:
        skip("shell not tested: no openssl; apt-get install openssl")
    done = subprocess.run(
        ["sh", "-ec", block(QUEUE, "secret")], capture_output=True, text=True, check=True
    )
    assert len(secret_bytes(done.stdout.strip())) == 32


def test_the_service() -> None:
    """systemd signals the supervisor alone, and waits longer than it does."""
    unit = configparser.ConfigParser(interpolation=None)
    unit.optionxform = str  # type: ignore[assignment]
    unit.read_string(block(QUEUE, "systemd"))
    service = unit["Service"]
    assert service["KillMode"] == "mixed"
    assert int(service["TimeoutStopSec"]) > 20 + END_SECONDS
    name, _, _ = service["Environment"].partition("=")
    read_settings(environment={name: os.devnull})
