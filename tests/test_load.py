"""Loading a source again: rows follow their texts, and no crash or rival leaves anything wrong."""

import random
import threading
from collections.abc import Iterator

import pytest
from sqlalchemy import Engine, func, select

from sakuin.app.add import add_at_end
from sakuin.app.load import load_source
from sakuin.app.loaded import Loaded, SourceChanged
from sakuin.app.paragraph import Paragraph, create_tables
from sakuin.app.paragraph_index import PARAGRAPHS
from sakuin.app.save import NewParagraph
from sakuin.indexer.changes import read_changes
from sakuin.queue import claim, queue_counts, read

_COLUMNS = (Paragraph.id, Paragraph.position, Paragraph.body, Paragraph.version)


@pytest.fixture
def database(engine: Engine) -> Engine:
    create_tables(engine)
    return engine


def rows(database: Engine) -> dict[int, tuple[int, str, int]]:
    """Return id → position, body, version."""
    found = read(database, lambda c: c.execute(select(*_COLUMNS)).all())
    return {number: (position, body, version) for number, position, body, version in found}


def text_of(database: Engine) -> list[tuple[int, str]]:
    return sorted((position, body) for position, body, _ in rows(database).values())


def touched(database: Engine) -> set[int]:
    """Take the messages, none of which has more than 1,000 ids; return the ids of all."""
    claimed = claim(database, PARAGRAPHS.queue, limit=1000, lease_seconds=60)
    messages = [read_changes(message.data) for message in claimed]
    assert all(len(ids) <= 1000 for ids in messages)
    return {int(one) for ids in messages for one in ids}


def numbered(lines: list[str]) -> list[NewParagraph]:
    return [NewParagraph("s", at, line) for at, line in enumerate(lines, start=1)]


def load(
    database: Engine, lines: list[str], *, append: bool = False, is_complete: bool = True
) -> Loaded:
    return load_source(
        database,
        "s",
        numbered(lines),
        append=append,
        is_complete=lambda: is_complete,
        on_saved=lambda _: None,
    )


@pytest.mark.parametrize(
    ("after", "ids", "done"),
    [
        ("ABCD", [1, 2, 3, 4], Loaded(unchanged=4)),
        ("ACD", [1, 3, 4], Loaded(unchanged=3, deleted=1, moved=2)),
        ("XABCD", [5, 1, 2, 3, 4], Loaded(saved=1, unchanged=4, moved=4)),
        ("AXCD", [1, 2, 3, 4], Loaded(saved=1, unchanged=3)),
        ("XAYCD", [5, 1, 2, 3, 4], Loaded(saved=2, unchanged=3, moved=3)),
        ("DCBA", [4, 3, 2, 1], Loaded(unchanged=4, moved=4)),
        ("BCDAA", [2, 3, 4, 1, 5], Loaded(saved=1, unchanged=4, moved=4)),
        ("B", [2], Loaded(unchanged=1, deleted=3, moved=1)),
        ("", [], Loaded(deleted=4)),
    ],
)
def test_a_row_follows_its_text(database: Engine, after: str, ids: list[int], done: Loaded) -> None:
    """Ids by content; only edited rows count a version; messages name exactly what changed."""
    load(database, list("ABCD"))
    before = rows(database)
    first = min(before)
    touched(database)
    assert load(database, list(after)) == done
    now = rows(database)
    assert text_of(database) == list(enumerate(after, start=1))
    order = sorted(now, key=lambda number: now[number][0])
    assert [number - first + 1 if number in before else 5 for number in order] == ids
    edited = {number for number in before if number in now and now[number][1] != before[number][1]}
    assert {number for number, (_, _, version) in now.items() if version > 1} == edited
    assert touched(database) == {
        number for number in before.keys() | now.keys() if before.get(number) != now.get(number)
    }


def test_gaps_of_refused_lines_stay(database: Engine) -> None:
    """New lines between others, at positions of their own, and a message for these alone."""
    load(database, list("ABCD"))
    ids = rows(database).keys()
    touched(database)
    new = [NewParagraph("s", at, body) for at, body in ((1, "A"), (3, "X"), (4, "C"), (9, "Y"))]
    load_source(database, "s", new, append=False, on_saved=lambda _: None)
    assert text_of(database) == [(1, "A"), (3, "X"), (4, "C"), (9, "Y")]
    assert rows(database).keys() == ids
    assert touched(database) == set(ids) - {min(ids)}


def test_a_text_read_in_part_deletes_nothing(database: Engine) -> None:
    load(database, list("ABCD"))
    assert load(database, list("XAb"), is_complete=False).deleted == 0
    assert text_of(database) == [(1, "X"), (2, "A"), (3, "b"), (4, "C"), (5, "D")]
    load(database, [], is_complete=False)
    assert len(rows(database)) == 5


class Crash(Exception):
    pass


def texts(count: int, seed: int) -> tuple[list[str], list[str]]:
    """Return a text, and the same one after much editing."""
    chance = random.Random(seed)
    before = [f"{chance.randrange(count)} {'人間' * chance.randrange(3)}" for _ in range(count)]
    after = [line if chance.random() < 0.8 else f"edited {line}" for line in before]
    after = ["on top", *after[count // 2 :], *after[: count // 3], "last"]
    after[5], after[20] = after[20], after[5]
    return before, after


def test_a_crash_anywhere_leaves_rows_whole(
    database: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Q1: after any transaction every row is one of the texts' and told; loading again repairs."""
    monkeypatch.setattr("sakuin.app.batches.ROWS_PER_BATCH", 7)
    before, after = texts(60, seed=4)

    def crashing(limit: int) -> bool:
        left = limit

        def count(done: Loaded) -> None:
            nonlocal left
            left -= 1
            if left < 0:
                raise Crash

        try:
            load_source(database, "s", numbered(after), append=False, on_saved=count)
        except Crash:
            return True
        return False

    limit = 0
    while True:
        load(database, before)
        old = rows(database)
        touched(database)
        crashed = crashing(limit)
        now = rows(database)
        assert {body for _, body, _ in now.values()} <= {*before, *after}
        changed = {one for one in old.keys() | now.keys() if old.get(one) != now.get(one)}
        assert changed <= touched(database)
        load(database, after)
        assert text_of(database) == list(enumerate(after, start=1))
        if not crashed:
            break
        limit += 1
    assert limit > 10


@pytest.mark.parametrize("is_fresh", [True, False])
def test_two_loads_at_once_are_right_or_an_error(
    database: Engine, monkeypatch: pytest.MonkeyPatch, *, is_fresh: bool
) -> None:
    """No lost row in silence: without an error the source is one of the two texts."""
    monkeypatch.setattr("sakuin.app.batches.ROWS_PER_BATCH", 5)
    before, one = texts(60, seed=1)
    two = [f"two {line}" if at % 7 == 0 else line for at, line in enumerate(reversed(before))]
    if not is_fresh:
        load(database, before)
    start = threading.Barrier(2)
    failed: list[list[str]] = []

    def run(lines: list[str]) -> None:
        def begun() -> Iterator[NewParagraph]:
            start.wait()
            yield from numbered(lines)

        try:
            load_source(database, "s", begun(), append=False, on_saved=lambda _: None)
        except SourceChanged:
            failed.append(lines)

    threads = [threading.Thread(target=run, args=(lines,)) for lines in (one, two)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    now = [body for _, body in text_of(database)]
    assert now in (one, two) or failed
    assert set(now) <= {*before, *one, *two}
    load(database, two)
    assert text_of(database) == list(enumerate(two, start=1))


def test_a_rival_that_is_noticed(database: Engine) -> None:
    """A row added or edited by somebody else while a text is loaded is told."""
    load(database, list("ABC"))

    def with_rival() -> Iterator[NewParagraph]:
        yield from numbered(list("AXC"))
        add_at_end(database, "rival", "s")

    def run() -> Loaded:
        return load_source(database, "s", with_rival(), append=False, on_saved=lambda _: None)

    with pytest.raises(SourceChanged, match=r"'s' was changed by someone else .* load it again"):
        run()
    load(database, list("AXC"))
    assert text_of(database) == list(enumerate("AXC", start=1))


def test_append_adds_behind(database: Engine) -> None:
    for _ in range(2):
        load(database, ["a", "b"], append=True)
    assert text_of(database) == [(1, "a"), (2, "b"), (3, "a"), (4, "b")]
    assert read(database, lambda c: queue_counts(c, PARAGRAPHS.queue)).ready == 2
    assert read(database, lambda c: c.execute(select(func.count(Paragraph.id))).scalar()) == 4


def test_two_appends_at_once_both_add(database: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sakuin.app.batches.ROWS_PER_BATCH", 5)
    lines = [str(number) for number in range(30)]
    threads = [
        threading.Thread(target=load, args=(database, lines), kwargs={"append": True})
        for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [position for position, _ in text_of(database)] == list(range(1, 61))
    assert sorted(body for _, body in text_of(database)) == sorted(lines * 2)
