"""Publishing: one rename, which the file system refuses if the number is taken (promise I2)."""

import errno
import os
from pathlib import Path

from sakuin.indexer.durable import sync_directory
from sakuin.indexer.errors import Outrun
from sakuin.indexer.generations import Generations


def publish(generations: Generations, sealed: Path, parent: int) -> int:
    """Make a sealed copy the generation after `parent`, and return its number.

    The rename is the compare-and-swap: a generation is never an empty directory, so the file
    system refuses to put another on its place. Raises Outrun when the number is taken or has been
    passed: the copy is then where it was, or, if it came that late, at a number that is never
    current and will be swept.
    """
    number = parent + 1
    if generations.current() > parent:
        raise Outrun(generations.index, number)
    try:
        os.rename(sealed, generations.path(number))
    except OSError as error:
        if error.errno in (errno.ENOTEMPTY, errno.EEXIST):
            raise Outrun(generations.index, number) from None
        raise
    if generations.current() != number:
        raise Outrun(generations.index, number)
    sync_directory(generations.directory)
    return number
