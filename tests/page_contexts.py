"""Contexts of every page in every state, for tests: one text can be put into every field."""

from dataclasses import fields, is_dataclass, replace
from datetime import datetime
from typing import Any

from sakuin.app.contexts import (
    AddPage,
    Closest,
    Context,
    CountedLink,
    ErrorPage,
    FacetLinks,
    IndexLink,
    Notice,
    OrderLink,
    PageLink,
    ParagraphPage,
    Problem,
    ReceiptPage,
    Remark,
    Result,
    Results,
    SearchPage,
    Site,
    Standing,
    Step,
)
from sakuin.indexer.diagnostic import DiagnosticCode
from sakuin.indexer.engine import Order

SITE = Site(
    home="/",
    search="/search",
    add="/paragraphs/new",
    api="/openapi.json",
    style="/static/style.css",
    script="/static/search.js",
    icon="/static/icon.svg",
    suggest="/api/v1/suggest",
)
STANDING = Standing(generation=42, waiting=3, has_indexer=True)
AT = datetime(2026, 11, 30, 17, 2, 5)  # noqa: DTZ001  as the table has it: naive, UTC

HITS = (
    (
        ("引退した", False),
        ("殺し", True),
        ("屋が村で時計の修理を始めた。止まったものを動かすのは、思ったよりずっと難しい、", False),
        ("と彼は言った。", False),
        ("人間", True),
        ("は逆のことばかり上手になる。", False),
    ),
    (
        ("…親切には速さが必要である。迷っているうちに、荷物を持った人は階段を上りきって", False),
        ("しまう。", False),
        ("人間", True),
        ("の善意は、たいてい二段目で追いつけなくなる。", False),
    ),
    (("The thief of ", False), ("人間", True), (" wrote a letter: “not gold, but time.”", False)),
)


def result(number: int, **changes: Any) -> Result:
    made = Result(
        index="paragraphs",
        id=str(number),
        url=f"/paragraphs/{number}",
        title=None,
        title_pieces=(),
        source=("stories_ja", "essays_ja", "letters_en")[number % 3],
        position=number,
        pieces=HITS[number % 3],
        stale=False,
        similar_url=f"/search?like={number}",
    )
    return replace(made, **changes)


def links(current: int) -> tuple[PageLink, ...]:
    shown = [1, None, *range(current - 4, current + 5), None, 123]
    return tuple(
        PageLink(n, f"/search?q=x&page={n}" if n else None, current=n == current) for n in shown
    )


def results(**changes: Any) -> Results:
    made = Results(
        total=1228,
        way="exact",
        exact_url=None,
        is_continued=False,
        was_searched=True,
        took_ms=1.84,
        page=7,
        total_pages=123,
        first=61,
        last=70,
        items=(
            *(result(n) for n in range(3, 10)),
            result(10, stale=True),
            result(
                11,
                title="A novel, 第三章",
                title_pieces=(("A ", False), ("novel", True)),
                position=3,
            ),
        ),
        removed=1,
        links=links(7),
        previous_url="/search?q=x&page=6",
        next_url="/search?q=x&page=8",
        last_url=None,
        orders=tuple(OrderLink(o, f"/search?order={o}", o is Order.RELEVANCE) for o in Order),
        facets=(
            FacetLinks("source", (CountedLink("青空.txt", 900, "/search?filter=source"),), 328),
            FacetLinks("created", (CountedLink("2024-01", 1228, "/search?filter=created"),), 0),
            FacetLinks("author", (CountedLink("太宰治", 7, "/search?filter=author"),), 0),
        ),
        meant=(),
        closest=None,
        json_url="/api/v1/search?q=x&page=7",
    )
    return replace(made, **changes)


def search_page(**changes: Any) -> SearchPage:
    made = SearchPage(
        site=SITE,
        standing=STANDING,
        query="人間",
        carried=(("order", "newest"),),
        documents=284,
        indexes=(),
        filter="",
        unfiltered_url="/search?q=x",
        names=("body", "source", "position", "id", "created"),
        notices=(),
        remarks=(),
        results=results(),
    )
    return replace(made, **changes)


def _none(**changes: Any) -> Results:
    bare = results(items=(), links=(), removed=0, first=0, last=0, previous_url=None, next_url=None)
    return replace(bare, **changes)


def _search_pages() -> dict[str, SearchPage]:
    remarks = tuple(Remark(code, "(a", ("語", "word")) for code in DiagnosticCode)
    away = replace(STANDING, waiting=None)
    return {
        "results": search_page(),
        "one_page": search_page(
            results=results(total=2, items=(result(3), result(4)), first=1, last=2, page=1,
                            total_pages=1, links=(PageLink(1, "/search?q=x", current=True),),
                            removed=0, previous_url=None, next_url=None)
        ),
        "first_page": search_page(results=results(page=1, previous_url=None)),
        "last_page": search_page(results=results(page=123, next_url=None)),
        "box": search_page(query="", results=None),
        "box_empty_index": search_page(
            query="", results=None, documents=0, standing=Standing(0, 0, has_indexer=True)
        ),
        "remarks": search_page(query="(a", remarks=remarks, notices=tuple(Notice)),
        "closest": search_page(
            results=results(way="closest", exact_url="/search?q=x", orders=(), facets=())
        ),
        "similar": search_page(query="", results=results(way="similar", orders=(), facets=())),
        "instead": search_page(
            results=_none(
                total=0,
                total_pages=0,
                meant=(CountedLink("人間失格", 7, "/s?q=m"), CountedLink("x", 1, "/s?q=l")),
                closest=Closest(41, (result(3), result(4)), "/search?mode=closest"),
            )
        ),
        "no_hits": search_page(remarks=remarks[:1], results=_none(total=0, total_pages=0)),
        "out_of_range": search_page(
            results=_none(page=10**30, last_url="/search?q=x&page=123", links=links(7))
        ),
        "continued": search_page(
            results=results(is_continued=True, page=1, links=(), previous_url=None,
                            next_url="/search?q=x&order=id&after=9")
        ),
        "indexes": search_page(
            filter="category_id:3 published_at:2024..",
            indexes=tuple(
                IndexLink(name, f"/search?q=x&index={name}", current=name == "articles")
                for name in ("paragraphs", "articles", "shop_items")
            ),
        ),
        "no_indexer": search_page(standing=replace(STANDING, has_indexer=False)),
        "paused": search_page(standing=replace(STANDING, paused_queue="index:paragraphs")),
        "database_away": search_page(standing=away),
        "no_standing": search_page(standing=None),
    }  # fmt: skip


def _receipt_pages() -> dict[str, ReceiptPage]:
    made = ReceiptPage(
        site=SITE,
        standing=STANDING,
        step=Step.WAITING,
        deletes=False,
        reason="",
        paragraph_url="/paragraphs/17",
        receipt_url="/receipts/abc",
        json_url="/api/v1/receipts/abc",
    )
    pages = {f"receipt_{step}": replace(made, step=step) for step in Step}
    pages["receipt_failed"] = replace(pages["receipt_failed"], reason="the text cannot be read")
    for step in Step:
        gone = replace(made, step=step, deletes=True, paragraph_url=None)
        pages[f"receipt_delete_{step}"] = gone
    return pages


def all_pages() -> dict[str, Context]:
    """Return every page in every state that its template tells apart, by a name."""
    problem = Problem("body", "is empty: write at least one character")
    add = AddPage(SITE, STANDING, "/paragraphs", body="", source="", problem=None)
    paragraph = ParagraphPage(
        SITE, STANDING, id=17, source="stories_ja", position=2,
        body="  羊を数えて眠る男のところへ、九十九匹目の羊が苦情を言いに来た。\n二行目。",
        version=3, created_at=AT, updated_at=AT, edit_action="/paragraphs/17",
        delete_action="/paragraphs/17/delete", draft=None, problem=None,
    )  # fmt: skip
    error = ErrorPage(SITE, STANDING, 404, detail="there is no paragraph 99", request_id="8f2c")
    return {
        **_search_pages(),
        **_receipt_pages(),
        "add": add,
        "add_refused": replace(add, body=" ", source="x", problem=problem),
        "paragraph": paragraph,
        "paragraph_refused": replace(paragraph, draft=" ", problem=problem),
        "error": error,
        "error_bare": replace(error, standing=None, status=599, detail="", request_id=""),
    }


# Together these have every part that shows a text.
RICHEST = ("results", "remarks", "out_of_range", "add_refused", "paragraph_refused",
           "receipt_failed", "error")  # fmt: skip


def with_text(value: Any, text: str) -> Any:
    """Return a copy of a context with this text in every field that is free text.

    A query gets a blank more, since a remark about a whole query does not repeat it.
    """
    if isinstance(value, tuple):
        return tuple(with_text(each, text) for each in value)
    if is_dataclass(value) and not isinstance(value, type):
        changed = {f.name: with_text(getattr(value, f.name), text) for f in fields(value)}
        if isinstance(value, SearchPage):
            changed["query"] = text + " "
        return replace(value, **changed) if not isinstance(value, Site) else value
    return text if type(value) is str else value
