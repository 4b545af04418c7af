"""`sakuin queue schedule`: recurring tasks from the command line."""

from pathlib import Path

import pytest
from sqlalchemy import Engine

from databases import claim_one
from inner_command import InnerCommand
from sakuin.queue import ack, bury
from sakuin.queue.recurring import Task, declare_tasks


@pytest.fixture
def sakuin(database_url: str, tmp_path: Path) -> InnerCommand:
    """The command on a database with two tasks."""
    return InnerCommand({"SAKUIN_DATABASE_URL": database_url, "SAKUIN_DATA_DIR": str(tmp_path)})


def declare(engine: Engine) -> None:
    tasks = (
        Task(
            "report", "report", "毎日正午", "Asia/Tokyo", queue="q", description="the\x1b[31m day"
        ),
        Task("sweep", "sweep", "every 5 minutes", "UTC", args={"keep": 3}, priority=7),
    )
    declare_tasks(engine, tasks, "code")


def test_tasks_are_listed_and_run_now(sakuin: InnerCommand, engine: Engine) -> None:
    """Last and next run, and where the last one is; one pushed now is beside the plan."""
    declare(engine)
    report, sweep = sakuin.json("queue", "schedule", "list")
    next_run = report.pop("next_run_at")
    assert next_run.endswith("T03:00:00.000000Z")  # noon in Tokyo
    assert report == {
        "key": "report", "kind": "report", "queue": "q", "priority": 5, "schedule": "毎日正午",
        "zone": "Asia/Tokyo", "description": "the\x1b[31m day", "origin": "code",
        "catch_up_seconds": 600.0, "trouble": None, "last_run": None,
    }  # fmt: skip
    assert sweep["priority"] == 7
    assert sakuin.json("queue", "schedule", "run", "report") == {"key": "report", "message_id": 1}
    assert "message 2" in sakuin.finish("queue", "schedule", "run", "report").stderr
    last = sakuin.json("queue", "schedule")[0]["last_run"]
    assert (last["message_id"], last["is_manual"], last["state"]) == (2, True, "ready")
    ack(engine, claim_one(engine))
    bury(engine, claim_one(engine), "because")
    shown = sakuin.json("queue", "schedule")[0]
    assert (shown["last_run"]["state"], shown["last_run"]["reason"]) == ("dead", "because")
    assert shown["next_run_at"] == next_run
    told = sakuin.run("queue", "schedule")
    assert f"{next_run[:10]} 03:00:00Z  the\\x1b[31m day" in told
    assert "dead" in told


@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
def test_a_key_that_nobody_knows(sakuin: InnerCommand, engine: Engine) -> None:
    assert "No recurring task" in sakuin.finish("queue", "schedule").stderr
    assert sakuin.json("queue", "schedule") == []
    assert "none is declared" in sakuin.finish("queue", "schedule", "run", "x").stderr
    declare(engine)
    done = sakuin.finish("queue", "schedule", "run", "swep")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "did you mean sweep?" in done.stderr


@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
def test_a_task_is_dropped_until_it_is_declared_again(sakuin: InnerCommand, engine: Engine) -> None:
    declare(engine)
    told = sakuin.finish("queue", "schedule", "drop", "report").stderr
    assert "If code still declares it, it comes back." in told
    assert [one["key"] for one in sakuin.json("queue", "schedule")] == ["sweep"]
    assert "did you mean sweep?" in sakuin.finish("queue", "schedule", "drop", "sweeps").stderr
    assert sakuin.json("queue", "schedule", "drop", "sweep") == {"key": "sweep", "origin": "code"}
    declare(engine)
    assert [one["key"] for one in sakuin.json("queue", "schedule")] == ["report", "sweep"]
