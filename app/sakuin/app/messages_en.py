"""The pages' messages in English."""

from sakuin.app.contexts import Notice, Step
from sakuin.app.messages import Messages
from sakuin.indexer.diagnostic import DiagnosticCode
from sakuin.indexer.engine import Order
from sakuin.indexer.freshness import MOST_COUNTED
from sakuin.indexer.limits import DEFAULT_DISTANCE, MOST_DISTANCE, MOST_NEAR_PARTS


def _changes(waiting: int) -> str:
    if waiting > MOST_COUNTED:
        return f"more than {MOST_COUNTED:,} changes"
    return _count(waiting, "change", "changes")


def _count(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"


ENGLISH = Messages(
    lang="en",
    name="索引 Sakuin",
    skip="Skip to content",
    menu="Menu",
    nav_add="Add a paragraph",
    api="API",
    box_label="Words to find",
    button="検索 Search",
    home_heading="Find words in your texts",
    documents=lambda count: f"{_count(count, 'paragraph', 'paragraphs')} can be searched.",
    help_summary="How to search",
    names="Names that may stand before a colon here:",
    help_rows=(
        ("人間 残酷", "words with a blank between: all of them"),
        ("spring OR autumn", "either of them"),
        ("library -catalogue", "without the second word (NOT does the same)"),
        ('"last page"', "just these characters in this order, blanks included"),
        ("lib* *ary wom*n", "words that begin so, end so, or have letters where the * is"),
        ("(spring OR autumn) rain", "parentheses go first"),
        ("source:notes*", "only where the source begins so"),
        ("created:2024-01..2024-03", "only from these months (UTC); also >=2024 or 2024-01-15"),
    ),
    results_title=lambda query, page: f"“{query}”: results, page {page:,}",
    found=lambda total: _count(total, "hit", "hits"),
    not_searched="Nothing was searched",
    took=lambda ms: f"{ms:,.1f} ms",
    shown=lambda first, last: f"{first:,}–{last:,}",
    nothing_found="Nothing was found.",
    nothing_found_hints=(
        "Characters are searched exactly as written: try a shorter word.",
        "Words with a blank between must all occur. OR between them finds more.",
        "A text saved a moment ago may have to wait until it is in the index.",
    ),
    out_of_range=lambda page, total: (
        f"There is no page {page:,}: the results end with page {total:,}."
    ),
    last_page="Go to the last page",
    indexes="Indexes",
    filter="Only what matches",
    unfilter="Remove this filter",
    order="Order",
    orders={
        Order.RELEVANCE: "Relevance",
        Order.ID: "Number",
        Order.NEWEST: "Newest",
        Order.OLDEST: "Oldest",
        Order.SOURCE: "In the source's order",
    },
    narrow=lambda name: f"Narrow by {name}",
    names_of_facets={"source": "Source", "created": "Time"},
    others=lambda count: f"{count:,} texts with other values",
    number=lambda count: f"{count:,}",
    did_you_mean="Did you mean",
    closest="Not an exact match: these texts have some of the words, or words that are spelt"
    " nearly like them; the closest first.",
    closest_heading=lambda total: f"{_count(total, 'text comes', 'texts come')} close",
    closest_all=lambda total: f"All {total:,} that come close",
    exact="Search for exactly these words",
    similar="Similar texts",
    similar_heading=lambda total: f"{_count(total, 'similar text', 'similar texts')}",
    stale="edited since it was indexed",
    removed=lambda count: (
        f"{_count(count, 'hit', 'hits')} of this page not shown: deleted since it was indexed."
    ),
    json="These results as JSON",
    pages="Pages",
    page=lambda number: f"Page {number:,}",
    previous="Prev",
    next="Next",
    note="Notice",
    notices={
        Notice.BAD_PAGE: "The page number is not a valid one; this is page 1.",
        Notice.BAD_PER_PAGE: "A page holds 1 to 100 hits; this one holds the usual number.",
        Notice.BAD_ORDER: "There is no such order; the hits are ordered by relevance.",
        Notice.BAD_GENERATION: "The generation is not a valid number; the newest was searched.",
        Notice.BAD_DIALECT: "There is no such dialect; the query was read as Sakuin's own.",
        Notice.BAD_AFTER: "Going on behind a hit works in the order of numbers only;"
        " this is page 1.",
        Notice.BAD_MODE: "There is no such mode; the words were searched exactly.",
        Notice.BAD_LIKE: "The index has no such text, so nothing similar can be found.",
        Notice.TOO_FAR: "Page numbers end at 100,000 hits; this is page 1. Ordered by number,"
        " the last of those pages goes on.",
        Notice.RESTARTED: "The copy of the index that you were reading is gone;"
        " this is page 1 of the newest.",
    },
    remarks={
        DiagnosticCode.EMPTY_QUERY: "There is nothing to search for.",
        DiagnosticCode.EMPTY_TERM: "This holds no visible character and was left out.",
        DiagnosticCode.TOO_LONG: "The query is too long and was not searched: shorten it.",
        DiagnosticCode.TOO_MANY_TERMS: "Too many words; nothing was searched: use fewer.",
        DiagnosticCode.TOO_DEEP: "Parentheses are nested too deep; nothing was searched.",
        DiagnosticCode.UNCLOSED_QUOTE: "The quotation mark is not closed; it runs to the end.",
        DiagnosticCode.UNCLOSED_PARENTHESIS: "The parenthesis is not closed; it runs to the end.",
        DiagnosticCode.TOO_MANY_WORDS: "Too many words are spelt like this; nothing was searched."
        " Write more letters beside the *.",
        DiagnosticCode.UNMATCHED_PARENTHESIS: "Nothing matches this parenthesis;"
        " it was searched as text.",
        DiagnosticCode.LONE_OPERATOR: "This has nothing to join; it was searched as text.",
        DiagnosticCode.QUOTE_AS_TEXT: "A quotation mark inside a word was searched as text.",
        DiagnosticCode.STAR_AS_TEXT: "A * works at either end of a word and between its letters,"
        " as in wom*n; this one was searched as text.",
        DiagnosticCode.REPLACED_CHARACTER: "A control character counts as a blank,"
        " half a surrogate pair as U+FFFD.",
        DiagnosticCode.ALL_BUT: "The query only excludes: everything else is found.",
        DiagnosticCode.BAD_NUMBER: "This filter needs a whole number; nothing was searched."
        " Write 5, >=100, <100, 10..20, 10.. or ..20.",
        DiagnosticCode.BAD_TIME: "This filter needs a time; nothing was searched. Write 2024,"
        " 2024-01, 2024-01-15 or 2024-01-15T10:30 (UTC), with >= or < before it,"
        " or .. between two.",
        DiagnosticCode.BAD_KEYWORD: "This filter needs the whole value, or its beginning and a *;"
        " nothing was searched. A * that is meant as such needs quotation marks.",
        DiagnosticCode.EMPTY_RANGE: "The range ends before it begins; nothing was searched.",
        DiagnosticCode.UNSUPPORTED: "This is not supported; nothing was searched. Leave it out.",
        DiagnosticCode.OPTIONAL_WORDS: "Beside words with a + the others change nothing in what"
        " is found; they were left out.",
        DiagnosticCode.RANK_IGNORED: "The signs < > ~ would only change the order;"
        " they were left out.",
        DiagnosticCode.UNKNOWN_FIELD: "This index has no field of that name;"
        " it was searched as text.",
        DiagnosticCode.UNKNOWN_FILTER: "This index has no field of that name;"
        " nothing was searched.",
        DiagnosticCode.PRAGMA_IGNORED: "This pragma has no meaning here; it was left out.",
        DiagnosticCode.NEAR_DISTANCE: "No number stands behind the ~;"
        f" it was taken as ~{DEFAULT_DISTANCE}.",
        DiagnosticCode.NEAR_ALONE: "A ~ needs two words in the quotation marks; it was left out.",
        DiagnosticCode.NEAR_AS_TEXT: "A ~ works right behind a quoted phrase without a *,"
        " with a number behind it; this one was searched as text.",
        DiagnosticCode.NEAR_TOO_FAR: f"Words can be at most {MOST_DISTANCE} apart;"
        " nothing was searched. Write a smaller number.",
        DiagnosticCode.NEAR_TOO_MANY: f"At most {MOST_NEAR_PARTS} words can be near each other;"
        " nothing was searched: use fewer.",
        DiagnosticCode.NEAR_TOO_COMMON: "Too many texts hold all of the words that must be near"
        " each other; nothing was searched: write rarer ones.",
        DiagnosticCode.SYNONYMS: "Its synonyms were searched too.",
        DiagnosticCode.SYNONYMS_LEFT_OUT: "With its synonyms there would be too many words;"
        " it was searched alone.",
    },
    quoted=lambda text: f"“{text}”",
    freshness=lambda generation, waiting: f"generation {generation:,}, {_changes(waiting)} waiting",
    generation=lambda generation: f"generation {generation:,}",
    no_generation=lambda waiting: f"no index yet, {_changes(waiting)} waiting",
    no_indexer="no indexer is running: start",
    no_indexer_remedy="sakuin worker",
    queue_paused="indexing is paused; it goes on after",
    database_away="The database cannot be reached. Searches go on from the index alone;"
    " later edits and deletions may not show.",
    add_heading="Add a paragraph",
    add_intro="Saving takes no time. The index follows by itself.",
    body="Text",
    source="Name of the source",
    source_hint="May stay empty.",
    save="Save",
    refused=lambda field: f"Not saved: {field}",
    fields={"body": "the text", "source": "the name of the source"},
    receipt_heading="Saved",
    delete_receipt_heading="Deleted",
    steps={
        Step.WAITING: "Waiting",
        Step.INDEXING: "Indexing",
        Step.SEARCHABLE: "Searchable",
        Step.FAILED: "Failed",
    },
    delete_steps={
        Step.WAITING: "Waiting",
        Step.INDEXING: "Leaving the index",
        Step.SEARCHABLE: "Gone from the index",
        Step.FAILED: "Failed",
    },
    explanations={
        Step.WAITING: "The change is saved and waits for its turn to enter the index.",
        Step.INDEXING: "The change is entering the index.",
        Step.SEARCHABLE: "The change is in the index.",
        Step.FAILED: "The change is saved, but it could not enter the index.",
    },
    searchable_now="Searches find this paragraph now.",
    gone_now="Searches do not show this paragraph any more.",
    look_again="Look again",
    to_paragraph="Show the paragraph",
    add_another="Add another one",
    paragraph=lambda source, position: f"{source} {position:,}",
    version="Version",
    created="Created",
    updated="Updated",
    time=lambda at: f"{at:%Y-%m-%d %H:%M} UTC",
    edit="Edit",
    save_changes="Save changes",
    delete="Delete",
    delete_warning="This deletes the paragraph. It cannot be undone.",
    delete_now="Delete this paragraph",
    errors={
        400: "The request could not be understood",
        403: "This is not allowed",
        404: "Not found",
        405: "This cannot be done here",
        409: "Another change came first",
        413: "Too large",
        422: "A value is not valid",
        500: "Something went wrong inside",
        503: "Not available right now",
    },
    error=lambda status: f"Error {status}",
    request_id="Request",
    to_search="Back to the search",
)
