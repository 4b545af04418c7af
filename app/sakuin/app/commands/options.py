"""The options that several commands share; each help text names its variable and default."""

import json
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from sqlalchemy.exc import SQLAlchemyError

from sakuin.app.assemble import Installation, Parts, initialise, installation
from sakuin.app.paragraph_index import PARAGRAPHS
from sakuin.app.settings import OPTIONS, Settings, read_settings
from sakuin.queue import QueueError


def setting(name: str) -> Any:
    """Return the flag of a setting."""
    option = next(option for option in OPTIONS if option.name == name)
    default = f"default: {option.default}" if option.default != "" else "no default"
    text = f"{option.help} (variable {option.variable}; {default})"
    return typer.Option("--" + name.replace("_", "-"), help=text, show_default=False)


DataDir = Annotated[Path | None, setting("data_dir")]
DatabaseUrl = Annotated[str | None, setting("database_url")]
EngineName = Annotated[str | None, setting("engine")]
Host = Annotated[str | None, setting("host")]
ReadOnly = Annotated[bool | None, setting("read_only")]
Port = Annotated[int | None, setting("port")]
SearchLogging = Annotated[bool | None, setting("search_log")]
RootPath = Annotated[str | None, setting("root_path")]
IndexName = Annotated[
    str,
    typer.Option(
        "--index",
        help="Which index is meant. (no variable; default: paragraphs)",
        show_default=False,
    ),
]
AsJson = Annotated[
    bool,
    typer.Option(
        "--json", help="Print JSON for programs. (no variable; default: off)", show_default=False
    ),
]
DEFAULT_INDEX = PARAGRAPHS.name
_OBEYED = re.compile(r"[\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""What `json.dumps` lets through: further control characters, and those that turn text around."""


@contextmanager
def opened(flags: Mapping[str, Any], index: str = DEFAULT_INDEX) -> Iterator[Parts]:
    """Assemble the parts from flags, variables and file; SQLite's tables are made when missing."""
    with opened_with(read_settings(flags), index) as parts:
        yield parts


@contextmanager
def opened_to_search(flags: Mapping[str, Any], index: str = DEFAULT_INDEX) -> Iterator[Parts]:
    """As `opened`, but a database that cannot be used is left alone: the index can be searched."""
    settings = read_settings(flags)
    with installation(settings) as opened:
        if settings.is_sqlite:
            with suppress(QueueError, SQLAlchemyError, OSError):  # the search tells it
                initialise(opened.parts())
        if opened.synonyms:
            opened.synonyms.check()
        yield opened.parts(index)


@contextmanager
def opened_with(settings: Settings, index: str = DEFAULT_INDEX) -> Iterator[Parts]:
    """As `opened`, from settings that were read already."""
    with installed(settings) as opened:
        yield opened.parts(index)


@contextmanager
def installed(settings: Settings) -> Iterator[Installation]:
    """Open all indexes; SQLite's tables are made when missing."""
    with installation(settings) as opened:
        if settings.is_sqlite:
            initialise(opened.parts())
        yield opened


def say(text: str = "") -> None:
    """Print progress and notes for people, on standard error."""
    Console(stderr=True, highlight=False, soft_wrap=True).print(text, markup=False)


def put(text: str) -> None:
    """Print data, on standard output."""
    if sys.stdout is None:
        raise OSError("the standard output is closed")
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def put_json(value: Any) -> None:
    """Print JSON data, on standard output; what a terminal would obey is escaped."""
    put(_OBEYED.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(value, ensure_ascii=False)))
