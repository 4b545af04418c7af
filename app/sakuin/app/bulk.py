"""Many paragraphs from JSON lines: bad lines are told, all others are saved."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import SQLAlchemyError

from sakuin.app.add import replay_while_taken
from sakuin.app.paragraph import check_body, check_source
from sakuin.app.refused import Refused
from sakuin.app.save import (
    ROWS_PER_TRANSACTION,
    WEB_SOURCE,
    NewParagraph,
    add_paragraphs,
    next_position,
)
from sakuin.queue import QueueError

MOST_LINES = 100_000
MOST_SOURCES = 100


@dataclass(frozen=True, slots=True)
class _Line:
    number: int
    body: str


@dataclass(slots=True)
class Outcome:
    """What was saved: message ids with one document id of each; and refused (line, reason)."""

    saved: int = 0
    messages: tuple[int, ...] = ()
    documents: tuple[str, ...] = ()
    refused: list[tuple[int, str]] = field(default_factory=list)


def save_lines(database: Engine, content: bytes) -> Outcome:
    """Save each line's paragraph at the end of its source, 1,000 rows a transaction.

    A line is {"body": text, "source"?: name}; blank lines are skipped. When the database goes
    away in between, the lines that were not saved are told as refused; before anything was
    saved its error is raised. Refused names too many lines or sources.
    """
    if content.count(b"\n") > MOST_LINES:
        raise Refused("body", f"has more than {MOST_LINES:,} lines: send fewer at once")
    outcome = Outcome()
    by_source: dict[str, list[_Line]] = {}
    for source, line in _read_lines(content, outcome):
        by_source.setdefault(source, []).append(line)
    if len(by_source) > MOST_SOURCES:
        raise Refused("body", f"has more than {MOST_SOURCES} sources: send fewer at once")
    chunks = [
        (source, lines[start : start + ROWS_PER_TRANSACTION])
        for source, lines in by_source.items()
        for start in range(0, len(lines), ROWS_PER_TRANSACTION)
    ]
    for number, (source, lines) in enumerate(chunks):
        try:
            _save(database, source, lines, outcome)
        except (QueueError, SQLAlchemyError) as error:
            if not outcome.saved:
                raise
            reason = f"not saved, the database failed: {type(error).__name__}"
            left = [line for _, lines in chunks[number:] for line in lines]
            outcome.refused += [(line.number, reason) for line in left]
            break
    outcome.refused.sort()
    return outcome


def _save(database: Engine, source: str, lines: Sequence[_Line], outcome: Outcome) -> None:
    def work(connection: Connection) -> tuple[list[int], int | None]:
        first = next_position(connection, source)
        rows = [NewParagraph(source, first + at, line.body) for at, line in enumerate(lines)]
        return add_paragraphs(connection, rows)

    ids, message = replay_while_taken(database, work)
    if message is not None:
        outcome.saved += len(ids)
        outcome.messages += (message,)
        outcome.documents += (str(ids[0]),)


def _read_lines(content: bytes, outcome: Outcome) -> Iterator[tuple[str, _Line]]:
    for number, raw in enumerate(content.split(b"\n"), start=1):
        if not raw.strip():
            continue
        try:
            source, body = _read_line(raw)
        except Refused as error:
            outcome.refused.append((number, str(error)))
        except (ValueError, RecursionError) as error:
            outcome.refused.append((number, f"not a line of JSON: {error}"))
        else:
            yield source, _Line(number, body)


def _read_line(line: bytes) -> tuple[str, str]:
    entry = json.loads(line)
    if not isinstance(entry, dict):
        raise Refused("line", 'is not a JSON object: write {"body": …}')
    for name in entry.keys() - {"body", "source"}:
        told = name[:100].encode("utf-8", "backslashreplace").decode()
        raise Refused(told, "is not a field of a paragraph")
    body, source = entry.get("body"), entry.get("source", WEB_SOURCE)
    if not isinstance(body, str):
        raise Refused("body", "is missing, or not text")
    if not isinstance(source, str):
        raise Refused("source", "is not text")
    return check_source(source), check_body(body)
