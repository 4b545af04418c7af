"""What is not as it was when a table was attached: triggers that vanished, columns that are gone.

A tool that swaps a changed copy of the table for the table leaves the triggers behind.
"""

import shlex
from dataclasses import dataclass

from sqlalchemy import Connection

from sakuin.app.attach_errors import AttachError
from sakuin.app.attached_table import AttachedTable
from sakuin.app.inspect_table import inspect_table
from sakuin.app.triggers import (
    existing_triggers,
    is_current,
    is_ours,
    trigger_statements,
)


@dataclass(frozen=True, slots=True)
class Damage:
    """What is missing, and the command that mends it; `fault` says that there is no table."""

    triggers: tuple[str, ...]
    columns: tuple[str, ...]
    command: str
    fault: str = ""

    def __bool__(self) -> bool:
        """Whether anything is missing."""
        return bool(self.triggers or self.columns or self.fault)


def check_attached(connection: Connection, table: AttachedTable) -> Damage:
    """Compare what is there with what was attached."""
    command = attach_command(table)
    try:
        facts = inspect_table(connection, table.place)
    except AttachError as error:
        return Damage((), (), f"sakuin detach {table.name}", str(error))
    columns = tuple(each.name for each in table.columns() if each.name not in facts.columns)
    found = existing_triggers(connection, table)
    triggers = tuple(
        name
        for name, statement in trigger_statements(connection, table).items()
        if name not in found
        or not is_ours(connection, table, found[name])
        or not is_current(table, found[name], statement)
    )
    return Damage(triggers, columns, command)


def attach_command(table: AttachedTable) -> str:
    """Return the command that attaches the table as it is attached."""
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
