"""Pushing the rows of a model to be indexed anew, a thousand at a time."""

from typing import Any

from sqlalchemy import ColumnElement, Connection, Engine
from sqlalchemy.orm import Session

from sakuin.app.model_changes import connection_of, push_ids
from sakuin.app.model_index import index_of
from sakuin.indexer.changes import IDS_PER_MESSAGE
from sakuin.queue import replay


def reindex(
    on: "Session | Connection | Engine", model: type[Any], where: ColumnElement[bool] | None = None
) -> int:
    """Push the rows that meet a condition, also those that do not belong to the index (any more).

    Returns how many.
    """
    index = index_of(model)
    count, after = 0, None

    def push_next(connection: Connection) -> list[str]:
        ids = index.loader.ids_where(connection, where, after, IDS_PER_MESSAGE)
        push_ids(connection, [index], ids)
        return ids

    while True:
        if isinstance(on, Engine):
            ids = replay(on, push_next, committed=lambda *_: False)  # twice does no harm
        else:
            ids = push_next(connection_of(on, model))
        count += len(ids)
        if len(ids) < IDS_PER_MESSAGE:
            return count
        after = ids[-1]
