"""What the command line says of itself and of mistakes: help, exit codes, odd surroundings."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from command import Command
from sakuin.app.cli import app
from sakuin.app.settings import OPTIONS

SETTINGS = {option.name: option.variable for option in OPTIONS}
COMMANDS = (
    "up", "init", "load", "worker", "search", "status", "serve", "demo", "doctor",
    "index list", "index publish", "index rebuild", "index verify", "index repair",
    "schema sql", "attach", "detach", "words", "queue list", "queue peek", "queue push",
    "queue pause", "queue resume", "queue dead", "queue retry", "queue discard", "queue processes",
    "queue schedule list", "queue schedule run", "queue stats",
)  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS)
def test_help_names_the_variable_and_default_of_every_option(command: str) -> None:
    # In this process: seventeen of their own say nothing more.
    plain = {"COLUMNS": "120", "TERM": "dumb"}
    shown = CliRunner().invoke(app, [*command.split(), "--help"], env=plain)
    rows = re.split(r"(?m)^│[ *]+(?=--[a-z])", shown.stdout)[1:]
    assert rows, shown.output
    for row in rows:
        option = " ".join(row.replace("│", " ").split())
        name = option.split()[0]
        if name == "--help":
            continue
        told = re.search(r"\((no variable|variable SAKUIN_[A-Z_]+); (default|no default)", option)
        assert told, f"{command} {name}: {option}"
        setting = name.removeprefix("--").replace("-", "_")
        if setting in SETTINGS and command != "demo":
            assert SETTINGS[setting] in told[1], option


@pytest.mark.parametrize(
    ("variables", "arguments", "code", "says"),
    [
        ({"SAKUIN_ENGINE": "x"}, ["status"], 78, "SAKUIN_ENGINE"),
        ({"SAKUIN_DATABASE_URL": "postgresql://x/y"}, ["status"], 78, "mysql"),
        (
            {"SAKUIN_DATABASE_URL": "mysql+pymysql://u:p@127.0.0.1:1/s"},
            ["status"],
            69,
            "127.0.0.1",
        ),
        (
            {"SAKUIN_DATABASE_URL": "mysql+pymysql://u:p@127.0.0.1:1/s"},
            ["worker", "--drain"],
            69,
            "",
        ),
        ({}, ["status", "--index", "nope"], 2, "paragraphs"),
        ({}, ["nope"], 2, "nope"),
        ({}, ["search"], 2, "WORDS"),
        ({}, ["search", "x", "--page", "0"], 2, "page"),
        ({}, ["load", "missing.txt"], 1, "missing.txt"),
        ({}, ["load"], 2, "PATH"),
        ({}, ["serve", "--host", "256.0.0.1"], 78, "256.0.0.1"),
    ],
)
def test_errors_are_one_line_and_an_exit_code(
    tmp_path: Path, variables: dict[str, str], arguments: list[str], code: int, says: str
) -> None:
    done = Command(tmp_path, variables).finish(*arguments)
    assert done.returncode == code, done.stderr
    assert says in done.stderr
    assert "p@127" not in done.stderr  # no password in a message


@pytest.mark.parametrize(
    "script",
    [
        "{sakuin} status >&-",
        "{sakuin} search --json x >&-",
        "{sakuin} load - <&-",
        "{sakuin} status 2>&-",
        "PYTHONIOENCODING=ascii {sakuin} search 人間",
        "LC_ALL=C PYTHONUTF8=0 PYTHONCOERCECLOCALE=0 {sakuin} load --help",
        "SAKUIN_DATA_DIR=~nosuch/x {sakuin} status",
        "SAKUIN_DATA_DIR=loop {sakuin} status",
        "SAKUIN_DATA_DIR=$(printf '\\377') {sakuin} status",
        "SAKUIN_LEASE_SECONDS=1e300 {sakuin} worker --drain",
        "SAKUIN_PORT=inf {sakuin} serve",
        "{sakuin} serve --host $(printf 'a%.0s' $(seq 300))",
        "SAKUIN_DATABASE_URL='mysql+pymysql://u@127.0.0.1/s?foo=bar' {sakuin} status",
    ],
)
def test_odd_surroundings_are_no_traceback(tmp_path: Path, script: str) -> None:
    (tmp_path / "loop").symlink_to("loop")
    program = script.replace("{sakuin}", f"{sys.executable} -m sakuin.app")
    done = subprocess.run(
        ["sh", "-c", program], cwd=tmp_path, capture_output=True, timeout=60, check=False
    )
    assert b"Traceback" not in done.stderr, done.stderr.decode(errors="replace")
    assert b"fault of sakuin" not in done.stderr, done.stderr.decode(errors="replace")
    assert done.returncode in (0, 1, 2, 69, 78)
