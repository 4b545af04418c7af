"""`sakuin status`."""

from typing import Annotated, Any

import typer

from sakuin.app.commands.options import (
    DEFAULT_INDEX,
    AsJson,
    DatabaseUrl,
    DataDir,
    EngineName,
    installed,
    put,
    put_json,
)
from sakuin.app.settings import read_settings
from sakuin.app.status import read_status


def status(
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
    engine: EngineName = None,
    index: Annotated[
        str | None,
        typer.Option(
            help="Show this index alone. (no variable; default: all indexes; as JSON paragraphs)",
            show_default=False,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show how many messages wait, and what the current generation holds: of every index."""
    flags = {"data_dir": data_dir, "database_url": database_url, "engine": engine}
    with installed(read_settings(flags)) as opened:
        if index or as_json:
            found = [read_status(opened.parts(index or DEFAULT_INDEX))]
        else:
            found = [read_status(opened.parts_of(each)) for each in opened.catalogue.every()]
    if as_json:
        put_json(found[0])
        return
    for number, each in enumerate(found):
        _print(each, is_first=number == 0)


def _print(found: dict[str, Any], *, is_first: bool) -> None:
    queue, held = found["queue"], found["index"]
    if not is_first:
        put("")
    put(
        f"index       {held['name']}, generation {held['generation']}, "
        f"{held['documents']:,} documents"
    )
    put("queue       " + ", ".join(f"{count:,} {state}" for state, count in queue.items()))
    if held["is_paused"]:
        put(f"            paused: `sakuin queue resume index:{held['name']}` lets it go on")
    waiting = queue["ready"] + queue["leased"] + queue["scheduled"]
    if held["has_indexer"]:
        put("indexer     running")
    elif waiting:
        put("indexer     not running: start `sakuin worker`")
    else:
        put("indexer     not running")
