"""Sakuin's own recurring jobs: declared, run beside the indexing, and what they tell."""

import signal
from pathlib import Path

import pytest

from command import Command
from sakuin.app.maintenance import maintenance_tasks
from sakuin.app.notice_senders import senders_of
from sakuin.app.recurring_tasks import recurring_tasks
from sakuin.app.settings import SettingsError, read_settings
from sakuin.queue import dead_messages, open_engine, read, replay
from sakuin.queue.processes import processes
from sakuin.queue.recurring import BadTask, run_now, tasks_shown
from test_processes import until

NAMES = {"sakuin.optimise", "sakuin.prune", "sakuin.sweep", "sakuin.verify"}
SECRET = "whsec_" + "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVowMTIz"


def test_the_maintenance_runs_beside_the_indexing(tmp_path: Path) -> None:
    """Each task is declared with its limit, and done when it is due; what differs is told."""
    sakuin = Command(tmp_path, {})
    (tmp_path / "a.txt").write_text("吾輩は猫である\n名前はまだ無い\n", encoding="utf-8")
    sakuin.run("load", "a.txt")
    engine = open_engine(f"sqlite:///{tmp_path / 'sakuin-data' / 'sakuin.sqlite3'}")

    def states() -> dict[str, str]:
        shown = read(engine, tasks_shown)
        return {one.key: one.last_run.status if one.last_run else "" for one in shown}

    with sakuin.start("worker") as process:
        process.wait_for_line("paragraphs generation 1")
        until(lambda: states().keys() == NAMES, "the tasks are declared")
        for name in NAMES:
            run_now(engine, name)
        until(lambda: set(states().values()) == {"done"}, "all are done")
        (shown,) = read(engine, processes)
        assert (shown.role, "indexes" in shown.detail) == ("index", True)
        sql = "UPDATE paragraphs SET body = 'changed behind its back'"
        replay(engine, lambda connection: connection.exec_driver_sql(sql))
        run_now(engine, "sakuin.verify")
        until(lambda: states()["sakuin.verify"] == "dead", "what differs is told")
        (dead,) = read(engine, dead_messages)
        assert "sakuin index repair --index paragraphs" in dead.reason
        assert process.end(signal.SIGTERM) == 0
    engine.dispose()


def test_no_two_of_them_run_at_once() -> None:
    """They share one limit; and `no` leaves all of them out."""
    settings = read_settings({})
    tasks = maintenance_tasks(settings)
    assert {task.key for task in tasks} == NAMES
    assert {task.limit and (task.limit.stored_key, task.limit.to) for task in tasks} == {
        (b"sakuin:maintenance/all", 1)
    }
    assert {task.zone for task in tasks} == {"Asia/Tokyo"}
    assert maintenance_tasks(read_settings({"maintenance": "no"})) == ()


def test_a_mistake_in_a_zone_or_a_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadTask, match=r"zone: .*Mars/Olympus"):
        recurring_tasks(read_settings({"time_zone": "Mars/Olympus"}))
    sakuin = Command(tmp_path, {})
    (tmp_path / "tasks.toml").write_text("[a]\nclass = 3\n")
    done = sakuin.finish("queue", "run", "--tasks", "tasks.toml")
    assert (done.returncode, "tasks.toml: [a]" in done.stderr) == (78, True), done.stderr
    nowhere = Command(tmp_path, {"SAKUIN_TASKS": "nowhere.toml"})
    done = nowhere.finish("worker")
    assert (done.returncode, "nowhere.toml: cannot be read" in done.stderr) == (78, True)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"mail_url": "ftp://x"}, "mail_url .*write smtp"),
        ({"mail_url": "smtp://x:y"}, "mail_url .*cannot be read"),
        ({"mail_url": "smtp://x"}, "mail_from .*is empty"),
        ({"mail_url": "smtp://x", "mail_from": "nobody"}, "mail_from"),
        ({"mail_url": "smtp://a:b@x", "mail_from": "a@b.example"}, "password is sent with"),
        ({"webhook_secret": "secret"}, "webhook_secret"),
        ({"webhook_secret": SECRET, "webhook_allow": "x"}, "webhook_allow"),
    ],
)
def test_a_way_out_that_cannot_be_is_named(given: dict[str, str], told: str) -> None:
    with pytest.raises(SettingsError, match=told):
        senders_of(read_settings(given))


def test_ways_out_as_they_are_set() -> None:
    none = senders_of(read_settings({}))
    assert (none.mail, none.webhooks) == (None, None)
    given = {
        "mail_url": "smtp+starttls://me%40x:p%2Fw@mail.example",
        "mail_from": "a@b.example",
        "webhook_secret": SECRET,
        "webhook_allow": "localhost:8000 10.0.0.1:80",
    }
    found = senders_of(read_settings(given))
    assert found.mail is not None
    assert found.webhooks is not None
    assert (found.mail.host, found.mail.port, found.mail.user, found.mail.password) == (
        "mail.example",
        587,
        "me@x",
        "p/w",
    )
    assert found.webhooks.allow == {"localhost:8000", "10.0.0.1:80"}
    for secret in ("p/w", SECRET):
        assert secret not in repr(found)
