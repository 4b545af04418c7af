"""What every `sakuin queue …` opens and takes; a name that nobody knows is told, with near ones."""

import difflib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer
from sqlalchemy import Connection

from sakuin.app.assemble import Installation
from sakuin.app.commands.options import installed, say
from sakuin.app.settings import read_settings
from sakuin.queue import BadMessage
from sakuin.queue.queue_stats import known_queues

MOST_NEAR = 3

QueueName = Annotated[
    str, typer.Argument(metavar="QUEUE", help="The queue's name, as mail or index:paragraphs.")
]
QueueOrAll = Annotated[
    str | None,
    typer.Argument(metavar="QUEUE", help="The queue's name; without it all queues."),
]


@contextmanager
def opened_queues(data_dir: object, database_url: object) -> Iterator[Installation]:
    """Open the database; what the queue does not take is a mistake of usage."""
    flags: dict[str, Any] = {"data_dir": data_dir, "database_url": database_url}
    with installed(read_settings(flags)) as opened:
        try:
            yield opened
        except BadMessage as error:
            raise typer.BadParameter(str(error)) from error


def tell_unknown(
    connection: Connection, opened: Installation, queue: str, *, is_pushed: bool = False
) -> None:
    """Say on standard error that nothing is known of this queue, and which names are near.

    A queue exists as long as it holds something, so an unknown name is no error; and where a
    message is pushed into it, it is worth a word only if another name is near.
    """
    indexes = [f"index:{each.index.name}" for each in opened.catalogue.known()]
    known = {*known_queues(connection), *indexes}
    if queue in known:
        return
    near = difflib.get_close_matches(queue, sorted(known), MOST_NEAR)
    meant = f" Did you mean {' or '.join(near)}?" if near else ""
    if not is_pushed:
        say(f"Nothing is known of a queue {queue}: no message, no dead one, no pause.{meant}")
    elif near:
        say(f"{queue} is a new queue.{meant}")
