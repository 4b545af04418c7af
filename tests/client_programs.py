"""Runs the PHP and shell programs of the documentation on a test's database."""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import Engine

IS_CI = bool(os.environ.get("CI"))
Program = Callable[..., str]
"""Takes the text of a program and its arguments, and returns what it prints."""


def php_program(engine: Engine, folder: Path) -> Program:
    """Return what runs PHP; each program is told where the database is, then its arguments."""
    driver = "pdo_sqlite" if engine.dialect.name == "sqlite" else "pdo_mysql"
    need_php(driver)
    url = engine.url
    if engine.dialect.name == "sqlite":
        place = [f"sqlite:{url.database}", "", ""]
    else:
        dsn = f"mysql:host={url.host};port={url.port};dbname={url.database};charset=utf8mb4"
        place = [dsn, str(url.username), str(url.password)]

    def run(program: str, *arguments: str) -> str:
        source = folder / "program.php"
        source.write_text(program, encoding="utf-8")
        done = subprocess.run(
            ["php", str(source), *place, *arguments], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run


def need_php(driver: str) -> None:
    """Skip, or in CI fail, where there is no PHP with this module."""
    has_php = shutil.which("php") is not None
    if has_php:
        listed = subprocess.run(["php", "-m"], capture_output=True, text=True, check=True).stdout
        has_php = driver in listed.split()
    if not has_php:
        skip(f"PHP not tested: no php with {driver}; apt-get install php-cli php-mysql php-sqlite3")


def client_program(engine: Engine) -> Program:
    """Return what runs shell programs that call the mariadb client; its options come last."""
    if shutil.which("mariadb") is None:
        skip("shell not tested: no mariadb client; apt-get install mariadb-client")
    url = engine.url
    place = [f"-h{url.host}", f"-P{url.port}", f"-u{url.username}", str(url.database)]
    environment = {**os.environ, "MYSQL_PWD": str(url.password)}

    def run(program: str, *arguments: str) -> str:
        done = subprocess.run(
            ["sh", "-ec", program, "sh", *arguments, *place],
            capture_output=True,
            text=True,
            check=False,
            env=environment,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout.strip()

    return run


def skip(reason: str) -> None:
    """Skip the test; in CI, where everything is installed, fail."""
    if IS_CI:
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)
