"""The sample: short paragraphs written for this project, for a first search with nothing at hand.

One file is one source, one line is one paragraph, UTF-8, under the licence of the project.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path


@dataclass(frozen=True, slots=True)
class SampleSource:
    """One file of the sample: its name without the ending, and its paragraphs in order."""

    name: str
    paragraphs: tuple[str, ...]


def sample_sources() -> Iterator[SampleSource]:
    """Read the sample, one source at a time, ordered by name."""
    for entry in sorted(files(__name__).iterdir(), key=lambda entry: entry.name):
        if entry.name.endswith(".txt"):
            lines = entry.read_text(encoding="utf-8").splitlines()
            yield SampleSource(entry.name.removesuffix(".txt"), tuple(lines))


def sample_folder() -> AbstractContextManager[Path]:
    """Lend the folder of the sample's files, unpacked if the package is zipped."""
    return as_file(files(__name__))
