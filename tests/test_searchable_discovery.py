"""Models: closest, similar, facets, suggestions, what was meant. Rows as they are now."""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest

from article_models import Article, Line, Note, Site, site
from sakuin.app.refused import Refused
from sakuin.queue import create_schema, open_engine

TEXTS = (
    ("花巻", "宮沢賢治は花巻で生まれた。"),
    ("津軽", "太宰治は津軽で生まれた。"),
    ("童話", "宮沢賢治の童話の話。"),
    ("machine", "Machine learning in the library"),
)


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Site]:
    engine = open_engine(f"sqlite:///{tmp_path / 'shop.db'}")
    create_schema(engine)
    with site(engine, tmp_path) as made:
        with made.session() as session:
            session.add_all(Article(title=title, body=body) for title, body in TEXTS)
            days = [datetime(2024, month, 5) for month in (1, 1, 3)]  # noqa: DTZ001  naive is UTC
            session.add_all(
                Note(name=f"n{n}", owner="a", text="夜の話", written_at=day)
                for n, day in enumerate(days)
            )
            session.add_all(
                Line(poem="蛙", number=n, words="古池や蛙飛びこむ水の音") for n in (1, 2)
            )
            session.commit()
        made.drain(Article, Note, Line)
        yield made
    engine.dispose()


def test_a_question_finds_rows(shop: Site) -> None:
    with shop.session() as session:
        question = "宮沢賢治が生まれたのはどこ"
        assert Article.count_fulltext(question) == 0
        found = Article.find_fulltext(session, question, mode="closest")
        assert found[0].title == "花巻"
        assert found.total == Article.count_fulltext(question, mode="closest")
        assert found.hits[0].highlights["body"]
        assert any(piece.hit for piece in found.hits[0].highlights["body"])
        page = Article.paginate_fulltext(session, question, mode="closest", per_page=1)
        assert [row.title for row in page.items] == ["花巻"]
        with pytest.raises(Refused, match="mode"):
            Article.find_fulltext(session, question, mode="near")
        with pytest.raises(Refused, match="order"):
            Article.find_fulltext(session, question, mode="closest", order="id")


def test_similar_rows_of_a_row_or_a_key(shop: Site) -> None:
    with shop.session() as session:
        one = Article.find_fulltext(session, "花巻")[0]
        similar = Article.similar_fulltext(session, one)
        assert similar[0].title in {"童話", "津軽"}
        assert one.title not in [row.title for row in similar]
        assert [r.id for r in Article.similar_fulltext(session, one.id)] == [r.id for r in similar]
        assert [row.number for row in Line.similar_fulltext(session, ("蛙", 1))] == [2]
        assert Article.similar_fulltext(session, one, filter="id:4..").total <= 1
        with pytest.raises(Refused, match="like"):
            Article.similar_fulltext(session, 99)
        with pytest.raises(TypeError):
            Article.similar_fulltext(session, "x")


def test_facets_of_what_is_found(shop: Site) -> None:
    """S4: exact counts of one generation."""
    (months,) = Note.facets_fulltext("夜", ["created:month"])
    shown = [(each.value, each.count) for each in months.buckets]
    assert shown == [("2024-01", 2), ("2024-02", 0), ("2024-03", 1)]
    (years,) = Note.facets_fulltext("夜", ["created:year"])
    assert [each.count for each in years.buckets] == [Note.count_fulltext("夜")] == [3]
    assert Note.facets_fulltext("夜", []) == ()
    with pytest.raises(ValueError, match="facets"):
        Note.facets_fulltext("夜", ["owner"])


def test_suggestions_and_what_was_meant(shop: Site) -> None:
    assert "宮沢賢治" in [each.text for each in Article.suggest_fulltext("宮")]
    assert Article.suggest_fulltext("宮", filter="id:4..") == ()
    for each in (*Article.meant_fulltext("宮沢賢二"), *Article.meant_fulltext("librery")):
        assert Article.count_fulltext(each.text) == each.documents > 0
    assert Article.meant_fulltext("宮沢賢二")
    assert Article.meant_fulltext("宮沢賢治") == ()
