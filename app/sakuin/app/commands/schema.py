"""`sakuin schema sql`."""

from enum import StrEnum
from typing import Annotated

import typer
from sqlalchemy.dialects import mysql, sqlite

from sakuin.app.attached import attached_sql
from sakuin.app.commands.options import SearchLogging, put
from sakuin.app.paragraph import tables_sql
from sakuin.app.search_log_tables import search_log_sql
from sakuin.app.settings import read_settings
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
    search_log: SearchLogging = None,
) -> None:
    """Print the CREATE TABLE statements that `sakuin init` runs, for those who run them by hand.

    Those of the search log are among them where it is on.
    """
    own = tables_sql(mysql.dialect() if dialect is Dialect.MYSQL else sqlite.dialect())
    script = schema_sql(dialect.value) + "\n" + own + "\n" + attached_sql(dialect.value)
    if read_settings({"search_log": search_log}).search_log:
        script += ";\n\n" + search_log_sql(dialect.value)
    put(script)
