"""What the pages say, in each language. The type holds every message: none can be missing.

Messages are plain text; the templates escape them, and whatever a reader's words add to them.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from sakuin.app.contexts import Notice, Step
from sakuin.indexer.diagnostic import DiagnosticCode
from sakuin.indexer.engine import Order


@dataclass(frozen=True, slots=True)
class Messages:
    """One language. Callables take the numbers, names and times that a sentence is built on."""

    lang: str
    name: str
    skip: str
    menu: str
    nav_add: str
    api: str

    box_label: str
    button: str
    home_heading: str
    documents: Callable[[int], str]
    help_summary: str
    names: str
    help_rows: tuple[tuple[str, str], ...]

    results_title: Callable[[str, int], str]
    found: Callable[[int], str]
    not_searched: str
    took: Callable[[float], str]
    shown: Callable[[int, int], str]
    nothing_found: str
    nothing_found_hints: tuple[str, ...]
    out_of_range: Callable[[int, int], str]
    last_page: str
    indexes: str
    filter: str
    unfilter: str
    order: str
    orders: Mapping[Order, str]
    narrow: Callable[[str], str]
    names_of_facets: Mapping[str, str]
    others: Callable[[int], str]
    number: Callable[[int], str]
    did_you_mean: str
    closest: str
    closest_heading: Callable[[int], str]
    closest_all: Callable[[int], str]
    exact: str
    similar: str
    similar_heading: Callable[[int], str]
    stale: str
    removed: Callable[[int], str]
    json: str
    pages: str
    page: Callable[[int], str]
    previous: str
    next: str

    note: str
    notices: Mapping[Notice, str]
    remarks: Mapping[DiagnosticCode, str]
    quoted: Callable[[str], str]
    freshness: Callable[[int, int], str]
    generation: Callable[[int], str]
    no_generation: Callable[[int], str]
    no_indexer: str
    no_indexer_remedy: str
    queue_paused: str
    database_away: str

    add_heading: str
    add_intro: str
    body: str
    source: str
    source_hint: str
    save: str
    refused: Callable[[str], str]
    fields: Mapping[str, str]

    receipt_heading: str
    delete_receipt_heading: str
    steps: Mapping[Step, str]
    delete_steps: Mapping[Step, str]
    explanations: Mapping[Step, str]
    searchable_now: str
    gone_now: str
    look_again: str
    to_paragraph: str
    add_another: str

    paragraph: Callable[[str, int], str]
    version: str
    created: str
    updated: str
    time: Callable[[datetime], str]
    edit: str
    save_changes: str
    delete: str
    delete_warning: str
    delete_now: str

    errors: Mapping[int, str]
    error: Callable[[int], str]
    request_id: str
    to_search: str
