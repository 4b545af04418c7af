"""`sakuin queue`: looking at queues and pushing, pausing, from the command line."""

import json
import re
import shlex
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine

from databases import claim_one
from inner_command import InnerCommand
from sakuin.queue import DatabaseAway, SchemaMismatch, push_many, replay
from sakuin.queue.dialect import execute
from sakuin.queue.jobs.measures import MeasureBuffer
from sakuin.queue.processes import register
from sakuin.queue.recurring import Task, declare_tasks


@pytest.fixture
def sakuin(database_url: str, tmp_path: Path) -> InnerCommand:
    """The command on an empty database."""
    return InnerCommand({"SAKUIN_DATABASE_URL": database_url, "SAKUIN_DATA_DIR": str(tmp_path)})


on_sqlite = pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)


def put(sakuin: InnerCommand, queue: str, data: str, *options: str) -> int:
    return int(sakuin.run("queue", "push", queue, data, *options))


def test_a_queue_seen_from_the_command_line(sakuin: InnerCommand) -> None:
    """Push, list, peek, pause, resume, with the exact keys of each JSON; on both databases."""
    sakuin.run("init")
    empty = sakuin.finish("queue", "list")
    assert (empty.exit_code, empty.stdout) == (0, "")
    assert "No queue holds a message" in empty.stderr
    assert sakuin.json("queue", "list") == []
    first = sakuin.json("queue", "push", "mail", "人間", "--priority", "3")
    assert first == {"id": 1, "queue": "mail"}
    sakuin.run("queue", "push", "mail", "{}", "--kind", "letter", "--delay", "1h")
    sakuin.run("queue", "pause", "index:paragraphs")
    listed = sakuin.json("queue", "list")
    oldest = listed[1].pop("oldest_seconds")
    assert 0 <= oldest < 60
    none = {"ready": 0, "leased": 0, "scheduled": 0, "blocked": 0, "dead": 0, "capped": []}
    assert listed == [
        {"queue": "index:paragraphs", **none, "oldest_seconds": None, "is_paused": True},
        {"queue": "mail", **none, "ready": 1, "scheduled": 1, "is_paused": False},
    ]
    told = sakuin.finish("queue", "list")
    assert re.search(r"^mail +1 +0 +1 +0 +0 +\d", told.stdout, re.MULTILINE)
    assert "sakuin queue resume index:paragraphs" in told.stderr
    (seen,) = sakuin.json("queue", "peek", "mail")["messages"]
    times = [seen.pop(name) for name in ("created_at", "due_at", "locked_until")]
    assert len(set(times)) == 1
    assert datetime.fromisoformat(times[0]).utcoffset() == timedelta(0)
    assert seen == {
        "id": 1, "queue": "mail", "kind": None, "priority": 3, "state": "ready", "attempts": 0,
        "errors": 0, "unique_key": None, "limit_key": None, "expires_at": None, "bytes": 6,
        "data": "人間", "hex": None, "is_cut": False,
    }  # fmt: skip
    changed = [sakuin.json("queue", verb, "mail") for verb in ("pause", "pause", "resume")]
    assert changed == [
        {"queue": "mail", "is_paused": True, "is_new": True},
        {"queue": "mail", "is_paused": True, "is_new": False},
        {"queue": "mail", "is_paused": False, "is_new": True},
    ]


@on_sqlite
def test_every_way_to_give_a_message(sakuin: InnerCommand, tmp_path: Path) -> None:
    (tmp_path / "data.bin").write_bytes(b"\xff\x00")
    put(sakuin, "q", "text")
    sakuin.run("queue", "push", "q", "-", text="from standard input\n")
    sakuin.run("queue", "push", "q", "--file", str(tmp_path / "data.bin"))
    seen = sakuin.json("queue", "peek", "q")["messages"]
    assert [(one["data"], one["hex"]) for one in seen] == [
        ("text", None),
        ("from standard input\n", None),
        (None, "ff00"),
    ]
    at = (datetime.now(UTC) + timedelta(days=2)).isoformat()
    number = put(sakuin, "q", "later", "--at", at, "--unique-key", "k", "--expires", "3d")
    assert put(sakuin, "q", "again", "--unique-key", "k") == number
    (later,) = sakuin.json("queue", "peek", "q", "--state", "scheduled")["messages"]
    assert (later["data"], later["unique_key"]) == ("later", "k")
    assert later["due_at"] == at.replace("+00:00", "Z")
    assert later["expires_at"] > later["due_at"]


@on_sqlite
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["push", "q"], "DATA"),
        (["push", "q", "x", "--file", __file__], "DATA"),
        (["push", "q", "{x", "--kind", "k"], "JSON"),
        (["push", "q", "x", "--at", "2026-01-01"], "time zone"),
        (["push", "q", "x", "--at", "noon"], "2026-12-31T09:00+09:00"),
        (["push", "q", "x", "--delay", "5"], "10m"),
        (["push", "q", "x", "--delay", "1h", "--at", "2026-01-01T00:00Z"], "both"),
        (["push", "a b", "x"], "queue name"),
        (["push", "q", "x", "--priority", "256"], "255"),
        (["peek", "q", "--state", "gone"], "blocked"),
        (["peek", "q", "--after", "x"], "place"),
        (["pause", "a/b"], "queue name"),
    ],
)
def test_mistakes_are_of_usage_and_name_the_remedy(
    sakuin: InnerCommand, arguments: list[str], says: str
) -> None:
    done = sakuin.finish("queue", *arguments)
    assert done.exit_code == 2, done.stderr
    assert says in " ".join(done.stderr.replace("│", " ").split())
    assert done.stdout == ""


@on_sqlite
def test_pages_of_a_peek_and_each_state(sakuin: InnerCommand, engine: Engine) -> None:
    for number in range(5):
        put(sakuin, "q", f"m{number}")
    claim_one(engine)
    page = sakuin.json("queue", "peek", "q", "--limit", "3")
    assert [one["data"] for one in page["messages"]] == ["m1", "m2", "m3"]
    rest = sakuin.json("queue", "peek", "q", "--limit", "3", "--after", page["next"])
    assert [one["data"] for one in rest["messages"]] == ["m4"]
    assert rest["next"] is None
    told = sakuin.finish("queue", "peek", "q", "--limit", "3")
    assert f"--after {page['next']}" in told.stderr
    (leased,) = sakuin.json("queue", "peek", "q", "--state", "leased")["messages"]
    assert (leased["data"], leased["attempts"]) == ("m0", 1)
    none = sakuin.finish("queue", "peek", "q", "--state", "blocked")
    assert (none.exit_code, none.stdout) == (0, "")
    assert "no blocked message" in none.stderr


@on_sqlite
def test_a_queue_name_cannot_command_a_terminal(sakuin: InnerCommand, engine: Engine) -> None:
    """Any program may INSERT any name: the list shows it, with what is in it spelled out."""
    sakuin.run("init")
    sql = "INSERT INTO sakuin_messages (queue, data) VALUES (?, '{}')"
    replay(engine, lambda on: execute(on, sql, "a\x1b[31m"))
    assert "a\\x1b[31m " in sakuin.run("queue", "list")


@on_sqlite
def test_data_cannot_command_a_terminal(sakuin: InnerCommand) -> None:
    """Control characters, C1 too, and what turns text around, are spelled out; --raw is raw."""
    nasty = "a\x1b[31m\n\x9bb\u202ec"
    put(sakuin, "q", nasty)
    shown = sakuin.run("queue", "peek", "q")
    assert "a\\x1b[31m\\n\\x9bb\\u202ec" in shown
    as_json = sakuin.run("queue", "peek", "q", "--json")
    assert not set("\x1b\x9b\u202e") & set(shown + as_json)
    assert json.loads(as_json)["messages"][0]["data"] == nasty
    assert sakuin.run("queue", "peek", "q", "--raw") == nasty
    put(sakuin, "r", "人" * 400)
    long = sakuin.run("queue", "peek", "r").splitlines()[1]
    assert long.endswith("人…")
    (cut,) = sakuin.json("queue", "peek", "r", "--bytes", "10")["messages"]
    assert (cut["data"], cut["bytes"], cut["is_cut"]) == ("人人人", 1200, True)


@on_sqlite
def test_a_name_that_nobody_knows_is_told_with_the_near_ones(sakuin: InnerCommand) -> None:
    """It is no error: a queue exists as long as it holds something."""
    put(sakuin, "mail", "x")
    for arguments in (["peek", "mial"], ["pause", "mial"], ["resume", "mial2"]):
        done = sakuin.finish("queue", *arguments)
        assert done.exit_code == 0
        assert "Did you mean mail" in done.stderr.replace("mial or ", "")
    assert "Did you mean mail" in sakuin.finish("queue", "push", "maill", "x").stderr
    assert "index:paragraphs" in sakuin.finish("queue", "peek", "index:paragraph").stderr
    known = sakuin.finish("queue", "pause", "index:paragraphs")
    assert "Nothing is known" not in known.stderr
    assert "is paused" in sakuin.finish("queue", "push", "index:paragraphs", "x").stderr


@on_sqlite
def test_counts_end_at_ten_thousand(sakuin: InnerCommand, engine: Engine) -> None:
    with engine.begin() as connection:
        push_many(connection, "q", [b"x"] * 10_001)
    (found,) = sakuin.json("queue", "list")
    assert (found["ready"], found["capped"]) == (10_000, ["ready"])
    assert "10,000+" in sakuin.run("queue", "list")


def test_a_database_that_will_not_do_is_told(sakuin: InnerCommand, database_kind: str) -> None:
    """Without tables the remedy is named (SQLite's are made); away is away: exit 78 and 69."""
    if database_kind == "mariadb":
        with pytest.raises(SchemaMismatch, match="sakuin init"):
            sakuin.finish("queue", "list")
    away = InnerCommand({"SAKUIN_DATABASE_URL": "mysql+pymysql://u:p@127.0.0.1:1/s"})
    with pytest.raises(DatabaseAway, match=r"127\.0\.0\.1"):
        away.finish("queue", "list")


@on_sqlite
def test_processes_are_listed(sakuin: InnerCommand, engine: Engine) -> None:
    put(sakuin, "q", "x")
    assert "sakuin queue run" in sakuin.finish("queue", "list").stderr
    assert sakuin.json("queue", "processes") == []
    mine = register(engine, "worker", detail={"queues": ["mail"]})
    (one,) = sakuin.json("queue", "processes")
    assert "No worker takes from q" in sakuin.finish("queue", "list").stderr
    register(engine, "worker", detail={"queues": ["other", "q*"]})
    assert "worker takes" not in sakuin.finish("queue", "list").stderr
    (one,) = [one for one in sakuin.json("queue", "processes") if one["id"] == mine.id.hex()]
    assert one["id"] == mine.id.hex()
    assert (one["role"], one["detail"], one["is_dead"]) == ("worker", {"queues": ["mail"]}, False)
    keys: dict[str, Any] = dict.fromkeys(one)
    assert list(keys) == [
        "id", "role", "host", "pid", "supervisor_id", "detail", "started_at", "beat_at",
        "age_seconds", "is_dead",
    ]  # fmt: skip
    assert re.search(r"worker .* alive ", sakuin.run("queue", "processes"))


def test_stats_tell_how_each_kind_fared(sakuin: InnerCommand, engine: Engine) -> None:
    """Counts by kind, and what workers measured, of one queue or of all; on both databases."""
    assert "No job ran" in sakuin.finish("queue", "stats").stderr
    put(sakuin, "mail", "{}", "--kind", "letter")
    put(sakuin, "mail", "{}", "--kind", "letter", "--delay", "1h")
    put(sakuin, "plain", "x")
    measured = MeasureBuffer()
    for seconds, is_failed in ((1.0, False), (3.0, True), (2.0, False), (2.0, False)):
        measured.add("letter", seconds, 0.5, is_failed=is_failed)
    measured.add("report", 7.0, 0.0, is_failed=False)
    measured.flush(engine)
    told = sakuin.json("queue", "stats", "--since", "10m")
    assert list(told) == ["queues", "kinds", "kinds_capped", "since_seconds"]
    assert (told["kinds_capped"], told["since_seconds"]) == (False, 600.0)
    assert [each["queue"] for each in told["queues"]] == ["mail", "plain"]
    plain, letter, report = told["kinds"]
    assert letter.pop("runs_a_second") == pytest.approx(4 / 630, rel=0.06)  # from a whole minute
    assert letter == {
        "kind": "letter", "waiting": 2, "dead": 0, "runs": 4, "failed": 1, "failure_rate": 0.25,
        "mean_seconds": 2.0, "longest_seconds": 3.0, "mean_waited_seconds": 0.5,
    }  # fmt: skip
    assert (plain["kind"], plain["waiting"], plain["mean_seconds"]) == (None, 1, None)
    assert (report["kind"], report["waiting"], report["runs"]) == ("report", 0, 1)
    of_mail = sakuin.json("queue", "stats", "mail")
    assert [each["queue"] for each in of_mail["queues"]] == ["mail"]
    assert [each["kind"] for each in of_mail["kinds"]] == ["letter"]
    shown = sakuin.run("queue", "stats", "mail", "--since", "10m")
    assert re.search(r"^letter +2 +0 +4 +25.0% +2.0 s +3.0 s +0.5 s +0.4$", shown, re.MULTILINE)
    assert "Did you mean mail?" in sakuin.finish("queue", "stats", "mial").stderr


@on_sqlite
def test_every_help_ends_with_an_example_that_runs(sakuin: InnerCommand, engine: Engine) -> None:
    """Of every subcommand there is; each example is run as it stands, but the one without end."""
    declare_tasks(engine, [Task("nightly-report", "report", "every day at 3:15", "UTC")])
    commands = set(re.findall(r"(?m)^│ ([a-z]+) ", sakuin.run("queue", "--help")))
    assert {"list", "stats", "peek", "push", "pause", "dead", "schedule", "processes"} <= commands
    for command in sorted(commands):
        shown = sakuin.run("queue", command, "--help")
        (example,) = re.findall(r"(?s)Example: sakuin (.*)", shown)
        words = shlex.split(" ".join(example.split()))
        assert words[:2] == ["queue", command]
        if command != "run":
            assert sakuin.finish(*words).exit_code == 0, example
