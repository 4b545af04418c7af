"""From what was asked for and what the table is made of, to what is attached. Changes nothing."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from sakuin.app.attach_errors import AttachError
from sakuin.app.attached import collection_of
from sakuin.app.attached_table import AttachedTable, Column, Kind, filter_kind
from sakuin.app.inspect_table import TableFacts, inspect_table
from sakuin.app.model_loader import ModelLoader
from sakuin.app.plan_for_model import plan_for_model
from sakuin.app.table_sql import place_of, table_sql
from sakuin.indexer.fold import DEFAULT_FOLDING, Folding

MOST_NAME = 48
"""`sakuin_<name>_insert` names a trigger, and those take 64 characters."""

_MOST_NUMBER = 2**63 - 1
_KEY_KINDS = frozenset(Kind) - {Kind.OTHER, Kind.TIMESTAMP}
_HOLE = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class Wanted:
    """What was asked for: `columns` are searched, `title:2` with a weight.

    With `model` there are only triggers, for its index, whose name `name` is.
    """

    table: str
    columns: tuple[str, ...] = ()
    title: str = ""
    url: str = ""
    where: str = ""
    filters: tuple[str, ...] = ()
    html: tuple[str, ...] = ()
    created: str = ""
    name: str = ""
    folding: Folding = DEFAULT_FOLDING
    model: ModelLoader | None = None


def plan_attach(connection: Connection, wanted: Wanted) -> tuple[AttachedTable, TableFacts]:
    """Read the table, and say what attaching it means. AttachError names what will not do."""
    if wanted.model is not None:
        return plan_for_model(connection, wanted.table, wanted.name, wanted.model)
    facts = inspect_table(connection, wanted.table)
    key = _key(facts)
    searched, weights = _searched(facts, wanted.columns)
    title = wanted.title if "{" in wanted.title or not wanted.title else f"{{{wanted.title}}}"
    created = _created(facts, wanted.created) if wanted.created else None
    table = AttachedTable(
        name=_name(facts, wanted.name),
        schema=facts.schema,
        table=facts.name,
        key=key,
        searched=searched,
        weights=weights,
        stored=_stored(facts, searched, title + wanted.url),
        filters=tuple(_filter(facts, name) for name in wanted.filters),
        created=created,
        where=wanted.where.strip(),
        watched=_named_in(facts, wanted.where),
        html=tuple(_html(facts, searched, name) for name in wanted.html),
        title=title,
        url=wanted.url,
        text_ids=True,
        folding=wanted.folding,
    )
    try:
        collection_of(table)
    except ValueError as error:
        raise AttachError(f"{table.place}: {error}") from None
    _try_where(connection, table)
    return _with_ids(connection, table), facts


def _name(facts: TableFacts, asked: str) -> str:
    name = asked or re.sub(r"[^a-z0-9_]+", "_", facts.name.lower()).strip("_")
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name) or len(name) > MOST_NAME:
        raise AttachError(
            f"{name or facts.name!r} cannot name the index: say --name with up to {MOST_NAME} "
            "lower-case letters, digits and _, a letter first"
        )
    if name == "paragraphs":
        raise AttachError("'paragraphs' is Sakuin's own index: say --name with another")
    return name


def _key(facts: TableFacts) -> tuple[Column, ...]:
    if not facts.key:
        raise AttachError(
            f"{facts.name} has no primary key, and a document needs an id: give it one, such as "
            "ALTER TABLE … ADD COLUMN id BIGINT UNSIGNED AUTO_INCREMENT PRIMARY KEY"
        )
    key = facts.key_columns()
    for column in key:
        if column.kind not in _KEY_KINDS:
            raise AttachError(
                f"column {column.name} of the primary key is a {column.kind.value}: a key may be "
                "of whole numbers, decimals, texts, dates, datetimes, UUIDs and binary"
            )
    return key


def _searched(
    facts: TableFacts, asked: Sequence[str]
) -> tuple[tuple[Column, ...], tuple[float, ...]]:
    columns, weights = [], []
    for each in asked:
        name, _, weight = each.partition(":")
        columns.append(_readable(facts, name))
        try:
            weights.append(float(weight) if weight else 1.0)
        except ValueError:
            raise AttachError(f"--columns {each}: the weight must be a number, as 2") from None
    if not columns:
        raise AttachError("--columns names no column: say which are searched, as title:2,body")
    return tuple(columns), tuple(weights)


def _readable(facts: TableFacts, name: str) -> Column:
    column = _plain(facts, name)
    if column.kind is Kind.BINARY:
        raise AttachError(f"column {column.name} holds bytes, which are no text: leave it out")
    return column


def _plain(facts: TableFacts, name: str) -> Column:
    column = facts.column(name)
    if column.name in facts.generated:
        raise AttachError(
            f"column {column.name} is generated: triggers cannot rely on it; name the columns "
            "that it is made of"
        )
    return column


def _stored(facts: TableFacts, searched: Sequence[Column], templates: str) -> tuple[Column, ...]:
    names = dict.fromkeys(name for name in _HOLE.findall(templates) if name != "id")
    columns = [_readable(facts, name) for name in names]
    return tuple(column for column in columns if column not in searched)


def _filter(facts: TableFacts, name: str) -> Column:
    column = _plain(facts, name)
    if filter_kind(column) is None:
        what = "decimal with a fraction" if column.kind is Kind.DECIMAL else column.kind.value
        raise AttachError(
            f"column {column.name} is a {what}: a filter may be a whole number, a text, a date "
            "or a time"
        )
    return column


def _created(facts: TableFacts, name: str) -> Column:
    column = _plain(facts, name)
    if column.kind not in (Kind.DATE, Kind.DATETIME, Kind.TIMESTAMP):
        raise AttachError(f"--created {name} is a {column.kind.value}: it must be a date or a time")
    return column


def _html(facts: TableFacts, searched: Sequence[Column], name: str) -> str:
    column = facts.column(name)
    if column not in searched:
        raise AttachError(f"--html {name}: it is none of --columns")
    return column.name


def _named_in(facts: TableFacts, where: str) -> tuple[Column, ...]:
    """Return the columns whose name occurs in the condition: one too many does no harm.

    Of a generated column nobody tells what it is made of: then every other one is watched.
    """

    def is_named(name: str) -> bool:
        return bool(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", where, re.IGNORECASE))

    plain = tuple(each for each in facts.columns.values() if each.name not in facts.generated)
    if any(is_named(name) for name in facts.generated):
        return plain
    return tuple(each for each in plain if is_named(each.name))


def _try_where(connection: Connection, table: AttachedTable) -> None:
    if not table.where:
        return
    sql = table_sql(connection)
    place = sql.for_driver(place_of(sql, table))
    condition = sql.for_driver(table.where)
    try:
        statement = f"SELECT 1 FROM {place} WHERE ({condition}) LIMIT 1"  # noqa: S608  quoted
        connection.exec_driver_sql(statement).all()
    except DBAPIError as error:
        raise AttachError(f"--where {table.where!r}: {error.orig}") from None


def _with_ids(connection: Connection, table: AttachedTable) -> AttachedTable:
    """Let ids be numbers where the key is one whole number that is never negative."""
    if len(table.key) > 1 or table.key[0].kind is not Kind.INTEGER:
        return table
    sql = table_sql(connection)
    name = sql.for_driver(sql.quote(table.key[0].name))
    place = sql.for_driver(place_of(sql, table))
    statement = f"SELECT MIN({name}), MAX({name}) FROM {place}"  # noqa: S608  quoted
    row = connection.exec_driver_sql(statement).one()
    least, most = row[0] or 0, row[1] or 0
    is_number = isinstance(least, int) and isinstance(most, int)
    return replace(table, text_ids=not (is_number and least >= 0 and most <= _MOST_NUMBER))
