"""Triggers for a model's own index: raw SQL of anybody is heard, and there is one index."""

from pathlib import Path
from uuid import UUID

import pytest
from sqlalchemy import Engine as Database
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column
from typer.testing import CliRunner

from article_models import Article, Base, Line, Site
from attaching import run
from notes import on_sqlite
from sakuin.app.attach import attach, plan
from sakuin.app.attach_errors import AttachError
from sakuin.app.attached import read_attached
from sakuin.app.check_attached import attach_command, check_attached
from sakuin.app.cli import app
from sakuin.app.detach import detach
from sakuin.app.model_index import index_of
from sakuin.app.model_loader import ModelLoader
from sakuin.app.plan_attach import Wanted
from sakuin.app.searchable import Searchable
from sakuin.indexer.verify import verify
from sakuin.queue import create_schema, queue_counts, read


class _Other(DeclarativeBase):
    pass


class Thing(Searchable, _Other):
    __tablename__ = "things"
    __searchable__ = {"body": 1.0}  # noqa: RUF012  as people write it

    id: Mapped[UUID] = mapped_column(primary_key=True)
    body: Mapped[str]


def loader_of(model: type) -> ModelLoader:
    return index_of(model).loader


def test_a_model_s_index_hears_raw_sql(engine: Database, tmp_path: Path) -> None:
    """§7: keys of one column and of several; no second index; one that ends leaves the model's."""
    Base.metadata.create_all(engine)
    create_schema(engine)
    for model in (Article, Line):
        name = model.__tablename__
        planned = plan(
            engine, Wanted(name, name=name, model=loader_of(model)), {"articles", "poem_lines"}
        )
        assert attach(engine, planned).triggers == 3
        again = plan(engine, Wanted(name, name=name, model=loader_of(model)))
        done = attach(engine, again)
        assert (done.triggers, done.pushed, again.needs_rebuild) == (0, 0, False)
        table = planned.table
        assert not read(engine, lambda c: check_attached(c, table))  # noqa: B023
        assert attach_command(table).endswith(f"{name} --for-model {name}")
    assert read(engine, read_attached) == []
    run(
        engine,
        "INSERT INTO articles (id, title, body) VALUES (1, 't', 'x'), (2, 't', 'x')",
        "INSERT INTO poem_lines (poem, number, words) VALUES ('漢', 1, 'w')",
    )
    site = Site(engine, tmp_path)
    site.drain(Article, Line)
    run(engine, "UPDATE articles SET body = 'y' WHERE id = 1", "DELETE FROM articles WHERE id = 2")
    run(engine, "UPDATE poem_lines SET number = 2")
    site.drain(Article, Line)
    for model in (Article, Line):
        report = verify(site.copy(model))
        assert (report.is_equal, report.documents, report.waiting) == (True, 1, 0)
    run(engine, "UPDATE articles SET body = 'z'")
    assert detach(engine, "articles").messages == 0  # what waits is the model's
    run(engine, "UPDATE articles SET body = 'unheard'")
    assert read(engine, lambda c: queue_counts(c, "index:articles")).ready == 1


@on_sqlite
def test_what_triggers_cannot_do_for_a_model_is_said(engine: Database) -> None:
    create_schema(engine)
    _Other.metadata.create_all(engine)
    Base.metadata.create_all(engine)
    with pytest.raises(AttachError, match=r"call enqueue\(\)"):
        plan(engine, Wanted("things", name="things", model=loader_of(Thing)))
    with pytest.raises(AttachError, match="is of articles, not of notes"):
        plan(engine, Wanted("notes", name="articles", model=loader_of(Article)))


@on_sqlite
def test_for_model_as_a_command(
    engine: Database, database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The name of a model's index is refused with what to say; `verify` looks at its triggers."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SAKUIN_DATABASE_URL", database_url)
    monkeypatch.setenv("SAKUIN_MODELS", "article_models")
    monkeypatch.setenv("SAKUIN_DATA_DIR", str(tmp_path / "data"))
    Base.metadata.create_all(engine)

    def sakuin(*words: str, code: int = 0) -> str:
        done = CliRunner().invoke(app, words)
        assert done.exit_code == code, done.output
        return done.output

    sakuin("init")
    refused = sakuin("attach", "articles", "--columns", "body", "--yes", code=1)
    assert "--for-model articles" in refused
    assert "known" in sakuin("attach", "articles", "--for-model", "nothing", "--yes", code=1)
    both = ("attach", "articles", "--for-model", "articles", "--columns", "body", "--yes")
    assert "stands alone" in sakuin(*both, code=1)
    sakuin("attach", "articles", "--for-model", "articles", "--yes")
    assert "equals" in sakuin("index", "verify", "--index", "articles")
    run(engine, "DROP TRIGGER sakuin_articles_delete")
    said = sakuin("index", "verify", "--index", "articles", code=4)
    assert "sakuin attach articles --for-model articles" in said
    assert "without --purge" in sakuin("detach", "articles", "--purge", "--yes", code=1)
    assert "2 triggers dropped" in sakuin("detach", "articles", "--yes")
    purged = sakuin("detach", "gone", "--purge", "--yes", code=1)
    assert "no table is attached as 'gone'" in purged
    (tmp_path / "data" / "index" / "gone").mkdir(parents=True)
    assert "is removed" in sakuin("detach", "gone", "--purge", "--yes")
