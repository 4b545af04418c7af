"""`sakuin queue processes`."""

import json
from typing import Any

from sakuin.app.commands.options import AsJson, DatabaseUrl, DataDir, put_json, say
from sakuin.app.commands.queue_opened import opened_queues
from sakuin.app.commands.queue_shown import age_shown, put_table, short, time_json
from sakuin.queue import read
from sakuin.queue.processes import Process, processes


def list_processes(
    data_dir: DataDir = None, database_url: DatabaseUrl = None, as_json: AsJson = False
) -> None:
    """List the processes that work on the queues: supervisors, workers, dispatchers, schedulers.

    A process beats every few seconds; one whose last beat is too old is dead, and
    what it held is given to others by a dispatcher.

    JSON: a list of {"id", "role", "host", "pid", "supervisor_id", "detail",
    "started_at", "beat_at", "age_seconds", "is_dead"}.
    """
    with opened_queues(data_dir, database_url) as opened:
        found = read(opened.database, processes)
    if as_json:
        put_json([_json(one) for one in found])
        return
    if not found:
        say("No process is registered: `sakuin queue run` starts those that work on jobs.")
        return
    rows = [
        (
            one.role,
            short(one.host, 40),
            str(one.pid),
            age_shown(one.age_seconds),
            "dead" if one.is_dead else "alive",
            short(json.dumps(dict(one.detail), ensure_ascii=False) if one.detail else ""),
        )
        for one in found
    ]
    put_table(("ROLE", "HOST", "PID", "LAST BEAT", "", "DETAIL"), rows)


def _json(one: Process) -> dict[str, Any]:
    return {
        "id": one.id.hex(),
        "role": one.role,
        "host": one.host,
        "pid": one.pid,
        "supervisor_id": one.supervisor_id.hex() if one.supervisor_id else None,
        "detail": dict(one.detail),
        "started_at": time_json(one.started_at),
        "beat_at": time_json(one.beat_at),
        "age_seconds": one.age_seconds,
        "is_dead": one.is_dead,
    }
