"""The sample: short paragraphs written for this project, for a first search with nothing at hand.

One file is one source, one line is one paragraph, UTF-8, under the licence of the project.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files


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
