"""The facets of a search as they are written: `source`, `source:50`, `created:month`."""

from collections.abc import Iterable

from sakuin.app.refused import Refused
from sakuin.indexer.document import Fields, FilterKind
from sakuin.indexer.facet import Facet, Step

MOST_FACETS = 8
MOST_VALUES = 1_000


def read_facets(fields: Fields, written: Iterable[str]) -> tuple[Facet, ...]:
    """Read facets; each of these texts may hold several, parted by commas.

    `name` counts the ten most frequent values of a filter, `name:N` the N most frequent ones;
    a time is counted by months, or by what `name:year`, `name:month` or `name:day` says. Refused
    names what cannot be counted, and what can.
    """
    texts = [one.strip() for each in written for one in each.split(",")]
    facets = tuple(_facet(fields, one) for one in dict.fromkeys(texts) if one)
    if len(facets) > MOST_FACETS:
        raise Refused("facets", f"are {len(facets)}; at most {MOST_FACETS} go together")
    return facets


def facet_names(fields: Fields) -> tuple[str, ...]:
    """Return what can be counted: the filters, and `created` where documents have a time."""
    timed = ("created",) if fields.timed else ()
    return (*(each.name for each in fields.filters), *timed)


def _facet(fields: Fields, text: str) -> Facet:
    name, _, how = text.partition(":")
    kind = fields.kind_of(name)
    if kind is None or name == "id":
        known = ", ".join(facet_names(fields)) or "none"
        raise Refused("facets", f"name {name!r}; this index can count: {known}")
    if kind is FilterKind.TIME:
        if how not in ("", *Step):
            raise Refused("facets", f"say {text!r}; a time goes by {', '.join(Step)}")
        return Facet(name, step=Step(how or Step.MONTH))
    if how and not (how.isascii() and how.isdigit() and 0 < int(how[:9]) <= MOST_VALUES):
        raise Refused(
            "facets", f"say {text!r}; write {name}, or {name}:N with N to {MOST_VALUES:,}"
        )
    return Facet(name, most=int(how)) if how else Facet(name)
