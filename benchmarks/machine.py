"""The facts of the machine that a figure belongs to."""

import importlib.metadata
import os
import platform
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

_PACKAGES = ("sakuin", "sqlalchemy", "pymysql", "tantivy", "whoosh-reloaded")


def machine_facts() -> dict[str, Any]:
    """Return processor, cores, memory, Python, packages and the date."""
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "processor": _from_file("/proc/cpuinfo", "model name") or platform.machine(),
        "cores": os.cpu_count(),
        "memory": _from_file("/proc/meminfo", "MemTotal"),
        "load": round(os.getloadavg()[0], 2),
        "system": platform.platform(),
        "python": sys.version.split()[0],
        "packages": {name: _version(name) for name in _PACKAGES},
    }


def _from_file(path: str, name: str) -> str | None:
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    values = [line.partition(":")[2].strip() for line in lines if line.startswith(name)]
    return values[0] if values else None


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None
