"""Which indexes there are: paragraphs, the models that the settings name, and attached tables."""

import threading
import time
from collections.abc import Sequence
from contextlib import suppress

from sqlalchemy.exc import SQLAlchemyError

from sakuin.app.attached import read_attached
from sakuin.app.collection import Collection
from sakuin.app.models import model_collections
from sakuin.app.paragraph_index import PARAGRAPHS_COLLECTION
from sakuin.app.row_check import RowCheck
from sakuin.queue import QueueError

REREAD_SECONDS = 2.0
"""How long a table that was attached or detached may go unnoticed by a running process."""


class NoSuchIndex(Exception):
    """An index was named that this installation does not have."""

    def __init__(self, name: str, known: list[str]) -> None:
        super().__init__(f"there is no index {name[:63]!r}; known: {', '.join(known)}")


class Catalogue:
    """Knows the collections of one installation; safe for threads.

    Attached tables are read from the database when they are asked for, and once read they are
    known even while it is away: a search needs no database.
    """

    def __init__(self, models: Sequence[str], row_check: RowCheck) -> None:
        self._row_check = row_check
        self._fixed = {
            each.index.name: each for each in (PARAGRAPHS_COLLECTION, *model_collections(models))
        }
        self._attached: dict[str, Collection] = {}
        self._read_again_at = 0.0
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

    def _reread(self) -> None:
        with self._lock:
            if time.monotonic() < self._read_again_at:
                return
            found = self._row_check.ask(read_attached)
            self._attached = {each.index.name: each for each in found}
            self._read_again_at = time.monotonic() + REREAD_SECONDS
