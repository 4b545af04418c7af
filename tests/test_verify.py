"""I7: verify proves that the index equals the database, repair pushes exactly the difference."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from sqlalchemy import Engine as Database
from sqlalchemy import delete, insert, text, update

from attaching import drain
from notes import FIELDS, NOTES, QUICK, Note, fresh_notes, with_both_engines, write
from sakuin.indexer.batch import run_batch
from sakuin.indexer.build import Copy
from sakuin.indexer.verify import Report, repair, verify
from sakuin.queue import replay

Damage = Callable[[Database], None]


def text_notes(database: Database, root: Path, **options: Any) -> Copy:
    """Notes whose ids are said to be texts, so that they can be walked."""
    copy = fresh_notes(database, root, **options)
    return replace(copy, index=replace(copy.index, fields=replace(FIELDS, text_ids=True)))


def kinds(report: Report) -> dict[str, list[str]]:
    found = {
        "missing": report.missing,
        "extra": report.extra,
        "changed": report.changed,
        "unreadable": report.unreadable,
    }
    return {kind: sorted(each.first) for kind, each in found.items() if each.count}


def behind_its_back(copy: Copy) -> None:
    """Change rows as TRUNCATE and cascades do: nobody is told."""
    replay(copy.database, lambda c: c.execute(delete(NOTES).where(NOTES.c.id == "n3")))
    replay(
        copy.database, lambda c: c.execute(insert(NOTES), {"id": "new", "title": "", "body": ""})
    )
    statement = update(NOTES).where(NOTES.c.id == "n5").values(body="別の")
    replay(copy.database, lambda c: c.execute(statement))


@with_both_engines
def test_finds_and_mends_exactly_what_differs(
    engine: Database, tmp_path: Path, engine_name: str
) -> None:
    """I7: missing, extra and changed ones by id; what is pushed is no more than that."""
    copy = text_notes(engine, tmp_path, engine_name=engine_name)
    replay(engine, lambda c: write(c, {f"n{i}": f"本文{i}" for i in range(30)}, copy.index))
    drain(copy)
    assert verify(copy).is_equal
    behind_its_back(copy)
    report = verify(copy)
    assert kinds(report) == {"missing": ["new"], "extra": ["n3"], "changed": ["n5"]}
    assert (report.rows, report.documents, report.waiting) == (30, 30, 0)
    assert kinds(repair(copy)) == kinds(report)
    batch = run_batch(copy, QUICK)
    assert batch is not None
    assert (batch.documents, batch.changed) == (3, 3)
    assert verify(copy).is_equal


def test_what_waits_is_no_fault(engine: Database, tmp_path: Path) -> None:
    """I7: a saved change that is not indexed yet is under way; an unsaid one beside it is found."""
    copy = text_notes(engine, tmp_path)
    replay(engine, lambda c: write(c, {f"n{i}": "古い" for i in range(9)}, copy.index))
    drain(copy)
    replay(engine, lambda c: write(c, {"n1": "新しい", "n2": None, "m": "来た"}, copy.index))
    report = verify(copy)
    assert (kinds(report), report.under_way, report.waiting) == ({}, 3, 1)
    behind_its_back(copy)
    report = verify(copy)
    assert kinds(report) == {"missing": ["new"], "extra": ["n3"], "changed": ["n5"]}
    assert report.under_way == 3


def test_an_index_that_was_never_made(engine: Database, tmp_path: Path) -> None:
    """I7: every row is missing, the first 20 are named, and repair makes the index."""
    copy = text_notes(engine, tmp_path)
    replay(engine, lambda c: write(c, {f"n{i:04}": "本文" for i in range(2500)}))
    report = verify(copy)
    assert (report.generation, report.missing.count, len(report.missing.first)) == (0, 2500, 20)
    repair(copy)
    drain(copy)
    assert verify(copy).is_equal


def test_changes_while_it_compares(engine: Database, tmp_path: Path) -> None:
    """I7: saves and batches in the middle of a comparison are never reported as faults."""
    copy = text_notes(engine, tmp_path)
    replay(engine, lambda c: write(c, {f"n{i:04}": "本文" for i in range(3000)}, copy.index))
    drain(copy)

    def meanwhile(compared: int) -> None:
        changes: dict[str, Note | str | None] = {
            f"n{compared - 500:04}": f"変{compared}",
            f"n{compared - 1:04}": None,
            f"n{compared + 5:04}": f"先{compared}",
            f"o{compared}": "途中で来た",
        }
        if compared < 3000:
            replay(engine, lambda c: write(c, changes, copy.index))
        if compared < 2000:
            drain(copy)

    report = verify(copy, on_progress=meanwhile)
    assert kinds(report) == {}
    drain(copy)
    assert verify(copy).is_equal


def test_a_row_that_can_be_no_document_is_named(engine: Database, tmp_path: Path) -> None:
    """I7, Q4: one bad row is named and does not stop the comparison."""

    def refuse(body: str) -> None:
        if body == "毒":
            raise ValueError(body)

    copy = text_notes(engine, tmp_path, on_body=refuse)
    replay(engine, lambda c: write(c, {f"n{i}": "本文" for i in range(9)}, copy.index))
    drain(copy)
    replay(engine, lambda c: c.execute(text("UPDATE notes SET body = '毒' WHERE id = 'n4'")))
    assert kinds(verify(copy)) == {"unreadable": ["n4"]}


def test_a_batch_that_ends_in_the_middle_of_a_look(engine: Database, tmp_path: Path) -> None:
    """I7: a change that is indexed and settled between two reads is no fault."""
    looks = 0

    def meanwhile(body: str) -> None:
        nonlocal looks
        if body != "新しい":
            return
        looks += 1
        if looks == 2:  # first the walk, then the confirmation; the batch's own load is the third
            drain(copy)

    copy = text_notes(engine, tmp_path, on_body=meanwhile)
    replay(engine, lambda c: write(c, {f"n{i}": "古い" for i in range(9)}, copy.index))
    drain(copy)
    replay(engine, lambda c: write(c, {"n1": "新しい"}, copy.index))
    report = verify(copy)
    assert looks > 2
    assert (kinds(report), report.under_way, report.waiting) == ({}, 0, 0)
