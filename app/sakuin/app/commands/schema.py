"""`sakuin schema sql`."""

from enum import StrEnum
from typing import Annotated

import typer
from sqlalchemy.dialects import mysql, sqlite

from sakuin.app.attached import attached_sql
from sakuin.app.commands.options import put
from sakuin.app.paragraph import tables_sql
from sakuin.queue import schema_sql

schema = typer.Typer(no_args_is_help=True, help="The tables, as SQL.")


class Dialect(StrEnum):
    """The SQL dialects that the tables are written in."""

    MYSQL = "mysql"
    SQLITE = "sqlite"


@schema.callback()
def _group() -> None:
    """The tables, as SQL."""


@schema.command()
def sql(
    dialect: Annotated[
        Dialect,
        typer.Option(
            help="mysql (MariaDB too) or sqlite. (no variable; default: mysql)", show_default=False
        ),
    ] = Dialect.MYSQL,
) -> None:
    """Print the CREATE TABLE statements that `sakuin init` runs, for those who run them by hand."""
    own = tables_sql(mysql.dialect() if dialect is Dialect.MYSQL else sqlite.dialect())
    put(schema_sql(dialect.value) + "\n" + own + "\n" + attached_sql(dialect.value))
