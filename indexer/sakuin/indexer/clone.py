"""Copying a generation's segments at the cost of the change, not of the index (promise I3)."""

import errno
import os
import shutil
from pathlib import Path

from sakuin.indexer.durable import require_space
from sakuin.indexer.engine import Engine

_NO_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EXDEV, errno.EMLINK, errno.EACCES}


def clone_segments(engine: Engine, source: Path, target: Path) -> None:
    """Fill the new directory `target` with the files of `source`.

    Immutable files become hard links; those that the engine rewrites are copied, its locks are
    left out. Where the file system refuses links, everything is copied, if there is room.
    """
    target.mkdir()
    names = [name for name in sorted(os.listdir(source)) if not engine.is_lock(name)]
    linked = [name for name in names if not engine.is_rewritten(name)]
    for name in names:
        if engine.is_rewritten(name):
            shutil.copyfile(source / name, target / name)
    for position, name in enumerate(linked):
        try:
            os.link(source / name, target / name)
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            _copy(source, target, linked[position:])
            return


def _copy(source: Path, target: Path, names: list[str]) -> None:
    require_space(target, sum((source / name).stat().st_size for name in names))
    for name in names:
        shutil.copyfile(source / name, target / name)
