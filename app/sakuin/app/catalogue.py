"""Which indexes there are: paragraphs, the models that the settings name, and attached tables."""

import logging
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress

from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from sakuin.app.attached import Records, read_records
from sakuin.app.collection import Collection
from sakuin.app.models import model_collections
from sakuin.app.paragraph_index import PARAGRAPHS_COLLECTION
from sakuin.queue import QueueError

Ask = Callable[[Callable[[Connection], Records]], Records]
"""Runs a function that reads, with a connection."""

_LOG = logging.getLogger("sakuin.catalogue")
REREAD_SECONDS = 2.0
"""How long a table that was attached or detached may go unnoticed by a running process."""


def fixed_collections(models: Sequence[str]) -> dict[str, Collection]:
    """Return the indexes that no database need be asked for: paragraphs, and the models'."""
    found = (PARAGRAPHS_COLLECTION, *model_collections(models))
    return {each.index.name: each for each in found}


class NoSuchIndex(Exception):
    """An index was named that this installation does not have."""

    def __init__(self, name: str, known: list[str]) -> None:
        super().__init__(f"there is no index {name[:63]!r}; known: {', '.join(known)}")


class Catalogue:
    """Knows the collections of one installation; safe for threads.

    Attached tables are read from the database when they are asked for, and once read they are
    known even while it is away: a search needs no database. `ask` reads from it: with little
    patience in a web process, in which only one thread at a time asks.
    """

    def __init__(self, models: Sequence[str], ask: Ask) -> None:
        self._ask = ask
        self._fixed = fixed_collections(models)
        self._attached: dict[str, Collection] = {}
        self._read_again_at = 0.0
        self._troubles: tuple[str, ...] = ()
        self._lock = threading.Lock()

    def named(self, name: str) -> Collection:
        """Return the collection of this name.

        Raises NoSuchIndex, which names those that exist, or the queue's errors where the
        database would have to tell and is away.
        """
        if name in self._fixed:
            return self._fixed[name]
        try:
            self._reread()
        except (QueueError, SQLAlchemyError):
            if name not in self._attached:
                raise
        if name not in self._attached:
            raise NoSuchIndex(name, [*self._fixed, *self._attached])
        return self._attached[name]

    def every(self) -> list[Collection]:
        """Return every collection; raises the queue's errors when the database is away."""
        self._reread()
        return [*self._fixed.values(), *self._attached.values()]

    def known(self) -> list[Collection]:
        """Return every collection, as far as the database can be asked."""
        with suppress(QueueError, SQLAlchemyError):  # what was read before is known all the same
            self._reread()
        return [*self._fixed.values(), *self._attached.values()]

    def troubles(self) -> tuple[str, ...]:
        """Return a sentence for each attached table that is no index here; as `known`."""
        self.known()
        return self._troubles

    def _reread(self) -> None:
        # Who finds somebody asking goes on with what is known, if anything ever was.
        if not self._lock.acquire(blocking=not self._read_again_at):
            return
        try:
            if time.monotonic() < self._read_again_at:
                return
            records = self._ask(read_records)
            found = {each.index.name: each for each in records.collections()}
            clashes = tuple(_clash(name) for name in sorted(found.keys() & self._fixed.keys()))
            self._attached = {name: each for name, each in found.items() if name not in self._fixed}
            for sentence in (*records.unreadable, *clashes):
                if sentence not in self._troubles:
                    _LOG.warning("%s", sentence)
            self._troubles = (*records.unreadable, *clashes)
            self._read_again_at = time.monotonic() + REREAD_SECONDS
        finally:
            self._lock.release()


def _clash(name: str) -> str:
    return (
        f"index {name!r} is a model's, and the table that is attached under this name is not "
        f"looked at: `sakuin detach {name}`, then attach it with another --name or --for-model"
    )
