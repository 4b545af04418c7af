"""`sakuin attach`: any table searchable, whoever changes it (design §7)."""

from pathlib import Path

from sqlalchemy import Engine as Database

from attaching import attached, drain, found, make_articles, run, texts


def test_a_raw_insert_becomes_searchable(engine: Database, tmp_path: Path) -> None:
    """Rows that were there, and rows that come by plain SQL; NULL is an empty text."""
    make_articles(engine)
    run(engine, "INSERT INTO articles (id, title, body) VALUES (1, '古い', '前からあった人間')")
    copy = attached(engine, tmp_path)
    run(engine, "INSERT INTO articles (id, title, body) VALUES (17, NULL, '人間は考える葦である')")
    drain(copy)
    assert texts(copy, "title", "body") == {
        "1": ("古い", "前からあった人間"),
        "17": ("", "人間は考える葦である"),
    }
    assert found(copy, "考える葦") == ["17"]
    run(
        engine, "UPDATE articles SET body = '葦' WHERE id = 1", "DELETE FROM articles WHERE id = 17"
    )
    drain(copy)
    assert texts(copy, "body") == {"1": ("葦",)}
