"""The queue by plain SQL from a shell, on both databases (Q8): push, claim and ack."""

import shutil
import sqlite3
import subprocess
from collections.abc import Callable

import pytest
from sqlalchemy import Engine

import contract_programs as programs
from client_programs import Program, client_program
from databases import claim_one, claimed, expire, push_all, row
from sakuin.queue import LeaseLost, ack, create_schema


@pytest.fixture
def mariadb(mariadb_url: str, open_database: Callable[[str], Engine]) -> Engine:
    engine = open_database(mariadb_url)
    create_schema(engine)
    return engine


@pytest.fixture
def shell(mariadb: Engine) -> Program:
    """Run a shell program that calls the mariadb client on the test's database."""
    return client_program(mariadb)


def test_the_client_pushes_claims_and_acks(mariadb: Engine, shell: Program) -> None:
    """Q8: one INSERT, one transaction, one DELETE."""
    shell(programs.SHELL_PUSH_MYSQL)
    shell(programs.SHELL_PUSH_MYSQL)
    number, token, data = shell(programs.SHELL_CLAIM_MYSQL).split("\t")
    assert bytes.fromhex(data) == b"from the shell"
    stored = row(mariadb, int(number))
    assert stored is not None
    assert (stored["token"].hex().upper(), stored["attempts"]) == (token, 1)
    other = claim_one(mariadb, "default")
    assert other.id != int(number)
    assert shell(programs.SHELL_CLAIM_MYSQL) == ""
    assert shell(programs.SHELL_ACK_MYSQL, number, token) == "ours"
    assert shell(programs.SHELL_ACK_MYSQL, number, token) == "lost"
    assert row(mariadb, int(number)) is None
    assert ack(mariadb, other) == frozenset()


def test_the_client_and_python_respect_each_others_leases(mariadb: Engine, shell: Program) -> None:
    """Q3, Q8: late in either is late."""
    (number,) = push_all(mariadb, "default", b"a")
    message = claim_one(mariadb, "default")
    expire(mariadb, number)
    assert shell(programs.SHELL_CLAIM_MYSQL).startswith(f"{number}\t")
    with pytest.raises(LeaseLost):
        ack(mariadb, message)
    assert shell(programs.SHELL_ACK_MYSQL, str(number), message.token.hex()) == "lost"


@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
@pytest.mark.parametrize("how", ["sqlite3", "python"])
def test_plain_sqlite_pushes_claims_and_acks(engine: Engine, how: str) -> None:
    """Q8: the same three on a SQLite file, by its own command or by any SQLite library."""
    if how == "sqlite3" and shutil.which("sqlite3") is None:
        pytest.skip("sqlite3 not tested: no such command; apt-get install sqlite3")
    path = str(engine.url.database)
    run = by_command if how == "sqlite3" else by_library
    assert run(path, programs.SQLITE_PUSH) == []
    push_all(engine, "default", b"from python")
    (line,) = run(path, programs.SQLITE_CLAIM)
    number, token, data = line.split("|")
    assert bytes.fromhex(data) == b"from the shell"
    assert claimed(engine, "default") == [b"from python"]
    assert run(path, programs.SQLITE_CLAIM) == []
    acked = programs.SQLITE_ACK.format(id=number, token=token)
    assert run(path, acked) == ["ours"]
    assert run(path, acked) == ["lost"]


def test_text_pushed_by_sql_arrives_as_bytes(engine: Engine) -> None:
    """A SQL string is UTF-8 bytes to whoever claims it."""
    with engine.begin() as connection:
        connection.exec_driver_sql("INSERT INTO sakuin_messages (data) VALUES ('索引 é')")
    message = claim_one(engine, "default")
    assert message.data == "索引 é".encode()


def by_command(path: str, sql: str) -> list[str]:
    done = subprocess.run(["sqlite3", path, sql], capture_output=True, text=True, check=True)
    return done.stdout.split("\n")[:-1]


def by_library(path: str, sql: str) -> list[str]:
    """Run the statements one by one and return the rows as `sqlite3` prints them."""
    connection = sqlite3.connect(path, isolation_level=None)
    lines = []
    for statement in sql.split(";\n"):
        lines += ["|".join(map(str, one)) for one in connection.execute(statement)]
    connection.close()
    return lines
