"""Models as an application may have them, and what makes their changes searchable."""

# ruff: noqa: RUF012  a plain mapping is what people write

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, String, Text
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

from sakuin.app.model_index import index_of
from sakuin.app.searchable import Searchable, SearchFields, bind_search
from sakuin.app.settings import read_settings
from sakuin.indexer.batch import run_batch
from sakuin.indexer.build import Copy
from sakuin.indexer.changes import read_changes
from sakuin.indexer.engines import engine_named
from sakuin.indexer.gather import Limits
from sakuin.indexer.generations import Generations
from sakuin.queue import claim


class Base(DeclarativeBase):
    pass


class Article(Searchable, Base):
    __tablename__ = "articles"
    __searchable__ = {"title": 2.0, "body": 1.0}

    id: Mapped[int] = mapped_column(primary_key=True)
    title: Mapped[str] = mapped_column(String(200))
    body: Mapped[str | None] = mapped_column(Text)


class Note(Searchable, Base):
    """Its key is a text, and it says everything that can be said."""

    __tablename__ = "notes"
    __searchable__ = SearchFields(
        {"text": 1.0},
        stored=("owner",),
        created="written_at",
        title="{owner}: {id}",
        url="/notes/{id}",
        where=lambda note: note.is_public,
        index="public_notes",
    )

    name: Mapped[str] = mapped_column(String(60), primary_key=True)
    owner: Mapped[str] = mapped_column(String(60), default="nobody")
    text: Mapped[str] = mapped_column(Text)
    is_public: Mapped[bool] = mapped_column(default=True)
    written_at: Mapped[datetime | None]


class Line(Searchable, Base):
    """Its key has two columns."""

    __tablename__ = "poem_lines"
    __searchable__ = {"words": 1.0}

    poem: Mapped[str] = mapped_column(String(60), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True)
    words: Mapped[str] = mapped_column(Text)


@dataclass(frozen=True, slots=True)
class Site:
    """An application's database, and the folder of its indexes."""

    database: Engine
    folder: Path

    def session(self) -> Session:
        """Return a new session."""
        return Session(self.database)

    def copy(self, model: type[Any]) -> Copy:
        """Return the copy of a model's index."""
        index = index_of(model).collection.index
        generations = Generations(self.folder / "index", index.name)
        return Copy(index, engine_named("tantivy"), generations, self.database)

    def drain(self, *models: type[Any]) -> None:
        """Make the changes of these models searchable."""
        for model in models:
            copy = self.copy(model)
            copy.generations.prepare()
            while run_batch(copy, Limits(gather_seconds=0)):
                pass

    def pushed(self, model: type[Any]) -> list[tuple[str, ...]]:
        """Take the messages of a model's index, as their ids."""
        queue = index_of(model).collection.index.queue
        claimed = claim(self.database, queue, limit=1000, lease_seconds=600)
        return [read_changes(each.data) for each in claimed]


@contextmanager
def site(database: Engine, folder: Path, base: type[DeclarativeBase] = Base) -> Iterator[Site]:
    """Make the tables of some models, and bind them to a folder."""
    base.metadata.create_all(database)
    settings = read_settings({"data_dir": folder, "engine": "tantivy"}, {}, folder)
    with bind_search(base, settings):
        yield Site(database, folder)
