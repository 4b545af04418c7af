"""Pages of a model's rows: exact totals, one generation, and ends that are told."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine, delete, insert

from article_models import Article, Note, Site, site
from sakuin.app.search_generation import MOST_OFFSET
from sakuin.app.search_indexes import SearchIndexes
from sakuin.app.settings import SettingsError, read_settings
from sakuin.queue import create_schema, open_engine


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Site]:
    engine = open_engine(f"sqlite:///{tmp_path / 'shop.db'}")
    create_schema(engine)
    with site(engine, tmp_path) as made:
        yield made
    engine.dispose()


def fill(shop: Site, count: int, body: str = "夜") -> None:
    with shop.session() as session:
        session.add_all([Article(title=f"{n}", body=body) for n in range(count)])
        session.commit()
    shop.drain(Article)


def remove_unseen(engine: Engine, *titles: str) -> None:
    """Delete rows as another program does, so that the index keeps them."""
    with engine.begin() as connection:
        connection.execute(delete(Article).where(Article.title.in_(titles)))


@pytest.mark.parametrize("gone", [1, 9, 10])
def test_the_total_is_the_search_s_though_rows_of_the_page_are_gone(shop: Site, gone: int) -> None:
    """S4: fewer rows on page 1 are not the end of the list."""
    fill(shop, 25)
    removed = [f"{n}" for n in range(gone)]
    remove_unseen(shop.database, *removed)
    with shop.session() as session:
        page = Article.paginate_fulltext(session, "夜", order="id")
        assert (page.total, page.total_pages, page.next_page) == (25, 3, 2)
        assert [each.title for each in page.items] == [f"{n}" for n in range(gone, 10)]
        assert page.found.missing == tuple(range(1, gone + 1))
        assert page.found.total == Article.count_fulltext("夜") == 25
        last = Article.paginate_fulltext(session, "夜", page=3, order="id")
        assert (last.total, len(last.items), last.next_page) == (25, 5, None)


def test_a_given_total_is_the_page_s(shop: Site) -> None:
    fill(shop, 3)
    with shop.session() as session:
        page = Article.paginate_fulltext(session, "夜", per_page=2, total=9)
        assert (page.total, page.found.total, page.total_pages) == (9, 3, 5)


def test_pages_of_one_generation(shop: Site) -> None:
    """I6, S4: with the generation of the first page nothing shifts; where it is gone it is told."""
    fill(shop, 12)
    with shop.session() as session:
        first = Article.paginate_fulltext(session, "夜", per_page=5, order="id")
        kept = first.found.generation
        session.delete(session.get_one(Article, 11))
        session.commit()
        for n in range(6):  # more than a copy keeps by itself
            session.add(Article(title=f"new {n}", body="夜"))
            session.commit()
            shop.drain(Article)
        again = Article.paginate_fulltext(
            session, "夜", page=3, per_page=5, order="id", generation=kept
        )
        assert (again.total, again.found.generation, again.found.missing) == (12, kept, (11,))
        assert [each.title for each in again.items] == ["11"]
        hits = Article.hits_fulltext("夜", limit=0, generation=kept)
        assert (hits.total, hits.restarted) == (12, False)
        assert Article.count_fulltext("夜") == 17
        gone = Article.paginate_fulltext(session, "夜", page=3, per_page=5, generation=99)
        assert (gone.page, gone.total, gone.found.restarted) == (1, 17, True)
        found = Article.find_fulltext(session, "夜", order="id", offset=5, limit=2, generation=99)
        assert (found.restarted, [each.title for each in found]) == (True, ["0", "1"])


def test_behind_the_last_id_nothing_follows(shop: Site) -> None:
    """`next_after` is None at the end, also where the last page is full."""
    fill(shop, 10)
    with shop.session() as session:
        assert Article.find_fulltext(session, "夜", order="id", limit=10).next_after is None
        assert Article.find_fulltext(session, "夜", order="id", limit=9).next_after == 9
    assert Article.hits_fulltext("夜", order="id", limit=0).next_after is None
    assert Article.hits_fulltext("夜", limit=5).next_after is None


def test_an_after_that_is_no_id_is_named(shop: Site) -> None:
    for wrong in ("x", "１", "+5", "1_0", "05", True):
        with pytest.raises(ValueError, match="after must be an id"):
            Article.hits_fulltext("夜", order="id", after=wrong)
    with pytest.raises(ValueError, match="after must be an id"):
        Note.hits_fulltext("夜", order="id", after="\ud800")
    assert Note.hits_fulltext("夜", order="id", after="１").total == 0


def test_what_is_too_large_is_told_of_the_one_that_is(shop: Site) -> None:
    """S3: a filter that stands for too many words is the filter's mistake, not the query's."""
    with shop.session() as session:
        words = [" ".join(f"w{n}x{m}" for m in range(50)) for n in range(60)]
        session.execute(insert(Article), [{"title": "t", "body": body} for body in words])
        session.commit()
        Article.reindex(session)
        session.commit()
    shop.drain(Article)
    (remark,) = Article.hits_fulltext('"t w"*', filter="title:t").diagnostics
    assert remark.code == "too_many_words"
    with pytest.raises(ValueError, match=r"filter: .*words"):
        Article.hits_fulltext("w1x1", filter='"t w"*')


def test_pages_end_where_offsets_do(shop: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(shop, 5)
    monkeypatch.setattr("sakuin.app.search_generation.MOST_OFFSET", 2)
    with shop.session() as session:
        with pytest.raises(ValueError, match="page numbers reach 2 hits"):
            Article.paginate_fulltext(session, "夜", page=2, per_page=3)
        beyond = Article.paginate_fulltext(session, "夜", page=9, per_page=3)
        assert (beyond.items, beyond.total, beyond.out_of_range) == ((), 5, True)
    assert MOST_OFFSET == 100_000


def test_an_engine_that_is_not_installed_is_a_matter_of_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "sakuin.indexer.whoosh_engine", raising=False)
    monkeypatch.setitem(sys.modules, "whoosh", None)
    with pytest.raises(SettingsError, match=r"engine \(SAKUIN_ENGINE\): whoosh is not installed"):
        SearchIndexes(read_settings({"engine": "whoosh"}, {}, tmp_path))
