"""`sakuin queue peek`."""

import sys
from datetime import datetime
from typing import Annotated, Any

import typer

from sakuin.app.commands.options import AsJson, DatabaseUrl, DataDir, put_json, say
from sakuin.app.commands.queue_opened import QueueName, opened_queues, tell_unknown
from sakuin.app.commands.queue_shown import (
    data_json,
    data_shown,
    key_json,
    put_table,
    short,
    time_json,
    time_shown,
)
from sakuin.queue import MAX_MESSAGE_BYTES, read
from sakuin.queue.peek import (
    MOST_BYTES,
    MOST_PEEKED,
    PEEK_STATES,
    PeekedMessage,
    PeekPlace,
    PeekState,
    peek,
)

_UNTIL = {"ready": "READY SINCE", "leased": "LEASED UNTIL", "scheduled": "DUE AT", "blocked": ""}


def _state(text: str) -> PeekState:
    for state in PEEK_STATES:
        if text == state:
            return state
    raise typer.BadParameter(f"{text!r}: use {', '.join(PEEK_STATES)}")


def _place(text: str) -> PeekPlace:
    try:
        priority, moment, number = text.split(",")
        return PeekPlace(int(priority), datetime.fromisoformat(moment), int(number))
    except ValueError:
        raise typer.BadParameter(
            f"{text!r}: give the place that a page before named as its next"
        ) from None


def peek_queue(
    queue: QueueName,
    state: Annotated[
        PeekState,
        typer.Option(
            parser=_state,
            metavar="STATE",
            help="ready, leased, scheduled or blocked. (no variable; default: ready)",
            show_default=False,
        ),
    ] = "ready",
    limit: Annotated[
        int,
        typer.Option(
            min=1,
            max=MOST_PEEKED,
            help="How many at most. (no variable; default: 10)",
            show_default=False,
        ),
    ] = 10,
    after: Annotated[
        PeekPlace | None,
        typer.Option(
            parser=_place,
            metavar="PLACE",
            help="Go on after this place, which the page before names. "
            "(no variable; default: from the head)",
            show_default=False,
        ),
    ] = None,
    most_bytes: Annotated[
        int,
        typer.Option(
            "--bytes",
            min=0,
            max=MAX_MESSAGE_BYTES,
            help="How much of each message's data. (no variable; default: 1000)",
            show_default=False,
        ),
    ] = MOST_BYTES,
    raw: Annotated[
        bool,
        typer.Option(
            "--raw",
            help="Print the data of the first message as it is, and nothing else. "
            "(no variable; default: off)",
            show_default=False,
        ),
    ] = False,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """Show messages without taking them, in the order in which they would be claimed.

    JSON: {"messages": […], "next": place or null}; a message has "id", "queue",
    "kind", "priority", "state", "attempts", "errors", "unique_key", "limit_key",
    "created_at", "due_at", "locked_until", "expires_at", "bytes", "data" (null if
    it is no UTF-8), "hex" (null if it is), "is_cut".
    """
    if raw and as_json:
        raise typer.BadParameter("give --json or --raw, not both", param_hint="--raw")
    size, most = (MAX_MESSAGE_BYTES, 1) if raw else (most_bytes, limit)
    with opened_queues(data_dir, database_url) as opened:
        found = read(
            opened.database,
            lambda c: peek(c, queue, limit=most, state=state, after=after, most_bytes=size),
        )
        if not found:
            read(opened.database, lambda c: tell_unknown(c, opened, queue))
    last = found[-1].place if len(found) == limit else None
    if as_json:
        put_json({"messages": [_json(one) for one in found], "next": last and _text(last)})
    elif not found:
        say(f"Queue {queue} has no {state} message{' there' if after else ''}.")
    elif raw:
        sys.stdout.flush()
        sys.stdout.buffer.write(found[0].data)
    else:
        _put(found, state)
        if last:
            say(f"For more: --after {_text(last)}")


def _put(found: tuple[PeekedMessage, ...], state: PeekState) -> None:
    rows = [
        (
            str(one.id),
            str(one.priority),
            short(one.kind or "-", 30),
            one.attempts,
            time_shown(one.locked_until) if _UNTIL[state] else short(key_json(one.limit_key) or ""),
            one.bytes,
            data_shown(one.data, one.bytes),
        )
        for one in found
    ]
    until = _UNTIL[state] or "LIMIT"
    put_table(("ID", "PRIORITY", "KIND", "ATTEMPTS", until, "BYTES", "DATA"), rows)


def _json(one: PeekedMessage) -> dict[str, Any]:
    return {
        "id": one.id,
        "queue": one.queue,
        "kind": one.kind,
        "priority": one.priority,
        "state": one.state,
        "attempts": one.attempts,
        "errors": one.errors,
        "unique_key": key_json(one.unique_key),
        "limit_key": key_json(one.limit_key),
        "created_at": time_json(one.created_at),
        "due_at": time_json(one.due_at),
        "locked_until": time_json(one.locked_until),
        "expires_at": time_json(one.expires_at),
        **data_json(one.data, one.bytes),
    }


def _text(place: PeekPlace) -> str:
    return f"{place.priority},{time_json(place.locked_until)},{place.id}"
