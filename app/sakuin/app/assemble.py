"""From settings to working parts. Every process begins here; nothing is opened at import."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from sqlalchemy import Engine as Database

from sakuin.app.paragraph import create_tables
from sakuin.app.paragraph_index import PARAGRAPHS
from sakuin.app.row_check import RowCheck, row_check
from sakuin.app.settings import Settings, SettingsError
from sakuin.indexer.build import Copy
from sakuin.indexer.engine import Engine
from sakuin.indexer.engines import default_engine, engine_named
from sakuin.indexer.generations import Generations
from sakuin.indexer.index import Index
from sakuin.indexer.reader import Reader
from sakuin.queue import create_schema, open_engine

INDEXES = (PARAGRAPHS,)


class NoSuchIndex(Exception):
    """An index was named that this installation does not have."""

    def __init__(self, name: str) -> None:
        known = ", ".join(index.name for index in INDEXES)
        super().__init__(f"there is no index {name!r}; known: {known}")


@dataclass(frozen=True, slots=True)
class Parts:
    """The database, and one index's copy on this host with its reader."""

    settings: Settings
    database: Database
    row_check: RowCheck
    copy: Copy
    reader: Reader

    @property
    def index(self) -> Index:
        """The index that the copy is of."""
        return self.copy.index


@contextmanager
def assemble(settings: Settings, index_name: str = PARAGRAPHS.name) -> Iterator[Parts]:
    """Open what a process needs, and close it at the end. Connects to nothing yet."""
    index = index_named(index_name)
    engine = _engine(settings)
    generations = Generations(settings.index_root, index.name)
    database = _open_database(settings)
    reader = Reader(engine, index.fields, generations)
    try:
        copy = Copy(index, engine, generations, database)
        with row_check(settings.database_url) as asking:
            yield Parts(settings, database, asking, copy, reader)
    finally:
        reader.close()
        database.dispose()


def _open_database(settings: Settings) -> Database:
    try:
        return open_engine(settings.database_url)
    except (TypeError, ValueError) as error:
        raise SettingsError(f"database_url (SAKUIN_DATABASE_URL) cannot be used: {error}") from None


def _engine(settings: Settings) -> Engine:
    try:
        return engine_named(settings.engine) if settings.engine else default_engine()
    except ImportError as error:
        raise SettingsError(
            f"engine (SAKUIN_ENGINE) {settings.engine!r} is not installed here: {error}"
        ) from None


def index_named(name: str) -> Index:
    """Return the index of this name; NoSuchIndex names those that exist."""
    for index in INDEXES:
        if index.name == name:
            return index
    raise NoSuchIndex(name)


def initialise(parts: Parts) -> None:
    """Create whatever tables and folders are missing. Safe to repeat."""
    parts.copy.generations.prepare()
    create_schema(parts.database)
    create_tables(parts.database)
