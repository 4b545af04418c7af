"""`sakuin index list|publish|rebuild|verify|repair`."""

from typing import Annotated, Any

import typer

from sakuin.app.commands import compare
from sakuin.app.commands.options import (
    DEFAULT_INDEX,
    AsJson,
    DatabaseUrl,
    DataDir,
    EngineName,
    IndexName,
    opened,
    put,
    put_json,
    say,
)
from sakuin.app.progress import counting
from sakuin.indexer.errors import GenerationBroken
from sakuin.indexer.generations import Generations
from sakuin.indexer.manifest import Manifest
from sakuin.indexer.rebuild import rebuild as rebuild_all
from sakuin.indexer.rebuild import republish
from sakuin.indexer.sweep import sweep

index = typer.Typer(no_args_is_help=True, help="Look at the generations of an index, or make one.")
index.command()(compare.verify)
index.command()(compare.repair)


@index.command("list")
def list_generations(
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
    engine: EngineName = None,
    index: IndexName = DEFAULT_INDEX,
    as_json: AsJson = False,
) -> None:
    """List the generations that are kept; the last one is current."""
    flags = {"data_dir": data_dir, "database_url": database_url, "engine": engine}
    with opened(flags, index) as parts:
        entries = [_entry(parts.copy.generations, n) for n in parts.copy.generations.numbers()]
    if as_json:
        put_json(entries)
        return
    if not entries:
        say("No generation yet: `sakuin load PATH…`, then `sakuin worker`.")
    for entry in entries:
        put(
            f"{entry['generation']:>8}  {entry['documents']:>11,} documents  "
            f"{entry['bytes'] / 1e6:>9,.1f} MB  {entry['engine']} {entry['engine_version']}  "
            f"{entry['built_at']}"
        )


@index.command()
def publish(
    generation: Annotated[int, typer.Argument(help="The number of a generation that is kept.")],
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
    engine: EngineName = None,
    index: IndexName = DEFAULT_INDEX,
) -> None:
    """Go back: publish a clone of an older generation under the next number.

    The table is not asked: to bring the index in line with it again, use `sakuin index rebuild`.
    """
    flags = {"data_dir": data_dir, "database_url": database_url, "engine": engine}
    with opened(flags, index) as parts:
        number = republish(parts.copy, generation)
        say(f"Generation {number} is current now, with what {generation} holds.")
        say("Next: `sakuin index rebuild` brings it in line with the table.")


@index.command()
def rebuild(
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
    engine: EngineName = None,
    index: IndexName = DEFAULT_INDEX,
    as_json: AsJson = False,
) -> None:
    """Build the index anew from every row, beside the live copy, and publish it."""
    flags = {"data_dir": data_dir, "database_url": database_url, "engine": engine}
    with opened(flags, index) as parts:
        total = _last_count(parts.copy.generations)
        with counting("Rebuilding", unit="documents", total=total) as tell:
            number = rebuild_all(parts.copy, on_progress=tell)
        sweep(parts.copy.generations)
        entry = _entry(parts.copy.generations, number)
    if as_json:
        put_json(entry)
    else:
        say(f"Generation {number} is current now: {entry['documents']:,} documents.")


def _last_count(generations: Generations) -> int | None:
    """Return how many documents the current generation has, whoever made it: about as many rows."""
    try:
        return Manifest.read(generations.path(generations.current())).documents
    except (OSError, ValueError):
        return None


def _entry(generations: Generations, number: int) -> dict[str, Any]:
    try:
        manifest = Manifest.read(generations.path(number))
    except (OSError, ValueError) as error:
        raise GenerationBroken(generations.index, str(error)) from None
    return {
        "generation": number,
        "documents": manifest.documents,
        "bytes": manifest.bytes,
        "engine": manifest.engine,
        "engine_version": manifest.engine_version,
        "analysis_version": manifest.analysis_version,
        "parent": manifest.parent,
        "built_at": manifest.built_at,
    }
