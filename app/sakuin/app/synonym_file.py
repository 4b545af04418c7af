"""The file of synonyms: read when it is first needed, and again when it has changed."""

import logging
import threading
from pathlib import Path
from stat import S_ISREG

from sakuin.app.settings import Settings, SettingsError
from sakuin.indexer.synonyms import Synonyms, read_synonyms

_LOG = logging.getLogger("sakuin.synonyms")

MOST_BYTES = 4 << 20
_State = tuple[int, int, int]


class SynonymFile:
    """Synonyms for searches; safe for threads. One look at the file's times a search."""

    def __init__(self, path: Path) -> None:
        self._path, self._lock = path, threading.Lock()
        self._state: _State | None = None
        self._synonyms: Synonyms | None = None

    def check(self) -> None:
        """Raise SettingsError where the file cannot be read, and say why."""
        try:
            self._read()
        except (OSError, ValueError) as error:
            raise SettingsError(f"synonyms (SAKUIN_SYNONYMS) {self._path}: {error}") from None

    def current(self) -> Synonyms | None:
        """Return the synonyms as the file has them now; the last good ones where it is broken.

        While one search reads a changed file, others go on with what there was.
        """
        try:
            stat = self._path.stat()
            state = (stat.st_mtime_ns, stat.st_size, stat.st_ino)
        except OSError:
            state = (0, 0, 0)
        with self._lock:
            is_new, self._state = state != self._state, state
        if is_new:
            try:
                self._synonyms = self._read()
            except (OSError, ValueError) as error:
                _LOG.warning("%s: %s; the synonyms stay as they were", self._path, error)
        return self._synonyms

    def _read(self) -> Synonyms:
        stat = self._path.stat()
        if not S_ISREG(stat.st_mode):
            raise ValueError("it is no file")
        if stat.st_size > MOST_BYTES:
            raise ValueError(f"it is larger than {MOST_BYTES >> 20} MiB: use fewer synonyms")
        return read_synonyms(self._path.read_text(encoding="utf-8"))


def synonym_file(settings: Settings) -> SynonymFile | None:
    """Return the file that the settings name, if they do. Reads nothing yet."""
    return SynonymFile(Path(settings.synonyms).expanduser()) if settings.synonyms else None
