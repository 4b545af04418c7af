"""The migration recipe of docs/python.md, run by Alembic on real databases."""

import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from alembic.config import main as alembic
from sqlalchemy import Engine, inspect

from doc_blocks import block
from sakuin.queue import create_schema, push, schema_sql

INI = """\
[alembic]
script_location = {folder}/migrations
path_separator = os
sqlalchemy.url = {url}
"""


@pytest.fixture
def run(database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Run the alembic command in a project of the recipe's files."""
    versions = tmp_path / "migrations" / "versions"
    versions.mkdir(parents=True)
    (versions / "sakuin_queue.py").write_text(block("python.md", "revision"))
    (versions.parent / "env.py").write_text(block("python.md", "env.py"))
    (versions.parent / "script.py.mako").write_text("")
    shop = "from sqlalchemy.orm import DeclarativeBase\nclass Base(DeclarativeBase):\n    pass\n"
    (tmp_path / "shop.py").write_text(shop)
    ini = tmp_path / "alembic.ini"
    ini.write_text(INI.format(folder=tmp_path, url=database_url.replace("%", "%%")))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "shop", raising=False)
    return lambda *words: alembic(["-c", str(ini), *words])


def test_the_recipe_makes_and_drops_the_tables(
    run: Callable[..., None], database_url: str, open_database: Callable[[str], Engine]
) -> None:
    database = open_database(database_url)
    wanted = set(re.findall(r"EXISTS (sakuin_\w+) \(", schema_sql("mysql")))
    for _ in range(2):
        run("upgrade", "head")
        assert set(inspect(database).get_table_names()) == wanted | {"alembic_version"}
        create_schema(database)  # finds nothing to do
        with database.begin() as connection:
            push(connection, "q", b"works")
        run("check")  # nothing to autogenerate: the tables are left alone
        run("downgrade", "base")
        assert inspect(database).get_table_names() == ["alembic_version"]
