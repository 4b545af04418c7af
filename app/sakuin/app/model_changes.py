"""Changes of a model's rows as messages, in the transaction that changes the rows (promise Q1).

What goes through an ORM session is seen by mapper events, and pushed once a flush. What does not
(bulk statements, Core, `bulk_save_objects`) is told by `enqueue`.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import Connection, Select, event, inspect
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Mapper, Session, object_session, scoped_session

from sakuin.app.model_index import ModelIndex, indexes_of
from sakuin.app.model_key import key_id
from sakuin.indexer.changes import push_changes
from sakuin.queue.faults import mistake_error

_PENDING = "sakuin.changes"


class _Pending:
    """The changes of one session's flush, until it ends."""

    def __init__(self) -> None:
        self._changes: dict[Connection, dict[ModelIndex, dict[str, None]]] = {}
        self.modified: set[Any] = set()

    def add(self, connection: Connection, index: ModelIndex, ids: Sequence[str]) -> None:
        of_index = self._changes.setdefault(connection, {}).setdefault(index, {})
        of_index.update(dict.fromkeys(ids))

    def push(self, _session: Session, _context: object) -> None:
        changes, self._changes = self._changes, {}
        self.modified.clear()
        for connection, of_connection in changes.items():
            for index, ids in of_connection.items():
                push_ids(connection, [index], list(ids))

    def drop(self, _session: Session, _transaction: object) -> None:
        self._changes.clear()
        self.modified.clear()


def watch(searchable: type) -> None:
    """See to it that every class mapped below `searchable` pushes its changes."""
    event.listen(searchable, "after_insert", _inserted, propagate=True)
    event.listen(searchable, "before_update", _updating, propagate=True)
    event.listen(searchable, "after_update", _updated, propagate=True)
    event.listen(searchable, "after_delete", _deleted, propagate=True)


def enqueue(
    on: "Session | scoped_session[Any] | Connection",
    model: type,
    keys: "Iterable[Any] | Select[Any]",
) -> int:
    """Push that rows of a model changed, in the caller's transaction; return how many.

    `keys` are primary keys (a tuple each where the key has several columns), or a select of the
    key's columns. For what an UPDATE or DELETE will change call this *before* it, in the same
    transaction: the index reads the rows when that has committed. TypeError names a wrong key.
    """
    connection = connection_of(on, model)
    indexes = indexes_of(model)
    if isinstance(keys, str | bytes):
        raise TypeError(f"enqueue takes a list of keys, not {keys!r}: write [{keys!r}]")
    if isinstance(keys, Select):
        keys = [tuple(row) for row in connection.execute(keys)]
    ids = list(dict.fromkeys(indexes[0].id_of_key(key) for key in keys))
    push_ids(connection, indexes, ids)
    return len(ids)


def connection_of(on: "Session | scoped_session[Any] | Connection", model: type) -> Connection:
    """Return the connection of a session's transaction, flushed; TypeError for anything else."""
    session = on() if isinstance(on, scoped_session) else on
    if isinstance(session, Connection):
        return session
    if not isinstance(session, Session):
        raise TypeError(
            f"give a Session or a Connection, not {type(on).__name__}; with an AsyncSession: "
            "await session.run_sync(enqueue, Model, keys)"
        )
    session.flush()
    return session.connection(bind_arguments={"mapper": inspect(model)})


def _inserted(mapper: Mapper[Any], connection: Connection, target: Any) -> None:
    _changed(connection, target, [mapper.primary_key_from_instance(target)])


def _updating(_mapper: Mapper[Any], _connection: Connection, target: Any) -> None:
    """Note what is modified: of a value that SQL computes nothing is left after the UPDATE."""
    if _is_modified(target):
        _pending(target).modified.add(inspect(target))


def _updated(mapper: Mapper[Any], connection: Connection, target: Any) -> None:
    # The event comes for whatever was marked dirty. After the UPDATE too: others listen as well,
    # and keys may be copied from a parent.
    if inspect(target) not in _pending(target).modified and not _is_modified(target):
        return
    key, before = mapper.primary_key_from_instance(target), inspect(target).identity
    _changed(connection, target, [key] if before is None else [before, key])


def _deleted(mapper: Mapper[Any], connection: Connection, target: Any) -> None:
    before = inspect(target).identity
    _changed(connection, target, [before or mapper.primary_key_from_instance(target)])


def _is_modified(target: Any) -> bool:
    return _session(target).is_modified(target, include_collections=False)


def _changed(connection: Connection, target: Any, keys: Sequence[Sequence[Any]]) -> None:
    pending = _pending(target)
    ids = [key_id(key) for key in keys]
    for index in indexes_of(type(target)):
        pending.add(connection, index, ids)


def _pending(target: Any) -> _Pending:
    session = _session(target)
    pending: _Pending | None = session.info.get(_PENDING)
    if pending is None:
        pending = session.info[_PENDING] = _Pending()
        event.listen(session, "after_flush", pending.push)
        event.listen(session, "after_soft_rollback", pending.drop)
    return pending


def _session(target: Any) -> Session:
    session = object_session(target)
    assert session is not None, "a flush is a session's"
    return session


def push_ids(connection: Connection, indexes: Sequence[ModelIndex], ids: Sequence[str]) -> None:
    """Push ids to each of these indexes; SchemaMismatch when the queue has no tables yet."""
    try:
        for index in indexes:
            push_changes(connection, index.collection.index, ids)
    except DBAPIError as error:
        remedy = mistake_error(error)
        if remedy is error:
            raise
        raise remedy from error
