"""`sakuin status`."""

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
)
from sakuin.app.status import read_status


def status(
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
    engine: EngineName = None,
    index: IndexName = DEFAULT_INDEX,
    as_json: AsJson = False,
) -> None:
    """Show how many messages wait, and what the current generation holds."""
    flags = {"data_dir": data_dir, "database_url": database_url, "engine": engine}
    with opened(flags, index) as parts:
        found = read_status(parts)
    if as_json:
        put_json(found)
        return
    queue, held = found["queue"], found["index"]
    put(
        f"index       {held['name']}, generation {held['generation']}, "
        f"{held['documents']:,} documents"
    )
    put("queue       " + ", ".join(f"{count:,} {state}" for state, count in queue.items()))
    waiting = queue["ready"] + queue["leased"] + queue["scheduled"]
    if held["has_indexer"]:
        put("indexer     running")
    elif waiting:
        put("indexer     not running: start `sakuin worker`")
    else:
        put("indexer     not running")
