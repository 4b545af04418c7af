"""`sakuin up`."""

from typing import Annotated

import typer

from sakuin.app.commands.load import Encoding, Paths, Source, SplitBy
from sakuin.app.commands.options import (
    DatabaseUrl,
    DataDir,
    EngineName,
    Host,
    Port,
    RootPath,
    say,
)
from sakuin.app.load_files import Reading
from sakuin.app.read_text import Split
from sakuin.app.settings import read_settings
from sakuin.app.walk_through import walk_through

Once = Annotated[
    bool,
    typer.Option(
        "--once",
        help="End after the first searches instead of serving. (no variable; default: off)",
        show_default=False,
    ),
]


def up(
    paths: Paths,
    source: Source = None,
    split: SplitBy = Split.LINE,
    encoding: Encoding = None,
    once: Once = False,
    host: Host = None,
    port: Port = None,
    root_path: RootPath = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
    engine: EngineName = None,
) -> None:
    """Open a search page over text files: init, load, worker and pages in one command."""
    settings = read_settings(
        {
            "host": host,
            "port": port,
            "root_path": root_path,
            "data_dir": data_dir,
            "database_url": database_url,
            "engine": engine,
        }
    )
    reading = Reading(
        paths=tuple(paths), source=source, split=split, encoding=encoding, refuse_bad=False
    )
    say(f"Data folder: {settings.data_dir}")
    walk_through(settings, reading, words=None, serves=not once)
