"""Looking for what is wrong with an installation, and saying what mends it."""

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import partial

from sqlalchemy import Connection, func, inspect, select
from sqlalchemy.exc import SQLAlchemyError

from sakuin.app.assemble import Installation, Parts
from sakuin.app.attached_table import AttachedTable
from sakuin.app.check_attached import check_attached
from sakuin.app.paragraph import Paragraph
from sakuin.app.paragraph_index import PARAGRAPHS
from sakuin.app.search_log_tables import CLICKS, SEARCHES
from sakuin.app.table_loader import TableLoader
from sakuin.indexer.errors import IndexerError
from sakuin.indexer.freshness import freshness
from sakuin.queue import QueueError, is_schema_current, queue_counts, read, waiting_count

_LOW_BYTES = 1 << 30
_OLD_SECONDS = 60.0


class Grade(StrEnum):
    """How bad a finding is."""

    OK = "OK"
    WARN = "WARN"
    FAIL = "FAIL"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at, and what to do about it."""

    grade: Grade
    subject: str
    text: str


def diagnose(opened: Installation, only: str | None = None) -> list[Finding]:
    """Look at everything once, of every index or of one. Changes nothing.

    Raises NoSuchIndex, or the queue's errors where the database would have to tell of it.
    """
    known = [opened.catalogue.named(only)] if only else opened.catalogue.known()
    parts = [opened.parts_of(each) for each in known]
    findings: list[Finding] = []
    for look in (_folder, _database, _tables):
        findings += look(parts[0])
    findings += [Finding(Grade.FAIL, "attached", text) for text in opened.catalogue.troubles()]
    for each in parts:
        for look in (_index, _queue, _agreement):
            findings += look(each)
    return findings


def _folder(parts: Parts) -> Iterator[Finding]:
    folder = parts.settings.data_dir
    there = next(each for each in (folder, *folder.parents) if each.exists())
    if not os.access(there, os.W_OK):
        yield Finding(
            Grade.FAIL,
            "data folder",
            f"{there} cannot be written: chown it, or set SAKUIN_DATA_DIR",
        )
        return
    free = shutil.disk_usage(there).free
    grade = Grade.OK if free > _LOW_BYTES else Grade.WARN
    yield Finding(grade, "data folder", f"{folder}, {free / 1e9:.1f} GB free")


def _database(parts: Parts) -> Iterator[Finding]:
    yield from _asking(parts, "database", _version)


def _tables(parts: Parts) -> Iterator[Finding]:
    log = {SEARCHES, CLICKS} if parts.settings.search_log else set()
    yield from _asking(parts, "tables", partial(_check_tables, more=log))


def _asking(
    parts: Parts, subject: str, ask: Callable[[Connection], tuple[Grade, str]]
) -> Iterator[Finding]:
    try:
        grade, text = read(parts.database, ask)
    except (QueueError, SQLAlchemyError, IndexerError) as error:
        yield Finding(Grade.FAIL, subject, str(error))
    else:
        yield Finding(grade, subject, text)


def _version(connection: Connection) -> tuple[Grade, str]:
    url = connection.engine.url.render_as_string(hide_password=True)
    is_sqlite = connection.dialect.name == "sqlite"
    question = "SELECT sqlite_version()" if is_sqlite else "SELECT VERSION()"
    return Grade.OK, f"{connection.exec_driver_sql(question).scalar_one()} at {url}"


def _check_tables(connection: Connection, more: set[str]) -> tuple[Grade, str]:
    wanted = {"sakuin_messages", "sakuin_dead", Paragraph.__tablename__, *more}
    missing = wanted - set(inspect(connection).get_table_names())
    if missing:
        return Grade.FAIL, f"missing: {', '.join(sorted(missing))}; run `sakuin init`"
    if not is_schema_current(connection):
        return Grade.FAIL, "the queue's tables are of an older version; run `sakuin init`"
    connection.execute(select(Paragraph.id).limit(1)).all()
    return Grade.OK, ", ".join(sorted(wanted))


def _index(parts: Parts) -> Iterator[Finding]:
    subject = f"index {parts.index.name}"
    try:
        with parts.reader.open() as opened:
            if opened is None:
                yield Finding(
                    Grade.WARN, subject, "no generation yet: load text, then run `sakuin worker`"
                )
                return
            count = opened.searcher.document_count
            engine = parts.copy.engine
            yield Finding(
                Grade.OK,
                subject,
                f"generation {opened.number}, {count:,} documents, {engine.name} {engine.version}",
            )
    except (IndexerError, OSError) as error:
        yield Finding(Grade.FAIL, subject, str(error))


def _queue(parts: Parts) -> Iterator[Finding]:
    yield from _asking(parts, f"queue {parts.index.queue}", partial(_check_queue, parts))


def _check_queue(parts: Parts, connection: Connection) -> tuple[Grade, str]:
    counts = queue_counts(connection, parts.index.queue)
    fresh = freshness(connection, parts.index, parts.copy.generations)
    text = f"{fresh.waiting:,} waiting, {counts.dead:,} dead"
    if fresh.is_paused:
        return Grade.WARN, text + f"; paused: `sakuin queue resume {parts.index.queue}`"
    if fresh.waiting and not fresh.has_indexer:
        return Grade.FAIL, text + "; no indexer is running: start `sakuin worker`"
    if (counts.oldest_seconds or 0) > _OLD_SECONDS:
        return Grade.WARN, text + f"; the oldest waits {counts.oldest_seconds:.0f} s: see its log"
    if counts.dead:
        return Grade.WARN, text + f"; `sakuin queue dead --queue {parts.index.queue}` says why"
    return Grade.OK, text


def _agreement(parts: Parts) -> Iterator[Finding]:
    """Compare what can be compared quickly: another database has other rows, triggers vanish."""
    loader = parts.index.loader
    if parts.index is PARAGRAPHS:
        yield from _asking(parts, "rows and index", partial(_compare, parts))
    elif isinstance(loader, TableLoader):
        yield from _asking(
            parts, f"triggers of {parts.index.name}", partial(_check_triggers, loader.table)
        )


def _check_triggers(table: AttachedTable, connection: Connection) -> tuple[Grade, str]:
    damage = check_attached(connection, table)
    if not damage:
        return Grade.OK, f"all there on {table.place}"
    gone = ", ".join((*damage.columns, *damage.triggers)) or damage.fault
    return Grade.FAIL, f"{table.place}: {gone} gone or changed; run `{damage.command}`"


def _compare(parts: Parts, connection: Connection) -> tuple[Grade, str]:
    waiting = waiting_count(connection, parts.index.queue, 1)
    rows = connection.execute(select(func.count(Paragraph.id))).scalar_one()
    with parts.reader.open() as opened:
        documents = opened.searcher.document_count if opened else 0
    if rows == documents or waiting:
        return Grade.OK, f"{rows:,} rows, {documents:,} documents"
    return Grade.WARN, (
        f"{rows:,} rows, but {documents:,} documents and nothing waits: was the database changed, "
        "or written without a message? `sakuin index rebuild` mends it"
    )
