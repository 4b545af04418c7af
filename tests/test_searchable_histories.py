"""Random histories of sessions: whatever they did, afterwards the index equals the table."""

import random
from collections.abc import Callable
from pathlib import Path

from sqlalchemy import Engine, delete, insert, select, text, update
from sqlalchemy.orm import Session

from article_models import Note, Site, site
from conftest import Stress
from sakuin.app.model_index import index_of
from sakuin.app.search_indexes import bound_search
from sakuin.app.searchable import enqueue

NAMES = [f"n{number}" for number in range(12)]
WORDS = ["人間", "殺し", "残酷", "夜", "rain", "iphone15"]

Step = Callable[[Session, random.Random], None]


def add(session: Session, pick: random.Random) -> None:
    name = pick.choice(NAMES)
    if session.get(Note, name) is None:
        session.add(Note(name=name, text=pick.choice(WORDS), is_public=pick.random() < 0.8))


def change(session: Session, pick: random.Random) -> None:
    if note := session.get(Note, pick.choice(NAMES)):
        note.text = pick.choice(WORDS)
        note.is_public = pick.random() < 0.8


def rename(session: Session, pick: random.Random) -> None:
    old, new = pick.sample(NAMES, 2)
    note = session.get(Note, old)
    if note and session.get(Note, new) is None:
        note.name = new
        session.flush()


def remove(session: Session, pick: random.Random) -> None:
    if note := session.get(Note, pick.choice(NAMES)):
        session.delete(note)
        session.flush()


def merge(session: Session, pick: random.Random) -> None:
    session.merge(Note(name=pick.choice(NAMES), text=pick.choice(WORDS), is_public=True))


def bulk_update(session: Session, pick: random.Random) -> None:
    some = Note.text == pick.choice(WORDS)
    enqueue(session, Note, select(Note.name).where(some))
    session.execute(update(Note).where(some).values(owner=pick.choice(WORDS)))


def bulk_delete(session: Session, pick: random.Random) -> None:
    some = Note.name.in_(pick.sample(NAMES, 2))
    enqueue(session, Note, select(Note.name).where(some))
    session.execute(delete(Note).where(some))


def bulk_insert(session: Session, pick: random.Random) -> None:
    session.flush()
    free = set(NAMES) - set(session.scalars(select(Note.name)))
    names = sorted(free)[: pick.randint(0, 3)]
    if names:
        rows = [{"name": name, "owner": "o", "text": "夜", "is_public": True} for name in names]
        session.execute(insert(Note), rows)
        enqueue(session, Note, names)


def undone(session: Session, pick: random.Random) -> None:
    session.flush()
    savepoint = session.begin_nested()
    for _ in range(pick.randint(1, 3)):
        pick.choice(STEPS)(session, pick)
    session.flush()
    savepoint.rollback() if pick.random() < 0.7 else savepoint.commit()


STEPS: list[Step] = [add, add, change, change, rename, remove, merge, bulk_update, bulk_delete,
                     bulk_insert, undone]  # fmt: skip


def assert_index_is_table(shop: Site) -> None:
    with shop.database.connect() as connection:
        sql = "SELECT name, text, owner FROM notes WHERE is_public"
        rows = {
            row.name: {"text": row.text, "owner": row.owner}
            for row in connection.execute(text(sql))
        }
    reader = bound_search(Note).reader(index_of(Note).collection.index)
    with reader.open() as opened:
        there = opened.searcher.documents(NAMES) if opened else {}
        count = opened.searcher.document_count if opened else 0
    assert {name: dict(document.text) for name, document in there.items()} == rows
    assert count == len(rows)


def test_the_index_equals_the_table_after_any_history(
    engine: Engine, tmp_path: Path, stress: Stress
) -> None:
    """Q1, I5: sessions, savepoints, rollbacks and bulk statements in any order."""
    pick = stress.random()
    with site(engine, tmp_path) as shop:
        for _ in range(stress.count(100)):
            with shop.session() as session:
                for _ in range(pick.randint(1, 6)):
                    for _ in range(pick.randint(1, 6)):
                        pick.choice(STEPS)(session, pick)
                    session.rollback() if pick.random() < 0.25 else session.commit()
            shop.drain(Note)
            assert_index_is_table(shop)
