"""Attaching a table: record it, make its triggers, push the ids of all its rows.

In this order: no row is missed, whatever happens in between, and doing it again goes on.
"""

import secrets
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from functools import partial

from sqlalchemy import Connection
from sqlalchemy import Engine as Database
from sqlalchemy.exc import DBAPIError

from sakuin.app.attach_errors import AttachError
from sakuin.app.attached import (
    Attachment,
    attachment,
    collection_of,
    create_attached,
    delete_attached,
    write_attached,
    write_filled,
)
from sakuin.app.attached_table import AttachedTable
from sakuin.app.inspect_table import TableFacts
from sakuin.app.lock_patience import patience
from sakuin.app.plan_attach import Wanted, plan_attach
from sakuin.app.privileges import explain
from sakuin.app.table_loader import TableLoader
from sakuin.app.table_sql import table_sql
from sakuin.app.triggers import (
    drop_statement,
    existing_triggers,
    is_current,
    is_ours,
    script,
    trigger_statements,
)
from sakuin.indexer.changes import BEHIND_SAVES, push_changes
from sakuin.queue import DatabaseBusy, create_schema, push, read, replay

KEYS_A_MESSAGE = 1000


@dataclass(frozen=True, slots=True)
class Plan:
    """What attaching will do. `before` is what was attached under this name until now.

    `script` is the SQL for people, and for the database's own command line.
    """

    table: AttachedTable
    facts: TableFacts
    statements: Mapping[str, str]
    script: str
    before: Attachment | None

    @property
    def needs_rebuild(self) -> bool:
        """Whether the index that there is has other fields."""
        before = self.before
        if before is None or before.table.token != self.table.token or self.table.triggers_only:
            return False  # generations of another attachment count as none
        return before.table.fields().facts() != self.table.fields().facts()

    def has_triggers(self, connection: Connection) -> bool:
        """Whether any of the triggers is there now."""
        return bool(existing_triggers(connection, self.table))


@dataclass(frozen=True, slots=True)
class Attached:
    """What was done: how many triggers were made, how many ids pushed."""

    triggers: int
    pushed: int


def plan(database: Database, wanted: Wanted, taken: Collection[str] = ()) -> Plan:
    """Look at the table and at what is attached; change nothing. Raises AttachError.

    `taken` are the names of indexes that are no attached tables': the models'.
    """

    def look(connection: Connection) -> Plan:
        table, facts = plan_attach(connection, wanted)
        if table.name in taken and not table.triggers_only:
            raise AttachError(
                f"{table.name!r} is the index of a model: say --name with another; or, so that "
                f"raw SQL is heard by the model's index too, only --for-model {table.name}"
            )
        before = attachment(connection, table.name)
        if before and (before.table.schema, before.table.table) != (table.schema, table.table):
            raise AttachError(
                f"index {table.name!r} is attached to {before.table.place}: say --name with "
                f"another, or `sakuin detach {table.name}` first"
            )
        table = replace(table, token=_token(before, table))
        for name, found in existing_triggers(connection, table).items():
            if not is_ours(connection, table, found):
                raise AttachError(
                    f"the trigger {name} on {found.table} is not Sakuin's, or another "
                    "installation's: drop it, or say --name with another name"
                )
        statements = trigger_statements(connection, table)
        return Plan(table, facts, statements, script(connection, statements.values()), before)

    with explain(database, wanted.table):
        return read(database, look)


def _token(before: Attachment | None, table: AttachedTable) -> str:
    """Return what tells this attachment from others: a new one where ids may be others'."""
    if before is not None and before.table.key == table.key:
        return before.table.token
    return secrets.token_hex(8)


def attach(
    database: Database, planned: Plan, on_pushed: Callable[[int], None] = lambda _: None
) -> Attached:
    """Do what was planned; safe to repeat. `on_pushed` is told how many ids were pushed so far."""
    table, before = planned.table, planned.before
    with explain(database, table.place):
        create_schema(database)
        replay(database, create_attached)
        made = _make_triggers(database, planned)
        if before is not None and (made or before.table != table):
            is_same = not made and _means_the_same(before.table, table)
            # A rebuild reads every row anyway.
            is_filled = planned.needs_rebuild or (is_same and before.is_filled)
            is_filled = is_filled or table.triggers_only
            replay(database, lambda c: write_attached(c, table, is_filled=is_filled))
        pushed = fill(database, table.name, is_within=before is None, told=on_pushed)
        return Attached(made, pushed)


def _means_the_same(before: AttachedTable, table: AttachedTable) -> bool:
    """Whether every row is the same document as before; what a hit is called is no part of it."""
    return replace(before, weights=table.weights, title=table.title, url=table.url) == table


def _make_triggers(database: Database, planned: Plan) -> int:
    """Make the triggers that are not there or say other things; return how many."""
    table = planned.table
    with database.connect() as connection:
        with connection.begin() as trying:  # before any save of others depends on it
            push(connection, table.queue, b'{"ids": []}')
            trying.rollback()
        try:
            with connection.begin(), patience(connection, table.place):
                if planned.before is None:
                    write_attached(connection, table, is_filled=table.triggers_only)
                return sum(
                    _make_trigger(connection, table, name, statement)
                    for name, statement in planned.statements.items()
                )
        except (DBAPIError, DatabaseBusy):
            # On MySQL the record is committed with the first trigger, whether that comes or not.
            if planned.before is None and not read(database, planned.has_triggers):
                replay(database, lambda c: delete_attached(c, table.name))
            raise


def _make_trigger(connection: Connection, table: AttachedTable, name: str, statement: str) -> bool:
    """Make one trigger unless it is there; on MariaDB and SQLite no save slips past meanwhile."""
    sql = table_sql(connection)
    there = existing_triggers(connection, table).get(name)
    if there and is_current(table, there, statement):
        return False
    if there and there.table == table.table and getattr(connection.dialect, "is_mariadb", False):
        statement = statement.replace("CREATE TRIGGER", "CREATE OR REPLACE TRIGGER", 1)
    elif there:
        connection.exec_driver_sql(sql.for_driver(drop_statement(connection, table, name)))
    connection.exec_driver_sql(sql.for_driver(statement))
    return True


def fill(
    database: Database,
    name: str,
    *,
    is_within: bool,
    told: Callable[[int], None] = lambda _: None,
) -> int:
    """Push the ids of all rows that were not yet pushed, 1,000 a transaction; return how many.

    Of a model's table nothing is pushed: its index holds the rows already, or `reindex` does it.

    Not `is_within`: of the rows outside `where` too, which other options may have put there.
    """
    pushed = 0
    while count := replay(
        database,
        partial(_fill_more, name=name, is_within=is_within),
        committed=lambda *_: False,  # twice does no harm
    ):
        pushed += count
        told(pushed)
    return pushed


def _fill_more(connection: Connection, name: str, *, is_within: bool) -> int:
    found = attachment(connection, name)
    if found is None or found.is_filled:
        return 0
    loader = TableLoader(found.table)
    ids = loader.keys_after(connection, found.filled_to, KEYS_A_MESSAGE, is_within=is_within)
    push_changes(connection, collection_of(found.table).index, ids, priority=BEHIND_SAVES)
    write_filled(connection, name, ids[-1] if ids else None)
    return len(ids)
