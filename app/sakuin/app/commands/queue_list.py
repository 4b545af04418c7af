"""`sakuin queue list`."""

from collections.abc import Iterable
from typing import Any

from sakuin.app.commands.options import AsJson, DatabaseUrl, DataDir, put_json, say
from sakuin.app.commands.queue_opened import opened_queues
from sakuin.app.commands.queue_shown import age_shown, put_table
from sakuin.queue import matching, read
from sakuin.queue.processes import Process, processes
from sakuin.queue.queue_stats import MOST_COUNTED, QueueStats, all_stats

COUNTS = ("ready", "leased", "scheduled", "blocked", "dead")


def list_queues(
    data_dir: DataDir = None, database_url: DatabaseUrl = None, as_json: AsJson = False
) -> None:
    """List the queues that hold a message or a dead one, or are paused.

    Ready messages wait for a worker, leased ones are worked on, scheduled ones
    are not due yet or in back-off, blocked ones wait for a place under their
    limit, dead ones were given up. OLDEST is how long the longest waiting ready
    message has been ready. Counts end at 10,000: 10,000+.

    JSON: a list of {"queue", "ready", "leased", "scheduled", "blocked", "dead",
    "oldest_seconds", "is_paused", "capped"}; "capped" names the counts that are
    more than what is said.
    """
    with opened_queues(data_dir, database_url) as opened:
        found = read(opened.database, all_stats)
        alive = [one for one in read(opened.database, processes) if not one.is_dead]
    if as_json:
        put_json([stats_json(each) for each in found])
        return
    if not found:
        say("No queue holds a message: `sakuin queue push QUEUE DATA` adds one to try.")
        return
    put_stats(found)
    tell_next(found)
    _tell_untaken([each.queue for each in found if each.ready], alive)


def _tell_untaken(queues: Iterable[str], alive: Iterable[Process]) -> None:
    """Say which queues nobody takes messages from."""
    jobs = [name for name in queues if not name.startswith(("index:", "sakuin:"))]
    workers = [one for one in alive if one.role == "worker"]
    if jobs and not workers:
        say("No process of `sakuin queue run` is alive that would work on them.")
        return
    patterns = [str(name) for one in workers for name in _queues_of(one)]
    for name in sorted(set(jobs).difference(matching(jobs, patterns))):
        say(f"No worker takes from {name}: `sakuin queue run --queue {name}` would.")


def _queues_of(worker: Process) -> Iterable[object]:
    found = worker.detail.get("queues")
    return found if isinstance(found, list) else ["*"]  # it has not said yet


def stats_json(stats: QueueStats) -> dict[str, Any]:
    """Return the documented keys of one queue."""
    counts = {name: getattr(stats, name) for name in COUNTS}
    return {
        "queue": stats.queue,
        **counts,
        "oldest_seconds": stats.oldest_seconds,
        "is_paused": stats.is_paused,
        "capped": list(stats.capped),
    }


def put_stats(found: Iterable[QueueStats]) -> None:
    """Print one row a queue."""
    rows = [
        (
            each.queue,
            *(_count(each, name) for name in COUNTS),
            age_shown(each.oldest_seconds),
            "paused" if each.is_paused else "",
        )
        for each in found
    ]
    put_table(("QUEUE", *(name.upper() for name in COUNTS), "OLDEST", ""), rows)


def tell_next(found: Iterable[QueueStats]) -> None:
    """Say what may be done next about what is paused or dead."""
    for each in found:
        if each.is_paused:
            say(f"{each.queue} is paused: `sakuin queue resume {each.queue}` lets it go on.")
    if any(each.dead for each in found):
        say("Dead messages: `sakuin queue dead` says why, `sakuin queue retry` tries them again.")


def _count(stats: QueueStats, name: str) -> int | str:
    count: int = getattr(stats, name)
    return f"{MOST_COUNTED:,}+" if name in stats.capped else count
