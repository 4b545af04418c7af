"""An answer as JSON: the same for `sakuin search --json` and the HTTP interface (design §8)."""

from collections.abc import Sequence
from typing import Any

from sakuin.app.answer import Answer, Item
from sakuin.app.collection import Collection
from sakuin.app.found import shown_id
from sakuin.app.paragraph_index import place_of
from sakuin.app.suggested import Suggested
from sakuin.indexer.diagnostic import Diagnostic
from sakuin.indexer.facet import Counts, filter_of
from sakuin.indexer.highlight import Piece
from sakuin.indexer.suggestion import Suggestion


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
        "order": answer.asked.order.value,
        "mode": answer.asked.way,
        "restarted": answer.restarted,
        "removed": [shown_id(collection.index, one) for one in answer.removed],
        "waiting": fresh.waiting if fresh else None,
        "seconds": round(answer.seconds, 6),
        "items": [item_json(item, collection, root_path) for item in page.items],
        "diagnostics": _diagnostics(answer.diagnostics),
        "filter_diagnostics": _diagnostics(answer.filter_diagnostics),
        "facets": [counts_json(each) for each in answer.counts],
        "did_you_mean": [suggestion_json(each) for each in answer.meant],
        "closest": _closest(answer, collection, root_path),
    }


def counts_json(counts: Counts) -> dict[str, Any]:
    """Return a facet's counts; `filter` of a value is what narrows a search to it."""
    facet = counts.facet
    return {
        "name": facet.name,
        "step": facet.step.value if facet.step else None,
        "values": [
            {
                "value": each.value,
                "label": each.label,
                "count": each.count,
                "filter": filter_of(facet, each),
            }
            for each in counts.buckets
        ],
        "others": counts.others,
        "missing": counts.missing,
    }


def suggestion_json(suggestion: Suggestion) -> dict[str, Any]:
    """Return another query, and how many documents it finds."""
    return {"text": suggestion.text, "documents": suggestion.documents}


def suggested_json(found: Suggested, index: str) -> dict[str, Any]:
    """Return suggestions as `sakuin suggest --json` and the HTTP interface give them."""
    suggestions = [suggestion_json(each) for each in found.suggestions]
    return {"index": index, "generation": found.generation, "suggestions": suggestions}


def _closest(answer: Answer, collection: Collection, root_path: str) -> dict[str, Any] | None:
    if answer.closest is None:
        return None
    return {
        "total": answer.closest.total,
        "items": [item_json(item, collection, root_path) for item in answer.closest.items],
    }


def item_json(item: Item, collection: Collection, root_path: str) -> dict[str, Any]:
    """Return one item. Paragraphs also carry their fields at the top level."""
    document = item.document
    found = {
        "index": collection.index.name,
        "id": shown_id(collection.index, document.id),
        "url": collection.url_of(document, root_path),
        "title": collection.title_of(document),
        "score": round(item.score, 6),
        "stale": item.is_stale,
        "fields": dict(document.text),
        "highlights": {name: _pieces(each) for name, each in item.highlights.items()},
    }
    if place := place_of(collection.index, document):
        source, position = place
        found |= {"source": source, "position": position, "body": document.text["body"]}
    return found


def _diagnostics(diagnostics: Sequence[Diagnostic]) -> list[dict[str, Any]]:
    return [
        {"code": each.code.value, "start": each.start, "end": each.end, "message": each.message}
        for each in diagnostics
    ]


def _pieces(pieces: Sequence[Piece]) -> list[dict[str, Any]]:
    return [{"text": piece.text, "hit": piece.hit} for piece in pieces]
