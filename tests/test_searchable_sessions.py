"""Every way in which a session changes rows, and every kind of session and engine."""

import asyncio
import gc
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID, uuid4

import pytest
from sqlalchemy import BigInteger, Engine, ForeignKey, String, create_engine, insert, select, update
from sqlalchemy.dialects import mysql
from sqlalchemy.event import registry as listeners
from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine
from sqlalchemy.orm import (
    DeclarativeBase,
    Mapped,
    Session,
    mapped_column,
    relationship,
    scoped_session,
    sessionmaker,
)

import article_models
from article_models import Article, Line, Site, site
from sakuin.app.model_index import index_of
from sakuin.app.searchable import Searchable, SearchFields, enqueue
from sakuin.queue import create_schema, open_engine


class Base(DeclarativeBase):
    pass


class Author(Searchable, Base):
    __tablename__ = "authors"
    __searchable__ = SearchFields({"name": 1.0})

    code: Mapped[str] = mapped_column(String(30), primary_key=True)
    name: Mapped[str] = mapped_column(String(60))
    poems: Mapped[list["Poem"]] = relationship(cascade="all, delete-orphan")


class Poem(Searchable, Base):
    __tablename__ = "author_poems"
    __searchable__ = SearchFields({"words": 1.0})

    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid4)
    words: Mapped[str] = mapped_column(String(60))
    author_code: Mapped[str] = mapped_column(ForeignKey("authors.code"))


class Star(Searchable, Base):
    """Its numbers go beyond 63 bits."""

    __tablename__ = "stars"
    __searchable__ = SearchFields({"name": 1.0}, text_ids=True)

    id: Mapped[int] = mapped_column(
        BigInteger().with_variant(mysql.BIGINT(unsigned=True), "mysql"), primary_key=True
    )
    name: Mapped[str] = mapped_column(String(60))


class Planet(Searchable, Base):
    __tablename__ = "planets"
    __searchable__ = SearchFields({"name": 1.0})

    id: Mapped[int] = mapped_column(
        BigInteger().with_variant(mysql.BIGINT(unsigned=True), "mysql"), primary_key=True
    )
    name: Mapped[str] = mapped_column(String(60))


@pytest.fixture
def shop(engine: Engine, tmp_path: Path) -> Iterator[Site]:
    with site(engine, tmp_path, Base) as made:
        yield made


def sets(messages: list[tuple[str, ...]]) -> list[set[str]]:
    return [set(ids) for ids in messages]


def test_cascades_and_orphans(shop: Site) -> None:
    with shop.session() as session:
        author = Author(code="b", name="芭蕉", poems=[Poem(words=w) for w in "春夏秋"])
        session.add(author)
        session.commit()
        ids = [str(each.id) for each in author.poems]
        session.commit()
        assert shop.pushed(Author) == [("b",)]
        assert sets(shop.pushed(Poem)) == [set(ids)]
        author.poems.pop(0)
        session.commit()
        assert shop.pushed(Author) == []
        assert shop.pushed(Poem) == [(ids[0],)]
        session.delete(author)
        session.commit()
    assert shop.pushed(Author) == [("b",)]
    assert sets(shop.pushed(Poem)) == [set(ids[1:])]


def test_merge(shop: Site) -> None:
    with shop.session() as session:
        session.merge(Author(code="a", name="一"))
        session.commit()
        session.merge(Author(code="a", name="一"))
        session.commit()
        session.merge(Author(code="a", name="二"))
        session.commit()
    assert shop.pushed(Author) == [("a",), ("a",)]


def test_what_the_session_does_in_bulk_is_told_by_enqueue(shop: Site) -> None:
    authors = [Author(code=f"c{n}", name=f"{n}") for n in range(5)]
    with shop.session() as session:
        session.bulk_save_objects(authors)
        assert enqueue(session, Author, [each.code for each in authors]) == 5
        session.commit()
        session.execute(insert(Author), [{"code": "d", "name": "d"}])
        session.commit()
    assert shop.pushed(Author) == [("c0", "c1", "c2", "c3", "c4")]


def test_more_than_one_flush_and_model_in_a_transaction(shop: Site) -> None:
    with shop.session() as session:
        session.add_all([Author(code="x", name="x"), Star(id=1, name="x")])
        session.flush()
        session.add(Author(code="y", name="y"))
        session.commit()
    assert shop.pushed(Author) == [("x",), ("y",)]
    assert shop.pushed(Star) == [("1",)]


@pytest.mark.parametrize(
    ("keys", "why"),
    [
        ("abc", "takes a list of keys"),
        ([5], "5 is no primary key of Author: give str"),
        ([("a", "b")], "no primary key of Author"),
        ([None], "None is no primary key"),
    ],
)
def test_wrong_keys_are_named(shop: Site, keys: object, why: str) -> None:
    with shop.session() as session, pytest.raises(TypeError, match=why):
        enqueue(session, Author, keys)  # type: ignore[arg-type]


def test_wrong_sessions_are_named() -> None:
    with pytest.raises(TypeError, match="run_sync"):
        enqueue(AsyncSession(), Author, ["a"])  # type: ignore[arg-type]


def test_keys_compare_exactly(shop: Site) -> None:
    """I5: a collation that takes ABC for abc makes no second document of it."""
    with shop.session() as session:
        session.add(Author(code="ABC", name="人"))
        session.commit()
        enqueue(session, Author, ["abc", "ABC", "ABC "])
        session.commit()
        shop.drain(Author)
        assert [hit.id for hit in Author.hits_fulltext("人").hits] == ["ABC"]
        session.add(Author(code="東\0\"'%s", name="人"))
        session.commit()
        shop.drain(Author)
        found = Author.find_fulltext(session, "人")
        assert sorted(each.code for each in found) == ["ABC", "東\0\"'%s"]


def test_numbers_beyond_63_bits_are_text_ids(shop: Site) -> None:
    large = 2**64 - 1 if shop.database.dialect.name == "mysql" else 2**63 - 1
    with shop.session() as session:
        session.add(Star(id=large, name="星"))
        session.commit()
        shop.drain(Star)
        assert [each.id for each in Star.find_fulltext(session, "星")] == [large]
        assert [hit.id for hit in Star.hits_fulltext("星").hits] == [str(large)]
        session.execute(insert(Planet), {"id": 2**63 - 1, "name": "星"})
        session.commit()
    loader = index_of(Planet).loader
    with shop.database.connect() as connection:
        ids = [str(2**63 - 1), str(2**64 - 1), "99999999999999999999", "-1", "1e3", "²", ""]
        assert [each.number for each in loader.load(connection, ids)] == [2**63 - 1]
        connection.rollback()
        if shop.database.dialect.name == "mysql":
            connection.execute(update(Planet).values(id=2**64 - 1))
            with pytest.raises(ValueError, match=r"Planet 18446744073709551615: .*text_ids=True"):
                loader.load(connection, ids)


def test_walking_all_keys_of_two_columns(engine: Engine, tmp_path: Path) -> None:
    """Every key once and in order, whatever the size of the parts."""
    poems = ["a", "b", "c"]
    with site(engine, tmp_path, article_models.Base) as made, made.session() as session:
        session.add_all(
            [Line(poem=poem, number=n, words="x") for poem in poems for n in range(1, 8)]
        )
        session.commit()
        loader = index_of(Line).loader
        wanted = [f'["{poem}",{n}]' for poem in poems for n in range(1, 8)]
        for limit in (1, 2, 5, 7, 30):
            found: list[str] = []
            while part := loader.ids_after(
                session.connection(), found[-1] if found else None, limit
            ):
                assert len(part) <= limit
                found += part
            assert found == wanted
        asked = ['["b",3]', '["b", 4]', '["b","5"]', '["b"]', "b", '["z",1]', "[", '["c",7,1]']
        assert [each.id for each in loader.load(session.connection(), asked)] == ['["b",3]']
        with pytest.raises(ValueError, match="no id of Line"):
            loader.ids_after(session.connection(), "b", 1)


def test_a_program_s_own_engine(database_url: str, tmp_path: Path) -> None:
    """Q1: messages go through whatever engine the application has."""
    made = open_engine(database_url)
    create_schema(made)
    made.dispose()
    own = create_engine(database_url)
    with site(own, tmp_path, Base) as shop:
        maker = scoped_session(sessionmaker(own))
        maker.add(Author(code="a", name="猫"))
        enqueue(maker, Author, ["b"])
        maker.commit()
        maker.add(Author(code="c", name="猫"))
        maker.flush()
        maker.rollback()
        maker.remove()
        assert sorted(shop.pushed(Author)) == [("a",), ("b",)]
    own.dispose()


def test_an_async_session(tmp_path: Path) -> None:
    """Saves, enqueue and searches by AsyncSession, on a driver of its own."""
    path = tmp_path / "shop.db"
    database = open_engine(f"sqlite:///{path}")
    create_schema(database)
    with site(database, tmp_path, article_models.Base) as shop:
        asyncio.run(save_and_find(f"sqlite+aiosqlite:///{path}", shop))
    database.dispose()


async def save_and_find(url: str, shop: Site) -> None:
    engine = create_async_engine(url)
    async with AsyncSession(engine) as session:
        session.add_all([Article(title=f"{n}", body="人間") for n in range(3)])
        await session.commit()
        await session.execute(insert(Article), [{"title": "bulk", "body": "人間"}])
        bulk = select(Article.id).where(Article.title == "bulk")
        assert await session.run_sync(enqueue, Article, bulk) == 1
        await session.commit()
        async with session.begin_nested() as savepoint:
            session.add(Article(title="undone", body="人間"))
            await session.flush()
            await savepoint.rollback()
        await session.commit()
    await asyncio.to_thread(shop.drain, Article)
    async with AsyncSession(engine) as session:
        found = await session.run_sync(Article.find_fulltext, "人間", order="id")
        assert [each.title for each in found] == ["0", "1", "2", "bulk"]
        page = await session.run_sync(Article.paginate_fulltext, "人間", per_page=3)
        assert (page.total, len(page.items)) == (4, 3)
    await engine.dispose()


def test_sessions_leave_no_listeners_behind(tmp_path: Path) -> None:
    engine = create_engine("sqlite://")
    create_schema(engine)
    Base.metadata.create_all(engine)

    def save(number: int) -> None:
        with Session(engine) as session:
            session.add(Author(code=str(number), name="x"))
            session.commit()

    save(-1)
    gc.collect()
    before = len(listeners._key_to_collection)
    for number in range(50):
        save(number)
    gc.collect()
    assert len(listeners._key_to_collection) <= before + 2
    engine.dispose()
