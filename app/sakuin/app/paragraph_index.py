"""The index of paragraphs, which their class declares."""

from sakuin.app.model_index import index_of
from sakuin.app.paragraph import Paragraph
from sakuin.indexer.document import Document
from sakuin.indexer.index import Index

PARAGRAPHS_COLLECTION = index_of(Paragraph).collection
"""Paragraphs as people see them."""

PARAGRAPHS = PARAGRAPHS_COLLECTION.index
"""The index of paragraphs."""


def place_of(index: Index, document: Document) -> tuple[str, int] | None:
    """Return the source and the position of a paragraph; None for what is none."""
    if index is not PARAGRAPHS:
        return None
    return document.text["source"], int(document.values["position"])
