"""`sakuin detach`."""

from typing import Annotated

import typer

from sakuin.app.commands.attach import Yes, ask, telling
from sakuin.app.commands.options import (
    AsJson,
    DatabaseUrl,
    DataDir,
    EngineName,
    opened,
    put_json,
    say,
)
from sakuin.app.detach import detach as detach_table
from sakuin.app.detach import purge as remove_folder


def detach(
    name: Annotated[str, typer.Argument(help="The name of the index.")],
    purge: Annotated[
        bool,
        typer.Option(
            "--purge", help="Remove the index too. (no variable; default: off)", show_default=False
        ),
    ] = False,
    yes: Yes = False,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
    engine: EngineName = None,
    as_json: AsJson = False,
) -> None:
    """Undo `sakuin attach`: drop the triggers, forget the table and its waiting messages."""
    flags = {"data_dir": data_dir, "database_url": database_url, "engine": engine}
    with opened(flags) as parts, telling():
        ask(f"Drop the triggers of index {name}?", yes=yes)
        done = detach_table(parts.database, name)
        folder = parts.settings.index_root / name
        is_purged = purge and remove_folder(folder)
    if as_json:
        put_json(
            {
                "index": name,
                "table": done.place,
                "triggers": list(done.triggers),
                "messages": done.messages,
                "purged": is_purged,
            }
        )
    say(
        f"{done.place} is not attached any more: {len(done.triggers)} triggers dropped, "
        f"{done.messages:,} messages removed."
    )
    if is_purged:
        say(f"{folder} is removed.")
    elif folder.exists():
        say(f"The index is still in {folder}: remove it, or attach the table again.")
