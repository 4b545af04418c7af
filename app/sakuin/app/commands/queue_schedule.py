"""`sakuin queue schedule`: recurring tasks, when they ran and will run, and a run right now."""

import difflib
from typing import Annotated, Any

import typer
from sqlalchemy import Connection

from sakuin.app.commands.options import AsJson, DatabaseUrl, DataDir, put_json, say
from sakuin.app.commands.queue_opened import MOST_NEAR, opened_queues
from sakuin.app.commands.queue_shown import put_table, short, time_json, time_shown
from sakuin.queue import read
from sakuin.queue.recurring import ShownRun, ShownTask, drop_task, run_now, tasks_shown

schedule = typer.Typer(
    invoke_without_command=True,
    help="List recurring tasks, with their last and next runs; run one now, or drop it.",
    epilog="Example: sakuin queue schedule run nightly-report",
)


@schedule.callback()
def _list_unless_told(
    context: typer.Context,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
    as_json: AsJson = False,
) -> None:
    if context.invoked_subcommand is None:
        list_tasks(data_dir, database_url, as_json)


@schedule.command("list", epilog="Example: sakuin queue schedule list --json")
def list_tasks(
    data_dir: DataDir = None, database_url: DatabaseUrl = None, as_json: AsJson = False
) -> None:
    """List the recurring tasks: their schedules, last and next runs.

    JSON: a list of {"key", "kind", "queue", "priority", "schedule", "zone",
    "description", "origin", "catch_up_seconds", "next_run_at", "trouble",
    "last_run"}; "last_run" is null or {"run_at", "pushed_at", "message_id",
    "is_manual", "state", "reason"}, its state ready, leased, scheduled, dead,
    done or left out.
    """
    with opened_queues(data_dir, database_url) as opened:
        found = read(opened.database, tasks_shown)
    if as_json:
        put_json([_json(task) for task in found])
    elif not found:
        say("No recurring task is declared: `sakuin queue run --tasks FILE` does so.")
    else:
        rows = [
            (
                task.key,
                short(f"{task.schedule} ({task.zone})", 50),
                task.queue,
                _run_shown(task.last_run),
                short(task.trouble, 50) if task.trouble else time_shown(task.next_run_at),
                short(task.description, 60),
            )
            for task in found
        ]
        put_table(("KEY", "SCHEDULE", "QUEUE", "LAST RUN", "NEXT RUN", "DESCRIPTION"), rows)


@schedule.command(epilog="Example: sakuin queue schedule run nightly-report")
def run(
    key: Annotated[str, typer.Argument(metavar="KEY", help="The task's key, as `list` shows it.")],
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """Push a run of a task at once, beside its plan, and print the message's id.

    JSON: {"key", "message_id"}.
    """
    with opened_queues(data_dir, database_url) as opened:
        queue = read(opened.database, lambda connection: _task(connection, key)).queue
        number = run_now(opened.database, key)
    if as_json:
        put_json({"key": key, "message_id": number})
    else:
        say(f"{key} was pushed into {queue} as message {number}.")
        say("`sakuin queue schedule` tells when it is done.")


@schedule.command(epilog="Example: sakuin queue schedule drop nightly-report")
def drop(
    key: Annotated[str, typer.Argument(metavar="KEY", help="The task's key, as `list` shows it.")],
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """Remove a recurring task, such as one of a file that is no longer used.

    A file, or program, that still declares it brings it back when it starts.

    JSON: {"key", "origin"}; the origin is the file or program that declared it.
    """
    with opened_queues(data_dir, database_url) as opened:
        task = read(opened.database, lambda connection: _task(connection, key))
        drop_task(opened.database, key)
    if as_json:
        put_json({"key": key, "origin": task.origin})
    else:
        say(f"{key} runs no more. If {short(task.origin, 200)} still declares it, it comes back.")


def _task(connection: Connection, key: str) -> ShownTask:
    """Return the task. Raises BadParameter that names keys that are near."""
    tasks = {task.key: task for task in tasks_shown(connection)}
    if key in tasks:
        return tasks[key]
    near = difflib.get_close_matches(key, tasks, MOST_NEAR) or sorted(tasks)[:MOST_NEAR]
    known = f"did you mean {' or '.join(near)}?" if near else "none is declared"
    raise typer.BadParameter(f"no recurring task {key!r}: {known}", param_hint="KEY")


def _run_shown(run: ShownRun | None) -> str:
    if run is None:
        return "-"
    return f"{time_shown(run.run_at)} {run.status}"


def _json(task: ShownTask) -> dict[str, Any]:
    last = task.last_run
    return {
        "key": task.key,
        "kind": task.kind,
        "queue": task.queue,
        "priority": task.priority,
        "schedule": task.schedule,
        "zone": task.zone,
        "description": task.description,
        "origin": task.origin,
        "catch_up_seconds": task.catch_up_seconds,
        "next_run_at": time_json(task.next_run_at),
        "trouble": task.trouble,
        "last_run": last
        and {
            "run_at": time_json(last.run_at),
            "pushed_at": time_json(last.pushed_at),
            "message_id": last.message_id,
            "is_manual": last.is_manual,
            "state": last.status,
            "reason": last.state.reason if last.state else None,
        },
    }
