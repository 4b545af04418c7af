"""Printing figures: a Markdown table for people, JSON with the machine's facts for programs."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from machine import machine_facts


@dataclass(slots=True)
class Report:
    """The figures of one program: rows of one shape, and what they say in a line each."""

    title: str
    columns: Sequence[str]
    rows: list[tuple[Any, ...]] = field(default_factory=list)
    conclusions: dict[str, Any] = field(default_factory=dict)

    def add(self, *values: Any) -> None:
        """Add a row, and print it at once: long programs show where they are."""
        self.rows.append(values)
        if len(self.rows) == 1:
            print(f"\n### {self.title}\n\n| {' | '.join(self.columns)} |")
            print("|" + " --- |" * len(self.columns), flush=True)
        print("| " + " | ".join(_shown(value) for value in values) + " |", flush=True)

    def conclude(self, name: str, value: Any) -> None:
        """Add a conclusion, as a ratio, and print it."""
        if not self.conclusions:
            print()
        self.conclusions[name] = value
        print(f"- {name}: {_shown(value)}", flush=True)

    def write(self, path: Path | None) -> None:
        """Write everything as JSON, if a path is given."""
        if path is None:
            return
        content = {
            "title": self.title,
            "machine": machine_facts(),
            "rows": [dict(zip(self.columns, row, strict=True)) for row in self.rows],
            "conclusions": self.conclusions,
        }
        path.write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    return f"{value:,}" if isinstance(value, int) else str(value)
