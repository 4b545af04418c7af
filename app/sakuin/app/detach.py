"""Detaching a table: its triggers, its record and its waiting messages go."""

import os
import secrets
import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection
from sqlalchemy import Engine as Database

from sakuin.app.attach_errors import NotAttached
from sakuin.app.attached import Attachment, attachment, attachments, delete_attached
from sakuin.app.lock_patience import patience
from sakuin.app.privileges import explain
from sakuin.app.table_sql import table_sql
from sakuin.app.triggers import drop_statement, existing_triggers, is_ours
from sakuin.queue import read, replay
from sakuin.queue.dialect import execute

_MESSAGES_A_TIME = 1000


@dataclass(frozen=True, slots=True)
class Detached:
    """What was done: the triggers that were dropped, how many messages were removed."""

    place: str
    triggers: tuple[str, ...]
    messages: int


def detach(database: Database, name: str, *, has_model: bool = False) -> Detached:
    """Detach the index of this name; safe to repeat. NotAttached when it is not.

    `has_model`: the queue is a model's, and what waits in it stays.
    """
    found = read(database, lambda connection: _found(connection, name))
    with explain(database, found.table.place):
        # Triggers first: what they would still push nobody would work off.
        dropped = replay(database, lambda connection: _drop(connection, found))
        messages = 0
        is_shared = has_model or found.table.triggers_only
        while not is_shared and (
            count := replay(database, lambda connection: _clear(connection, found))
        ):
            messages += count
        replay(database, lambda connection: delete_attached(connection, name))
    return Detached(found.table.place, dropped, messages)


def purge(root: Path, name: str) -> bool:
    """Remove the folder of a detached index; False when there is none. Safe to repeat.

    It goes out of the way by one rename first: a worker may still be writing into it.
    """
    with suppress(FileNotFoundError):
        os.rename(root / name, root / f".trash-{name}-{secrets.token_hex(4)}")
    trash = list(root.glob(f".trash-{name}-{'[0-9a-f]' * 8}"))
    for each in trash:
        shutil.rmtree(each)
    return bool(trash)


def _found(connection: Connection, name: str) -> Attachment:
    found = attachment(connection, name)
    if found is None:
        known = ", ".join(each.table.name for each in attachments(connection))
        raise NotAttached(f"no table is attached as {name!r}; attached: {known or 'none'}")
    return found


def _drop(connection: Connection, found: Attachment) -> tuple[str, ...]:
    ours = [
        each.name
        for each in existing_triggers(connection, found.table).values()
        if is_ours(connection, found.table, each)
    ]
    with patience(connection, found.table.place):
        for name in ours:
            statement = drop_statement(connection, found.table, name)
            connection.exec_driver_sql(table_sql(connection).for_driver(statement))
    return tuple(ours)


def _clear(connection: Connection, found: Attachment) -> int:
    ids = (
        execute(
            connection,
            "SELECT id FROM sakuin_messages {by_claim_key} WHERE queue = ? LIMIT ?",
            found.table.queue,
            _MESSAGES_A_TIME // 2,
        )
        .scalars()
        .all()
    )
    if ids:
        execute(connection, "{delete_messages} WHERE id IN ({ids})", ids=ids)
    return len(ids)
