"""Where the generations of one index live, and which one is current. Opens no index.

    <root>/<index>/gen-00000042/   manifest.json  pin  segments/     sealed, never changed
                   .tmp-<token>/                                     a copy being built
                   .trash-<n>-<token>/                               being removed
                   .rebuild-<token>                                  ids changed during a rebuild
                   publisher.json  publisher.lock                    who publishes (only saves work)

The highest number is current. There is no pointer file: publishing is one rename.
"""

import os
import re
import secrets
from pathlib import Path

from sakuin.indexer.durable import sync_directory

_GENERATION = re.compile(r"gen-(\d{8,})\Z")
PIN = "pin"
SEGMENTS = "segments"


class Generations:
    """The directory of one index."""

    def __init__(self, root: Path, index: str) -> None:
        self.index = index
        self.directory = root / index

    def prepare(self) -> None:
        """Make the directory, if it is not there, so that it survives a power cut."""
        missing = [path for path in (self.directory, *self.directory.parents) if not path.exists()]
        self.directory.mkdir(parents=True, exist_ok=True)
        for path in missing:
            sync_directory(path.parent)

    def numbers(self) -> list[int]:
        """Return the numbers of all published generations, ascending."""
        try:
            names = os.listdir(self.directory)
        except FileNotFoundError:
            return []
        return sorted(int(match[1]) for name in names if (match := _GENERATION.match(name)))

    def current(self) -> int:
        """Return the number of the current generation, 0 when nothing was published yet."""
        return max(self.numbers(), default=0)

    def path(self, number: int) -> Path:
        """Return the directory of a generation (which may not exist)."""
        return self.directory / f"gen-{number:08d}"

    def segments(self, number: int) -> Path:
        """Return the engine's directory within a generation."""
        return self.path(number) / SEGMENTS

    def new_temporary(self) -> Path:
        """Make an empty directory for a copy that is being built."""
        self.prepare()
        path = self.directory / f".tmp-{secrets.token_hex(8)}"
        path.mkdir()
        return path

    def new_trash(self, number: int) -> Path:
        """Name (without making it) where a swept generation is moved before it is removed."""
        return self.directory / f".trash-{number}-{secrets.token_hex(4)}"
