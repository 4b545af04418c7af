"""Walking all pages of a search while batches publish (promises I6 and S4)."""

import threading
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

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
ORDERS = ("id", "relevance", "newest", "oldest", "source")


@pytest.mark.stress
@on_sqlite
@pytest.mark.parametrize("engine_name", ENGINE_NAMES)
def test_every_walk_sees_one_generation_whole(
    tmp_path: Path, database_url: str, engine_name: str, stress: Stress
) -> None:
    """20 walks over all pages, 100 batches meanwhile: every id of the generation once, in order."""
    walks, batches = stress.count(20), stress.count(100)
    with serving(tmp_path, database_url, engine_name) as web:
        publisher = _Publisher(web.parts, batches, stress)
        publisher.publish(0)
        thread = threading.Thread(target=publisher.run)
        thread.start()
        walked = [_walk(web, ORDERS[number % len(ORDERS)]) for number in range(walks)]
        walked.append(_walk_behind_ids(web))
        while thread.is_alive():
            walked.append(_walk(web, "id"))
        thread.join()
    assert publisher.error is None
    assert len(publisher.held) == batches + 1
    assert len({generation for generation, _, _ in walked}) > 1
    for generation, order, ids in walked:
        expected = publisher.held[generation]
        assert sorted(ids) == expected, (generation, order)
        if order == "id":
            assert ids == expected


def _walk(web: Web, order: str) -> tuple[int, str, list[int]]:
    first = _page(web, order=order)
    ids = _ids(first)
    for page in range(2, first["total_pages"] + 1):
        found = _page(web, order=order, page=page, g=first["generation"])
        assert (found["generation"], found["restarted"]) == (first["generation"], False)
        assert found["total"] == first["total"]
        ids += _ids(found)
    assert len(ids) == first["total"]
    return first["generation"], order, ids


def _walk_behind_ids(web: Web) -> tuple[int, str, list[int]]:
    found = first = _page(web, order="id")
    ids = _ids(first)
    while found["next_after"] is not None:
        found = _page(web, order="id", after=found["next_after"], g=first["generation"])
        assert (found["generation"], found["total"]) == (first["generation"], first["total"])
        ids += _ids(found)
    return first["generation"], "id", ids


def _page(web: Web, **parameters: Any) -> dict[str, Any]:
    response = web.get("/api/v1/search", q="夜", per_page=PER_PAGE, **parameters)
    assert response.status_code == 200, response.text
    found: dict[str, Any] = response.json()
    return found


def _ids(found: dict[str, Any]) -> list[int]:
    """Return what a page holds; what it hides since the row is gone was in the generation too."""
    shown: list[int] = [item["id"] for item in found["items"]]
    if found["order"] != "id":
        return [*shown, *found["removed"]]
    assert shown == sorted(shown)
    return sorted([*shown, *found["removed"]])


class _Publisher:
    """Changes rows and publishes, over and over; `held` says what each generation must find."""

    def __init__(self, parts: Parts, batches: int, stress: Stress) -> None:
        self._parts, self._batches, self._chance = parts, batches, stress.random()
        self.held: dict[int, list[int]] = {}
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
                add_paragraph(connection, f"夜 {number}", source="abc"[number % 3])
            for one in self._chance.sample(ids, min(4, len(ids))):
                update_paragraph(connection, one, self._chance.choice(("夜と朝", "朝")))
            for one in self._chance.sample(ids, min(2, len(ids))):
                delete_paragraph(connection, one)

        replay(self._parts.database, change)
        Worker(self._parts.copy, self._parts.settings).drain()
        matching = select(Paragraph.id).where(Paragraph.body.contains("夜")).order_by(Paragraph.id)
        held = read(self._parts.database, lambda c: list(c.execute(matching).scalars()))
        self.held[self._parts.copy.generations.current()] = held
