"""Many paragraphs from JSON lines: bad lines are told, all others are saved."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field

from sqlalchemy import Connection, Engine, func, select

from sakuin.app.add import replay_while_taken
from sakuin.app.paragraph import Paragraph, Refused, check_body, check_source
from sakuin.app.save import ROWS_PER_TRANSACTION, WEB_SOURCE, NewParagraph, add_paragraphs

MOST_LINES = 100_000


@dataclass(slots=True)
class Outcome:
    """What was saved: message ids with one document id of each; and refused (line, reason)."""

    saved: int = 0
    messages: tuple[int, ...] = ()
    documents: tuple[str, ...] = ()
    refused: list[tuple[int, str]] = field(default_factory=list)


def save_lines(database: Engine, content: bytes) -> Outcome:
    """Save each line's paragraph at the end of its source, 1,000 rows a transaction.

    A line is {"body": text, "source"?: name}; blank lines are skipped.
    """
    if content.count(b"\n") > MOST_LINES:
        raise Refused("body", f"has more than {MOST_LINES:,} lines: send fewer at once")
    outcome = Outcome()
    by_source: dict[str, list[str]] = {}
    for source, body in _read_lines(content, outcome):
        by_source.setdefault(source, []).append(body)
    for source, bodies in by_source.items():
        for start in range(0, len(bodies), ROWS_PER_TRANSACTION):
            _save(database, source, bodies[start : start + ROWS_PER_TRANSACTION], outcome)
    return outcome


def _save(database: Engine, source: str, bodies: list[str], outcome: Outcome) -> None:
    def work(connection: Connection) -> tuple[list[int], int | None]:
        last = select(func.max(Paragraph.position)).where(Paragraph.source == source)
        first = (connection.execute(last).scalar() or 0) + 1
        rows = [NewParagraph(source, first + at, body) for at, body in enumerate(bodies)]
        return add_paragraphs(connection, rows)

    ids, message = replay_while_taken(database, work)
    if message is not None:
        outcome.saved += len(ids)
        outcome.messages += (message,)
        outcome.documents += (str(ids[0]),)


def _read_lines(content: bytes, outcome: Outcome) -> Iterator[tuple[str, str]]:
    for number, line in enumerate(content.split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            yield _read_line(line)
        except Refused as error:
            outcome.refused.append((number, str(error)))
        except (ValueError, RecursionError) as error:
            outcome.refused.append((number, f"not a line of JSON: {error}"))


def _read_line(line: bytes) -> tuple[str, str]:
    entry = json.loads(line)
    if not isinstance(entry, dict):
        raise Refused("line", 'is not a JSON object: write {"body": …}')
    for name in entry.keys() - {"body", "source"}:
        raise Refused(str(name)[:100], "is not a field of a paragraph")
    body, source = entry.get("body"), entry.get("source", WEB_SOURCE)
    if not isinstance(body, str):
        raise Refused("body", "is missing, or not text")
    if not isinstance(source, str):
        raise Refused("source", "is not text")
    return check_source(source), check_body(body)
