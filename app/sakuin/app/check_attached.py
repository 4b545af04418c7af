"""What is not as it was when a table was attached: triggers that vanished, columns that are gone.

A tool that swaps a changed copy of the table for the table leaves the triggers behind.
"""

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from sqlalchemy import Connection

from sakuin.app.attach_errors import AttachError
from sakuin.app.attached_table import AttachedTable, Column
from sakuin.app.inspect_table import TableFacts, inspect_table
from sakuin.app.triggers import (
    existing_triggers,
    is_current,
    is_ours,
    trigger_statements,
)
from sakuin.indexer.errors import SourceChanged


@dataclass(frozen=True, slots=True)
class Damage:
    """What is missing, and the command that mends it.

    `fault` says that there is no table, or that it is not made as it was.
    """

    triggers: tuple[str, ...]
    columns: tuple[str, ...]
    command: str
    fault: str = ""

    def __bool__(self) -> bool:
        """Whether anything is missing."""
        return bool(self.triggers or self.columns or self.fault)


def check_attached(connection: Connection, table: AttachedTable) -> Damage:
    """Compare what is there with what was attached."""
    damage = check_columns(connection, table)
    if damage.command != attach_command(table):
        return damage  # there is no table
    found = existing_triggers(connection, table)
    triggers = tuple(
        name
        for name, statement in trigger_statements(connection, table).items()
        if name not in found
        or not is_ours(connection, table, found[name])
        or not is_current(table, found[name], statement)
    )
    return replace(damage, triggers=triggers)


def check_columns(connection: Connection, table: AttachedTable) -> Damage:
    """Compare the key and the columns alone, which tell how rows are read."""
    try:
        facts = inspect_table(connection, table.place)
    except AttachError as error:
        return Damage((), (), f"sakuin detach {table.name}", str(error))
    columns = tuple(each.name for each in table.columns() if each.name not in facts.columns)
    changed = "; ".join(_changes(table, facts))
    fault = f"{table.place} is not made as it was when it was attached: {changed}"
    return Damage((), columns, attach_command(table), fault * bool(changed))


def require_as_attached(connection: Connection, table: AttachedTable) -> None:
    """Raise SourceChanged, which names what changed and what mends it, if anything did."""
    damage = check_columns(connection, table)
    if damage:
        gone = f"{table.place} has no column {', '.join(damage.columns)} any more"
        raise SourceChanged(f"{damage.fault or gone}; run `{damage.command}`")


def _changes(table: AttachedTable, facts: TableFacts) -> Iterable[str]:
    key = facts.key_columns()
    if _as_named_today(table.key) != _as_named_today(key):
        yield f"its primary key was {_shown(table.key)} and is {_shown(key)}"
    created = (table.created,) if table.created else ()
    for was in (*table.searched, *table.stored, *table.filters, *created):
        now = facts.columns.get(was.name)
        if now is not None and (was.kind, was.scale) != (now.kind, now.scale):
            yield f"column {was.name} was {was.kind.value} and is {now.kind.value}"


def _as_named_today(key: Iterable[Column]) -> list[Column]:
    """Return columns with the charset utf8 as newer servers name it."""
    new = [("utf8_" if each.collation.startswith("utf8_") else "", each) for each in key]
    return [
        replace(each, charset="utf8mb3", collation=f"utf8mb3_{each.collation[len(old) :]}")
        if old
        else each
        for old, each in new
    ]


def _shown(key: Sequence[Column]) -> str:
    parts = ((each.name, ", ".join(filter(None, (each.kind, each.collation)))) for each in key)
    return ", ".join(f"{name} ({what})" for name, what in parts) or "none"


def attach_command(table: AttachedTable) -> str:
    """Return the command that attaches the table as it is attached."""
    if table.triggers_only:
        return shlex.join(["sakuin", "attach", table.place, "--for-model", table.name])
    weights = {
        column.name: weight for column, weight in zip(table.searched, table.weights, strict=True)
    }
    columns = ",".join(
        name if weight == 1 else f"{name}:{weight:g}" for name, weight in weights.items()
    )
    options = {
        "--columns": columns,
        "--title": table.title,
        "--url": table.url,
        "--where": table.where,
        "--filters": ",".join(column.name for column in table.filters),
        "--html": ",".join(table.html),
        "--created": table.created.name if table.created else "",
        "--name": table.name,
    }
    words = ["sakuin", "attach", table.place]
    words += [word for name, value in options.items() if value for word in (name, value)]
    words += ["--kana"] * table.folding.kana + ["--long-vowels"] * table.folding.long_vowels
    return shlex.join(words)
