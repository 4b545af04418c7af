"""An answer as JSON: the same for `sakuin search --json` and the HTTP interface (design §8)."""

from collections.abc import Sequence
from typing import Any

from sakuin.app.answer import Answer, Item
from sakuin.app.collection import Collection
from sakuin.app.paragraph_index import PARAGRAPHS
from sakuin.indexer.diagnostic import Diagnostic
from sakuin.indexer.highlight import Snippet


def answer_json(answer: Answer, collection: Collection, root_path: str = "") -> dict[str, Any]:
    """Return an answer's documented keys."""
    page, fresh = answer.page, answer.freshness
    return {
        "index": collection.index.name,
        "total": page.total,
        "page": page.page,
        "per_page": page.per_page,
        "total_pages": page.total_pages,
        "next_after": answer.next_after,
        "generation": answer.generation,
        "order": answer.order.value,
        "restarted": answer.restarted,
        "removed": [_id(one, collection) for one in answer.removed],
        "waiting": fresh.waiting if fresh else None,
        "seconds": round(answer.seconds, 6),
        "items": [item_json(item, collection, root_path) for item in page.items],
        "diagnostics": _diagnostics(answer.diagnostics),
        "filter_diagnostics": _diagnostics(answer.filter_diagnostics),
    }


def item_json(item: Item, collection: Collection, root_path: str) -> dict[str, Any]:
    """Return one item. Paragraphs also carry their fields at the top level."""
    document = item.document
    found = {
        "index": collection.index.name,
        "id": _id(document.id, collection),
        "url": collection.url_of(document, root_path),
        "title": collection.title_of(document),
        "score": round(item.score, 6),
        "stale": item.is_stale,
        "fields": dict(document.text),
        "highlights": {name: _pieces(each) for name, each in item.snippets.items()},
    }
    if collection.index is PARAGRAPHS:
        text = document.text
        found |= {
            "source": text["source"],
            "position": document.values["position"],
            "body": text["body"],
        }
    return found


def paragraph_url(document_id: str | int, root_path: str = "") -> str:
    """Return the address of a paragraph's page."""
    return f"{root_path}/paragraphs/{document_id}"


def _diagnostics(diagnostics: Sequence[Diagnostic]) -> list[dict[str, Any]]:
    return [
        {"code": each.code.value, "start": each.start, "end": each.end, "message": each.message}
        for each in diagnostics
    ]


def _pieces(cut: Snippet) -> list[dict[str, Any]]:
    return [{"text": piece.text, "hit": piece.hit} for piece in cut.pieces]


def _id(document_id: str, collection: Collection) -> int | str:
    return document_id if collection.index.fields.text_ids else int(document_id)
