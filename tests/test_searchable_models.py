"""What can be declared, what is refused, and which classes share an index."""

# ruff: noqa: RUF012  a plain mapping is what people write

import re
import sys
import threading
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from pathlib import Path
from types import ModuleType
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import (
    Engine,
    ForeignKey,
    LargeBinary,
    Numeric,
    String,
    create_engine,
    select,
    update,
)
from sqlalchemy.orm import (
    DeclarativeBase,
    Mapped,
    MappedAsDataclass,
    Session,
    column_property,
    mapped_column,
    registry,
)

from article_models import Article, Note, site
from databases import DEADLINE_SECONDS
from sakuin.app.assemble import initialise, installation
from sakuin.app.index_workers import IndexWorkers
from sakuin.app.model_index import index_of, indexes_of
from sakuin.app.models import model_collections
from sakuin.app.searchable import BadDeclaration, Searchable, SearchFields
from sakuin.app.settings import SettingsError, read_settings
from sakuin.indexer.changes import read_changes
from sakuin.indexer.document import Document, Fields, Filter, FilterKind
from sakuin.queue import create_schema


class Base(DeclarativeBase):
    pass


class Color(Enum):
    RED = 1


class Thing(Searchable, Base):
    """One column of each type that has a meaning."""

    __tablename__ = "things"
    __searchable__ = SearchFields(
        {"name": 3, "nick": 1},
        stored=("price", "day", "moment", "key", "is_new", "loud"),
        filters=("color", "count", "day", "moment", "is_new", "key"),
        place=("color", "count"),
        created="moment",
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    name = mapped_column(String(60), nullable=False)
    nick: Mapped[str | None] = mapped_column(String(60))
    color: Mapped[Color]
    count: Mapped[int | None]
    price: Mapped[Decimal] = mapped_column(Numeric(10, 2))
    day: Mapped[date]
    moment: Mapped[datetime]
    is_new: Mapped[bool]
    key: Mapped[UUID]
    loud: Mapped[str] = column_property(name.column + "!")


def test_the_fields_of_an_index_follow_from_the_columns() -> None:
    assert index_of(Thing).collection.index.fields == Fields(
        searched=("name", "nick"),
        stored=("price", "day", "moment", "key", "is_new", "loud"),
        weights=(3.0, 1.0),
        filters=(
            Filter("color", FilterKind.KEYWORD),
            Filter("count", FilterKind.NUMBER),
            Filter("day", FilterKind.TIME),
            Filter("moment", FilterKind.TIME),
            Filter("is_new", FilterKind.NUMBER),
            Filter("key", FilterKind.KEYWORD),
        ),
        place=("color", "count"),
        timed=True,
        text_ids=False,
    )


def test_a_row_as_a_document(engine: Engine) -> None:
    """I5: texts as Python writes them, times in microseconds UTC, NULL an empty text or nothing."""
    Base.metadata.create_all(engine, [Base.metadata.tables["things"]])
    moment = datetime.fromisoformat("2024-01-02T03:04:05.000006")
    key = UUID(int=7)
    with Session(engine) as session:
        session.add(
            Thing(
                id=5,
                name="東京",
                color=Color.RED,
                price=Decimal("1.50"),
                day=date(1969, 12, 31),
                moment=moment,
                is_new=True,
                key=key,
            )
        )
        session.commit()
    loader = index_of(Thing).loader
    with engine.connect() as connection:
        (found,) = loader.load(connection, ["5", "6", "05", "x", "9" * 30])
        connection.rollback()
        connection.execute(update(Thing).values(count=3))
        (changed,) = loader.load(connection, ["5"])
    # MariaDB's DATETIME has whole seconds unless the model says otherwise.
    at = (moment.replace(tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(
        microseconds=1
    )
    at -= 6 if engine.dialect.name == "mysql" else 0
    written = moment.replace(microsecond=0) if engine.dialect.name == "mysql" else moment
    assert found == Document(
        id="5",
        number=5,
        at=at,
        digest=found.digest,
        text={
            "name": "東京",
            "nick": "",
            "price": "1.50",
            "day": "1969-12-31",
            "moment": written.isoformat(),
            "key": str(key),
            "is_new": "true",
            "loud": "東京!",
        },
        values={
            "color": "RED",
            "day": -86_400_000_000,
            "moment": at,
            "is_new": 1,
            "key": str(key),
        },
    )
    assert changed.values["count"] == 3
    assert changed.digest != found.digest


@pytest.mark.parametrize(
    ("declared", "why"),
    [
        ({}, "at least one searched field"),
        ({"titel": 1.0}, "Odd.__searchable__ names 'titel', which is no mapped column; known: id,"),
        ({"count": 1.0}, "searches 'count', which is no text"),
        ({"title": 0}, "weights must be above 0"),
        ({"title": "2"}, "the weight '2'"),
        (["title"], "must be a mapping of column names and weights"),
        (SearchFields({"title": 1}, stored=("data",)), "stores 'data'"),
        (SearchFields({"title": 1}, filters=("ratio",)), "filters by 'ratio', a float"),
        (SearchFields({"title": 1}, filters=("title",)), "named twice"),
        (SearchFields({"title": 1}, created="count"), "'count' for created, which is no time"),
        (SearchFields({"title": 1}, place=("title", "count")), "place"),
        (SearchFields({"title": 1}, title="{titel}"), "names 'titel'; known: id, title"),
        (SearchFields({"title": 1}, url="articles/{id}"), "must begin with https"),
        (SearchFields({"title": 1}, index="Odd Index"), "cannot be the name of an index"),
    ],
)
def test_a_declaration_that_cannot_be_is_refused_when_the_class_is_made(
    declared: Any, why: str
) -> None:
    class Own(DeclarativeBase):
        pass

    with pytest.raises(BadDeclaration, match=re.escape(why)):

        class Odd(Searchable, Own):
            __tablename__ = "odd"
            __searchable__ = declared

            id: Mapped[int] = mapped_column(primary_key=True)
            title: Mapped[str]
            count: Mapped[int]
            ratio: Mapped[float]
            data: Mapped[bytes]


def test_what_is_forgotten_is_told() -> None:
    class Own(DeclarativeBase):
        pass

    with pytest.raises(BadDeclaration, match=r"Bare.__searchable__ must be a mapping"):

        class Bare(Searchable, Own):
            __tablename__ = "bare"
            id: Mapped[int] = mapped_column(primary_key=True)

    with pytest.raises(BadDeclaration, match=r"the key 'code' is a bytes"):

        class Odd(Searchable, Own):
            __tablename__ = "odd"
            __searchable__ = {"title": 1.0}
            code: Mapped[bytes] = mapped_column(LargeBinary(16), primary_key=True)
            title: Mapped[str]


class Media(Searchable, Base):
    __tablename__ = "media"
    __searchable__ = {"title": 1.0}
    __mapper_args__ = {"polymorphic_on": "kind", "polymorphic_identity": "media"}

    id: Mapped[int] = mapped_column(primary_key=True)
    kind: Mapped[str]
    title: Mapped[str]


class Picture(Media):
    """Shares the table, and the index, of media."""

    __mapper_args__ = {"polymorphic_identity": "picture"}


class Film(Media):
    """A table and an index of its own; films are media too."""

    __tablename__ = "films"
    __searchable__ = {"title": 1.0, "plot": 1.0}
    __mapper_args__ = {"polymorphic_identity": "film"}

    id: Mapped[int] = mapped_column(ForeignKey("media.id"), primary_key=True)
    plot: Mapped[str]


class Page(Searchable, Base):
    """Not a table: whoever derives from it has an index of its own."""

    __abstract__ = True
    __searchable__ = {"body": 1.0}
    body: Mapped[str]


class Recipe(Page):
    __tablename__ = "recipes"
    id: Mapped[int] = mapped_column(primary_key=True)


class Song(Recipe):
    """Concrete: its rows are in its own table alone, and in its own index alone."""

    __tablename__ = "songs"
    __mapper_args__ = {"concrete": True}

    id: Mapped[int] = mapped_column(primary_key=True)
    body: Mapped[str]


class Diary(Page):
    __tablename__ = "diaries"
    id: Mapped[int] = mapped_column(primary_key=True)


plain = registry()


@plain.mapped
class Letter(Searchable):
    __tablename__ = "letters"
    __searchable__ = {"body": 1.0}

    id: Mapped[int] = mapped_column(primary_key=True)
    body: Mapped[str]


class DataBase(MappedAsDataclass, DeclarativeBase):
    pass


class Card(Searchable, DataBase):
    __tablename__ = "cards"
    __searchable__ = {"front": 1.0}

    id: Mapped[int] = mapped_column(primary_key=True, init=False)
    front: Mapped[str]


@pytest.fixture
def memory() -> Iterator[Engine]:
    """An application's own engine."""
    engine = create_engine("sqlite://")
    create_schema(engine)
    for metadata in (Base.metadata, plain.metadata, DataBase.metadata):
        metadata.create_all(engine)
    yield engine
    engine.dispose()


def pushed(engine: Engine) -> list[tuple[str, str]]:
    with engine.connect() as connection:
        rows = connection.exec_driver_sql("SELECT queue, data FROM sakuin_messages ORDER BY queue")
        return [
            (queue.removeprefix("index:"), ",".join(read_changes(data))) for queue, data in rows
        ]


def names(model: type) -> list[str]:
    return [each.collection.index.name for each in indexes_of(model)]


def test_which_classes_share_an_index(memory: Engine) -> None:
    assert names(Media) == names(Picture) == ["media"]
    assert names(Film) == ["films", "media"]
    assert names(Song) == ["songs"]
    assert (names(Recipe), names(Diary)) == (["recipes"], ["diaries"])
    assert (names(Letter), names(Card)) == (["letters"], ["cards"])
    with pytest.raises(TypeError, match="Picture is in the index of Media"):
        Picture.count_fulltext("x")
    with pytest.raises(TypeError, match="no searchable model"):
        indexes_of(Base)
    with Session(memory) as session:
        session.add_all([Media(title="a"), Picture(title="b"), Film(title="c", plot="d")])
        session.commit()
        ids = {each.title: str(each.id) for each in session.scalars(select(Media))}
        letter = Letter()
        letter.body = "e"
        session.add_all([letter, Card(front="f"), Recipe(body="g"), Song(body="h")])
        session.commit()
    assert sorted(pushed(memory)) == [
        ("cards", "1"),
        ("films", ids["c"]),
        ("letters", "1"),
        ("media", ",".join(sorted(ids.values()))),
        ("recipes", "1"),
        ("songs", "1"),
    ]
    with memory.connect() as connection:
        loaded = index_of(Media).loader.load(connection, list(ids.values()))
        assert [each.text["title"] for each in loaded] == ["a", "b", "c"]
        (film,) = index_of(Film).loader.load(connection, list(ids.values()))
        assert film.text == {"title": "c", "plot": "d"}
        assert index_of(Film).loader.ids_after(connection, None, 9) == [film.id]


def test_the_models_of_a_module() -> None:
    found = model_collections(["article_models"])
    assert [each.index.name for each in found] == ["articles", "poem_lines", "public_notes"]
    assert found[0] is index_of(Article).collection
    assert model_collections(["article_models", "article_models"]) == found
    assert model_collections([]) == []
    with pytest.raises(SettingsError, match="'no_such_shop' cannot be imported"):
        model_collections(["no_such_shop"])
    with pytest.raises(SettingsError, match="'json' has no model"):
        model_collections(["json"])


def test_two_models_cannot_claim_one_index(monkeypatch: pytest.MonkeyPatch) -> None:
    class Own(DeclarativeBase):
        pass

    class Other(Searchable, Own):
        __tablename__ = "other_articles"
        __searchable__ = SearchFields({"body": 1.0}, index="articles")
        id: Mapped[int] = mapped_column(primary_key=True)
        body: Mapped[str]

    module = ModuleType("second_shop")
    vars(module)["Base"] = Own  # the base alone will do
    monkeypatch.setitem(sys.modules, "second_shop", module)
    assert model_collections(["second_shop"]) == [index_of(Other).collection]
    with pytest.raises(SettingsError, match=r"article_models.Article and .*Other both claim"):
        model_collections(["article_models", "second_shop"])


def test_one_daemon_works_for_several_models(tmp_path: Path) -> None:
    flags = {"data_dir": tmp_path, "models": "article_models", "engine": "tantivy"}
    chosen = read_settings(flags, {}, tmp_path)
    with installation(chosen) as opened:
        initialise(opened.parts())
        with site(opened.database, tmp_path) as shop, shop.session() as session:
            session.add_all([Article(title="東京", body=""), Note(name="n", text="東京")])
            session.commit()
            working = IndexWorkers(opened)
            patience = threading.Timer(DEADLINE_SECONDS, working.stop.set)
            patience.start()
            assert working.drain() == 0
            patience.cancel()
            assert Article.count_fulltext("東京") == Note.count_fulltext("東京") == 1
