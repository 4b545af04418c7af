"""`sakuin detach`."""

import re
from typing import Annotated

import typer

from sakuin.app.attach_errors import AttachError, NotAttached
from sakuin.app.catalogue import fixed_collections
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
        root = parts.settings.index_root
        has_model = name in fixed_collections(parts.settings.models.split())
        if purge and has_model:
            raise AttachError(f"index {name} is not the table's alone: detach it without --purge")
        ask(f"Drop the triggers of index {name}?", yes=yes)
        try:
            done = detach_table(parts.database, name, has_model=has_model)
        except NotAttached:
            if not (purge and re.fullmatch(r"[a-z][a-z0-9_]*", name)):
                raise
            if not remove_folder(root, name):
                raise
            done = None  # what an earlier try left is gone now
        is_purged = done is None or (purge and remove_folder(root, name))
    if as_json:
        put_json(
            {
                "index": name,
                "table": done.place if done else None,
                "triggers": list(done.triggers) if done else [],
                "messages": done.messages if done else 0,
                "purged": is_purged,
            }
        )
    if done:
        say(
            f"{done.place} is not attached any more: {len(done.triggers)} triggers dropped, "
            f"{done.messages:,} messages removed."
        )
    folder = root / name
    if is_purged:
        say(f"{folder} is removed.")
    elif folder.exists() and not has_model:
        say(f"The index is still in {folder}: --purge removes it.")
