"""The indexes that models search: those of one data folder, opened when first searched.

An application may bind its models to settings of its own; otherwise they are read as everywhere
(SAKUIN_* variables, sakuin.toml) at the first search.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from types import TracebackType
from typing import Any, Self, TypeVar

from sqlalchemy import inspect
from sqlalchemy.orm import registry

from sakuin.app.chosen_engine import chosen_engine
from sakuin.app.settings import OPTIONS, Settings, read_settings
from sakuin.app.synonym_file import synonym_file
from sakuin.indexer.generations import Generations
from sakuin.indexer.index import Index
from sakuin.indexer.reader import Reader
from sakuin.indexer.synonyms import Synonyms

_BOUND = "sakuin.search"
_T = TypeVar("_T")


class SearchIndexes:
    """Readers of the indexes of one data folder, and what the searches of one binding share.

    Safe for threads. A context manager.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._synonyms = synonym_file(settings)
        self._engine = chosen_engine(settings)
        self._readers: dict[str, Reader] = {}
        self._shared: dict[object, Any] = {}
        self._stack = ExitStack()
        self._keepers = 0
        self._lock = threading.Lock()

    def current_synonyms(self) -> Synonyms | None:
        """Return the synonyms as their file has them now, if there is one."""
        return self._synonyms.current() if self._synonyms else None

    def reader(self, index: Index) -> Reader:
        """Return the reader of an index."""
        with self._lock:
            reader = self._readers.get(index.name)
            if reader is None:
                generations = Generations(self.settings.index_root, index.name)
                reader = Reader(self._engine, index.fields, generations)
                self._readers[index.name] = reader
            return reader

    def shared(self, opening: "Callable[[Settings], AbstractContextManager[_T]]") -> _T:
        """Return what `opening` makes of the settings: one for all, made at the first call."""
        with self._lock:
            if opening not in self._shared:
                self._shared[opening] = self._stack.enter_context(opening(self.settings))
            made: _T = self._shared[opening]
            return made

    @contextmanager
    def keep(self) -> Iterator[None]:
        """Keep open what is shared; the last who leaves closes it."""
        with self._lock:
            self._keepers += 1
        try:
            yield
        finally:
            with self._lock:
                self._keepers -= 1
                if not self._keepers:
                    self._close_shared()

    def _close_shared(self) -> None:
        self._shared.clear()
        self._stack.close()

    def close(self) -> None:
        """Close everything. No search may be going on; a later one opens it again."""
        with self._lock:
            self._close_shared()
            for reader in self._readers.values():
                reader.close()
            self._readers.clear()

    def __enter__(self) -> Self:
        """Return the indexes themselves."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close."""
        self.close()


def bind_search(
    base: "registry | type[Any]", settings: Settings | None = None, **flags: Any
) -> SearchIndexes:
    """Let the models of a declarative base (or a registry) search the indexes of these settings.

    `flags` are settings by name, as `data_dir="/srv/data"`; the others are read as everywhere.
    Whatever was bound before is replaced, and is its holder's to close. TypeError for a base
    without a registry, and for flags that are no settings.
    """
    if unknown := set(flags) - {option.name for option in OPTIONS}:
        raise TypeError(f"bind_search: {', '.join(sorted(unknown))}: no such setting")
    found = base if isinstance(base, registry) else getattr(base, "registry", None)
    if not isinstance(found, registry):
        raise TypeError(f"bind_search takes a declarative base or a registry, not {base!r}")
    indexes = SearchIndexes(settings or read_settings(flags))
    found.metadata.info[_BOUND] = indexes
    return indexes


def bound_search(model: type[Any]) -> SearchIndexes:
    """Return what a model is bound to; the first call may read the settings."""
    info = inspect(model).registry.metadata.info
    bound: SearchIndexes | None = info.get(_BOUND)
    return bound or info.setdefault(_BOUND, SearchIndexes(read_settings()))
