"""`sakuin queue dead`, `retry` and `discard`: what was given up, from the command line."""

import json
import os
import pty
import re
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine

from command import Command
from databases import claim_one, push_all
from inner_command import InnerCommand
from sakuin.queue import bury, create_schema, open_engine, replay
from sakuin.queue.dialect import dialect_of, execute

on_sqlite = pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)


@pytest.fixture
def sakuin(database_url: str, tmp_path: Path) -> InnerCommand:
    """The command on a database of its own."""
    return InnerCommand({"SAKUIN_DATABASE_URL": database_url, "SAKUIN_DATA_DIR": str(tmp_path)})


def kill(engine: Engine, queue: str, *datas: bytes, reason: str = "because") -> None:
    push_all(engine, queue, *datas)
    for _ in datas:
        bury(engine, claim_one(engine, queue), reason, "Traceback:\n  boom\x1b[2J")


def kill_many(engine: Engine, count: int) -> None:
    """Put entries on the dead list by one statement."""
    sql = (
        "INSERT INTO sakuin_dead (message_id, queue, priority, attempts, data, reason, created_at)"
        " SELECT i, 'q', 5, 3, 'x', 'because', {now} FROM (WITH RECURSIVE n (i) AS"
        " (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) SELECT i FROM n) AS some"
    )
    replay(engine, lambda connection: execute(connection, sql, count))


def age(engine: Engine, hours: float) -> None:
    """Let everything that is dead have died so long ago."""
    sql = "UPDATE sakuin_dead SET dead_at = {later}"
    replay(
        engine,
        lambda connection: execute(connection, sql, dialect_of(connection).shift(-hours * 3600)),
    )


def entries(sakuin: InnerCommand, *filters: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = sakuin.json("queue", "dead", *filters)["entries"]
    return found


def test_the_dead_list_is_filtered_and_retried(sakuin: InnerCommand, engine: Engine) -> None:
    """On both databases: the exact keys, each filter, and a retry by filter, by id and of all."""
    kill(engine, "old", b"a")
    age(engine, hours=3)
    kill(engine, "mail", b"b", b"\xff", reason="SMTP timeout")
    kill(engine, "mail2", b"c")
    listed = sakuin.json("queue", "dead", "--limit", "3")
    assert (listed["count"], listed["capped"], listed["next"]) == (4, False, 2)
    first = listed["entries"][0]
    assert first.pop("created_at") <= first.pop("dead_at")
    assert first == {
        "id": 4, "message_id": 4, "queue": "mail2", "kind": None, "priority": 5, "attempts": 1,
        "errors": 1, "reason": "because", "traceback": "Traceback:\n  boom\x1b[2J",
        "bytes": 1, "data": "c", "hex": None, "is_cut": False,
    }  # fmt: skip
    for filters, ids in (
        (["--before-id", "2"], [1]),
        (["--queue", "mail*"], [4, 3, 2]),
        (["--queue", "mail", "--reason", "TIMEOUT"], [3, 2]),
        (["--before", "2h"], [1]),
        (["--after", "2h"], [4, 3, 2]),
        (["--after", "2020-01-01T00:00Z", "--before", "1h30m"], [1]),
        (["--kind", "letter"], []),
        (["--message", "3"], [3]),
        (["1", "4", "--queue", "old"], [1]),
    ):
        assert [one["id"] for one in entries(sakuin, *filters)] == ids, filters
    assert entries(sakuin, "--message", "3")[0]["hex"] == "ff"
    assert sakuin.json("queue", "retry", "--queue", "mail", "--reason", "smtp") == {"retried": 2}
    assert sakuin.json("queue", "retry", "1", "99") == {"retried": 1}
    assert [one["id"] for one in entries(sakuin)] == [4]
    assert sakuin.json("queue", "retry", "--all") == {"retried": 1}
    waiting = {each["queue"]: each["ready"] for each in sakuin.json("queue", "list")}
    assert waiting == {"mail": 2, "mail2": 1, "old": 1}


@on_sqlite
def test_people_see_tables_and_next_steps(sakuin: InnerCommand, engine: Engine) -> None:
    assert "No message is dead." in sakuin.finish("queue", "dead").stderr
    kill(engine, "mail", b"a\x1b[2J", "人".encode() * 90, reason="no\nsuch host")
    listed = sakuin.finish("queue", "dead", "--limit", "1")
    assert re.search(r"^2 +mail +- +1 +20\S+ \S+Z +no\\nsuch host +人+…$", listed.stdout, re.M)
    assert "1 of 2. For more: --before-id 2" in listed.stderr
    assert "sakuin queue retry" in listed.stderr
    whole = sakuin.run("queue", "dead", "1")
    assert "data      a\\x1b[2J" in whole
    assert "      boom\\x1b[2J" in whole
    assert "\x1b" not in listed.stdout + whole
    assert "sakuin queue dead" in sakuin.finish("queue", "list").stderr
    assert "Did you mean mail?" in sakuin.finish("queue", "dead", "--queue", "mial").stderr
    assert "No such message" in sakuin.finish("queue", "retry", "7").stderr
    assert "2 will be tried again" in sakuin.finish("queue", "retry", "--all").stderr


@on_sqlite
def test_to_discard_asks_unless_told(sakuin: InnerCommand, engine: Engine) -> None:
    kill(engine, "q", b"a", b"b", b"c")
    refused = sakuin.finish("queue", "discard", "--all", text="n\n")
    assert refused.exit_code == 1
    assert "Delete 3 dead messages for good?" in refused.stderr
    silent = sakuin.finish("queue", "discard", "--all", text="")
    assert silent.exit_code == 2
    assert "give --yes" in silent.stderr
    assert len(entries(sakuin)) == 3
    assert "1 are gone" in sakuin.finish("queue", "discard", "2", text="y\n").stderr
    assert sakuin.json("queue", "discard", "--all", "--yes") == {"discarded": 2}
    assert sakuin.json("queue", "discard", "--all") == {"discarded": 0}  # nothing to ask about


@on_sqlite
@pytest.mark.parametrize("verb", ["retry", "discard"])
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "--all"),
        (["--all", "--queue", "q"], "alone"),
        (["--all", "1"], "alone"),
        (["--queue", "a b"], "queue name"),
        (["--before", "yesterday"], "2026-12-31T09:00+09:00"),
        (["--after", "2026-01-01T00:00"], "time zone"),
        (["x"], "integer"),
    ],
)
def test_what_names_no_message_is_refused(
    sakuin: InnerCommand, engine: Engine, verb: str, arguments: list[str], says: str
) -> None:
    """A flag that was forgotten is not taken for all of them."""
    kill(engine, "q", b"a")
    done = sakuin.finish("queue", verb, *arguments)
    assert done.exit_code == 2
    assert says in " ".join(done.stderr.replace("│", " ").split())
    assert len(entries(sakuin)) == 1


def test_ctrl_c_stops_between_two_chunks(tmp_path: Path) -> None:
    """A real process on a terminal: what was done stays done, the rest stays dead, exit 130."""
    sakuin = Command(tmp_path, {"SAKUIN_DATABASE_URL": f"sqlite:///{tmp_path}/s.db"})
    engine = open_engine(sakuin.variables["SAKUIN_DATABASE_URL"])
    create_schema(engine)
    kill_many(engine, 30_000)
    engine.dispose()
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "sakuin.app", "queue", "retry", "--all", "--json"],
        cwd=tmp_path,
        env={**os.environ, **sakuin.variables, "TERM": "xterm"},
        stdout=subprocess.PIPE,
        stderr=theirs,
        text=True,
    )
    os.close(theirs)
    shown = b""
    while b"messages/s" not in shown:
        shown += os.read(ours, 4096)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=60)
    os.close(ours)
    assert process.returncode == 130
    done = json.loads(output)["retried"]
    assert 0 < done < 30_000
    assert done % 500 == 0
    with sqlite3.connect(tmp_path / "s.db") as connection:
        counts = [
            connection.execute(f"SELECT COUNT(*), COUNT(DISTINCT id) FROM {table}").fetchone()
            for table in ("sakuin_messages", "sakuin_dead")
        ]
    connection.close()
    assert counts == [(done, done), (30_000 - done, 30_000 - done)]
