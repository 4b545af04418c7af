"""`sakuin load`."""

from enum import StrEnum
from typing import Annotated

import typer

from sakuin.app.commands.options import (
    AsJson,
    DatabaseUrl,
    DataDir,
    EngineName,
    opened,
    put_json,
)
from sakuin.app.load_files import Reading, load_files
from sakuin.app.load_report import print_refused, print_report, report_json
from sakuin.app.read_text import Split


class BadLines(StrEnum):
    """What to do about a line that cannot be stored."""

    SKIP = "skip"
    REFUSE = "refuse"


Paths = Annotated[
    list[str],
    typer.Argument(
        metavar="PATH...",
        help="Files (.txt .md, also .gz .xz), folders of them, or - for standard input.",
    ),
]
Source = Annotated[
    str | None,
    typer.Option(
        help="Name of the source. (no variable; default: the file's path as given)",
        show_default=False,
    ),
]
SplitBy = Annotated[
    Split,
    typer.Option(
        help="What a paragraph is: a line, a block between blank lines, or a whole file. "
        "(no variable; default: line)",
        show_default=False,
    ),
]
Encoding = Annotated[
    str | None,
    typer.Option(
        help="Name of the encoding, as cp932. (no variable; default: told from the text)",
        show_default=False,
    ),
]


def load(
    paths: Paths,
    source: Source = None,
    split: SplitBy = Split.LINE,
    append: Annotated[
        bool,
        typer.Option(
            "--append",
            help="Add behind what the source has, instead of updating it. "
            "(no variable; default: off)",
            show_default=False,
        ),
    ] = False,
    encoding: Encoding = None,
    bad_lines: Annotated[
        BadLines,
        typer.Option(
            help="What to do about a line that cannot be stored: report and skip it, or refuse "
            "the whole load before anything is stored. (no variable; default: skip)",
            show_default=False,
        ),
    ] = BadLines.SKIP,
    wait: Annotated[
        bool,
        typer.Option(
            "--wait/--no-wait",
            help="Wait until a running worker has made all searchable. "
            "(no variable; default: wait)",
            show_default=False,
        ),
    ] = True,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
    engine: EngineName = None,
    as_json: AsJson = False,
) -> None:
    """Load text files into the table, and print the time until saved and until searchable.

    Loading a source again updates it: unchanged lines keep their ids wherever they stand now,
    missing ones are deleted. A file's source is its path as given: 2023/memo.txt and
    2024/memo.txt are two. Exits 1 when a file is broken, or when lines were refused and none was
    good.
    """
    flags = {"data_dir": data_dir, "database_url": database_url, "engine": engine}
    reading = Reading(
        paths=tuple(paths),
        source=source,
        split=split,
        encoding=encoding,
        refuse_bad=bad_lines is BadLines.REFUSE,
    )
    with opened(flags) as parts:
        report = load_files(parts, reading, append=append, wait=wait)
    if as_json:
        print_refused(report)
        put_json(report_json(report))
    else:
        print_report(report)
    if report.stored_nothing or report.is_broken or report.is_all_refused:
        raise typer.Exit(1)
