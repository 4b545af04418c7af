"""Removing what no one needs: old generations, and what crashed runs left behind (I6, I8)."""

import fcntl
import os
import re
import shutil
import time
from pathlib import Path

from sakuin.indexer.generations import PIN, Generations

KEPT_BEFORE_CURRENT = 3
_YOUNG_SECONDS = 5.0
_TEMPORARY = re.compile(r"\.tmp-[0-9a-f]+\Z")
_TRASH = re.compile(r"\.trash-\d+-[0-9a-f]+\Z")


def sweep(generations: Generations) -> list[int]:
    """Remove generations and leftovers that are not needed; return the numbers removed.

    Kept: the current generation, three before it, and whatever a process has pinned; the three
    only as long as what they hold beyond the current one takes at most twice its bytes.
    """
    numbers = generations.numbers()
    removed = [number for number in _unneeded(generations, numbers) if _remove(generations, number)]
    for name in os.listdir(generations.directory):
        path = generations.directory / name
        if _TRASH.match(name) or (_TEMPORARY.match(name) and _is_abandoned(path)):
            shutil.rmtree(path, ignore_errors=True)
    return removed


def _unneeded(generations: Generations, numbers: list[int]) -> list[int]:
    if not numbers:
        return []
    *older, current = numbers
    counted: set[int] = set()
    allowed = 2 * _new_bytes(generations, current, counted)
    unneeded, kept_bytes = [], 0
    for age, number in enumerate(reversed(older), start=1):
        if age <= KEPT_BEFORE_CURRENT:
            kept_bytes += _new_bytes(generations, number, counted)
        if age > KEPT_BEFORE_CURRENT or kept_bytes > allowed:
            unneeded.append(number)
    return unneeded


def _new_bytes(generations: Generations, number: int, counted: set[int]) -> int:
    """Return the bytes of a generation's files that were not counted yet: many are linked."""
    size = 0
    try:
        for entry in os.scandir(generations.segments(number)):
            if entry.inode() not in counted:
                counted.add(entry.inode())
                size += entry.stat(follow_symlinks=False).st_size
    except FileNotFoundError:  # another sweeper was here
        return size
    return size


def _remove(generations: Generations, number: int) -> bool:
    """Move a generation to the trash and remove it, unless a process has it pinned."""
    path = generations.path(number)
    try:
        descriptor = os.open(path / PIN, os.O_RDONLY)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        trash = generations.new_trash(number)
        os.rename(path, trash)
    except (BlockingIOError, FileNotFoundError):
        return False
    finally:
        os.close(descriptor)
    shutil.rmtree(trash, ignore_errors=True)
    return True


def _is_abandoned(path: Path) -> bool:
    """Tell whether nobody builds here any more.

    A builder holds a lock on its directory; a very young one may not have got there yet.
    """
    try:
        if abs(time.time() - path.stat().st_mtime) < _YOUNG_SECONDS:  # clocks are set back, too
            return False
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(descriptor)
    return True
