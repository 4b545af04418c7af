"""Reads alert rules from a TOML file: one table [alert.KEY] for each."""

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sakuin.queue.errors import QueueError
from sakuin.queue.notices.rule import OF_A_KIND, BadRule, Rule

MOST_BYTES = 1 << 20
_NUMBER = (int, float)
_FIELDS: dict[str, tuple[type, ...]] = {
    "when": (str,),
    "to": (str, list),
    "above": _NUMBER,
    "kind": (str,),
    "queue": (str,),
    "window_seconds": _NUMBER,
    "least_runs": (int,),
}
_NEEDED = ("when", "to")
_OF_RUNS = frozenset({"window_seconds", "least_runs"})
_WORDS = {str: "a text", int: "a number", float: "a number", list: "a list of texts"}
_EXAMPLE = (
    '[alert.mail-fails]\nwhen = "failure_rate"\nkind = "mail"\nabove = 0.1\nleast_runs = 20\n'
    'window_seconds = 900\nto = ["mailto:you@example.org"]'
)


class BadAlertFile(QueueError, ValueError):
    """A file of alert rules that cannot be used; it lists every mistake, by key and field."""


def read_rules(path: Path) -> tuple[Rule, ...]:
    """Return the rules of the file, in its order. Raises BadAlertFile.

    A table needs `when` and `to` (an address or a list of them); the rest is as in `Rule`.
    """
    try:
        if path.stat().st_size > MOST_BYTES:
            raise BadAlertFile(f"{path}: larger than {MOST_BYTES >> 20} MiB")
        return rules_of(path.read_text(encoding="utf-8"), str(path))
    except (OSError, UnicodeDecodeError) as error:
        raise BadAlertFile(f"{path}: cannot be read: {error}") from None


def rules_of(text: str, name: str) -> tuple[Rule, ...]:
    """Return the rules that the TOML text declares; `name` is that of the file, for errors."""
    try:
        document = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise BadAlertFile(f"{name}: no TOML: {error}") from None
    tables = document.pop("alert", {})
    mistakes = [f"[{key}]: unknown; write [alert.{key}]" for key in document]
    if not isinstance(tables, dict):
        mistakes.append("alert: is no table")
        tables = {}
    rules = []
    for key, table in tables.items():
        found = list(_mistakes(table))
        if not found:
            try:
                rules.append(_rule(key, table))
            except BadRule as error:
                found = [f"{field}: {problem}" for field, problem in error.mistakes]
        mistakes += [f"[alert.{key}] {mistake}" for mistake in found]
    if mistakes:
        lines = [f"{name}: {mistake}" for mistake in mistakes]
        raise BadAlertFile("\n".join([*lines, f"A table looks like this:\n{_EXAMPLE}"]))
    return tuple(rules)


def _mistakes(table: object) -> Iterator[str]:
    """Yield what is wrong with the fields of a table, their values aside."""
    if not isinstance(table, dict):
        yield "is no table"
        return
    for field, value in table.items():
        if field not in _FIELDS:
            yield f"{field}: unknown; known: {', '.join(_FIELDS)}"
        elif not _fits(field, value):
            wanted = dict.fromkeys(_WORDS[one] for one in _FIELDS[field])
            yield f"{field}: {value!r}: use {' or '.join(wanted)}"
    for field in _NEEDED:
        if field not in table:
            yield f"{field}: missing"
    if table.get("when") not in OF_A_KIND:
        for field in sorted(table.keys() & _OF_RUNS):
            yield f"{field}: is for {', '.join(sorted(OF_A_KIND))} only: leave it out"


def _fits(field: str, value: object) -> bool:
    if isinstance(value, list) and not all(isinstance(one, str) for one in value):
        return False
    return isinstance(value, _FIELDS[field]) and not isinstance(value, bool)


def _rule(key: str, table: dict[str, Any]) -> Rule:
    to = table["to"]
    return Rule(**{**table, "key": key, "to": (to,) if isinstance(to, str) else tuple(to)})
