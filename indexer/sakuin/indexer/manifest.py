"""What a generation says of itself, and whether this program can read it (promise I6)."""

import json
import unicodedata
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sakuin.indexer.document import Fields
from sakuin.indexer.durable import write_durably
from sakuin.indexer.engine import Engine
from sakuin.indexer.tokens import ANALYSIS_VERSION

FILE_NAME = "manifest.json"


@dataclass(frozen=True, slots=True)
class Manifest:
    """The facts of one generation. `parent` 0 means that it was built from nothing."""

    engine: str
    engine_version: str
    analysis_version: int
    fields: dict[str, Any]
    documents: int
    parent: int
    built_at: str
    bytes: int
    unicode_version: str

    @classmethod
    def describe(
        cls, engine: Engine, fields: Fields, *, documents: int, parent: int, size: int
    ) -> "Manifest":
        """Describe a copy that this program has just built."""
        return cls(
            engine=engine.name,
            engine_version=engine.version,
            analysis_version=ANALYSIS_VERSION,
            fields=_facts(fields),
            documents=documents,
            parent=parent,
            built_at=datetime.now(UTC).isoformat(timespec="milliseconds"),
            bytes=size,
            unicode_version=unicodedata.unidata_version,
        )

    def write(self, directory: Path) -> None:
        """Write the manifest into a generation's directory, durably."""
        text = json.dumps(asdict(self), ensure_ascii=False, indent=1)
        write_durably(directory / FILE_NAME, text.encode())

    @classmethod
    def read(cls, directory: Path) -> "Manifest":
        """Read a generation's manifest; ValueError names what is wrong with it."""
        try:
            raw = json.loads((directory / FILE_NAME).read_bytes())
        except ValueError as error:
            raise ValueError(f"{directory / FILE_NAME} is damaged: {error}") from None
        if not isinstance(raw, dict) or set(raw) != set(cls.__slots__):
            raise ValueError(f"{directory / FILE_NAME} does not have the entries of a manifest")
        return cls(**raw)

    def is_of(self, fields: Fields) -> bool:
        """Whether the rows came from the source of these fields."""
        return bool(self.fields.get("source", "") == fields.source)

    def difference(self, engine: Engine, fields: Fields) -> str | None:
        """Say why this program cannot use the generation, or None when it can.

        Engines keep their file format within a minor version, so only major and minor count.
        """
        if self.engine != engine.name:
            return f"it was made by engine {self.engine!r}, not {engine.name!r}"
        if _minor(self.engine_version) != _minor(engine.version):
            return f"it was made by {engine.name} {self.engine_version}, this is {engine.version}"
        if self.analysis_version != ANALYSIS_VERSION:
            return f"its analysis is version {self.analysis_version}, this is {ANALYSIS_VERSION}"
        wanted = _facts(fields)
        for name in wanted:
            if (found := self.fields.get(name)) != wanted[name]:
                return f"its fields differ in {name!r}: {found!r}, and the index's {wanted[name]!r}"
        return None


def _facts(fields: Fields) -> dict[str, Any]:
    facts: dict[str, Any] = json.loads(json.dumps(fields.facts()))
    return facts


def _minor(version: str) -> list[str]:
    return version.split(".")[:2]
