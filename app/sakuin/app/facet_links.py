"""The facets of a search page: what is counted, and the searches that its values lead to."""

from collections.abc import Sequence

from sakuin.app.contexts import CountedLink, FacetLinks
from sakuin.app.search_address import SearchAddress, search_url
from sakuin.indexer.document import Fields, FilterKind
from sakuin.indexer.facet import Bucket, Counts, Facet, Step, filter_of

MOST_KEYWORDS = 3
MOST_STEPS_SHOWN = 24


def page_facets(fields: Fields, step: Step) -> tuple[Facet, ...]:
    """Return what a search page counts: some keyword filters, and the times of the documents."""
    keywords = [each for each in fields.filters if each.kind is FilterKind.KEYWORD]
    times = (Facet("created", step=step),) if fields.timed else ()
    return (*(Facet(each.name) for each in keywords[:MOST_KEYWORDS]), *times)


def facet_links(
    counted: Sequence[Counts], address: SearchAddress, root: str
) -> tuple[FacetLinks, ...]:
    """Return the facets that can narrow a search: those by which its hits differ.

    Times come newest first, without those that have no hit.
    """
    made = [_links(each, address, root) for each in counted]
    return tuple(each for each in made if len(each.values) > 1)


def _links(counts: Counts, address: SearchAddress, root: str) -> FacetLinks:
    facet, buckets, others = counts.facet, counts.buckets, counts.others
    if facet.step is not None:
        there = [each for each in reversed(buckets) if each.count]
        buckets = tuple(there[:MOST_STEPS_SHOWN])
        others += sum(each.count for each in there[MOST_STEPS_SHOWN:])
    values = tuple(
        CountedLink(each.label, each.count, search_url(_narrowed(address, facet, each), root))
        for each in buckets
    )
    return FacetLinks(facet.name, values, others)


def _narrowed(address: SearchAddress, facet: Facet, bucket: Bucket) -> SearchAddress:
    """Return the search for one value: its filter stands beside whatever was there."""
    earlier = address.asked.filter.strip()
    narrower = filter_of(facet, bucket)
    joined = f"({earlier}) {narrower}" if " " in earlier else f"{earlier} {narrower}"
    return address.otherwise(filter=joined.strip() if earlier else narrower)
