"""A site with articles in a database of its own, made searchable.

    sakuin init                     once: the tables of the queue
    uvicorn shop:app                the site
    sakuin worker                   beside it: makes what was saved searchable

The lines that make articles searchable are marked; the rest is any FastAPI application.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI, HTTPException
from pydantic import BaseModel
from sqlalchemy import String, Text, create_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

from sakuin.app.search_router import search_router  # search
from sakuin.app.searchable import Searchable  # search

engine = create_engine("sqlite:///shop.db")


class Base(DeclarativeBase):
    """The tables of the site."""


class Article(Searchable, Base):  # search
    """Something to read."""

    __tablename__ = "articles"
    __searchable__ = {"title": 2.0, "body": 1.0}  # search

    id: Mapped[int] = mapped_column(primary_key=True)
    title: Mapped[str] = mapped_column(String(200))
    body: Mapped[str] = mapped_column(Text)


class Draft(BaseModel):
    """An article as somebody sends it."""

    title: str
    body: str


@asynccontextmanager
async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
    """Make the table of articles when the site starts."""
    Base.metadata.create_all(engine)
    yield


app = FastAPI(title="Shop", lifespan=lifespan)
app.include_router(search_router(Article))  # search


@app.post("/articles", status_code=201)
def add(draft: Draft) -> int:
    """Save an article; the message that makes it searchable commits with it."""
    with Session(engine) as session:
        article = Article(title=draft.title, body=draft.body)
        session.add(article)
        session.commit()
        return article.id


@app.put("/articles/{article_id}", status_code=204)
def change(article_id: int, draft: Draft) -> None:
    """Replace an article's texts."""
    with Session(engine) as session:
        article = _existing(session, article_id)
        article.title, article.body = draft.title, draft.body
        session.commit()


@app.delete("/articles/{article_id}", status_code=204)
def remove(article_id: int) -> None:
    """Delete an article."""
    with Session(engine) as session:
        session.delete(_existing(session, article_id))
        session.commit()


@app.get("/best")
def best(q: str) -> list[str]:
    """Return the titles of the best three articles, as rows of the database."""
    with Session(engine) as session:
        return [article.title for article in Article.find_fulltext(session, q, limit=3)]


def _existing(session: Session, article_id: int) -> Article:
    article = session.get(Article, article_id)
    if article is None:
        raise HTTPException(404, f"there is no article {article_id}")
    return article


# ruff: noqa: RUF012
