"""Where a benchmark runs: a fresh database and index in a temporary folder."""

import argparse
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from sakuin.app.assemble import Parts, assemble, initialise
from sakuin.app.private_mariadb import private_mariadb
from sakuin.app.settings import read_settings


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options that all benchmarks share."""
    parser.add_argument(
        "--db",
        choices=("mariadb", "sqlite"),
        default="mariadb",
        help="a private MariaDB server, or a SQLite file (default: mariadb)",
    )
    parser.add_argument("--database-url", help="use this empty database instead of --db")
    parser.add_argument(
        "--engine", choices=("tantivy", "whoosh"), default="tantivy", help="default: tantivy"
    )
    parser.add_argument("--json", type=Path, help="write the figures to this file")


@contextmanager
def fresh_parts(arguments: argparse.Namespace) -> Iterator[Parts]:
    """Give parts on a fresh database and index, and remove everything afterwards."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="sakuin-bench-")))
        url = arguments.database_url
        if url is None and arguments.db == "mariadb":
            url = stack.enter_context(private_mariadb(folder / "mariadb")).url
        flags = {"data_dir": folder / "data", "database_url": url, "engine": arguments.engine}
        parts = stack.enter_context(assemble(read_settings(flags, environment={})))
        initialise(parts)
        yield parts
