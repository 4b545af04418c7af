"""The classic benchmark table: user, system, total and real seconds of each step."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from rich.cells import cell_len


@dataclass(slots=True)
class Row:
    """One step: CPU seconds of this process and the children it waited for, and wall seconds."""

    label: str
    user: float = 0.0
    system: float = 0.0
    real: float = 0.0

    @property
    def total(self) -> float:
        """CPU seconds in all."""
        return self.user + self.system


@dataclass(slots=True)
class Table:
    """Rows in the order in which they were measured."""

    rows: list[Row] = field(default_factory=list)

    @contextmanager
    def measure(self, label: str) -> Iterator[Row]:
        """Measure what happens within, as one row."""
        row = Row(label)
        before, start = os.times(), time.perf_counter()
        yield row
        after, row.real = os.times(), time.perf_counter() - start
        row.user = after.user - before.user + after.children_user - before.children_user
        row.system = after.system - before.system + after.children_system - before.children_system
        self.rows.append(row)

    def __str__(self) -> str:
        """The table as text, columns as Ruby's Benchmark prints them."""
        width = max((cell_len(row.label) for row in self.rows), default=0)
        lines = [" " * width + "       user     system      total        real"]
        for row in self.rows:
            label = row.label + " " * (width - cell_len(row.label))
            times = f"{row.user:11.6f}{row.system:11.6f}{row.total:11.6f}"
            lines.append(f"{label}{times} ({row.real:11.6f})")
        return "\n".join(lines)
