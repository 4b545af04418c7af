"""Telling the trouble of a search library from the fault of a document or a query."""

import errno
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from sakuin.indexer.errors import IndexerError

_TRIES = 10
T = TypeVar("T")


def uninterrupted(call: Callable[[], T]) -> T:
    """Call again what a signal interrupted (tantivy's lock of a file gives up at one: EINTR)."""
    for _ in range(_TRIES):
        try:
            return call()
        except Exception as error:
            if "Interrupted system call" not in str(error):
                raise
    return call()


@contextmanager
def as_os_error(library: str) -> Iterator[None]:
    """Raise what a library raises as OSError: it tells of files, locks, disk or memory.

    Whoever runs a batch then knows that no document is to blame. Even a PanicException, which
    tantivy raises and which is no Exception, becomes one, lest it end a thread or the process.
    """
    try:
        yield
    except (OSError, IndexerError):
        raise
    except BaseException as error:
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        number = errno.ENOSPC if "No space left" in str(error) else errno.EIO
        raise OSError(number, f"{library}: {error!r}") from error
