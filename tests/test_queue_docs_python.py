"""The Python of docs/queue.md and the shop of docs/example run, on both databases."""

import csv
import shlex
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import Connection, Engine, text
from typer.testing import CliRunner

import sakuin.queue
import sakuin.queue.jobs
import sakuin.queue.processes
import sakuin.queue.recurring
from command import Command
from databases import claim_one, until
from doc_blocks import DOCS, block, table
from sakuin.app.cli import app
from sakuin.queue import (
    LimitReached,
    ack,
    claim,
    create_schema,
    open_engine,
    queue_stats,
    read,
    replay,
)
from sakuin.queue.jobs import (
    Job,
    Jobs,
    Progress,
    StaleReceipt,
    Worker,
    batch_of,
    end_batches,
    job_of,
)
from sakuin.queue.notices import read_rules
from sakuin.queue.processes import Plan
from sakuin.queue.recurring import declare_tasks, read_tasks, run_now, tasks_shown

EXAMPLE = DOCS / "example"
KINDS = """\
from dataclasses import dataclass
from sakuin.queue import GiveUp, Limit, RetryPolicy
from sakuin.queue.jobs import Jobs, Run

@dataclass(frozen=True)
class Picture:
    path: str
    album: str

@dataclass(frozen=True)
class Thumbnail:
    path: str
    attempts: int

jobs = Jobs()

"""
BOTH = """\
import jobs as shop, pictures
from sakuin.queue.jobs import Jobs

jobs = Jobs()
jobs.include(shop.jobs)
jobs.include(pictures.jobs)
"""


@dataclass(frozen=True)
class Order:
    number: int


class Page:
    """The names that the page's blocks share, as a reader of it would have them."""

    def __init__(self, engine: Engine) -> None:
        pictures: dict[str, Any] = {"__name__": "pictures"}
        exec(KINDS + block("queue.md", "kind"), pictures)
        jobs: Jobs = pictures["jobs"]
        jobs.job("invoice", queue="invoices")(_write_invoice)
        self.names: dict[str, Any] = {
            **vars(sakuin.queue),
            **vars(sakuin.queue.jobs),
            **vars(sakuin.queue.recurring),
            **pictures,
            "Order": Order,
            "datetime": datetime,
            "ZoneInfo": ZoneInfo,
            "database": engine,
            "datas": [b'{"number": 1}', b'{"number": 2}'],
        }

    def run(self, name: str, connection: Connection | None = None) -> Mapping[str, Any]:
        """Run a block, and return all names that there are now."""
        self.names["connection"] = connection
        exec(block("queue.md", name), self.names)
        return self.names


def _write_invoice(order: Order) -> None:
    """Declared like that of the page's beginning."""


def test_what_the_page_pushes_and_looks_at(engine: Engine) -> None:
    """Later, unique keys, a life and its receipt, batches, tasks from code."""
    page = Page(engine)
    with engine.begin() as connection:
        page.run("later", connection)
        page.run("unique", connection)
    found = read(engine, lambda c: queue_stats(c, "invoices"))
    assert (found.ready, found.scheduled) == (1, 2)
    assert claim_one(engine, "letters").priority == 0
    assert claim_one(engine, "pages").unique_key == b"page-17"

    job_id = page.run("life")["job_id"]
    receipt = page.run("receipt")["receipt"]
    ended = job(engine, job_id)
    assert (ended.status, ended.result) == ("finished", b'{"path": "a.png.small"}')
    assert ended.note == "half"
    with pytest.raises(StaleReceipt):
        sakuin.queue.jobs.settle_by_receipt(engine, receipt)

    batch = page.run("batch")["batch"]
    assert read(engine, lambda c: batch_of(c, batch)).remaining == 2  # type: ignore[union-attr]
    assert ack(engine, claim(engine, "invoices", limit=3, lease_seconds=60)) == frozenset()
    assert end_batches(engine) == 1
    assert claim_one(engine, "reports").data == b'{"days": 1}'
    assert b"shop@example.org" in claim_one(engine, "sakuin:notices").data

    page.run("tasks-code")
    assert [one.key for one in read(engine, tasks_shown)] == ["nightly-report"]


def test_the_seven_steps(engine: Engine) -> None:
    """A limit with `to: 3` goes through the states that the table shows."""
    page = Page(engine)
    held: list[sakuin.queue.Message] = []

    def push_four() -> None:
        with engine.begin() as connection:
            for _ in range(4):
                page.run("limit", connection)

    def take() -> None:
        held.extend(claim(engine, "pages", limit=1, lease_seconds=60))

    steps: list[Callable[[], object]] = [
        push_four,
        take,
        take,
        take,
        take,
        lambda: ack(engine, held.pop(0)),
        take,
    ]
    for step, line in zip(steps, table("queue.md", "seven"), strict=True):
        step()
        found = read(engine, lambda c: queue_stats(c, "pages"))
        counts = [found.ready, found.leased, found.blocked]
        assert counts == [int(cell) for cell in line[2:]], line
    assert len(held) == 3


@pytest.fixture
def shop(engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Engine:
    """The example's files in a folder, where its jobs find them, and its table of orders."""
    for file in EXAMPLE.iterdir():
        if file.is_file():
            shutil.copy(file, tmp_path)
    (tmp_path / "pictures.py").write_text(KINDS + block("queue.md", "kind"), encoding="utf-8")
    (tmp_path / "both.py").write_text(BOTH, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE orders (number INT PRIMARY KEY, yen INT)"))
    return engine


def test_the_example(shop: Engine, tmp_path: Path) -> None:
    """A task is run, its file imported once, its invoices written, their sum made at the end."""
    orders = [(17, 4200), (18, 100), (19, 3)]
    with (tmp_path / "new-orders.csv").open("w", newline="") as file:
        csv.writer(file).writerows(orders)
    tasks = read_tasks(tmp_path / "tasks.toml")
    declare_tasks(shop, tasks, "tasks.toml")
    assert len(read_rules(tmp_path / "alerts.toml")) == 3
    run_now(shop, "import-new")
    page = Page(shop)
    good = page.run("life")["job_id"]
    bad = replay(shop, lambda connection: _start(page, connection, "b.txt"))
    work(shop)
    assert end_batches(shop) == 1
    work(shop)
    assert sorted(path.name for path in tmp_path.glob("invoice-*")) == [
        f"invoice-{number}.txt" for number, _ in orders
    ]
    assert (tmp_path / "orders-sum.txt").read_text() == "{'orders': 3, 'yen': 4303}\n"
    run_now(shop, "import-new")
    run_now(shop, "sum-by-night")
    with pytest.raises(LimitReached):
        run_now(shop, "sum-by-night")
    failed, done = job(shop, bad), job(shop, good)
    assert (failed.status, failed.error) == ("failed", "GiveUp: b.txt is no picture")
    assert (done.status, done.result) == ("finished", b'{"path":"a.png.small","attempts":1}')
    assert done.progress == Progress(10, 10, "shrinking")


def job(engine: Engine, job_id: int) -> Job:
    found = read(engine, lambda connection: job_of(connection, job_id))
    assert found is not None
    return found


def _start(page: Page, connection: Connection, path: str) -> int:
    jobs: Jobs = page.names["jobs"]
    return jobs.start(connection, "thumbnail", page.names["Picture"](path, "cats"))


def work(engine: Engine) -> None:
    """Work until nothing is left to be done soon."""
    queues = ("imports", "invoices", "pictures", "reports")
    Worker(engine, "both:jobs", queues=queues, processes=1).run(
        threading.Event(), until_drained=True
    )


def test_the_first_five_minutes(tmp_path: Path) -> None:
    """As they stand on the page: a module, a push, a command that works until it is told to end."""
    (tmp_path / "jobs.py").write_text(block("queue.md", "start-jobs"), encoding="utf-8")
    (tmp_path / "push.py").write_text(block("queue.md", "start-push"), encoding="utf-8")
    subprocess.run([sys.executable, "push.py"], cwd=tmp_path, check=True, timeout=60)
    export, run = block("queue.md", "start-run").splitlines()
    name, _, value = export.removeprefix("export ").partition("=")
    with Command(tmp_path, {name: value}).start(*run.split()[1:]) as running:
        until((tmp_path / "invoice-17.txt").exists)
        running.process.terminate()
        assert running.process.wait(60) == 0
    assert (tmp_path / "invoice-17.txt").read_text() == "Order 17\n"


def test_the_section_of_both_readmes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Both show the same module and the same commands, and they do what they say."""
    module, commands = (readme_block("README.md", name) for name in ("jobs", "jobs-commands"))
    assert readme_block("README.ja.md", "jobs") == module
    assert readme_block("README.ja.md", "jobs-commands") == commands
    monkeypatch.chdir(tmp_path)
    (tmp_path / "greetings.py").write_text(module, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    *steps, last = commands.splitlines()
    assert last == "sakuin queue run --jobs jobs:jobs"
    for step in steps:
        done = CliRunner().invoke(app, shlex.split(step)[1:])
        assert done.exit_code == 0, done.output
    database = open_engine("sqlite:///sakuin-data/sakuin.sqlite3")
    Worker(database, "greetings:jobs", processes=1).run(threading.Event(), until_drained=True)
    database.dispose()
    assert "Dear you@example.org, delivery 1\n" in capfd.readouterr().err


def readme_block(readme: str, name: str) -> str:
    return block(f"../{readme}", name)


def test_a_program_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The plan of the page is one that a supervisor takes; here it is stopped at once."""
    monkeypatch.chdir(tmp_path)
    database = open_engine("sqlite:///shop.db")
    create_schema(database)
    database.dispose()
    plans: list[Plan] = []
    supervise = sakuin.queue.processes.supervise

    def stopped(plan: Plan, stop: threading.Event) -> None:
        plans.append(plan)
        stop.set()
        supervise(plan, stop)

    monkeypatch.setattr(sakuin.queue.processes, "supervise", stopped)
    exec(block("queue.md", "supervise"), {"__name__": "__main__"})
    assert [role.name for role in plans[0].roles] == ["worker", "dispatcher", "scheduler"]
