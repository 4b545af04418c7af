"""`sakuin demo`."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from sakuin.app.commands.options import EngineName, Port, say
from sakuin.app.commands.up import Once
from sakuin.app.load_files import Reading
from sakuin.app.private_mariadb import private_mariadb
from sakuin.app.read_text import Split
from sakuin.app.sample import sample_folder
from sakuin.app.settings import Settings, read_settings
from sakuin.app.walk_through import walk_through

WORDS = ("人間", "殺し", "残酷", "人間 殺し 残酷")

_SAMPLE = "sample"


class DemoDatabase(StrEnum):
    """The databases that the demonstration can use."""

    SQLITE = "sqlite"
    MARIADB = "mariadb"


def demo(
    once: Once = False,
    db: Annotated[
        DemoDatabase,
        typer.Option(
            help="sqlite, or mariadb for a private server that ends with the demonstration. "
            "(no variable; default: sqlite)",
            show_default=False,
        ),
    ] = DemoDatabase.SQLITE,
    data_dir: Annotated[
        Path | None,
        typer.Option(
            help="Folder to keep the data in. (no variable; default: a temporary one)",
            show_default=False,
        ),
    ] = None,
    port: Port = None,
    engine: EngineName = None,
) -> None:
    """Show everything on a sample text: load, index, search, and serve until Ctrl-C.

    Touches nothing of yours: a fresh database and index in a temporary folder.
    """
    with _folder(data_dir) as folder, _database(db, folder) as url:
        settings = _settings(folder, url, port, engine)
        say(f"Sakuin's sample text, on {db.value}, in {folder}")
        reading = Reading(
            paths=(_SAMPLE,), source=None, split=Split.LINE, encoding="utf-8", refuse_bad=False
        )
        with _sample():
            walk_through(settings, reading, words=WORDS, serves=not once)


@contextmanager
def _sample() -> Iterator[None]:
    """Be where the sample is a folder, so that its sources have the same names everywhere.

    A folder of its own, since Python takes modules from where it is started.
    """
    with tempfile.TemporaryDirectory(prefix="sakuin-sample-") as here:
        with sample_folder() as sample:
            shutil.copytree(sample, Path(here, _SAMPLE))
        with chdir(here):
            yield


@contextmanager
def _folder(given: Path | None) -> Iterator[Path]:
    if given is not None:
        yield given.expanduser().resolve()
        return
    with tempfile.TemporaryDirectory(prefix="sakuin-demo-") as folder:
        yield Path(folder)


@contextmanager
def _database(db: DemoDatabase, folder: Path) -> Iterator[str]:
    if db is DemoDatabase.SQLITE:
        yield f"sqlite:///{folder / 'demo.sqlite3'}"
        return
    with private_mariadb(folder / "mariadb") as server:
        yield server.url


def _settings(folder: Path, url: str, port: int | None, engine: str | None) -> Settings:
    flags = {"data_dir": folder, "database_url": url, "port": port, "engine": engine}
    return read_settings(flags)
