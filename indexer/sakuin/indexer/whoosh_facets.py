"""Counting what a whoosh query finds by its values, a document or a value a step."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from sakuin.indexer.document import Fields, FilterKind
from sakuin.indexer.facet import Counts, Facet, Step, most_frequent
from sakuin.indexer.facet_steps import day_of, month_of, stepped
from sakuin.indexer.whoosh_segment import Segment


class Tally:
    """The values of the documents that one query finds, segment by segment."""

    def __init__(self, fields: Fields, facets: Sequence[Facet]) -> None:
        self._facets, self._total = facets, 0
        self._keywords: dict[str, Counter[bytes]] = {}
        self._numbers: dict[str, Counter[int]] = {}
        for facet in facets:
            if fields.kind_of(facet.name) is FilterKind.KEYWORD:
                self._keywords[facet.name] = Counter()
            else:
                self._numbers[facet.name] = Counter()

    def add(self, segment: Segment, found: set[int]) -> Iterator[None]:
        """Count these documents of a segment too."""
        self._total += len(found)
        for name, counts in self._keywords.items():
            yield from segment.count_keywords(name, found, counts)
        if self._numbers and found:  # whoosh reads no column of an empty index
            yield from segment.count_numbers(found, self._numbers)

    def counts(self, label: Callable[[str, str], str]) -> tuple[Counts, ...]:
        """Return the counts of every facet; raises TooManySteps.

        `label` gives for the name of a filter and a folded value what people are shown.
        """
        return tuple(self._counts(facet, label) for facet in self._facets)

    def _counts(self, facet: Facet, label: Callable[[str, str], str]) -> Counts:
        name = facet.name
        if name in self._keywords:
            values = ((value.decode(), n) for value, n in self._keywords[name].items())
            return most_frequent(facet, values, lambda value: label(name, value), total=self._total)
        numbers = self._numbers[name]
        if facet.step is None:
            return most_frequent(facet, numbers.items(), str, total=self._total)
        return _steps(facet, numbers, self._total)


def _steps(facet: Facet, moments: Counter[int], total: int) -> Counts:
    counts: Counter[int] = Counter()
    for moment, count in moments.items():
        if (day := day_of(moment)) is not None:
            counts[day if facet.step is Step.DAY else month_of(day)] += count
    return stepped(facet, counts, having=moments.total(), total=total)
