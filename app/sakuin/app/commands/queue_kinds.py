"""`sakuin queue stats`: what queues hold, and how each kind of job has fared."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated, Any

import typer
from sqlalchemy import Connection

from sakuin.app.commands.options import AsJson, DatabaseUrl, DataDir, put_json, say
from sakuin.app.commands.queue_list import COUNTS, put_stats, stats_json, tell_next
from sakuin.app.commands.queue_opened import QueueOrAll, opened_queues, tell_unknown
from sakuin.app.commands.queue_shown import age_shown, put_table, short
from sakuin.app.commands.queue_times import duration
from sakuin.queue import read
from sakuin.queue.jobs import Measure, measures
from sakuin.queue.queue_stats import (
    MOST_COUNTED,
    QueueStats,
    all_stats,
    kind_stats,
    queue_stats,
)


@dataclass(frozen=True, slots=True)
class _Kind:
    """What waits of one kind (None: plain messages), and what happened to it of late."""

    kind: str | None
    waiting: int
    dead: int
    measure: Measure | None


def stats(
    queue: QueueOrAll = None,
    since: Annotated[
        timedelta | None,
        typer.Option(
            parser=duration,
            metavar="DURATION",
            help="How long ago the measures begin: 10m, 2h, 7d. (no variable; default: 1h)",
            show_default=False,
        ),
    ] = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """Count what a queue holds, and tell how each kind of job fared lately.

    A kind's runs, the share that failed, how long a run took and how long its
    message waited before, and runs a minute, are measured by workers, across all
    queues. With QUEUE only the kinds that it holds are told.

    JSON: {"queues", "kinds", "kinds_capped", "since_seconds"}; "queues" as of
    `sakuin queue list`; "kinds" of {"kind", "waiting", "dead", "runs", "failed",
    "failure_rate", "mean_seconds", "longest_seconds", "mean_waited_seconds",
    "runs_a_second"}, the last five null where nothing ran; with "kinds_capped"
    more wait or are dead than were looked at, 10,000 of each queue.
    """
    since_seconds = (since or timedelta(hours=1)).total_seconds()
    with opened_queues(data_dir, database_url) as opened:
        queues = read(
            opened.database, lambda c: (queue_stats(c, queue),) if queue else all_stats(c)
        )
        kinds = read(opened.database, lambda c: _kinds(c, queues, queue, since_seconds))
        if queue and not as_json:
            read(opened.database, lambda c: tell_unknown(c, opened, queue))
    is_capped = any(_is_capped(each) for each in queues)
    if as_json:
        put_json(
            {
                "queues": [stats_json(each) for each in queues],
                "kinds": [_json(each) for each in kinds],
                "kinds_capped": is_capped,
                "since_seconds": since_seconds,
            }
        )
    else:
        _print(queues, kinds, since_seconds, is_capped=is_capped)


def _print(
    queues: Sequence[QueueStats], kinds: Sequence[_Kind], since_seconds: float, *, is_capped: bool
) -> None:
    if not queues:
        say("No queue holds a message.")
    else:
        put_stats(queues)
    if kinds:
        _put(kinds)
        if is_capped:
            say(f"By kind only the first {MOST_COUNTED:,} of each queue are counted.")
    else:
        say(f"No job ran in the last {age_shown(since_seconds)}.")
    tell_next(queues)


def _kinds(
    connection: Connection, queues: Sequence[QueueStats], queue: str | None, since_seconds: float
) -> list[_Kind]:
    waiting: Counter[str | None] = Counter()
    dead: Counter[str | None] = Counter()
    for each in queues:
        for held in kind_stats(connection, each.queue):
            waiting[held.kind] += held.waiting
            dead[held.kind] += held.dead
    measured = {each.kind: each for each in measures(connection, since_seconds=since_seconds)}
    names: set[str | None] = {*waiting, *dead}
    if queue is None:
        names |= measured.keys()
    return [
        _Kind(name, waiting[name], dead[name], None if name is None else measured.get(name))
        for name in sorted(names, key=lambda name: name or "")
    ]


def _is_capped(stats: QueueStats) -> bool:
    waiting = sum(getattr(stats, name) for name in COUNTS if name != "dead")
    return bool(stats.capped) or waiting > MOST_COUNTED


def _put(kinds: Sequence[_Kind]) -> None:
    rows = []
    for each in kinds:
        fared: tuple[object, ...] = ("", "", "", "", "", "")
        if one := each.measure:
            fared = (
                one.runs,
                f"{one.failure_rate:.1%}",
                age_shown(one.mean_seconds),
                age_shown(one.longest_seconds),
                age_shown(one.mean_waited_seconds),
                f"{one.runs_a_second * 60:,.1f}",
            )
        rows.append((short(each.kind or "-", 40), each.waiting, each.dead, *fared))
    say()
    heads = ("KIND", "WAITING", "DEAD", "RUNS", "FAILED", "MEAN", "LONGEST", "WAITED", "A MINUTE")
    put_table(heads, rows)


def _json(each: _Kind) -> dict[str, Any]:
    one = each.measure
    return {
        "kind": each.kind,
        "waiting": each.waiting,
        "dead": each.dead,
        "runs": one.runs if one else 0,
        "failed": one.failed if one else 0,
        "failure_rate": one.failure_rate if one else None,
        "mean_seconds": one.mean_seconds if one else None,
        "longest_seconds": one.longest_seconds if one else None,
        "mean_waited_seconds": one.mean_waited_seconds if one else None,
        "runs_a_second": one.runs_a_second if one else None,
    }
