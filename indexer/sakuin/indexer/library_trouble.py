"""Telling the trouble of a search library from the fault of a document or a query."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager

from sakuin.indexer.errors import IndexerError


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
