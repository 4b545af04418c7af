"""An answer as JSON: the same for `sakuin search --json` and the HTTP interface (design §8)."""

from collections.abc import Sequence
from typing import Any

from sakuin.app.answer import Answer, Item
from sakuin.indexer.highlight import Snippet


def answer_json(answer: Answer, index_name: str, root_path: str = "") -> dict[str, Any]:
    """Return an answer's documented keys."""
    page, fresh = answer.page, answer.freshness
    return {
        "total": page.total,
        "page": page.page,
        "per_page": page.per_page,
        "total_pages": page.total_pages,
        "generation": answer.generation,
        "order": answer.order.value,
        "restarted": answer.restarted,
        "removed": [_id(one) for one in answer.removed],
        "waiting": fresh.waiting if fresh else None,
        "seconds": round(answer.seconds, 6),
        "items": [item_json(item, index_name, root_path) for item in page.items],
        "diagnostics": [
            {"code": each.code.value, "start": each.start, "end": each.end, "message": each.message}
            for each in answer.diagnostics
        ],
    }


def item_json(item: Item, index_name: str, root_path: str) -> dict[str, Any]:
    """Return one item. Paragraphs also carry their fields at the top level."""
    document = item.document
    return {
        "index": index_name,
        "id": _id(document.id),
        "url": paragraph_url(document.id, root_path),
        "title": title(document.text),
        "score": round(item.score, 6),
        "stale": item.is_stale,
        "fields": dict(document.text),
        "source": document.text["source"],
        "position": int(document.text["position"]),
        "body": document.text["body"],
        "highlights": {name: _pieces(each) for name, each in item.snippets.items()},
    }


def paragraph_url(document_id: str | int, root_path: str = "") -> str:
    """Return the address of a paragraph's page."""
    return f"{root_path}/paragraphs/{document_id}"


def title(fields: Any) -> str:
    """Return what a paragraph is called in lists."""
    return f"{fields['source']} {fields['position']}"


def _pieces(cut: Snippet) -> list[dict[str, Any]]:
    pieces: Sequence[Any] = cut.pieces
    return [{"text": piece.text, "hit": piece.hit} for piece in pieces]


def _id(document_id: str) -> int | str:
    return int(document_id) if document_id.isascii() and document_id.isdigit() else document_id
