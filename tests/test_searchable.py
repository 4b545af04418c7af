"""A model becomes searchable: changes through sessions are pushed, indexed and found."""

import subprocess
import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import assert_type

import pytest
from sqlalchemy import Engine, delete, func, insert, select, update
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

from article_models import Article, Line, Note, Site, site
from sakuin.app.page import BadPage
from sakuin.app.search_indexes import bound_search
from sakuin.app.searchable import (
    Found,
    FoundPage,
    Hit,
    Searchable,
    SearchFields,
    bind_search,
    enqueue,
)
from sakuin.queue import SchemaMismatch, create_schema


@pytest.fixture
def shop(engine: Engine, tmp_path: Path) -> Iterator[Site]:
    with site(engine, tmp_path) as made:
        yield made


def titles(session: Session, query: str) -> list[str]:
    found = sorted(each.title for each in Article.find_fulltext(session, query))
    session.commit()  # a reader too begins a transaction, and holds the one writer of SQLite
    return found


def test_what_a_session_saves_is_found_after_a_batch(shop: Site) -> None:
    with shop.session() as session:
        session.add(Article(title="東京", body="人間は考える葦である"))
        session.add(Article(title="大阪", body="機械"))
        session.commit()
        assert titles(session, "人間") == []
        shop.drain(Article)
        assert titles(session, "人間") == ["東京"]
        tokyo = session.scalars(select(Article).where(Article.title == "東京")).one()
        tokyo.body = "機械もある"
        session.commit()
        shop.drain(Article)
        assert titles(session, "人間") == []
        assert titles(session, "機械") == ["大阪", "東京"]
        session.delete(tokyo)
        session.commit()
        shop.drain(Article)
        assert titles(session, "機械") == ["大阪"]
        assert Article.count_fulltext("機械") == 1


def test_one_flush_is_one_message(shop: Site) -> None:
    """A thousand ids go in one message, in the order of the changes."""
    with shop.session() as session:
        session.add_all([Article(title=str(n), body="") for n in range(1500)])
        session.commit()
    assert [len(ids) for ids in shop.pushed(Article)] == [1000, 500]


def test_rows_and_messages_vanish_together(shop: Site) -> None:
    """Q1: a rolled back transaction or savepoint leaves neither rows nor messages."""
    with shop.session() as session:
        session.add(Article(title="gone", body=""))
        session.flush()
        session.rollback()
        kept = Article(title="kept", body="")
        session.add(kept)
        session.flush()
        savepoint = session.begin_nested()
        session.add(Article(title="undone", body=""))
        kept.title = "changed"
        session.flush()
        savepoint.rollback()
        session.commit()
        assert session.scalars(select(Article.title)).all() == ["kept"]
        wanted = [(str(kept.id),)]
        session.commit()
        assert shop.pushed(Article) == wanted


def test_a_flush_that_fails_leaves_nothing_for_the_next(shop: Site) -> None:
    with shop.session() as session:
        session.add_all([Note(name="a", text="1"), Note(name="b", text=None)])
        with pytest.raises(Exception, match=r"(?i)null"):
            session.commit()
        session.rollback()
        session.add(Note(name="c", text="3"))
        session.commit()
    assert shop.pushed(Note) == [("c",)]


def test_a_row_that_was_only_touched_pushes_nothing(shop: Site) -> None:
    with shop.session() as session:
        article = Article(title="same", body="")
        session.add(article)
        session.commit()
        shop.pushed(Article)
        assert article.title == "same"
        article.title = "same"
        session.commit()
    assert shop.pushed(Article) == []


def test_a_value_that_sql_computes_is_pushed(shop: Site) -> None:
    """Q1: of such an assignment the session knows nothing more after the UPDATE."""
    with shop.session() as session:
        article = Article(title="old", body="夜")
        session.add(article)
        session.commit()
        article.title = Article.title + " and 新しい"
        session.commit()
        shop.drain(Article)
        assert titles(session, "新しい") == ["old and 新しい"]
        article.title = func.upper(Article.title)
        article.body = "朝"
        session.flush()
        session.refresh(article)
        session.rollback()
        assert shop.pushed(Article) == []


def test_a_change_of_key_pushes_both(shop: Site) -> None:
    with shop.session() as session:
        note = Note(name="old", text="人間")
        session.add(note)
        session.commit()
        shop.drain(Note)
        note.name = "new"
        session.commit()
        shop.drain(Note)
        found = Note.find_fulltext(session, "人間")
        assert ([each.name for each in found], found.total) == (["new"], 1)


def test_composite_keys(shop: Site) -> None:
    with shop.session() as session:
        lines = [
            Line(poem=poem, number=n, words="古池や") for poem in ('"蛙"', "a,1") for n in (1, 2)
        ]
        session.add_all(lines)
        session.commit()
        shop.drain(Line)
        found = Line.find_fulltext(session, "古池", order="id")
        assert {(each.poem, each.number) for each in found} == {
            (each.poem, each.number) for each in lines
        }
        assert {hit.id for hit in found.hits} == {
            '["\\"蛙\\"",1]', '["\\"蛙\\"",2]', '["a,1",1]', '["a,1",2]'
        }  # fmt: skip


def test_bulk_statements_are_told_by_enqueue(shop: Site) -> None:
    with shop.session() as session:
        rows = [{"title": f"t{n}", "body": "夜"} for n in range(30)]
        session.execute(insert(Article), rows)
        assert enqueue(session, Article, select(Article.id)) == 30
        session.commit()
        shop.drain(Article)
        assert Article.count_fulltext("夜") == 30
        some = Article.title.in_(["t1", "t2"])
        enqueue(session, Article, select(Article.id).where(some))
        session.execute(update(Article).where(some).values(body="朝"))
        session.commit()
        ids = session.scalars(select(Article.id).where(Article.title == "t3")).all()
        enqueue(session.connection(), Article, ids)
        session.execute(delete(Article).where(Article.id.in_(ids)))
        session.commit()
        shop.drain(Article)
        assert titles(session, "朝") == ["t1", "t2"]
        assert Article.count_fulltext("夜") == 27


def test_rows_outside_where_are_not_found(shop: Site) -> None:
    with shop.session() as session:
        session.add(Note(name="a", text="人間"))
        session.add(Note(name="b", text="人間", is_public=False))
        session.commit()
        shop.drain(Note)
        assert [each.name for each in Note.find_fulltext(session, "人間")] == ["a"]
        session.commit()
        session.get_one(Note, "a").is_public = False
        session.commit()
        found = Note.find_fulltext(session, "人間")
        assert (list(found), found.missing, found.total) == ([], ("a",), 1)
        session.commit()
        shop.drain(Note)
        assert Note.count_fulltext("人間") == 0


def test_hits_say_what_the_index_has(shop: Site) -> None:
    with shop.session() as session:
        session.add(
            Note(
                name="a/b",
                owner="猫",
                text="吾輩は猫である",
                written_at=datetime.fromisoformat("2024-01-02"),
            )
        )
        session.commit()
        shop.drain(Note)
        (hit,) = Note.hits_fulltext("猫").hits
    assert (hit.id, hit.title, hit.url) == ("a/b", "猫: a/b", "/notes/a%2Fb")
    assert hit.fields == {"text": "吾輩は猫である", "owner": "猫"}
    assert [(each.text, each.hit) for each in hit.highlights["text"]] == [
        ("吾輩は", False), ("猫", True), ("である", False)
    ]  # fmt: skip


def test_pages(shop: Site) -> None:
    with shop.session() as session:
        session.add_all([Article(title=f"{n}", body="夜") for n in range(25)])
        session.commit()
        shop.drain(Article)
        page = Article.paginate_fulltext(session, "夜", page=3, order="id")
        assert [each.title for each in page.items] == ["20", "21", "22", "23", "24"]
        assert (page.total, page.total_pages, page.next_page) == (25, 3, None)
        assert [hit.id for hit in page.found.hits] == [each.id for each in page.items]
        assert Article.paginate_fulltext(session, "夜", per_page=5, total=7).total == 7
        beyond = Article.paginate_fulltext(session, "夜", page=9)
        assert (beyond.items, beyond.total, beyond.out_of_range) == ((), 25, True)
        with pytest.raises(BadPage):
            Article.paginate_fulltext(session, "夜", page=0)


def test_reindex_pushes_what_meets_a_condition(shop: Site) -> None:
    with shop.session() as session:
        session.execute(insert(Article), [{"title": f"{n}", "body": ""} for n in range(2500)])
        session.commit()
        assert Article.reindex(session, Article.title == "7") == 1
        session.rollback()
    assert shop.pushed(Article) == []
    assert Article.reindex(shop.database) == 2500
    assert [len(ids) for ids in shop.pushed(Article)] == [1000, 1000, 500]


def test_missing_tables_are_told_with_the_remedy(tmp_path: Path, open_database: object) -> None:
    engine = open_database(f"sqlite:///{tmp_path / 'bare.db'}")  # type: ignore[operator]
    with site(engine, tmp_path) as bare, bare.session() as session:
        session.add(Article(title="x", body=""))
        with pytest.raises(SchemaMismatch, match="sakuin init"):
            session.commit()
        session.rollback()
        create_schema(engine)
        session.add(Article(title="y", body=""))
        session.commit()
        assert session.scalars(select(Article.title)).all() == ["y"]


def test_settings_are_read_at_the_first_search(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Own(DeclarativeBase):
        pass

    class Entry(Searchable, Own):
        __tablename__ = "entries"
        __searchable__ = SearchFields({"words": 1.0})
        id: Mapped[int] = mapped_column(primary_key=True)
        words: Mapped[str]

    monkeypatch.chdir(tmp_path)
    (tmp_path / "sakuin.toml").write_text('data_dir = "here"\nengine = "whoosh"')
    assert Entry.count_fulltext("x") == 0
    bound = bound_search(Entry)
    assert (bound.settings.data_dir, bound.settings.engine) == (tmp_path / "here", "whoosh")
    with bind_search(Own, data_dir=tmp_path / "there") as other:
        assert Entry.hits_fulltext("x").generation == 0
        assert bound_search(Entry) is other
    with pytest.raises(TypeError, match="data_dri: no such setting"):
        bind_search(Own, data_dri="x")
    with pytest.raises(TypeError, match="a declarative base or a registry"):
        bind_search(str)


def test_a_model_needs_no_web_and_no_engine_until_it_searches() -> None:
    program = (
        "import sys; from sakuin.app.searchable import Searchable;"
        "sys.exit(bool({'fastapi', 'tantivy', 'whoosh', 'alembic'} & set(sys.modules)))"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_type_checkers_need_no_plugin(shop: Site) -> None:
    """Checked by mypy; the calls say it at run time too."""
    with shop.session() as session:
        found = assert_type(Article.find_fulltext(session, "人間"), Found[Article])
        page = assert_type(Article.paginate_fulltext(session, "人間"), FoundPage[Article])
        assert_type(page.items, tuple[Article, ...])
        assert_type(Article.hits_fulltext("人間"), Found[Hit])
        assert_type(found[0:1], tuple[Article, ...])
        assert found.total == page.total == 0


def test_orders_and_bounds_are_named(shop: Site) -> None:
    with shop.session() as session:
        for wrong in ({"limit": 1001}, {"limit": -1}, {"offset": 100_001}):
            with pytest.raises(ValueError, match=f"{next(iter(wrong))} must be 0 to"):
                Article.find_fulltext(session, "x", **wrong)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="newest; index articles knows relevance, id"):
            Article.find_fulltext(session, "x", order="newest")
        with pytest.raises(ValueError, match="dialect is sql; known: sakuin, estraier, tritonn"):
            Article.count_fulltext("x", dialect="sql")
        assert Article.count_fulltext("x ANDNOT y", dialect="estraier") == 0
        assert len(Article.find_fulltext(session, "", limit=0)) == 0


def test_a_filter_of_the_program_s_own(shop: Site) -> None:
    """Whatever the query says, brackets and all, the filter holds."""
    with shop.session() as session:
        session.add_all([Article(title=title, body="夜") for title in ("a", "b", "a")])
        session.commit()
        shop.drain(Article)
        for query, count in (
            ("夜", 2),
            ("夜 OR 朝) OR (夜", 2),
            ("", 2),
            ("朝", 0),
            ("x" * 2000, 0),
        ):
            assert Article.count_fulltext(query, filter="title:a") == count, query
        found = Article.find_fulltext(session, "夜", filter="title:a")
        assert not any(piece.hit for piece in found.hits[0].highlights["title"])
        page = Article.paginate_fulltext(session, "夜", filter="-title:a")
        assert [each.title for each in page.items] == ["b"]
        with pytest.raises(ValueError, match="filter: the query is too long"):
            Article.count_fulltext("夜", filter="x" * 2000)


def test_walking_behind_ids(shop: Site) -> None:
    """Every row once, though some are gone meanwhile."""
    with shop.session() as session:
        session.add_all([Article(title=f"{n}", body="夜") for n in range(25)])
        session.commit()
        shop.drain(Article)
        session.execute(delete(Article).where(Article.title.in_([f"{n}" for n in range(7, 17)])))
        session.commit()
        walked: list[str] = []
        after: int | str | None = None
        while True:
            found = Article.find_fulltext(session, "夜", order="id", after=after, limit=5)
            walked += [each.title for each in found]
            after = found.next_after
            if after is None:
                break
        assert walked == [f"{n}" for n in (*range(7), *range(17, 25))]
        with pytest.raises(ValueError, match="order of ids"):
            Article.hits_fulltext("夜", after=3)
