"""What others have searched for, among the suggestions: where the search log is on."""

from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from sakuin.app.assemble import Parts
from sakuin.app.search_log_read import past_searches
from sakuin.app.suggested import Suggested, suggested
from sakuin.indexer.fold import fold
from sakuin.indexer.query_words import query_words
from sakuin.indexer.suggestion import Suggestion, SuggestionKind, Trial
from sakuin.queue import QueueError

_SHARE = 2  # at most one in so many is what others asked


def suggested_with_past(parts: Parts, typed: str, *, most: int) -> Suggested:
    """Return suggestions of the index, and before them what others asked and found.

    Those too are tried in the index before they are offered. Never fails for the database: then
    the index alone suggests.
    """
    synonyms = parts.current_synonyms()
    found = suggested(parts.reader, parts.index, typed, most=most, synonyms=synonyms)
    is_blank = not fold(typed, parts.index.fields.folding).strip()
    if not parts.settings.search_log or is_blank or not found.generation:
        return found
    past = _tried(parts, found, _asked(parts, typed, most // _SHARE), typed)
    texts = {each.text for each in past}
    others = tuple(each for each in found.suggestions if each.text not in texts)
    return Suggested(found.generation, (past + others)[:most])


def _asked(parts: Parts, typed: str, most: int) -> tuple[str, ...]:
    def look(connection: Connection) -> tuple[str, ...]:
        return tuple(e.query for e in past_searches(connection, parts.index.name, typed, most))

    try:
        return parts.row_check.ask_in_passing(look) if most else ()
    except (QueueError, SQLAlchemyError):  # the index suggests all the same
        return ()


def _tried(
    parts: Parts, found: Suggested, queries: tuple[str, ...], typed: str
) -> tuple[Suggestion, ...]:
    """Return those that find something in the same generation, and are not what was typed.

    Only bare words are taken, all of which must stand in a document: behind an OR or a NOT
    anybody could put anything before the eyes of others.
    """
    with parts.reader.open(found.generation) as opened:
        if opened is None or not queries:
            return ()
        fields = parts.index.fields
        trial = Trial(opened.searcher, fields, synonyms=parts.current_synonyms())
        known = {trial.read(typed).meaning}
        made: list[Suggestion] = []
        for query in queries:
            if not query_words(query, fields).is_plain:
                continue
            reading = trial.read(query)
            total = trial.find(reading.query).total
            if total and reading.meaning not in known:
                known.add(reading.meaning)
                made.append(Suggestion(query, total, SuggestionKind.ASKED))
        return tuple(made)
