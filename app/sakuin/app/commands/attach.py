"""`sakuin attach`."""

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from sakuin.app.attach import Attached, Plan, plan
from sakuin.app.attach import attach as attach_table
from sakuin.app.attach_errors import AttachError
from sakuin.app.catalogue import fixed_collections
from sakuin.app.collection import Collection
from sakuin.app.commands.options import (
    AsJson,
    DatabaseUrl,
    DataDir,
    EngineName,
    opened,
    put,
    put_json,
    say,
)
from sakuin.app.model_loader import ModelLoader
from sakuin.app.plan_attach import Wanted
from sakuin.app.progress import counting
from sakuin.indexer.fold import Folding


def _option(text: str, *names: str, shown: str = "none") -> Any:
    return typer.Option(*names, help=f"{text} (no variable; default: {shown})", show_default=False)


Yes = Annotated[bool, _option("Do not ask.", "--yes", shown="ask")]


def attach(
    table: Annotated[str, typer.Argument(metavar="[SCHEMA.]TABLE", help="An existing table.")],
    columns: Annotated[
        str, _option("What is searched, with weights: title:2,body.", "--columns")
    ] = "",
    title: Annotated[str, _option("What a hit is called: a column, or '{a} {b}'.")] = "",
    url: Annotated[str, _option("Where a hit leads: 'https://…/{id}'.")] = "",
    where: Annotated[str, _option("SQL: which rows are searched. Run as it stands.")] = "",
    filters: Annotated[str, _option("Columns that queries can ask for: category_id,….")] = "",
    html: Annotated[str, _option("Searched columns that hold HTML: its text counts.")] = "",
    created: Annotated[str, _option("The column that orders newest and oldest.")] = "",
    name: Annotated[str, _option("The index's name.", shown="the table's")] = "",
    for_model: Annotated[
        str, _option("Triggers only, for the index NAME of a model.", "--for-model")
    ] = "",
    kana: Annotated[bool, _option("カ is か.", "--kana", shown="off")] = False,
    long_vowels: Annotated[
        bool, _option("サーバー is サーバ.", "--long-vowels", shown="off")
    ] = False,
    yes: Yes = False,
    sql_only: Annotated[
        bool,
        _option("Print the SQL, change nothing.", "--sql-only", shown="off"),
    ] = False,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
    engine: EngineName = None,
    as_json: AsJson = False,
) -> None:
    """Make an existing table searchable: triggers on it push every change, whoever makes it.

    Shows the SQL first and asks. Safe to repeat, which also mends triggers that are gone.
    """
    wanted = Wanted(
        table=table,
        columns=_names(columns),
        title=title,
        url=url,
        where=where,
        filters=_names(filters),
        html=_names(html),
        created=created,
        name=name,
        folding=Folding(kana=kana, long_vowels=long_vowels),
    )
    flags = {"data_dir": data_dir, "database_url": database_url, "engine": engine}
    with opened(flags) as parts, telling():
        fixed = fixed_collections(parts.settings.models.split())
        if for_model:
            if wanted != Wanted(table):
                raise AttachError("--for-model stands alone: the model says what is searched")
            wanted = Wanted(table, name=for_model, model=_model(fixed, for_model))
        planned = plan(parts.database, wanted, fixed)
        if sql_only:
            put(planned.script)
            return
        _show(planned)
        ask("Make these triggers?", yes=yes)
        with counting("Pushing", unit="rows") as tell:
            done = attach_table(parts.database, planned, tell)
    if as_json:
        put_json(_entry(planned, done))
    _tell(planned, done)


def _model(fixed: Mapping[str, Collection], name: str) -> ModelLoader:
    if name in fixed and isinstance(loader := fixed[name].index.loader, ModelLoader):
        return loader
    raise AttachError(f"no model has index {name!r}; known (SAKUIN_MODELS): {', '.join(fixed)}")


@contextmanager
def telling() -> Iterator[None]:
    """Turn what stands in the way into one line and exit code 1."""
    try:
        yield
    except AttachError as error:
        say(f"sakuin: {error}")
        raise typer.Exit(1) from None


def ask(question: str, *, yes: bool) -> None:
    """Ask at a terminal; elsewhere `--yes` must have been said."""
    if yes:
        return
    if not sys.stdin.isatty():
        say("sakuin: nobody can be asked here: say --yes")
        raise typer.Exit(2)
    typer.confirm(question, abort=True, err=True)


def _names(text: str) -> tuple[str, ...]:
    return tuple(name for each in text.split(",") if (name := each.strip()))


def _show(planned: Plan) -> None:
    table = planned.table
    say(f"{planned.script}\n")
    if not planned.facts.is_transactional:
        say(
            f"Note: {table.place} is kept by {planned.facts.engine}, which knows no transactions: "
            "a save that is rolled back stays, and its message may be lost in a crash. "
            "`sakuin index verify` finds such rows; ALTER TABLE … ENGINE = InnoDB is the remedy."
        )
    if planned.needs_rebuild:
        say("Note: the fields are others than before: the index must be rebuilt afterwards.")


def _entry(planned: Plan, done: Attached) -> dict[str, Any]:
    table = planned.table
    return {
        "index": table.name,
        "table": table.place,
        "key": [column.name for column in table.key],
        "triggers": done.triggers,
        "pushed": done.pushed,
        "needs_rebuild": planned.needs_rebuild,
    }


def _tell(planned: Plan, done: Attached) -> None:
    name = planned.table.name
    say(
        f"{planned.table.place} is index {name}: {done.triggers} triggers made, "
        f"{done.pushed:,} rows pushed."
    )
    if planned.needs_rebuild:
        say(f"Next: sakuin index rebuild --index {name}")
    elif (planned.before is not None or planned.table.triggers_only) and done.triggers:
        say("What was changed without triggers may still be missing.")
        say(f"Next: sakuin worker --drain, then sakuin index repair --index {name}")
    else:
        say(f"Next: sakuin worker --drain, then sakuin search --index {name} WORDS")
