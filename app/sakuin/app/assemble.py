"""From settings to working parts. Every process begins here; nothing is opened at import."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

from sqlalchemy import Engine as Database
from sqlalchemy import inspect

from sakuin.app.attached import ATTACHED, create_attached
from sakuin.app.catalogue import Ask, Catalogue
from sakuin.app.chosen_engine import chosen_engine
from sakuin.app.collection import Collection
from sakuin.app.paragraph import create_tables
from sakuin.app.paragraph_index import PARAGRAPHS
from sakuin.app.row_check import RowCheck, row_check
from sakuin.app.search_log_tables import create_search_log, has_search_log
from sakuin.app.settings import Settings, SettingsError
from sakuin.app.synonym_file import SynonymFile, synonym_file
from sakuin.indexer.build import Copy
from sakuin.indexer.generations import Generations
from sakuin.indexer.index import Index
from sakuin.indexer.reader import Reader
from sakuin.indexer.synonyms import Synonyms
from sakuin.queue import create_schema, open_engine, read, replay

MOST_HEAVY_QUESTIONS = 2
"""How many questions that read much of an index run at once in a web process."""


@dataclass(frozen=True, slots=True)
class Parts:
    """The database, one collection's copy on this host with its reader, and the synonyms."""

    settings: Settings
    database: Database
    row_check: RowCheck
    collection: Collection
    copy: Copy
    reader: Reader
    synonyms: SynonymFile | None

    def current_synonyms(self) -> Synonyms | None:
        """Return the synonyms as their file has them now, if there is one."""
        return self.synonyms.current() if self.synonyms else None

    @property
    def index(self) -> Index:
        """The index that the copy is of."""
        return self.copy.index


class Installation:
    """The parts of every index of one process, opened when they are first asked for.

    Safe for threads.
    """

    def __init__(
        self, settings: Settings, database: Database, asking: RowCheck, *, is_patient: bool
    ) -> None:
        self.settings, self.database = settings, database
        ask: Ask = partial(read, database) if is_patient else asking.ask
        self.catalogue = Catalogue(settings.models.split(), ask)
        self._row_check, self._engine = asking, chosen_engine(settings)
        self.synonyms = synonym_file(settings)
        self.heavy_questions = threading.BoundedSemaphore(MOST_HEAVY_QUESTIONS)
        self._parts: dict[str, Parts] = {}
        self._outdated: list[Parts] = []
        self._lock = threading.Lock()

    def parts(self, name: str = PARAGRAPHS.name) -> Parts:
        """Return the parts of an index, by its newest declaration. Errors as `Catalogue.named`."""
        return self.parts_of(self.catalogue.named(name))

    def parts_of(self, collection: Collection) -> Parts:
        """Return the parts of a collection of the catalogue's."""
        name = collection.index.name
        with self._lock:
            parts = self._parts.get(name)
            self._outdated = [one for one in self._outdated if not one.reader.close_idle()]
            if parts is None or parts.collection != collection:
                if parts is not None:
                    self._outdated.append(parts)  # somebody may be searching it
                parts = self._parts[name] = self._open(collection)
            return parts

    def _open(self, collection: Collection) -> Parts:
        index = collection.index
        generations = Generations(self.settings.index_root, index.name)
        copy = Copy(index, self._engine, generations, self.database)
        reader = Reader(self._engine, index.fields, generations)
        return Parts(
            self.settings,
            self.database,
            self._row_check,
            collection,
            copy,
            reader,
            self.synonyms,
        )

    def close(self) -> None:
        """Close every reader. No search may be going on."""
        for parts in (*self._parts.values(), *self._outdated):
            parts.reader.close()


@contextmanager
def installation(settings: Settings, *, is_patient: bool = True) -> Iterator[Installation]:
    """Open what a process needs, and close it at the end. Connects to nothing yet.

    Without patience, as in a web process, the list of indexes is asked for as rows of a page are:
    a database that hangs holds nobody for long.
    """
    database = _open_database(settings)
    try:
        with row_check(settings.database_url) as asking:
            opened = Installation(settings, database, asking, is_patient=is_patient)
            try:
                yield opened
            finally:
                opened.close()
    finally:
        database.dispose()


@contextmanager
def assemble(settings: Settings, index_name: str = PARAGRAPHS.name) -> Iterator[Parts]:
    """Open an installation for the sake of one index."""
    with installation(settings) as opened:
        yield opened.parts(index_name)


def _open_database(settings: Settings) -> Database:
    try:
        return open_engine(settings.database_url)
    except (TypeError, ValueError) as error:
        raise SettingsError(f"database_url (SAKUIN_DATABASE_URL) cannot be used: {error}") from None


def initialise(parts: Parts) -> None:
    """Create whatever tables and folders are missing. Safe to repeat.

    The tables of the search log only where the settings ask for it.
    """
    parts.copy.generations.prepare()
    create_schema(parts.database)
    create_tables(parts.database)
    if not read(parts.database, lambda c: inspect(c).has_table(ATTACHED)):
        replay(parts.database, create_attached)
    if parts.settings.search_log and not read(parts.database, has_search_log):
        replay(parts.database, create_search_log)
