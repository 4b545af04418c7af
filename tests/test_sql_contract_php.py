"""The queue by plain SQL from PHP, on both databases (Q8): push, claim and ack."""

from pathlib import Path

import pytest
from sqlalchemy import Engine

import contract_programs as programs
from client_programs import Program, php_program
from databases import claim_one, claimed, expire, push_all, row
from sakuin.queue import LeaseLost, ack, claim


@pytest.fixture
def php(engine: Engine, tmp_path: Path) -> Program:
    """Run a PHP program on the test's database and return what it prints."""
    return php_program(engine, tmp_path)


def php_claim(engine: Engine) -> str:
    is_sqlite = engine.dialect.name == "sqlite"
    return programs.PHP_CLAIM_SQLITE if is_sqlite else programs.PHP_CLAIM_MYSQL


def test_one_plain_insert_is_a_push(engine: Engine, php: Program) -> None:
    """Q8: a statement that names `data` alone, as in the article."""
    number = int(php(programs.PHP_PUSH, "人間 😀 %s ' \\"))
    message = claim_one(engine, "default")
    assert (message.id, message.priority, message.attempts) == (number, 5, 1)
    assert message.data.decode() == "人間 😀 %s ' \\"
    assert ack(engine, message) == frozenset()


def test_php_claims_and_acks(engine: Engine, php: Program) -> None:
    """Q8: claimed in order under a token of its own, invisible to others, then gone."""
    push_all(engine, "jobs", b"\x00one\xff", b"two", b"three")
    lines = php(php_claim(engine), "jobs", "2").split("\n")[:-1]
    got = [line.split(" ") for line in lines]
    assert [bytes.fromhex(data) for _, _, data in got] == [b"\x00one\xff", b"two"]
    assert claimed(engine, "jobs") == [b"three"]
    for number, token, _ in got:
        stored = row(engine, int(number))
        assert stored is not None
        assert (stored["token"].hex(), stored["attempts"]) == (token, 1)
        assert php(programs.PHP_ACK, number, token) == "ours"
        assert row(engine, int(number)) is None
        assert php(programs.PHP_ACK, number, token) == "lost"


def test_php_and_python_respect_each_others_leases(engine: Engine, php: Program) -> None:
    """Q3, Q8: whoever comes late changes nothing, in either language."""
    (number,) = push_all(engine, "jobs", b"a")
    (line,) = php(php_claim(engine), "jobs", "5").split("\n")[:-1]
    token = line.split(" ")[1]
    expire(engine, number)
    (message,) = claim(engine, "jobs", limit=5, lease_seconds=60)
    assert (message.id, message.attempts) == (number, 2)
    assert php(programs.PHP_ACK, str(number), token) == "lost"
    expire(engine, number)
    assert php(php_claim(engine), "jobs", "5").startswith(f"{number} ")
    with pytest.raises(LeaseLost):
        ack(engine, message)
