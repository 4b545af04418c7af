"""The search log as JSON and as the command line asks for it. Never served over HTTP."""

from collections.abc import Callable
from enum import StrEnum
from typing import Any

from sqlalchemy import Connection

from sakuin.app.refused import Refused
from sakuin.app.search_log_read import (
    ClickedDocument,
    LoggedSearch,
    clicked,
    frequent_searches,
    nothing_found,
    unclicked,
)
from sakuin.app.search_log_tables import has_search_log


class Part(StrEnum):
    """What the log can be asked."""

    SEARCHES = "searches"
    NOTHING_FOUND = "nothing_found"
    CLICKED = "clicked"
    UNCLICKED = "unclicked"


LogAnswer = tuple[LoggedSearch | ClickedDocument, ...]
LogAnswers = dict[Part, LogAnswer]

_QUESTIONS: dict[Part, Callable[[Connection, str, int, int], LogAnswer]] = {
    Part.SEARCHES: frequent_searches,
    Part.NOTHING_FOUND: nothing_found,
    Part.CLICKED: clicked,
    Part.UNCLICKED: unclicked,
}


def ask_log(
    connection: Connection, index: str, parts: tuple[Part, ...], days: int, most: int
) -> LogAnswers:
    """Ask the log about the last days; Refused where there is none, which says how to have one."""
    if not has_search_log(connection):
        raise Refused(
            "the search log", "was never kept here: set SAKUIN_SEARCH_LOG=yes and run `sakuin init`"
        )
    return {part: _QUESTIONS[part](connection, index, days, most) for part in parts}


def log_json(answers: LogAnswers) -> dict[str, Any]:
    """Return answers as JSON has them: a list for each part.

    searches, nothing_found, unclicked: {"query", "mode", "asked", "total", "clicks",
    "last_day"}; clicked: {"query", "mode", "document", "clicks", "position"}.
    """
    return {part.value: [_entry(each) for each in found] for part, found in answers.items()}


def _entry(each: LoggedSearch | ClickedDocument) -> dict[str, Any]:
    same = {"query": each.query, "mode": each.mode}
    if isinstance(each, ClickedDocument):
        position = round(each.position, 1)
        return {**same, "document": each.document, "clicks": each.clicks, "position": position}
    counts = {"asked": each.asked, "total": each.total, "clicks": each.clicks}
    return {**same, **counts, "last_day": each.last_day.isoformat()}
