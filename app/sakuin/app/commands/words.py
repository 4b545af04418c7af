"""`sakuin words`."""

from typing import Annotated, Any

import typer
from sqlalchemy import Connection

from sakuin.app.assemble import Parts
from sakuin.app.commands.options import (
    DEFAULT_INDEX,
    AsJson,
    DatabaseUrl,
    DataDir,
    EngineName,
    opened_to_search,
    put,
    put_json,
    say,
)
from sakuin.app.index_words import MOST_DAYS, MOST_WORDS, IndexWords, index_words, words_json
from sakuin.app.search_log_json import LogAnswers, Part, ask_log, log_json
from sakuin.app.search_log_read import ClickedDocument, LoggedSearch
from sakuin.app.search_log_rows import forget_some
from sakuin.app.search_log_tables import has_search_log
from sakuin.queue import read, replay

_HEADS = {
    Part.SEARCHES: "Searched for (times asked, hits the last time, results opened):",
    Part.NOTHING_FOUND: "Found nothing (times asked, hits, results opened):",
    Part.CLICKED: "Opened most (times, mean position, document):",
    Part.UNCLICKED: "Many results, none opened (times asked, hits, results opened):",
}


def words(
    start: Annotated[
        str,
        typer.Option(
            help="Only words that begin with this. (no variable; default: any)", show_default=False
        ),
    ] = "",
    rising: Annotated[
        int | None,
        typer.Option(
            metavar="DAYS",
            min=1,
            max=MOST_DAYS,
            help="Words that the documents of the last DAYS days hold more often than those "
            "before. (no variable; default: off)",
            show_default=False,
        ),
    ] = None,
    searches: Annotated[
        bool,
        typer.Option(
            "--searches",
            help="The search log: what was searched for most. (no variable; default: off)",
            show_default=False,
        ),
    ] = False,
    nothing_found: Annotated[
        bool,
        typer.Option(
            "--nothing-found",
            help="The search log: what found nothing. (no variable; default: off)",
            show_default=False,
        ),
    ] = False,
    clicked: Annotated[
        bool,
        typer.Option(
            "--clicked",
            help="The search log: which results were opened most, and searches of whose many "
            "results none was. (no variable; default: off)",
            show_default=False,
        ),
    ] = False,
    days: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=MOST_DAYS,
            help="The search log: of the last days. (no variable; default: all that are kept)",
            show_default=False,
        ),
    ] = None,
    forget: Annotated[
        bool,
        typer.Option(
            "--forget",
            help="Delete all of the search log, or that of the index that is named. "
            "(no variable; default: off)",
            show_default=False,
        ),
    ] = False,
    most: Annotated[
        int,
        typer.Option(
            min=1,
            max=MOST_WORDS,
            help="How many of each at most. (no variable; default: 20)",
            show_default=False,
        ),
    ] = 20,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
    engine: EngineName = None,
    index: Annotated[
        str | None,
        typer.Option(
            help="Which index is meant. (no variable; default: paragraphs, and every one with "
            "--forget)",
            show_default=False,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the most frequent words of the index, or what the search log has kept.

    JSON: "words" of {"word", "documents"}; "searches", "nothing_found" and "unclicked" of {"query",
    "mode", "asked", "total", "clicks", "last_day"}; "clicked" of {"query", "mode", "document",
    "clicks", "position"}; each if it was asked for. After --forget "forgotten", the number of rows;
    "index" is null where it was every index's.
    """
    flags = {"data_dir": data_dir, "database_url": database_url, "engine": engine}
    asked = [Part.SEARCHES] if searches else []
    asked += [Part.NOTHING_FOUND] if nothing_found else []
    asked += [Part.CLICKED, Part.UNCLICKED] if clicked else []
    _refuse_what_does_not_go_together(
        forget=forget, days=days, is_log=bool(asked), is_index=bool(start or rising)
    )
    with opened_to_search(flags, DEFAULT_INDEX if index is None else index) as parts:
        if forget:
            forgotten = _forget(parts, index)
            if as_json:
                put_json({"index": index, "forgotten": forgotten})
            else:
                whose = "every index" if index is None else f"the index {index}"
                say(f"Forgotten: {forgotten:,} rows of the search log, of {whose}.")
            return
        told: dict[str, Any] = {"index": parts.index.name}
        if start or rising or not asked:
            found = index_words(
                parts.reader, parts.index, start=start, rising_days=rising, most=most
            )
            told |= words_json(found, parts.index.name)
            if not as_json:
                _print_words(found)
        if asked:
            answers = _ask(parts, tuple(asked), days, most)
            told |= log_json(answers)
            if not as_json:
                _print_log(answers)
        if as_json:
            put_json(told)


def _refuse_what_does_not_go_together(
    *, forget: bool, days: int | None, is_log: bool, is_index: bool
) -> None:
    if days is not None and not is_log:
        raise typer.BadParameter(
            "goes with --searches, --nothing-found or --clicked", param_hint="--days"
        )
    if forget and (is_log or is_index):
        raise typer.BadParameter("deletes, and lists nothing: give it alone", param_hint="--forget")


def _ask(parts: Parts, asked: tuple[Part, ...], days: int | None, most: int) -> LogAnswers:
    if not parts.settings.search_log:
        say("The search log is off (SAKUIN_SEARCH_LOG): this is what was kept before.")
    name = parts.index.name
    return read(parts.database, lambda c: ask_log(c, name, asked, days or MOST_DAYS, most))


def _forget(parts: Parts, index: str | None) -> int:
    if not read(parts.database, has_search_log):
        return 0

    def some(connection: Connection) -> int:
        return forget_some(connection, index)

    forgotten = 0
    while done := replay(parts.database, some):
        forgotten += done
    return forgotten


def _print_words(found: IndexWords) -> None:
    if not found.generation:
        say("Nothing is indexed yet: sakuin load PATH…, then sakuin worker --drain")
    for each in found.words:
        before = "" if each.before is None else f"  (before: {each.before:,})"
        put(f"{each.documents:>8,}  {each.word}{before}")


def _print_log(answers: LogAnswers) -> None:
    for part, found in answers.items():
        say(_HEADS[part] if found else f"{_HEADS[part]} none")
        for each in found:
            put(_line(each))


def _line(each: LoggedSearch | ClickedDocument) -> str:
    mode = "" if each.mode == "exact" else f"  ({each.mode})"
    if isinstance(each, ClickedDocument):
        return f"{each.clicks:>8,} {each.position:>8.1f}  {each.document}  {each.query}{mode}"
    return f"{each.asked:>8,} {each.total:>8,} {each.clicks:>8,}  {each.query}{mode}"
