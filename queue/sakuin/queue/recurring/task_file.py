"""Reads recurring tasks from a TOML file: one table for each, named by its key."""

import tomllib
from pathlib import Path
from typing import Any

from sakuin.queue.errors import BadMessage, QueueError
from sakuin.queue.recurring.limit_rule import limit_from
from sakuin.queue.recurring.task import BadTask, Task

MOST_BYTES = 1 << 20
_FIELDS = {
    "class": "kind",
    "schedule": "schedule",
    "zone": "zone",
    "args": "args",
    "queue": "queue",
    "priority": "priority",
    "catch_up_seconds": "catch_up_seconds",
    "description": "description",
    "limit": "limit",
}
_NEEDED = ("class", "schedule", "zone")
_EXAMPLE = '[nightly-report]\nclass = "report"\nschedule = "every day at 3:15"\nzone = "Asia/Tokyo"'


class BadTaskFile(QueueError, ValueError):
    """A file of tasks that cannot be used; the message lists every mistake, by key and field."""


def read_tasks(path: Path) -> tuple[Task, ...]:
    """Return the tasks of the file, in its order. Raises BadTaskFile.

    A table needs `class` (the kind), `schedule` and `zone`, and may have `args` (a table),
    `queue`, `priority`, `catch_up_seconds`, `description` and `limit` (a table). `zone` at the top
    of the file is that of each table without one.
    """
    try:
        if path.stat().st_size > MOST_BYTES:
            raise BadTaskFile(f"{path}: larger than {MOST_BYTES >> 20} MiB")
        return tasks_of(path.read_text(encoding="utf-8"), str(path))
    except (OSError, UnicodeDecodeError) as error:
        raise BadTaskFile(f"{path}: cannot be read: {error}") from None


def tasks_of(text: str, name: str) -> tuple[Task, ...]:
    """Return the tasks that the TOML text declares; `name` is that of the file, for BadTaskFile."""
    try:
        tables = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise BadTaskFile(f"{name}: no TOML: {error}") from None
    zone = tables.pop("zone", None) if not isinstance(tables.get("zone"), dict) else None
    tasks, mistakes = [], []
    for key, table in tables.items():
        found = _mistakes(table, zone)
        try:
            if not found:
                tasks.append(_task(key, table, zone))
        except BadTask as error:
            field_name = "class" if error.field_name == "kind" else error.field_name
            found = [f"{field_name}: {error.problem}"]
        mistakes += [f"{name}: [{key}] {mistake}" for mistake in found]
    if mistakes:
        raise BadTaskFile("\n".join([*mistakes, f"A table looks like this:\n{_EXAMPLE}"]))
    return tuple(tasks)


def _mistakes(table: object, zone: object) -> list[str]:
    """Return what is wrong with the fields of a table, their values aside."""
    if not isinstance(table, dict):
        return ["is no table"]
    unknown = [f"{field}: unknown; known: {', '.join(_FIELDS)}" for field in table.keys() - _FIELDS]
    needed = [field for field in _NEEDED if field not in table and (field != "zone" or not zone)]
    missing = [f"{field}: missing" for field in needed]
    is_args_wrong = not isinstance(table.get("args", {}), dict)
    return sorted(unknown) + missing + ["args: use a table, as { days = 7 }"] * is_args_wrong


def _task(key: str, table: dict[str, Any], zone: object) -> Task:
    given = {_FIELDS[name]: value for name, value in table.items()}
    if "limit" in given:
        try:
            given["limit"] = limit_from(given["limit"])
        except BadMessage as error:
            raise BadTask(key, "limit", str(error)) from None
    return Task(**{"key": key, "zone": zone, **given})
