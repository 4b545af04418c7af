"""Walking all pages of a search while batches publish (promises I6 and S4)."""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, update

from conftest import Stress
from notes import on_sqlite
from sakuin.app.assemble import Parts
from sakuin.app.paragraph import Paragraph
from sakuin.app.save import add_paragraph, delete_paragraph, update_paragraph
from sakuin.app.worker import Worker
from sakuin.indexer.engines import ENGINE_NAMES
from sakuin.queue import read, replay
from web import Web, serving

PER_PAGE = 7
ROWS = 60
SOURCES = ("b", "B", "ä", "a", "か\u3099", "が", "ﾊ", "𠮷", "\uffee")
MOMENT = datetime(2026, 1, 1, tzinfo=UTC).replace(tzinfo=None)


@dataclass(frozen=True, slots=True)
class Row:
    """What decides where a row stands."""

    id: int
    created: datetime
    source: str
    position: int


KEYS: dict[str, Callable[[Row], Any]] = {
    "id": lambda row: row.id,
    "relevance": lambda row: row.id,  # one word in each: nothing says which is better
    "newest": lambda row: (MOMENT - row.created, row.id),
    "oldest": lambda row: (row.created, row.id),
    "source": lambda row: ([ord(one) for one in row.source], row.position, row.id),
}
ORDERS = tuple(KEYS)
Walk = tuple[int, str, list[dict[str, Any]]]
"""A generation, an order, and the pages."""


@pytest.mark.stress
@on_sqlite
@pytest.mark.parametrize("engine_name", ENGINE_NAMES)
def test_every_walk_sees_one_generation_whole(
    tmp_path: Path, database_url: str, engine_name: str, stress: Stress
) -> None:
    """20 walks over all pages, 100 batches meanwhile: every id of the generation once, in order."""
    walks, batches = max(len(ORDERS), stress.count(20)), stress.count(100)
    with serving(tmp_path, database_url, engine_name) as web:
        publisher = _Publisher(web.parts, batches, stress)
        publisher.publish(0)
        thread = threading.Thread(target=publisher.run)
        thread.start()
        walked = [_walk(web, ORDERS[number % len(ORDERS)]) for number in range(walks)]
        walked.append(_walk_behind_ids(web))
        while thread.is_alive():
            walked.append(_walk(web, ORDERS[len(walked) % len(ORDERS)]))
        thread.join()
    assert publisher.error is None
    assert len(publisher.held) == batches + 1
    assert len({generation for generation, _, _ in walked}) > 1
    for generation, order, pages in walked:
        expected = [row.id for row in sorted(publisher.held[generation], key=KEYS[order])]
        for number, page in enumerate(pages):
            due = expected[number * PER_PAGE :][:PER_PAGE]
            shown = [item["id"] for item in page["items"]]
            if order == "relevance":
                due = [*shown, *page["removed"]]
            # What is hidden since the row is gone was in the generation too.
            assert shown == [each for each in due if each not in page["removed"]], (order, number)
            assert len(shown) + len(page["removed"]) == len(due)
        ids = [item["id"] for page in pages for item in page["items"]]
        ids += [each for page in pages for each in page["removed"]]
        assert sorted(ids) == sorted(expected), (generation, order)


def _walk(web: Web, order: str) -> Walk:
    pages = [first := _page(web, order=order)]
    for page in range(2, first["total_pages"] + 1):
        pages.append(_page(web, order=order, page=page, g=first["generation"]))
        assert not pages[-1]["restarted"]
    return _one_generation(order, pages)


def _walk_behind_ids(web: Web) -> Walk:
    pages = [first := _page(web, order="id")]
    while pages[-1]["next_after"] is not None:
        after = pages[-1]["next_after"]
        pages.append(_page(web, order="id", after=after, g=first["generation"]))
    return _one_generation("id", pages)


def _one_generation(order: str, pages: list[dict[str, Any]]) -> Walk:
    first = pages[0]
    told = {(page["generation"], page["total"], page["order"]) for page in pages}
    assert told == {(first["generation"], first["total"], order)}
    return first["generation"], order, pages


def _page(web: Web, **parameters: Any) -> dict[str, Any]:
    response = web.get("/api/v1/search", q="夜", per_page=PER_PAGE, **parameters)
    assert response.status_code == 200, response.text
    found: dict[str, Any] = response.json()
    return found


class _Publisher:
    """Changes rows and publishes, over and over; `held` says what each generation must find."""

    def __init__(self, parts: Parts, batches: int, stress: Stress) -> None:
        self._parts, self._batches, self._chance = parts, batches, stress.random()
        self.held: dict[int, list[Row]] = {}
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            for number in range(1, self._batches + 1):
                self.publish(number)
        except BaseException as error:  # noqa: BLE001  asserted by the test
            self.error = error

    def publish(self, number: int) -> None:
        def change(connection: Any) -> None:
            ids = list(connection.execute(select(Paragraph.id)).scalars())
            for _ in range(ROWS if not ids else 3):
                source = self._chance.choice(SOURCES)
                added = add_paragraph(connection, f"夜 {number}", source=source).id
                created = MOMENT + self._chance.randrange(20) * timedelta(microseconds=1)
                times = update(Paragraph).where(Paragraph.id == added)
                connection.execute(times.values(created_at=created))
            for one in self._chance.sample(ids, min(4, len(ids))):
                update_paragraph(connection, one, self._chance.choice(("夜と朝", "朝")))
            for one in self._chance.sample(ids, min(2, len(ids))):
                delete_paragraph(connection, one)

        replay(self._parts.database, change)
        Worker(self._parts.copy, self._parts.settings).drain()
        columns = (Paragraph.id, Paragraph.created_at, Paragraph.source, Paragraph.position)
        matching = select(*columns).where(Paragraph.body.contains("夜"))
        held = read(self._parts.database, lambda c: [Row(*row) for row in c.execute(matching)])
        self.held[self._parts.copy.generations.current()] = held
