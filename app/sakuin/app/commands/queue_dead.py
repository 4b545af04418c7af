"""`sakuin queue dead`, and the flags that say which dead messages are meant."""

from typing import Annotated, Any

import typer

from sakuin.app.commands.options import AsJson, DatabaseUrl, DataDir, put, put_json, say
from sakuin.app.commands.queue_opened import opened_queues, tell_unknown
from sakuin.app.commands.queue_shown import (
    data_json,
    data_shown,
    printable,
    put_table,
    short,
    time_json,
    time_shown,
)
from sakuin.app.commands.queue_times import When, age_or_moment
from sakuin.queue import read
from sakuin.queue.dead_filter import DeadFilter, FoundDead, count_dead, find_dead
from sakuin.queue.queue_stats import MOST_COUNTED

MOST_REASON_SHOWN = 60

Ids = Annotated[
    list[int] | None,
    typer.Argument(
        metavar="ID…", help="Entries of the dead list, as `sakuin queue dead` numbers them."
    ),
]
OfQueue = Annotated[
    str | None,
    typer.Option(
        "--queue",
        metavar="QUEUE",
        help="Those of this queue; mail* means every one that begins so. "
        "(no variable; default: any)",
        show_default=False,
    ),
]
OfKind = Annotated[
    str | None,
    typer.Option(
        "--kind", help="Those of this kind of job. (no variable; default: any)", show_default=False
    ),
]
OfReason = Annotated[
    str | None,
    typer.Option(
        "--reason",
        metavar="TEXT",
        help="Those whose reason holds this text, in any case. (no variable; default: any)",
        show_default=False,
    ),
]
Before = Annotated[
    When | None,
    typer.Option(
        "--before",
        parser=age_or_moment,
        metavar="WHEN",
        help="Those that died longer ago, as 2h, or before 2026-12-31T09:00+09:00. "
        "(no variable; default: any)",
        show_default=False,
    ),
]
After = Annotated[
    When | None,
    typer.Option(
        "--after",
        parser=age_or_moment,
        metavar="WHEN",
        help="Those that died within so long, as 2h, or after that time. "
        "(no variable; default: any)",
        show_default=False,
    ),
]
OfMessage = Annotated[
    int | None,
    typer.Option(
        "--message",
        metavar="ID",
        help="Those of the message with this id, which its push returned. "
        "(no variable; default: any)",
        show_default=False,
    ),
]


def list_dead(
    ids: Ids = None,
    queue: OfQueue = None,
    kind: OfKind = None,
    reason: OfReason = None,
    before: Before = None,
    after: After = None,
    message: OfMessage = None,
    limit: Annotated[
        int,
        typer.Option(
            min=1,
            max=1_000,
            help="How many at most. (no variable; default: 20)",
            show_default=False,
        ),
    ] = 20,
    before_id: Annotated[
        int | None,
        typer.Option(
            metavar="ID",
            help="Go on with entries older than this one. (no variable; default: from the newest)",
            show_default=False,
        ),
    ] = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """List messages that were given up, newest first, with the reasons.

    Of several flags all must hold. Entries named by their ids are shown whole,
    with the traceback.

    JSON: {"count", "capped", "entries": […], "next": id or null}; an entry has
    "id", "message_id", "queue", "kind", "priority", "attempts", "errors",
    "reason", "traceback", "created_at", "dead_at", "bytes", "data" (null if it is
    no UTF-8), "hex" (null if it is), "is_cut".
    """
    with opened_queues(data_dir, database_url) as opened:
        wanted = dead_filter(ids, queue, kind, reason, before, after, message)
        found = read(
            opened.database, lambda c: find_dead(c, wanted, limit=limit, before_id=before_id)
        )
        count = read(opened.database, lambda c: count_dead(c, wanted, MOST_COUNTED + 1))
        if queue and not found and not queue.endswith("*") and not as_json:
            read(opened.database, lambda c: tell_unknown(c, opened, queue))
    last = found[-1].id if len(found) == limit else None
    if as_json:
        put_json(
            {
                "count": min(count, MOST_COUNTED),
                "capped": count > MOST_COUNTED,
                "entries": [_json(one) for one in found],
                "next": last,
            }
        )
    elif not found:
        say("No message is dead." if wanted == DeadFilter() else "No such message is dead.")
    elif ids:
        for one in found:
            _put_whole(one)
    else:
        _put(found)
        _tell_more(count, len(found), last)


def dead_filter(
    ids: list[int] | None,
    queue: str | None,
    kind: str | None,
    reason: str | None,
    before: When | None,
    after: When | None,
    message: int | None,
) -> DeadFilter:
    """Return what the flags mean."""
    return DeadFilter(
        queue=queue,
        kind=kind,
        reason=reason,
        dead_before=before.value if before else None,
        dead_after=after.value if after else None,
        message_id=message,
        ids=tuple(ids) if ids else None,
    )


def count_shown(count: int) -> str:
    """Return a count that ends at MOST_COUNTED."""
    return f"more than {MOST_COUNTED:,}" if count > MOST_COUNTED else f"{count:,}"


def _put(found: tuple[FoundDead, ...]) -> None:
    rows = [
        (
            str(one.id),
            one.queue,
            short(one.kind or "-", 30),
            one.attempts,
            time_shown(one.dead_at),
            short(one.reason, MOST_REASON_SHOWN),
            data_shown(one.data, one.bytes),
        )
        for one in found
    ]
    put_table(("ID", "QUEUE", "KIND", "ATTEMPTS", "DEAD AT", "REASON", "DATA"), rows)


def _tell_more(count: int, shown: int, last: int | None) -> None:
    if last is not None and count > shown:
        say(f"{shown:,} of {count_shown(count)}. For more: --before-id {last}")
    say("`sakuin queue dead ID` shows one whole; `sakuin queue retry` tries them again.")


def _put_whole(one: FoundDead) -> None:
    for name, text in (
        ("entry", str(one.id)),
        ("message", f"{one.message_id} of queue {one.queue}, priority {one.priority}"),
        ("kind", one.kind or "-"),
        ("attempts", f"{one.attempts}, {one.errors} of them failed with an error"),
        ("pushed at", time_shown(one.created_at)),
        ("dead at", time_shown(one.dead_at)),
        ("reason", one.reason),
        ("data", data_shown(one.data, one.bytes)),
    ):
        put(f"{name:<10}{printable(text)}")
    for line in (one.traceback or "").splitlines():
        put(f"    {printable(line)}")


def _json(one: FoundDead) -> dict[str, Any]:
    return {
        "id": one.id,
        "message_id": one.message_id,
        "queue": one.queue,
        "kind": one.kind,
        "priority": one.priority,
        "attempts": one.attempts,
        "errors": one.errors,
        "reason": one.reason,
        "traceback": one.traceback,
        "created_at": time_json(one.created_at),
        "dead_at": time_json(one.dead_at),
        **data_json(one.data, one.bytes),
    }
