"""The paragraphs table, and what a paragraph may be. Knows no index and no message."""

from datetime import datetime
from typing import Any

from sqlalchemy import (
    BigInteger,
    DateTime,
    Engine,
    Integer,
    String,
    Text,
    UniqueConstraint,
    inspect,
)
from sqlalchemy.dialects import mysql
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column
from sqlalchemy.schema import CreateTable
from sqlalchemy.sql.functions import FunctionElement

from sakuin.app.refused import Refused
from sakuin.app.searchable import Searchable, SearchFields
from sakuin.queue import read, replay

MOST_BODY_BYTES = 1 << 20
MOST_SOURCE_CHARACTERS = 255
PARAGRAPH_URL = "/paragraphs/{id}"


class utc_now(FunctionElement[datetime]):  # noqa: N801  spelled as the SQL function that it is
    """The database's clock, UTC, to the microsecond (never a host clock or session zone)."""

    type = DateTime()
    inherit_cache = True


@compiles(utc_now, "mysql")
@compiles(utc_now, "mariadb")
def _mysql_now(_element: Any, _compiler: Any, **_: Any) -> str:
    return "(UTC_TIMESTAMP(6))"


@compiles(utc_now, "sqlite")
def _sqlite_now(_element: Any, _compiler: Any, **_: Any) -> str:
    return "(strftime('%Y-%m-%d %H:%M:%f000', 'now'))"


class Base(DeclarativeBase):
    """The tables of the application."""


_KEY = (
    BigInteger()
    .with_variant(Integer, "sqlite")
    .with_variant(mysql.BIGINT(unsigned=True), "mysql", "mariadb")
)
_TIME = DateTime().with_variant(mysql.DATETIME(fsp=6), "mysql", "mariadb")
_BODY = Text().with_variant(mysql.MEDIUMTEXT(), "mysql", "mariadb")


class Paragraph(Searchable, Base):
    """One paragraph of a source text. (source, position) is unique; times are UTC."""

    __tablename__ = "paragraphs"
    __searchable__ = SearchFields(
        {"body": 1.0},
        stored=("source", "position"),
        filters=("source", "position"),
        place=("source", "position"),
        created="created_at",
        title="{source} {position}",
        url=PARAGRAPH_URL,
    )
    __table_args__ = (
        UniqueConstraint("source", "position"),
        {
            "mysql_engine": "InnoDB",
            "mysql_charset": "utf8mb4",
            "mysql_collate": "utf8mb4_bin",
            "mariadb_engine": "InnoDB",
            "mariadb_charset": "utf8mb4",
            "mariadb_collate": "utf8mb4_bin",
            "sqlite_autoincrement": True,
        },
    )

    id: Mapped[int] = mapped_column(_KEY, primary_key=True, autoincrement=True)
    source: Mapped[str] = mapped_column(String(MOST_SOURCE_CHARACTERS))
    position: Mapped[int] = mapped_column(_KEY)
    body: Mapped[str] = mapped_column(_BODY)
    version: Mapped[int] = mapped_column(Integer, server_default="1")
    created_at: Mapped[datetime] = mapped_column(_TIME, server_default=utc_now())
    updated_at: Mapped[datetime] = mapped_column(_TIME, server_default=utc_now())


def create_tables(database: Engine) -> None:
    """Create the table where it is not there; safe to repeat, and for two at once."""
    name = Paragraph.__tablename__
    if read(database, lambda connection: inspect(connection).has_table(name)):
        return  # who may not create tables need not, where they are there
    statement = CreateTable(Paragraph.__table__, if_not_exists=True)  # type: ignore[arg-type]
    replay(database, lambda connection: connection.execute(statement))


def tables_sql(dialect: Any) -> str:
    """Return the CREATE TABLE statement for a SQLAlchemy dialect."""
    statement = CreateTable(Paragraph.__table__, if_not_exists=True)  # type: ignore[arg-type]
    return str(statement.compile(dialect=dialect)).strip() + ";\n"


def check_body(body: str) -> str:
    """Return the body if it can be stored; Refused otherwise.

    A body is 1 character to 1 MiB of UTF-8, not all blank, without NUL and lone surrogates.
    """
    if not body or body.isspace():
        raise Refused("body", "is empty: write at least one character")
    _check_characters("body", body)
    size = len(body) if body.isascii() else len(body.encode())
    if size > MOST_BODY_BYTES:
        raise Refused("body", f"takes {size:,} bytes, more than {MOST_BODY_BYTES:,}: split it")
    return body


def check_source(source: str) -> str:
    """Return the source's name if it can be stored (1 to 255 characters); Refused otherwise."""
    if not source or source.isspace():
        raise Refused("source", "is empty: name the text that the paragraph belongs to")
    _check_characters("source", source)
    if len(source) > MOST_SOURCE_CHARACTERS:
        raise Refused(
            "source",
            f"has {len(source)} characters, more than {MOST_SOURCE_CHARACTERS}: shorten it",
        )
    return source


def _check_characters(field: str, value: str) -> None:
    if "\0" in value:
        raise Refused(field, f"holds a NUL character at {value.index(chr(0))}: remove it")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        code = ord(value[error.start])
        raise Refused(
            field, f"holds a lone surrogate U+{code:04X} at {error.start}: it is not a character"
        ) from None
