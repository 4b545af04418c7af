"""The programs of docs/queue-by-sql.md, which the tests run word for word."""

import re
from pathlib import Path

_TEXT = (Path(__file__).resolve().parents[1] / "docs" / "queue-by-sql.md").read_text("utf-8")


def _program(name: str) -> str:
    found = re.search(rf"<!-- test: {name} -->\n```\w+\n(.*?)```", _TEXT, re.DOTALL)
    assert found, f"docs/queue-by-sql.md has no program {name}"
    return found[1]


PHP_PUSH = _program("PHP_PUSH")
PHP_CLAIM_MYSQL = _program("PHP_CLAIM_MYSQL")
PHP_CLAIM_SQLITE = _program("PHP_CLAIM_SQLITE")
PHP_ACK = _program("PHP_ACK")
SHELL_PUSH_MYSQL = _program("SHELL_PUSH_MYSQL")
SHELL_CLAIM_MYSQL = _program("SHELL_CLAIM_MYSQL")
SHELL_ACK_MYSQL = _program("SHELL_ACK_MYSQL")
SQLITE_PUSH = _program("SQLITE_PUSH")
SQLITE_CLAIM = _program("SQLITE_CLAIM")
SQLITE_ACK = _program("SQLITE_ACK")
