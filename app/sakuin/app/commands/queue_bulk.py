"""`sakuin queue retry` and `sakuin queue discard`: dead messages in bulk."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated

import typer
from sqlalchemy import Engine

from sakuin.app.commands.options import AsJson, DatabaseUrl, DataDir, put_json, say
from sakuin.app.commands.queue_dead import (
    After,
    Before,
    Ids,
    OfKind,
    OfMessage,
    OfQueue,
    OfReason,
    count_shown,
    dead_filter,
)
from sakuin.app.commands.queue_opened import opened_queues
from sakuin.app.progress import counting
from sakuin.queue import read
from sakuin.queue.dead_filter import DeadFilter, count_dead, discard_found, retry_found
from sakuin.queue.queue_stats import MOST_COUNTED

INTERRUPTED = 130

AllOfThem = Annotated[
    bool,
    typer.Option(
        "--all", help="All that are dead. (no variable; default: off)", show_default=False
    ),
]


def retry_dead_messages(
    ids: Ids = None,
    queue: OfQueue = None,
    kind: OfKind = None,
    reason: OfReason = None,
    before: Before = None,
    after: After = None,
    message: OfMessage = None,
    all_of_them: AllOfThem = False,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """Push dead messages again, at the end of their queues, with no attempts counted.

    They go 500 at a time, each time in a transaction of its own; Ctrl-C stops
    between two, and the same command goes on with the rest. Two who do it at once
    retry each message once.

    JSON: {"retried": n}.
    """
    with opened_queues(data_dir, database_url) as opened:
        wanted = dead_filter(ids, queue, kind, reason, before, after, message)
        _refuse_what_names_none(wanted, all_of_them=all_of_them)
        done, is_stopped = _work(opened.database, wanted, retry_found, "Retrying")
    if as_json:
        put_json({"retried": done})
    elif done:
        say(f"{done:,} will be tried again; `sakuin queue list` shows how far it is.")
    else:
        say("No such message is dead: nothing was retried.")
    _end(done, is_stopped=is_stopped)


def discard_dead_messages(
    ids: Ids = None,
    queue: OfQueue = None,
    kind: OfKind = None,
    reason: OfReason = None,
    before: Before = None,
    after: After = None,
    message: OfMessage = None,
    all_of_them: AllOfThem = False,
    yes: Annotated[
        bool,
        typer.Option(
            "--yes", help="Do not ask first. (no variable; default: off)", show_default=False
        ),
    ] = False,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """Delete dead messages for good, after asking.

    They go 500 at a time; Ctrl-C stops between two.

    JSON: {"discarded": n}.
    """
    with opened_queues(data_dir, database_url) as opened:
        wanted = dead_filter(ids, queue, kind, reason, before, after, message)
        _refuse_what_names_none(wanted, all_of_them=all_of_them)
        count = read(opened.database, lambda c: count_dead(c, wanted, MOST_COUNTED + 1))
        if count and not yes:
            _ask(count)
        done, is_stopped = _work(opened.database, wanted, discard_found, "Discarding")
    if as_json:
        put_json({"discarded": done})
    else:
        say(f"{done:,} are gone for good." if done else "No such message is dead.")
    _end(done, is_stopped=is_stopped)


def _refuse_what_names_none(wanted: DeadFilter, *, all_of_them: bool) -> None:
    """Refuse what names no message, so that a flag forgotten is not taken for all of them."""
    if wanted == DeadFilter() and not all_of_them:
        raise typer.BadParameter("name entries by id or by flags as --queue, or give --all")
    if wanted != DeadFilter() and all_of_them:
        raise typer.BadParameter("means every dead message: give it alone", param_hint="--all")


def _ask(count: int) -> None:
    what = f"Delete {count_shown(count)} dead message{'s' * (count != 1)} for good?"
    try:
        is_sure = typer.confirm(what, err=True)
    except typer.Abort:
        raise typer.BadParameter("nobody answers: give --yes", param_hint="--yes") from None
    if not is_sure:
        say("Nothing was deleted.")
        raise typer.Exit(1)


def _work(
    database: Engine,
    wanted: DeadFilter,
    in_chunks: Callable[[Engine, DeadFilter], Iterator[int]],
    label: str,
) -> tuple[int, bool]:
    """Do it chunk by chunk; return how many were done, and whether Ctrl-C stopped it."""
    done = 0
    total = read(database, lambda c: count_dead(c, wanted, MOST_COUNTED + 1))
    with (
        _stopping() as stop,
        counting(label, unit="messages", total=None if total > MOST_COUNTED else total) as tell,
    ):
        for number in in_chunks(database, wanted):
            done += number
            tell(done)
            if stop.is_set():
                return done, True
    return done, False


@contextmanager
def _stopping() -> Iterator[threading.Event]:
    """Take the first Ctrl-C as a wish that is asked for between two chunks, the second at once."""
    stop = threading.Event()

    def wish(_number: int, _frame: object) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()

    before = signal.signal(signal.SIGINT, wish)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, before)


def _end(done: int, *, is_stopped: bool) -> None:
    if is_stopped:
        say(f"Stopped after {done:,}: the same command goes on with the rest.")
        raise typer.Exit(INTERRUPTED)
