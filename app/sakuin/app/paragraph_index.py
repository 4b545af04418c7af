"""The index of paragraphs, which their class declares."""

from sakuin.app.model_index import index_of
from sakuin.app.paragraph import Paragraph

PARAGRAPHS_COLLECTION = index_of(Paragraph).collection
"""Paragraphs as people see them."""

PARAGRAPHS = PARAGRAPHS_COLLECTION.index
"""The index of paragraphs."""
