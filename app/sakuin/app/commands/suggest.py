"""`sakuin suggest`."""

from typing import Annotated

import typer

from sakuin.app.commands.options import (
    DEFAULT_INDEX,
    AsJson,
    DatabaseUrl,
    DataDir,
    EngineName,
    IndexName,
    opened_to_search,
    put,
    put_json,
    say,
)
from sakuin.app.present import suggested_json
from sakuin.app.suggested import MOST_SUGGESTIONS, suggested


def suggest(
    typed: Annotated[list[str], typer.Argument(metavar="TYPED...", help="What is being typed.")],
    most: Annotated[
        int,
        typer.Option(
            min=1,
            max=MOST_SUGGESTIONS,
            help="How many at most. (no variable; default: 8)",
            show_default=False,
        ),
    ] = 8,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
    engine: EngineName = None,
    index: IndexName = DEFAULT_INDEX,
    as_json: AsJson = False,
) -> None:
    """Complete what is being typed by words and phrases of the index, each with its hits."""
    flags = {"data_dir": data_dir, "database_url": database_url, "engine": engine}
    with opened_to_search(flags, index) as parts:
        found = suggested(
            parts.reader,
            parts.index,
            " ".join(typed),
            most=most,
            synonyms=parts.current_synonyms(),
        )
        if as_json:
            put_json(suggested_json(found, index))
            return
        if not found.suggestions:
            say("No suggestions.")
        for each in found.suggestions:
            put(f"{each.documents:>8,}  {each.text}")
