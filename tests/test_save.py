"""Saving: row and message in one transaction (promise Q1), and what a paragraph may be."""

import threading
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection, Engine, select

from sakuin.app.add import add_at_end
from sakuin.app.bulk import save_lines
from sakuin.app.paragraph import MOST_BODY_BYTES, Paragraph, check_body, create_tables
from sakuin.app.paragraph_index import PARAGRAPHS
from sakuin.app.refused import Refused
from sakuin.app.save import (
    NewParagraph,
    add_paragraph,
    add_paragraphs,
    delete_paragraph,
    update_paragraph,
)
from sakuin.indexer.changes import read_changes
from sakuin.queue import claim, read, replay


@pytest.fixture
def database(engine: Engine) -> Engine:
    create_tables(engine)
    create_tables(engine)  # safe to repeat
    return engine


def rows(database: Engine) -> list[tuple[str, int, str]]:
    statement = select(Paragraph.source, Paragraph.position, Paragraph.body).order_by(
        Paragraph.source, Paragraph.position
    )
    found = read(database, lambda c: c.execute(statement).all())
    return [(source, position, body) for source, position, body in found]


def messages(database: Engine) -> list[tuple[str, ...]]:
    claimed = claim(database, PARAGRAPHS.queue, limit=1000, lease_seconds=60)
    return [read_changes(message.data) for message in claimed]


class Undo(Exception):
    pass


def undone(database: Engine, work: Callable[[Connection], object]) -> None:
    def failing(connection: Connection) -> None:
        work(connection)
        raise Undo

    with pytest.raises(Undo):
        replay(database, failing)


def test_a_save_is_row_and_message_or_neither(database: Engine) -> None:
    """Q1: both commit together, or neither is there."""
    undone(database, lambda c: add_paragraph(c, "消える", "s"))
    assert rows(database) == []
    assert messages(database) == []
    first = add_at_end(database, "人間", "s")
    undone(database, lambda c: update_paragraph(c, first.id, "別"))
    undone(database, lambda c: delete_paragraph(c, first.id))
    assert rows(database) == [("s", 1, "人間")]
    assert messages(database) == [(str(first.id),)]
    replay(database, lambda c: update_paragraph(c, first.id, "機械"))
    replay(database, lambda c: delete_paragraph(c, first.id))
    assert messages(database) == [(str(first.id),), (str(first.id),)]


def test_what_is_not_there_is_told_and_pushes_nothing(database: Engine) -> None:
    assert replay(database, lambda c: update_paragraph(c, 99, "x")) is None
    assert replay(database, lambda c: delete_paragraph(c, 99)) is None
    assert messages(database) == []


def test_an_update_counts_versions_and_moves_only_its_time(database: Engine) -> None:
    saved = add_at_end(database, "一")
    columns = (Paragraph.version, Paragraph.created_at, Paragraph.updated_at)
    before = read(database, lambda c: c.execute(select(*columns)).one())
    replay(database, lambda c: update_paragraph(c, saved.id, "二"))
    after = read(database, lambda c: c.execute(select(*columns)).one())
    assert (before.version, after.version) == (1, 2)
    assert after.created_at == before.created_at
    assert after.updated_at > before.updated_at


def test_many_adders_of_one_source_get_positions_without_gaps(database: Engine) -> None:
    def add_ten() -> None:
        for _ in range(10):
            add_at_end(database, "同時に", "crowd")

    threads = [threading.Thread(target=add_ten) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [position for _, position, _ in rows(database)] == list(range(1, 41))


def test_a_bulk_save_is_one_message(database: Engine) -> None:
    chunk = [NewParagraph("b", position, f"段落 {position}") for position in range(1, 1001)]
    ids, _ = replay(database, lambda c: add_paragraphs(c, chunk))
    assert len(ids) == 1000
    assert messages(database) == [tuple(str(number) for number in ids)]


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("", "empty"),
        (" \n\u3000", "empty"),
        ("a\0b", "NUL"),
        ("a\ud800b", r"U\+D800"),
        ("あ" * (MOST_BODY_BYTES // 3 + 1), "bytes"),
    ],
)
def test_a_bad_body_is_refused_by_name(body: str, why: str) -> None:
    with pytest.raises(Refused, match=why) as caught:
        check_body(body)
    assert caught.value.field == "body"


def test_the_largest_body_is_stored_whole(database: Engine) -> None:
    body = "あ" * (MOST_BODY_BYTES // 3) + "x"
    assert len(body.encode()) == MOST_BODY_BYTES
    add_at_end(database, body)
    assert rows(database)[0][2] == body


@settings(max_examples=200)
@given(st.text(min_size=1, max_size=50))
def test_any_other_body_is_taken(body: str) -> None:
    is_bad = body.isspace() or "\0" in body or any("\ud800" <= c <= "\udfff" for c in body)
    try:
        assert check_body(body) == body
        assert not is_bad
    except Refused:
        assert is_bad


def test_json_lines_save_the_good_and_tell_the_bad(database: Engine) -> None:
    lines = (
        b'{"body": "\xe4\xb8\x80"}\n\n{"body": ""}\nnot json\n[1]\n{"body": 5}\n'
        b'{"body": "x", "color": 1}\n{"body": "\\ud800"}\n{"body": "\\u0000"}\n'
        b'{"body": "two", "source": "s"}\n{"body": "\xff"}\n' + b"[" * 100_000 + b"\n"
        b'{"body": "three"}'
    )
    outcome = save_lines(database, lines)
    assert outcome.saved == 3
    assert [line for line, _ in outcome.refused] == [3, 4, 5, 6, 7, 8, 9, 11, 12]
    assert rows(database) == [("s", 1, "two"), ("web", 1, "一"), ("web", 2, "three")]
    assert len(outcome.messages) == len(outcome.documents) == 2
