"""What one search of one index found: all of it of one generation (S4)."""

from dataclasses import dataclass

from sakuin.app.asked import Asked
from sakuin.app.discovered import Instead
from sakuin.indexer.closest_marks import closest_marks
from sakuin.indexer.document import Document, Fields
from sakuin.indexer.engine import Hit
from sakuin.indexer.facet import Counts
from sakuin.indexer.highlight import Piece, snippet
from sakuin.indexer.parse import Parsed
from sakuin.indexer.query import And, Nothing, Query

SNIPPET_WIDTH = 320


@dataclass(frozen=True, slots=True)
class Searched:
    """What was found.

    `asked` is what was searched for in the end: where its generation is gone (`restarted`), the
    beginning of the current one. `filtered` is None where no filter was given. `generation` is 0
    where nothing was indexed yet. `next_after`: in the order of ids, what `after` must be for
    what follows; None at the end. `counts` are those of the facets that were asked for;
    `instead` is there where nothing was found, if help was asked for.
    """

    asked: Asked
    parsed: Parsed
    filtered: Parsed | None
    within: Query | None
    generation: int = 0
    total: int = 0
    hits: tuple[Hit, ...] = ()
    next_after: str | None = None
    restarted: bool = False
    counts: tuple[Counts, ...] = ()
    instead: Instead | None = None

    @property
    def tree(self) -> Query:
        """What must match. A query or a filter that was refused keeps anything from it."""
        if self.refused:
            return Nothing()
        parts = [self.filtered.query] if self.filtered else []
        if self.asked.text.strip() or not parts:
            parts.insert(0, self.parsed.query)
        if self.within is not None:
            parts.append(self.within)
        return parts[0] if len(parts) == 1 else And(tuple(parts))

    @property
    def refused(self) -> bool:
        """Whether the words or the filter keep anything from being searched."""
        return self.parsed.refused or (self.filtered is not None and self.filtered.refused)

    @property
    def condition(self) -> Query | None:
        """What must match beside the words: the filters."""
        parts = [self.filtered.query] if self.filtered else []
        if self.within is not None:
            parts.append(self.within)
        return And(tuple(parts)) if len(parts) > 1 else next(iter(parts), None)

    def marked(self, fields: Fields) -> Query:
        """Return what to mark in the hits: the query, or the words that are to be close."""
        if self.asked.like is not None:
            return Nothing()
        if self.asked.is_ranked or self.instead:
            return closest_marks(self.asked.text, fields)
        return self.parsed.query


def highlights(fields: Fields, document: Document, query: Query) -> dict[str, tuple[Piece, ...]]:
    """Cut what to show of each searched field: the pieces, joined, are the cut text."""
    return {
        name: snippet(
            document.text[name], query, SNIPPET_WIDTH, folding=fields.folding, field=name
        ).pieces
        for name in fields.searched
    }
