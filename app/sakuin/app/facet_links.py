"""The facets of a search page: what is counted, and the searches that its values lead to."""

from collections.abc import Sequence

from sakuin.app.contexts import CountedLink, FacetLinks
from sakuin.app.search_address import SearchAddress, search_url
from sakuin.indexer.document import Fields, FilterKind
from sakuin.indexer.facet import Counts, Facet, Step, filter_of
from sakuin.indexer.parse import parse
from sakuin.indexer.unparse import unparse

MOST_KEYWORDS = 3
MOST_STEPS_SHOWN = 24


def page_facets(fields: Fields) -> tuple[Facet, ...]:
    """Return what a search page counts: some keyword filters, and the times of the documents."""
    keywords = [each for each in fields.filters if each.kind is FilterKind.KEYWORD]
    times = (Facet("created", step=Step.MONTH),) if fields.timed else ()
    return (*(Facet(each.name) for each in keywords[:MOST_KEYWORDS]), *times)


def facet_links(
    counted: Sequence[Counts], fields: Fields, address: SearchAddress, root: str
) -> tuple[FacetLinks, ...]:
    """Return the facets that can narrow a search: those by which its hits differ.

    Times come newest first, without those that have no hit.
    """
    earlier = _as_one_term(address.asked.filter, fields)
    made = [_links(each, earlier, address, root) for each in counted]
    return tuple(each for each in made if len(each.values) > 1)


def _as_one_term(text: str, fields: Fields) -> str:
    """Write a filter so that another one may stand behind it: nothing in it stays open."""
    if not text.strip():
        return ""
    return f"({unparse(parse(text, fields=fields, strict=True).query, fields)}) "


def _links(counts: Counts, earlier: str, address: SearchAddress, root: str) -> FacetLinks:
    facet, buckets, others = counts.facet, counts.buckets, counts.others
    if facet.step is not None:
        there = [each for each in reversed(buckets) if each.count]
        buckets = tuple(there[:MOST_STEPS_SHOWN])
        others += sum(each.count for each in there[MOST_STEPS_SHOWN:])
    values = tuple(
        CountedLink(
            each.label, each.count, _narrowed_url(address, earlier, filter_of(facet, each), root)
        )
        for each in buckets
    )
    return FacetLinks(facet.name, values, others)


def _narrowed_url(
    address: SearchAddress, earlier: str, narrower: str | None, root: str
) -> str | None:
    """Return the address of the search for one value; None for one that no filter can hold."""
    if narrower is None:
        return None
    return search_url(address.otherwise(filter=earlier + narrower, offset=0), root)
