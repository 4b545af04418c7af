"""`sakuin serve`."""

from contextlib import nullcontext
from typing import Annotated

import typer

from sakuin.app.assemble import assemble, initialise
from sakuin.app.child_worker import child_worker
from sakuin.app.commands.options import (
    DatabaseUrl,
    DataDir,
    EngineName,
    Host,
    Port,
    ReadOnly,
    RootPath,
    SearchLogging,
    say,
)
from sakuin.app.listen import address_of, is_loopback, listen
from sakuin.app.settings import read_settings


def serve(
    host: Host = None,
    port: Port = None,
    workers: Annotated[
        int,
        typer.Option(
            min=1,
            max=64,
            show_default=False,
            help="How many web processes. (no variable; default: 1)",
        ),
    ] = 1,
    root_path: RootPath = None,
    read_only: ReadOnly = None,
    search_log: SearchLogging = None,
    with_worker: Annotated[
        bool | None,
        typer.Option(
            "--with-worker/--no-worker",
            show_default=False,
            help="Run an indexer worker too. (no variable; default: yes on SQLite, else no)",
        ),
    ] = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
    engine: EngineName = None,
) -> None:
    """Serve the search page and the JSON interface until Ctrl-C."""
    # The web framework takes a while to import: only this command pays for it.
    from sakuin.app.web_server import serve as serve_pages

    flags = {
        "host": host,
        "port": port,
        "root_path": root_path,
        "read_only": read_only,
        "search_log": search_log,
        "data_dir": data_dir,
        "database_url": database_url,
        "engine": engine,
    }
    settings = read_settings(flags)
    if not settings.read_only and not is_loopback(settings.host):
        say(
            "Whoever reaches this address can add, edit and delete: there is no login. "
            "--read-only refuses all changes."
        )
    if settings.is_sqlite:
        with assemble(settings) as parts:  # what stands in the way is told here, in one line
            initialise(parts)
    needs_worker = settings.is_sqlite if with_worker is None else with_worker
    with listen(settings) as listener, child_worker(settings) if needs_worker else nullcontext():
        address = address_of(listener, settings)
        serve_pages(
            settings,
            listener,
            workers=workers,
            on_ready=lambda: say(f"Serving {address} (Ctrl-C ends)"),
        )
