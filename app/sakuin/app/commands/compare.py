"""`sakuin index verify|repair`."""

from typing import Any

import typer
from sqlalchemy import Connection

from sakuin.app.assemble import Parts
from sakuin.app.attached import read_records
from sakuin.app.check_attached import Damage, check_attached
from sakuin.app.commands.options import (
    DEFAULT_INDEX,
    AsJson,
    DatabaseUrl,
    DataDir,
    EngineName,
    IndexName,
    opened,
    put,
    put_json,
    say,
)
from sakuin.app.follow import look
from sakuin.app.progress import counting
from sakuin.app.table_loader import TableLoader
from sakuin.indexer.verify import Report
from sakuin.indexer.verify import repair as push_differences
from sakuin.indexer.verify import verify as compare
from sakuin.queue import read

DIFFERENT = 4
UNSETTLED = 75
_KINDS = ("missing", "extra", "changed", "unreadable")


def verify(
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
    engine: EngineName = None,
    index: IndexName = DEFAULT_INDEX,
    as_json: AsJson = False,
) -> None:
    """Compare the index with its table, by ids and digests; exit 4 when they differ.

    Of an attached table the triggers are looked at too. Exit 75 when changes wait and no indexer
    works on them, so that only those can differ.
    """
    flags = {"data_dir": data_dir, "database_url": database_url, "engine": engine}
    with opened(flags, index) as parts:
        damage = _damage(parts)
        report = None if damage and (damage.columns or damage.fault) else _compared(parts)
        standing = look(parts)
        is_idle = not standing.has_indexer or standing.is_paused
        is_stuck = bool(report and report.under_way) and is_idle
    if as_json:
        put_json(_entry(damage, report))
    else:
        _print(damage, report, f"sakuin index repair --index {index}")
    if damage or (report and not report.is_equal):
        raise typer.Exit(DIFFERENT)
    if is_stuck:
        say(
            f"Its queue is paused: `sakuin queue resume index:{index}`, then verify again."
            if standing.is_paused
            else "No indexer is running: start `sakuin worker`, then verify again."
        )
        raise typer.Exit(UNSETTLED)


def repair(
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
    engine: EngineName = None,
    index: IndexName = DEFAULT_INDEX,
    as_json: AsJson = False,
) -> None:
    """Push the ids of exactly what differs: the worker then brings the index in line."""
    flags = {"data_dir": data_dir, "database_url": database_url, "engine": engine}
    with opened(flags, index) as parts:
        damage = _damage(parts)
        report = None
        if not (damage and (damage.columns or damage.fault)):
            with counting("Comparing", unit="rows") as tell:
                report = push_differences(parts.copy, on_progress=tell)
    if as_json:
        put_json(_entry(damage, report))
    else:
        _print(damage, report, "sakuin worker --drain")
    if report is None:
        raise typer.Exit(1)


def _compared(parts: Parts) -> Report:
    with counting("Comparing", unit="rows") as tell:
        return compare(parts.copy, on_progress=tell)


def _damage(parts: Parts) -> Damage | None:
    def find(connection: Connection) -> Damage | None:
        found = {each.table.name: each.table for each in read_records(connection).attachments}
        table = found.get(parts.index.name)
        is_meant = table and (isinstance(parts.index.loader, TableLoader) or table.triggers_only)
        return check_attached(connection, table) if table and is_meant else None

    return read(parts.database, find)


def _entry(damage: Damage | None, report: Report | None) -> dict[str, Any]:
    entry: dict[str, Any] = {"equal": report is not None and report.is_equal}
    if damage is not None:
        entry["triggers_missing"] = list(damage.triggers)
        entry["columns_missing"] = list(damage.columns)
        entry["fault"] = damage.fault
    if report is not None:
        entry |= {
            "generation": report.generation,
            "rows": report.rows,
            "documents": report.documents,
            "under_way": report.under_way,
            "waiting": report.waiting,
            "dead": report.dead,
        }
        for kind in _KINDS:
            difference = getattr(report, kind)
            entry[kind] = {"count": difference.count, "first": difference.first}
    return entry


def _print(damage: Damage | None, report: Report | None, next_command: str) -> None:
    if damage:
        _print_damage(damage)
    if report is None:
        return
    put(
        f"generation {report.generation}: {report.documents:,} documents, {report.rows:,} rows; "
        f"{report.waiting:,} messages wait, {report.dead:,} are dead"
    )
    for kind in _KINDS:
        difference = getattr(report, kind)
        if difference.count:
            more = ", …" if difference.count > len(difference.first) else ""
            put(f"{kind:>10}  {difference.count:,}: {', '.join(difference.first)}{more}")
    if report.is_equal and report.under_way:
        say(f"The index equals the table, but for {report.under_way:,} changes that wait.")
    elif report.is_equal:
        say("The index equals the table.")
    else:
        say(f"Next: {next_command}")


def _print_damage(damage: Damage) -> None:
    if damage.fault:
        put(damage.fault)
    for name in damage.columns:
        put(f"the column {name} is gone; saves fail while a trigger names it")
    for name in damage.triggers:
        put(f"the trigger {name} is gone, says something else, or is hidden from this account")
    say(f"Next: {damage.command}" + " (with other columns)" * bool(damage.columns))
