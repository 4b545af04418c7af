"""Where modules of the application are looked for: beside the installed ones, where it is run."""

import sys
from pathlib import Path


def look_here_too() -> None:
    """Let modules of the working directory be imported: behind all others, since a queue.py there
    must not hide Python's own."""
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.append(here)
