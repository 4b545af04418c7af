"""`sakuin init`."""

from sakuin.app.assemble import initialise
from sakuin.app.commands.options import (
    DatabaseUrl,
    DataDir,
    EngineName,
    SearchLogging,
    opened,
    say,
)


def init(
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
    engine: EngineName = None,
    search_log: SearchLogging = None,
) -> None:
    """Create the tables and folders that are missing. Safe to repeat; implied on SQLite."""
    flags = {
        "data_dir": data_dir,
        "database_url": database_url,
        "engine": engine,
        "search_log": search_log,
    }
    with opened(flags) as parts:
        initialise(parts)
        say(f"Ready: {parts.database.url.render_as_string(hide_password=True)}")
        say("Next: sakuin load PATH…")
