"""Who publishes an index: a lease in a file, which only saves work (promise I4).

Safety never depends on it: two publishers at once cost a lost compare-and-swap, no more. The
same file tells everybody on this host when an indexer was last alive.
"""

import fcntl
import json
import os
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sakuin.indexer.generations import Generations

STALE_SECONDS = 10.0
_WRITTEN_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class _Holder:
    token: str
    pid: int
    pid_namespace: str
    beat_at: float


class PublisherLease:
    """One process's claim to publish one index. Not held until `beat` says so."""

    def __init__(self, generations: Generations) -> None:
        self._generations = generations
        self._token = secrets.token_hex(8)

    def beat(self) -> bool:
        """Take or keep the lease; False while another live process holds it.

        A holder that is dead, or has not beaten for STALE_SECONDS, is replaced. Call at least
        every second or two.
        """
        with self._locked():
            holder = _read(self._generations)
            if holder and holder.token != self._token and _is_alive(holder):
                return False
            if not self._is_fresh(holder):
                self._write()
            return True

    def release(self) -> None:
        """Give the lease back, so that a standby takes over at once."""
        with self._locked():
            holder = _read(self._generations)
            if holder and holder.token == self._token:
                _file(self._generations).unlink()

    def _is_fresh(self, holder: _Holder | None) -> bool:
        if holder is None or holder.token != self._token:
            return False
        return abs(time.time() - holder.beat_at) < _WRITTEN_SECONDS

    def _write(self) -> None:
        path = _file(self._generations)
        fresh = path.with_suffix(".new")
        entry = {
            "token": self._token,
            "pid": os.getpid(),
            "pid_namespace": _pid_namespace(),
            "beat_at": time.time(),
        }
        fresh.write_text(json.dumps(entry), encoding="ascii")
        fresh.replace(path)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        self._generations.prepare()
        path = self._generations.directory / "publisher.lock"
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)  # held for microseconds, by publishers only
            yield
        finally:
            os.close(descriptor)


def last_beat_seconds(generations: Generations) -> float | None:
    """Return how long ago an indexer of this index was alive here; None when none is known."""
    holder = _read(generations)
    return max(0.0, time.time() - holder.beat_at) if holder else None


def _file(generations: Generations) -> Path:
    return generations.directory / "publisher.json"


def _read(generations: Generations) -> _Holder | None:
    try:
        entry = json.loads(_file(generations).read_text(encoding="ascii"))
        return _Holder(
            str(entry["token"]),
            int(entry["pid"]),
            str(entry["pid_namespace"]),
            float(entry["beat_at"]),
        )
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return None


def _pid_namespace() -> str:
    try:
        return str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        return ""


def _is_alive(holder: _Holder) -> bool:
    if abs(time.time() - holder.beat_at) > STALE_SECONDS:
        return False
    if holder.pid_namespace != _pid_namespace():
        return True  # in another container, where its number says nothing to us
    try:
        os.kill(holder.pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
