"""Noting a search that was answered, in the search log of the application; where it is on."""

from fastapi import Request

from sakuin.app.answer import Answer
from sakuin.app.search_log import SearchLog, logged_text


def log_of(request: Request) -> SearchLog | None:
    """Return the search log of this application, or None where it is off."""
    found: SearchLog | None = getattr(request.app.state, "search_log", None)
    return found


def note_search(request: Request, index: str, found: Answer) -> str | None:
    """Note a search where the log is on; return what the log knows it by, if it keeps it.

    What was not searched, because a remark refuses it or nothing is indexed yet, says nothing of
    what the index lacks.
    """
    log = log_of(request)
    if log is None or found.asked.like is not None:
        return None
    if not found.was_searched or not found.generation:
        return None
    log.note(index, found.asked, found.page.total, found.asked.way)
    return logged_text(found.asked)
