"""docs/queue.md tells the truth: each of its tables is that of the code."""

import importlib
import inspect
import re
import shlex
from collections.abc import Mapping
from dataclasses import MISSING, fields
from datetime import UTC, datetime
from typing import Any, get_args

import click
import pytest
import typer.main
from sqlalchemy import Engine
from sqlalchemy import inspect as look_at

from doc_blocks import DOCS, block, names, table
from sakuin.app.cli import app
from sakuin.app.maintenance import maintenance_tasks
from sakuin.app.recurring_tasks import recurring_tasks
from sakuin.app.settings import OPTIONS, read_settings
from sakuin.queue import Limit, RetryPolicy, push
from sakuin.queue.jobs import JOB_POLICY, Jobs, Run
from sakuin.queue.jobs.job import JobStatus
from sakuin.queue.notices.alert_file import _FIELDS as ALERT_FIELDS
from sakuin.queue.notices.alert_file import rules_of
from sakuin.queue.notices.rule import OF_A_KIND, OF_A_QUEUE, Rule, When
from sakuin.queue.processes.heartbeat import BEATS_A_LIFE
from sakuin.queue.processes.registry import DEAD_AFTER_SECONDS
from sakuin.queue.recurring import Task, parse_schedule, words_en, words_ja
from sakuin.queue.recurring.task_file import _FIELDS as TASK_FIELDS
from sakuin.queue.recurring.task_file import tasks_of
from sakuin.queue.tables import TABLES

QUEUE = "queue.md"
PAGE = (DOCS / QUEUE).read_text(encoding="utf-8")


def test_its_links_lead_somewhere() -> None:
    titles = re.findall(r"^##+ (.+)$", PAGE, re.MULTILINE)
    anchors = {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}
    places = re.findall(r"\]\(([^)]+)\)", PAGE)
    assert len(places) > 30
    for place in places:
        file, _, anchor = place.partition("#")
        assert file.startswith("https:") or (DOCS / file).exists(), place
        assert file or anchor in anchors, place


def test_the_promises_are_all_there() -> None:
    """Q1 to Q10 in order, and those of jobs; each says what is not promised."""
    (found,) = re.findall(r"^\| \| promised \| not promised \|\n(?:\|.*\n)+", PAGE, re.MULTILINE)
    lines = [line.strip("|").split("|") for line in found.splitlines()[2:]]
    assert [line[0].strip() for line in lines][:10] == [f"Q{n}" for n in range(1, 11)]
    assert all(cell.strip() for line in lines for cell in line if line[0].strip() != "Q10")


def defaults(name: str) -> dict[str, str]:
    """The first two columns of a table."""
    return {names(row[0])[0]: row[1].strip("`") for row in table(QUEUE, name)}


def shown(value: Any) -> str:
    return "needed" if value is MISSING else str(value) or '""'


def test_the_options_of_a_kind() -> None:
    taken = dict(inspect.signature(Jobs.job).parameters)
    del taken["self"], taken["name"]
    told = {
        name: "JOB_POLICY" if one.default is JOB_POLICY else str(one.default)
        for name, one in taken.items()
    }
    assert defaults("kind-options") == told
    assert set(re.findall(r"^    (\w+)=", block(QUEUE, "kind"), re.MULTILINE)) == told.keys()
    policy = {field.name: str(getattr(JOB_POLICY, field.name)) for field in fields(RetryPolicy)}
    assert defaults("policy") == policy
    limit = {field.name: shown(field.default) for field in fields(Limit)}
    assert defaults("limit-fields") == limit


def test_what_a_handler_is_given() -> None:
    """Every public name of a Run, and the parameters of what is called."""
    told = [one for row in table(QUEUE, "run") for one in names(row[0])]
    public = {name for name in dir(Run) if not name.startswith("_")} | {"was_told"}
    assert {one.partition("(")[0] for one in told} == public
    for one in told:
        name, call, given = one.partition("(")
        if call:
            parameters = list(inspect.signature(getattr(Run, name)).parameters)[1:]
            assert given.rstrip(")").split(", ") == (parameters or [""])


def test_the_options_of_a_push() -> None:
    told = [one for row in table(QUEUE, "push-options") for one in names(row[0])]
    taken = list(inspect.signature(push).parameters)[3:]
    assert sorted(told) == sorted(taken)


def test_the_fields_of_a_task() -> None:
    told = defaults("task-fields")
    assert told.keys() == TASK_FIELDS.keys()
    code = {field.name: field for field in fields(Task)}
    for name, default in told.items():
        field = code[TASK_FIELDS[name]]
        if field.default_factory is not MISSING:
            assert default == "{}"
        elif not field.default:
            assert default == "none", name
        elif field.default is MISSING:
            assert default.startswith("needed"), name
        else:
            told_default = f"{field.default:g}" if name != "queue" else field.default
            assert default == str(told_default), name
    report, look = tasks_of(block(QUEUE, "tasks"), "tasks.toml")
    assert (report.kind, report.zone, look.zone) == ("report", "Asia/Tokyo", "Europe/Berlin")
    assert report.limit == Limit("all", group="report", on_conflict="discard")


ZONES = ("Asia/Tokyo", "Europe/Berlin", "UTC")
MOMENTS = [
    datetime(2027, month, day, 1, 3, 7, tzinfo=UTC) for month in (1, 3, 10) for day in (1, 28, 30)
]


def test_schedules_mean_the_same_in_words_and_in_cron() -> None:
    """Each line of the table, in three zones; and every sentence of the grammar is in it."""
    told: set[str] = set()
    for english, japanese, cron in table(QUEUE, "schedules"):
        alike = names(english) + names(japanese)
        told.update(alike)
        for zone in ZONES:
            schedules = [parse_schedule(text, zone) for text in alike + names(cron)]
            for moment in MOMENTS:
                assert len({one.next_after(moment) for one in schedules}) == 1, (alike, zone)
    assert {*words_en.EXAMPLES, *words_ja.EXAMPLES} <= told


def test_changes_of_the_clock_are_as_told() -> None:
    """2:30 in Berlin: skipped in spring, twice in autumn; a star follows the clock."""
    daily = parse_schedule("every day at 2:30", "Europe/Berlin")
    spring = datetime(2027, 3, 27, 12, tzinfo=UTC)
    assert daily.next_after(spring) == datetime(2027, 3, 28, 1, tzinfo=UTC)
    first = datetime(2027, 10, 31, 0, 30, tzinfo=UTC)
    assert daily.next_after(datetime(2027, 10, 30, 12, tzinfo=UTC)) == first
    assert daily.next_after(first).day == 1
    hourly = parse_schedule("30 * * * *", "Europe/Berlin")
    assert hourly.next_after(first) == datetime(2027, 10, 31, 1, 30, tzinfo=UTC)


def test_the_alerts() -> None:
    of: Mapping[str, str] = dict.fromkeys(OF_A_KIND, "`kind`") | dict.fromkeys(
        OF_A_QUEUE, "`queue`"
    )
    told = {names(row[0])[0]: row[1] for row in table(QUEUE, "alert-rules")}
    assert told == {when: of.get(when, "–") for when in get_args(When)}
    names_told = [one for row in table(QUEUE, "alert-fields") for one in names(row[0])]
    assert sorted(names_told) == sorted(ALERT_FIELDS)
    code = {field.name: field.default for field in fields(Rule)}
    for name in ("window_seconds", "least_runs"):
        assert float(defaults("alert-fields")[name]) == code[name]
    assert [rule.when for rule in rules_of(block(QUEUE, "alerts"), "alerts.toml")] == [
        "failure_rate",
        "no_worker",
    ]


def test_the_states_of_a_job() -> None:
    told = [names(row[0])[0] for row in table(QUEUE, "statuses")]
    assert told == list(get_args(JobStatus))


def test_the_tables_and_their_columns(engine: Engine) -> None:
    """Q8: what is public is told, on both databases."""
    looking = look_at(engine)
    told = {names(row[0])[0]: sorted(names(row[1])) for row in table(QUEUE, "tables")}
    assert told.keys() == set(TABLES)
    for name, columns in told.items():
        assert columns == sorted(one["name"] for one in looking.get_columns(name)), name


def test_the_settings() -> None:
    options = {option.variable: option for option in OPTIONS}
    told = defaults("settings")
    of_jobs = ("JOBS", "TASKS", "ALERTS", "MAIN", "TIME", "MAIL", "WEBHOOK", "LEASE")
    assert told.keys() == {
        name for name in options if name.startswith(tuple(f"SAKUIN_{n}" for n in of_jobs))
    }
    for name, default in told.items():
        value = options[name].default
        assert default == ("yes" if value is True else str(value) or "none"), name


def test_the_maintenance(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    """Its tasks; and a task of one's own takes the place of one of them."""
    monkeypatch.chdir(tmp_path)
    tasks = {task.key: task for task in maintenance_tasks(read_settings())}
    told = table(QUEUE, "maintenance")
    assert [names(row[0])[0] for row in told] == list(tasks)
    for key, schedule, what in told:
        task = tasks[names(key)[0]]
        assert (names(schedule)[0], task.description) == (task.schedule, what.partition(";")[0])
    (tmp_path / "tasks.toml").write_text(block(QUEUE, "own-maintenance"), encoding="utf-8")
    both = dict(recurring_tasks(read_settings({"tasks": "tasks.toml"})))
    (own,) = both.pop(str(tmp_path / "tasks.toml"))
    ((_, rest),) = both.items()
    assert {own.key, *(task.key for task in rest)} == set(tasks)
    assert own.key not in {task.key for task in rest}
    assert own.limit == tasks[own.key].limit


COMMANDS = typer.main.get_command(app)


def command_of(words: list[str]) -> tuple[click.Command, list[str]]:
    """Return the command that the words name, and what follows its name."""
    command: Any = COMMANDS
    rest = list(words)
    while rest and rest[0] in getattr(command, "commands", {}):
        command = command.commands[rest.pop(0)]
    return command, rest


def test_every_command_and_flag_exists() -> None:
    """Whatever the page tells to type, wherever it stands."""
    lines = re.findall(
        r"(?:`|\"\$\(|^|bin/)sakuin ((?:queue|worker|init)[^`\n]*)", PAGE, re.MULTILINE
    )
    assert len(lines) > 40
    for line in lines:
        if "…" in line:
            continue
        command, rest = command_of(shlex.split(line))
        known = {name for one in command.params for name in (*one.opts, *one.secondary_opts)}
        flags = {word for word in rest if word.startswith("--")}
        assert flags <= known, line
    group: Any = command_of(["queue"])[0]
    told = {one.split()[0] for row in table(QUEUE, "commands") for one in names(row[0])}
    assert told == set(group.commands)


def test_the_json_of_every_command() -> None:
    """The keys of the table are those that the command's help names."""
    for shown_names, _, keys in table(QUEUE, "commands"):
        for name in names(shown_names):
            command, rest = command_of(["queue", *name.split()])
            assert not rest, name
            _, _, told = (command.help or "").partition("JSON:")
            assert set(names(keys)) == set(re.findall(r'"(\w+)"', told)), name


def test_the_heartbeat() -> None:
    assert (DEAD_AFTER_SECONDS, DEAD_AFTER_SECONDS / BEATS_A_LIFE) == (30, 6)


def test_names_live_where_the_page_says() -> None:
    text = (DOCS / "queue.md").read_text(encoding="utf-8")
    lines = re.findall(r"^- `(sakuin\.queue[a-z.]*)`: (.+)$", text, re.MULTILINE)
    assert len(lines) == 5
    for module, listed in lines:
        found = importlib.import_module(module)
        for name in re.findall(r"`(\w+)`", listed):
            assert hasattr(found, name), f"{module}.{name}"
