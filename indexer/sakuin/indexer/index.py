"""An index: a name, its fields, and where its documents come from. No engine, no directory."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from sqlalchemy import Connection

from sakuin.indexer.document import Document, Fields

_NAME = re.compile(r"[a-z][a-z0-9_]{0,62}\Z")


class Loader(Protocol):
    """Reads the documents of one index from the database, as they are now."""

    def load(self, connection: Connection, ids: Sequence[str]) -> Sequence[Document]:
        """Return the documents with these ids, in any order; one that is left out is deleted.

        At most 1,000 ids are asked at once. An id that cannot be a key is left out.
        """
        ...

    def ids_after(self, connection: Connection, after: str | None, limit: int) -> Sequence[str]:
        """Return up to `limit` ids in key order, after `after` (None: from the first on)."""
        ...


@dataclass(frozen=True, slots=True)
class Index:
    """One index. `name` is lower-case letters, digits and _, and names its folder and queue."""

    name: str
    fields: Fields
    loader: Loader

    def __post_init__(self) -> None:
        """Refuse a name that cannot be a folder and a queue."""
        if not _NAME.match(self.name):
            raise ValueError(
                f"{self.name!r} cannot be the name of an index: use up to 63 lower-case letters, "
                "digits and _, a letter first"
            )

    @property
    def queue(self) -> str:
        """The queue that carries the changes of this index."""
        return f"index:{self.name}"
