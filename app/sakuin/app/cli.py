"""The `sakuin` command: its subcommands, and what each error means to a shell (design §8)."""

import importlib.metadata
import io
import signal
import sys
import traceback
from typing import Annotated, NoReturn

import typer
from sqlalchemy.exc import SQLAlchemyError

from sakuin.app.catalogue import NoSuchIndex
from sakuin.app.commands import (
    attach,
    demo,
    detach,
    doctor,
    index,
    init,
    load,
    queue_group,
    schema,
    search,
    serve,
    status,
    suggest,
    up,
    words,
    worker,
)
from sakuin.app.commands.options import put, say
from sakuin.app.encoding import UnknownEncoding
from sakuin.app.find_text import UnreadableText
from sakuin.app.private_mariadb import PrivateServerError
from sakuin.app.refused import Refused
from sakuin.app.settings import SettingsError
from sakuin.app.worker import QueuePaused
from sakuin.indexer.errors import IndexerError
from sakuin.queue import DatabaseAway, DatabaseBusy, DatabaseRefused, OutcomeUnknown, QueueError
from sakuin.queue.jobs import BadTarget
from sakuin.queue.notices import BadAlertFile
from sakuin.queue.processes import RoleRefused
from sakuin.queue.recurring import BadTask, BadTaskFile

FAILED, USAGE, AWAY, AGAIN, CONFIGURATION = 1, 2, 69, 75, 78
INTERRUPTED, TERMINATED = 130, 143

_EXIT_CODES: tuple[tuple[type[Exception], int], ...] = (
    (NoSuchIndex, USAGE),
    (Refused, FAILED),
    (UnreadableText, FAILED),
    (UnknownEncoding, USAGE),
    (SettingsError, CONFIGURATION),
    (BadTaskFile, CONFIGURATION),
    (BadAlertFile, CONFIGURATION),
    (BadTask, CONFIGURATION),
    (BadTarget, CONFIGURATION),
    (RoleRefused, CONFIGURATION),
    (DatabaseRefused, CONFIGURATION),
    (DatabaseAway, AWAY),
    (DatabaseBusy, AGAIN),
    (QueuePaused, AGAIN),
    (OutcomeUnknown, AGAIN),
    (QueueError, FAILED),
    (IndexerError, FAILED),
    (SQLAlchemyError, FAILED),
    (PrivateServerError, FAILED),
    (OSError, FAILED),
)

_CONTEXT = {"help_option_names": ["-h", "--help"]}

app = typer.Typer(
    name="sakuin",
    no_args_is_help=True,
    invoke_without_command=True,
    context_settings=_CONTEXT,
    pretty_exceptions_enable=False,
    add_completion=False,
    help="Full-text search, Japanese first, for text kept in MySQL, MariaDB or SQLite. "
    "Settings come from flags, SAKUIN_* variables, sakuin.toml, or defaults, in this order.",
    epilog="First steps: sakuin up FILE… opens a search page over text files.",
)
for _command in (
    up.up,
    init.init,
    load.load,
    attach.attach,
    detach.detach,
    worker.worker,
    status.status,
    suggest.suggest,
    words.words,
    serve.serve,
    demo.demo,
    doctor.doctor,
):
    app.command(context_settings=_CONTEXT)(_command)
# A leading - is a part of the query: `sakuin search 人間 -殺し`.
app.command(context_settings={**_CONTEXT, "ignore_unknown_options": True})(search.search)
app.add_typer(index.index, name="index")
app.add_typer(queue_group.queue, name="queue")
app.add_typer(schema.schema, name="schema")


@app.callback()
def _options(
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    if version:
        put(importlib.metadata.version("sakuin"))
        raise typer.Exit


def main() -> NoReturn:
    """Run the command line; every expected error is one line, and an exit code that tells."""
    # A signal to end unwinds everything: servers of our own stop, temporary folders go.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(TERMINATED))
    _mend_streams()
    try:
        app()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        # Whoever read our output has seen enough; keep the interpreter from flushing into it.
        sys.stdout = None
        sys.exit(FAILED)
    except tuple(kind for kind, _ in _EXIT_CODES) as error:
        say(f"sakuin: {error}")
        sys.exit(next(code for kind, code in _EXIT_CODES if isinstance(error, kind)))
    except Exception as error:  # noqa: BLE001  nobody is to be shown a traceback
        place = traceback.extract_tb(error.__traceback__)[-1]
        what = f"{type(error).__name__}: {error}"
        say(f"sakuin: a fault of sakuin's own, at {place.filename}:{place.lineno}: {what}")
        sys.exit(FAILED)
    sys.exit(0)


def _mend_streams() -> None:
    """Let nothing fail for a terminal that cannot show a character, or an input that is closed."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    if sys.stdin is None:
        sys.stdin = io.TextIOWrapper(io.BytesIO())
    if sys.stderr is None:
        sys.stderr = io.StringIO()
