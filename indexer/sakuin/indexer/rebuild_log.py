"""What changes while an index is rebuilt beside the live copy.

A rebuild reads rows over minutes; batches go on publishing meanwhile. Each rebuild keeps a log
`.rebuild-<token>`; a batch writes its ids there before it publishes, and the rebuild takes them
up before it publishes itself. A batch that looked before the log existed had read only rows
that were committed earlier, and so will the rebuild: nothing falls between.
"""

import fcntl
import json
import os
import re
import secrets
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Self

from sakuin.indexer.generations import Generations

_LOG = re.compile(r"\.rebuild-[0-9a-f]+\Z")


class RebuildLog:
    """The log of one rebuild that is going on; gone when the rebuild ends, or dies."""

    def __init__(self, generations: Generations) -> None:
        generations.prepare()
        self._path = generations.directory / f".rebuild-{secrets.token_hex(8)}"
        self._descriptor = _create_locked(self._path)
        self._offset = 0

    def take(self) -> list[str]:
        """Return the ids written since the last call, each once."""
        raw = os.pread(self._descriptor, os.fstat(self._descriptor).st_size, self._offset)
        complete = raw[: raw.rfind(b"\n") + 1]
        self._offset += len(complete)
        return list(
            dict.fromkeys(one for line in complete.splitlines() for one in json.loads(line))
        )

    def __enter__(self) -> Self:
        """Return the log itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Remove the log."""
        self._path.unlink(missing_ok=True)
        os.close(self._descriptor)


def tell_rebuilds(generations: Generations, ids: Iterable[str]) -> bool:
    """Write the ids of a batch into the log of every rebuild that is going on, if there is any.

    To be called after the rows were read and before the batch is published. The log of a
    rebuild that died is removed.
    """
    line = b""
    for name in os.listdir(generations.directory):
        if not _LOG.match(name):
            continue
        path = generations.directory / name
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_APPEND)
        except FileNotFoundError:
            continue
        try:
            if _is_dead(descriptor):
                path.unlink(missing_ok=True)
                continue
            line = line or json.dumps(list(ids)).encode() + b"\n"
            _write_all(descriptor, line)
        finally:
            os.close(descriptor)
    return bool(line)


def _create_locked(path: Path) -> int:
    """Make the log and lock it; again if a batch took it for dead between the two."""
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o644)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        if os.fstat(descriptor).st_nlink:
            return descriptor
        os.close(descriptor)


def _is_dead(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _write_all(descriptor: int, content: bytes) -> None:
    while content:
        content = content[os.write(descriptor, content) :]
