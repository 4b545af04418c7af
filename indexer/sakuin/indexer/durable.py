"""Making files and names survive a power cut. Knows nothing of what is in them."""

import os
import shutil
from pathlib import Path

from sakuin.indexer.errors import DiskFull


def sync_file(path: Path) -> None:
    """Force a file's content to the disk."""
    _sync(path, os.O_RDONLY)


def sync_directory(path: Path) -> None:
    """Force a directory's entries (new names, renames) to the disk."""
    _sync(path, os.O_RDONLY | os.O_DIRECTORY)


def _sync(path: Path, flags: int) -> None:
    descriptor = os.open(path, flags)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_durably(path: Path, content: bytes) -> None:
    """Write a new file and force it to the disk."""
    with path.open("xb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def require_space(directory: Path, needed: int) -> None:
    """Raise DiskFull unless `needed` bytes are free for this user where `directory` is."""
    free = shutil.disk_usage(directory).free
    if free < needed:
        raise DiskFull(directory, needed, free)
