"""Transactions that lose a race or a connection before COMMIT are run again, whole (Q6)."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import Connection, Engine, event

from databases import Servers, claim_one, claimed, fresh_schema, push_all
from sakuin.queue import (
    DatabaseBusy,
    ack,
    claim,
    create_schema,
    open_engine,
    push,
    read,
    replay,
)
from sakuin.queue.dialect import execute

SET_PRIORITY = "UPDATE sakuin_messages SET priority = ? WHERE id = ?"


@pytest.fixture
def mariadb(servers: Servers) -> Iterator[Engine]:
    with fresh_schema(servers.private().url) as url:
        engine = open_engine(url)
        create_schema(engine)
        yield engine
        engine.dispose()


def priorities(engine: Engine) -> list[int]:
    sql = "SELECT priority FROM sakuin_messages ORDER BY id"
    return list(read(engine, lambda connection: execute(connection, sql).scalars().all()))


def test_a_real_deadlock_is_replayed(mariadb: Engine) -> None:
    """Q6: two transactions lock two rows crosswise; the server undoes one, both come through."""
    first, second = push_all(mariadb, "q", b"a", b"b")
    meet = threading.Barrier(2, timeout=20)
    tries: list[str] = []

    def cross(name: str, one: int, two: int, value: int) -> None:
        def work(connection: Connection) -> None:
            is_first_try = name not in tries
            tries.append(name)
            execute(connection, SET_PRIORITY, value, one)
            if is_first_try:
                meet.wait()
            execute(connection, SET_PRIORITY, value, two)

        replay(mariadb, work)

    threads = [
        threading.Thread(target=cross, args=("left", first, second, 7)),
        threading.Thread(target=cross, args=("right", second, first, 9)),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len(tries) == 3
    assert priorities(mariadb) in ([7, 7], [9, 9])


def test_a_lock_that_is_not_had_in_time_is_replayed(mariadb: Engine) -> None:
    """Q6: 1205 rolls back the statement alone; the whole transaction is run again."""
    (number,) = push_all(mariadb, "q", b"a")
    tries: list[int] = []
    with mariadb.connect() as holder:
        execute(holder, SET_PRIORITY, 1, number)

        def work(connection: Connection) -> None:
            tries.append(1)
            if len(tries) == 2:
                holder.commit()
            connection.exec_driver_sql("SET SESSION innodb_lock_wait_timeout = 1")
            push(connection, "q", b"with it")
            execute(connection, SET_PRIORITY, 2, number)

        replay(mariadb, work)
    assert len(tries) == 2
    assert priorities(mariadb) == [2, 5]


def kill(engine: Engine, connection: Connection) -> None:
    """Kill this connection's session, as an administrator or a crash would."""
    number = connection.connection.dbapi_connection.thread_id()  # type: ignore[union-attr]
    with engine.connect() as other:
        other.exec_driver_sql(f"KILL {number}")


@contextmanager
def killed_at(engine: Engine, admin: Engine, number: int) -> Iterator[list[str]]:
    """Kill the session just before its statement of this number (COMMIT is not counted)."""
    statements: list[str] = []

    def count(connection: Connection, _cursor: object, sql: str, *_rest: object) -> None:
        statements.append(sql)
        if len(statements) == number:
            kill(admin, connection)

    event.listen(engine, "before_cursor_execute", count)
    yield statements
    event.remove(engine, "before_cursor_execute", count)


def test_a_killed_connection_is_replaced(mariadb: Engine) -> None:
    """Q6: lost before COMMIT means undone: the whole is run once more on a new connection."""
    tries: list[int] = []

    def work(connection: Connection) -> int:
        tries.append(1)
        number = push(connection, "q", b"a")
        if len(tries) == 1:
            kill(mariadb, connection)
        push(connection, "q", b"b")
        return number

    number = replay(mariadb, work)
    assert len(tries) == 2
    (message,) = claim(mariadb, "q", limit=1, lease_seconds=60)
    assert (message.id, message.data) == (number, b"a")
    assert claimed(mariadb) == [b"b"]


def test_claim_and_ack_survive_a_kill_before_every_statement(mariadb: Engine) -> None:
    """Q5, Q6: the Nth statement fails, for every N; each message is settled exactly once."""
    admin = open_engine(mariadb.url.render_as_string(hide_password=False))
    number, is_reached = 0, True
    while is_reached:
        number += 1
        ids = push_all(mariadb, "q", b"a", b"b")
        with killed_at(mariadb, admin, number) as statements:
            batch = claim(mariadb, "q", limit=2, lease_seconds=60)
            assert [one.id for one in batch] == ids
            assert [one.attempts for one in batch] == [1, 1]
            assert ack(mariadb, batch) == frozenset()
            is_reached = len(statements) >= number
        assert priorities(mariadb) == []
    assert number > 4
    admin.dispose()


def test_a_read_is_run_again(mariadb: Engine) -> None:
    """A read changes nothing, so a lost connection is no matter."""
    tries: list[int] = []

    def look(connection: Connection) -> int:
        tries.append(1)
        if len(tries) == 1:
            kill(mariadb, connection)
        return int(connection.exec_driver_sql("SELECT 7").scalar_one())

    assert read(mariadb, look) == 7
    assert len(tries) == 2


def test_a_locked_sqlite_file_is_replayed(
    tmp_path: Path, open_database: Callable[[str], Engine]
) -> None:
    """Q6: "database is locked" is a lost race, too."""
    url = f"sqlite:///{tmp_path / 'q.db'}"
    create_schema(open_database(url))
    impatient = open_database(f"{url}?timeout=0.01")
    done = threading.Event()

    def write() -> None:
        replay(impatient, lambda connection: push(connection, "q", b"patient"))
        done.set()

    holder = open_database(url).connect()
    with holder:
        holder.begin()
        thread = threading.Thread(target=write)
        thread.start()
        assert not done.wait(0.1)
        holder.commit()
    assert done.wait(20)
    thread.join()
    assert claimed(impatient) == [b"patient"]


def test_a_transaction_that_always_loses_gives_up(
    tmp_path: Path, open_database: Callable[[str], Engine]
) -> None:
    """DatabaseBusy after a bounded number of tries, with nothing changed."""
    url = f"sqlite:///{tmp_path / 'q.db'}"
    engine = open_database(url)
    create_schema(engine)
    impatient = open_database(f"{url}?timeout=0.001")
    with engine.begin(), pytest.raises(DatabaseBusy, match="locked"):
        replay(impatient, lambda connection: push(connection, "q", b"a"))
    assert claimed(engine) == []


def test_what_the_work_raises_undoes_it(engine: Engine) -> None:
    """An error that is not the database's is the caller's, once."""
    tries: list[int] = []

    def work(connection: Connection) -> None:
        tries.append(1)
        push(connection, "q", b"a")
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        replay(engine, work)
    assert tries == [1]
    assert claimed(engine) == []
    push_all(engine, "q", b"b")
    assert claim_one(engine).data == b"b"
