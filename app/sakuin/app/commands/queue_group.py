"""The group `sakuin queue …`: its subcommands, each in the module of its subject."""

from collections.abc import Callable

import typer

from sakuin.app.commands.queue_alerts import list_alerts
from sakuin.app.commands.queue_bulk import discard_dead_messages, retry_dead_messages
from sakuin.app.commands.queue_dead import list_dead
from sakuin.app.commands.queue_kinds import stats
from sakuin.app.commands.queue_list import list_queues
from sakuin.app.commands.queue_pause import pause_queue, resume_queue
from sakuin.app.commands.queue_peek import peek_queue
from sakuin.app.commands.queue_processes import list_processes
from sakuin.app.commands.queue_push import push_message
from sakuin.app.commands.queue_run import run_processes
from sakuin.app.commands.queue_schedule import schedule

_COMMANDS: dict[str, tuple[Callable[..., None], str]] = {
    "run": (run_processes, "sakuin queue run --jobs shop.jobs:jobs --queue urgent --queue '*'"),
    "list": (list_queues, "sakuin queue list --json"),
    "stats": (stats, "sakuin queue stats mail --since 1d"),
    "peek": (peek_queue, "sakuin queue peek mail --state scheduled --limit 3"),
    "push": (push_message, 'sakuin queue push mail \'{"to": "a@example.jp"}\' --kind letter'),
    "pause": (pause_queue, "sakuin queue pause mail"),
    "resume": (resume_queue, "sakuin queue resume mail"),
    "dead": (list_dead, "sakuin queue dead --queue 'mail*' --reason timeout --after 2h"),
    "retry": (retry_dead_messages, "sakuin queue retry --kind letter --after 1d"),
    "discard": (discard_dead_messages, "sakuin queue discard --queue mail --before 30d --yes"),
    "processes": (list_processes, "sakuin queue processes"),
    "alerts": (list_alerts, "sakuin queue alerts"),
}

queue = typer.Typer(
    no_args_is_help=True,
    help="Look at the queues of messages and jobs, and mend them: all by plain SQL underneath, "
    "safe beside workers that run.",
    epilog="First steps: sakuin queue list shows what waits; sakuin queue dead what was given up.",
)
for _name, (_command, _example) in _COMMANDS.items():
    queue.command(_name, epilog=f"Example: {_example}")(_command)
queue.add_typer(schedule, name="schedule")
