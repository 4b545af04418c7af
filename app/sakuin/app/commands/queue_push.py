"""`sakuin queue push`."""

import json
import sys
from datetime import datetime, timedelta
from pathlib import Path
from typing import Annotated

import typer

from sakuin.app.commands.options import AsJson, DatabaseUrl, DataDir, put, put_json, say
from sakuin.app.commands.queue_opened import QueueName, opened_queues, tell_unknown
from sakuin.app.commands.queue_times import duration, moment
from sakuin.queue import MAX_MESSAGE_BYTES, is_paused, push, read, replay


def push_message(
    queue: QueueName,
    data: Annotated[
        str | None,
        typer.Argument(metavar="DATA", help="The message as text; - reads standard input."),
    ] = None,
    kind: Annotated[
        str | None,
        typer.Option(
            help="What kind of job it is; DATA is the JSON of its arguments then. "
            "(no variable; default: none)",
            show_default=False,
        ),
    ] = None,
    priority: Annotated[
        int,
        typer.Option(
            min=0,
            max=255,
            help="0 is the most urgent, 255 the least. (no variable; default: 5)",
            show_default=False,
        ),
    ] = 5,
    delay: Annotated[
        timedelta | None,
        typer.Option(
            parser=duration,
            metavar="DURATION",
            help="Not before so long from now: 90s, 10m, 2h, 7d. (no variable; default: at once)",
            show_default=False,
        ),
    ] = None,
    at: Annotated[
        datetime | None,
        typer.Option(
            parser=moment,
            metavar="TIME",
            help="Not before this time: 2026-12-31T09:00+09:00. (no variable; default: at once)",
            show_default=False,
        ),
    ] = None,
    expires: Annotated[
        timedelta | None,
        typer.Option(
            parser=duration,
            metavar="DURATION",
            help="Give it up if nobody has taken it after so long. (no variable; default: never)",
            show_default=False,
        ),
    ] = None,
    unique_key: Annotated[
        str | None,
        typer.Option(
            help="Add nothing while a message with this key waits in the queue. "
            "(no variable; default: none)",
            show_default=False,
        ),
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option(
            exists=True,
            dir_okay=False,
            help="Take the bytes of this file as the message. (no variable; default: none)",
            show_default=False,
        ),
    ] = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """Add a message to a queue, and print its id.

    With --unique-key it is the id of the message that waits already, if one does.
    Any program can push as well by one INSERT into sakuin_messages, in its own
    transaction.

    JSON: {"id", "queue"}.
    """
    message = _message(data, file, kind)
    if at is not None and delay is not None:
        raise typer.BadParameter("give --at or --delay, not both", param_hint="--at")
    with opened_queues(data_dir, database_url) as opened:
        if not as_json:
            read(opened.database, lambda c: tell_unknown(c, opened, queue, is_pushed=True))
        number = replay(
            opened.database,
            lambda connection: push(
                connection,
                queue,
                message,
                priority=priority,
                delay_seconds=delay.total_seconds() if delay else 0.0,
                at=at,
                unique_key=unique_key,
                expires_seconds=expires.total_seconds() if expires else None,
                kind=kind,
            ),
        )
        paused = read(opened.database, lambda connection: is_paused(connection, queue))
    if as_json:
        put_json({"id": number, "queue": queue})
        return
    put(str(number))
    if paused:
        say(f"{queue} is paused: `sakuin queue resume {queue}` lets it go on.")


def _message(data: str | None, file: Path | None, kind: str | None) -> bytes:
    if data is None and file is None and kind is not None:
        return b"{}"
    if (data is None) == (file is None):
        raise typer.BadParameter("give the message as DATA, - or --file", param_hint="DATA")
    if file is not None:
        with file.open("rb") as opened:
            message = opened.read(MAX_MESSAGE_BYTES + 1)
    elif data == "-":
        message = sys.stdin.buffer.read(MAX_MESSAGE_BYTES + 1)
    else:
        message = str(data).encode("utf-8", "surrogateescape")  # what the shell gave, byte by byte
    if kind is not None:
        try:
            json.loads(message)
        except ValueError as error:
            raise typer.BadParameter(
                f"with --kind it is the JSON of the job's arguments: {error}", param_hint="DATA"
            ) from None
    return message
