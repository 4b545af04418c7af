"""`sakuin search`."""

from shlex import quote
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from sakuin.app.answer import Answer, Item, answer_to
from sakuin.app.asked import Asked, Mode
from sakuin.app.asked_facets import read_facets
from sakuin.app.collection import Collection
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
from sakuin.app.page import DEFAULT_PER_PAGE, MOST_PER_PAGE
from sakuin.app.present import answer_json
from sakuin.app.search_times import time_searches
from sakuin.indexer.dialect import Dialect
from sakuin.indexer.engine import Order
from sakuin.indexer.facet import Counts

_FOUND = {"exact": "found", "closest": "come close", "similar": "similar"}
_MOST_CLOSEST = 3


def search(
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="WORDS...", help="The words; several mean AND."),
    ] = None,
    page: Annotated[
        int, typer.Option(min=1, help="Which page. (no variable; default: 1)", show_default=False)
    ] = 1,
    per_page: Annotated[
        int,
        typer.Option(
            min=1,
            max=MOST_PER_PAGE,
            help=f"Results a page. (no variable; default: {DEFAULT_PER_PAGE})",
            show_default=False,
        ),
    ] = DEFAULT_PER_PAGE,
    order: Annotated[
        Order, typer.Option(help="(no variable; default: relevance)", show_default=False)
    ] = Order.RELEVANCE,
    generation: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Search this generation. (no variable; default: the current one)",
            show_default=False,
        ),
    ] = None,
    after: Annotated[
        str | None,
        typer.Option(
            help="Go on behind this id, the last of the page before, in the order of ids. "
            "(no variable; default: from the start)",
            show_default=False,
        ),
    ] = None,
    filter: Annotated[  # noqa: A002  the name of the flag
        str,
        typer.Option(
            help="A second query that must match too. (no variable; default: none)",
            show_default=False,
        ),
    ] = "",
    dialect: Annotated[
        Dialect,
        typer.Option(
            help="How the words are written: Hyper Estraier's and Tritonn's forms are known too. "
            "(no variable; default: sakuin)",
            show_default=False,
        ),
    ] = Dialect.SAKUIN,
    mode: Annotated[
        Mode,
        typer.Option(
            help="closest: texts that have any of the words, the best first; a question will do. "
            "(no variable; default: exact)",
            show_default=False,
        ),
    ] = Mode.EXACT,
    like: Annotated[
        str | None,
        typer.Option(
            help="Instead of words: texts similar to the one with this id. "
            "(no variable; default: none)",
            show_default=False,
        ),
    ] = None,
    facet: Annotated[
        list[str] | None,
        typer.Option(
            help="Count all that is found by a filter: source, source:50 (the 50 most frequent "
            "values), created:year, created:month, created:day. May come several times. "
            "(no variable; default: none)",
            show_default=False,
        ),
    ] = None,
    bench: Annotated[
        bool,
        typer.Option(
            "--bench",
            help="Print how long each word, and all together, take. (no variable; default: off)",
            show_default=False,
        ),
    ] = False,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
    engine: EngineName = None,
    index: IndexName = DEFAULT_INDEX,
    as_json: AsJson = False,
) -> None:
    """Search the index: total, one page of results, and remarks on the query."""
    if not words and like is None and not filter:
        raise typer.BadParameter("give words to look for, --like or --filter", param_hint="WORDS")
    words = words or []
    flags = {"data_dir": data_dir, "database_url": database_url, "engine": engine}
    with opened_to_search(flags, index) as parts:
        if bench:
            _refuse_beside_bench(filter=filter, like=like, mode=mode != Mode.EXACT, facet=facet)
            queries = [*words, " ".join(words)] if len(words) > 1 else words
            put(str(time_searches(parts, queries)))
            return
        asked = Asked(
            text=" ".join(words),
            filter=filter,
            dialect=dialect,
            mode=mode,
            like=like,
            facets=read_facets(parts.index.fields, facet or ()),
            helps=True,
            order=order,
            after=after,
            generation=generation,
        )
        found = answer_to(parts, asked.at_page(page, per_page))
        if as_json:
            put_json(answer_json(found, parts.collection))
        else:
            _print(found, parts.collection)


def _refuse_beside_bench(**flags: object) -> None:
    for name, given in flags.items():
        if given:
            raise typer.BadParameter("times exact searches alone", param_hint=f"--{name}")


def _print_remarks(found: Answer) -> None:
    for remark in (*found.diagnostics, *found.filter_diagnostics):
        where = f" (characters {remark.start + 1} to {remark.end})" if remark.start else ""
        say(f"Note: {remark.message}{where}")
    if found.restarted:
        say("That generation is gone; this is page 1 of the current one.")
    if found.page.out_of_range:
        say(f"There is no page {found.page.page}; the last one is {found.page.total_pages}.")


def _print(found: Answer, collection: Collection) -> None:
    _print_remarks(found)
    console = Console(highlight=False, soft_wrap=True)
    console.print(f"{found.page.total:,} {_FOUND[found.asked.way]}, {found.seconds * 1000:.1f} ms")
    if found.removed:
        say(f"{len(found.removed)} of this page are not shown: their rows are gone.")
    for item in found.page.items:
        console.print(_line(item, collection))
    _print_next(found)
    _print_instead(found, collection, console)
    for counts in found.counts:
        _print_counts(counts)
    fresh = found.freshness
    if fresh is None:
        say(f"The database was not asked, so deleted rows may still be shown: {found.trouble}")
    elif fresh.waiting:
        say(f"Generation {found.generation}; {fresh.waiting:,} changes waiting.")
        if fresh.is_paused:
            queue = collection.index.queue
            say(f"Their queue is paused: `sakuin queue resume {queue}` lets it go on.")
        elif not fresh.has_indexer:
            say("No indexer is running: start `sakuin worker`.")


def _line(item: Item, collection: Collection) -> Text:
    line = Text()
    line.append(f"{item.document.id:>8}  ", style="dim")
    line.append(collection.title_of(item.document), style="cyan")
    for name, cut in item.highlights.items():
        if name != collection.title_field:
            line.append("  ")
            for piece in cut:
                line.append(piece.text, style="bold reverse" if piece.hit else "")
    if item.is_stale:
        line.append("  (edited since)", style="yellow")
    return line


def _print_instead(found: Answer, collection: Collection, console: Console) -> None:
    """Print what is offered instead of nothing, and that it is not what was asked for."""
    for each in found.meant:
        say(f"Did you mean: {each.text} ({each.documents:,} found)")
    if found.closest and found.closest.items:
        shown = found.closest.items[:_MOST_CLOSEST]
        say(
            f"Not exact matches. The first {len(shown)} of {found.closest.total:,} that come close "
            "(all: --mode closest):"
        )
        for item in shown:
            console.print(_line(item, collection))
    elif found.closest and not found.meant:
        say("Nothing comes close either: try a shorter word, or OR between words.")


def _print_counts(counts: Counts) -> None:
    facet = counts.facet
    put(f"by {f'{facet.step} ({facet.name})' if facet.step else facet.name}:")
    for each in counts.buckets:
        put(f"{each.count:>8,}  {each.label}")
    for count, what in ((counts.others, "have other values"), (counts.missing, "have none")):
        if count:
            put(f"{count:>8,}  {what}")


def _print_next(found: Answer) -> None:
    if found.next_after is not None and found.asked.after is not None:
        say(f"--order id --after {quote(found.next_after)} goes on.")
    elif found.page.next_page:
        say(f"Page {found.page.page} of {found.page.total_pages:,}: --page N shows another.")
