"""Telling what a load did: to people as the classic table, to programs as JSON."""

from typing import Any

from sakuin.app.commands.options import put, say
from sakuin.app.load_files import LoadReport

_MOST_TOLD = 100


def report_json(report: LoadReport) -> dict[str, Any]:
    """Return the documented keys of `sakuin load --json`."""
    return {
        "saved": report.loaded.saved,
        "skipped": report.skipped,
        "refused": report.refused_count,
        "deleted": report.loaded.deleted,
        "seconds": round(report.seconds, 6),
    }


def print_report(report: LoadReport) -> None:
    """Print the table, the counts, what was refused, and the next command."""
    print_refused(report)
    for note in report.notes:
        say(note)
    if report.stored_nothing:
        say("Nothing was stored: mend these lines, or load with --bad-lines skip.")
        return
    put(str(report.table))
    moved = f", {report.loaded.moved:,} moved" if report.loaded.moved else ""
    say(
        f"{report.loaded.saved:,} saved, {report.skipped:,} skipped (blank or unchanged), "
        f"{report.refused_count:,} refused, {report.loaded.deleted:,} deleted{moved}"
    )
    if report.next_step:
        say(f"Next: {report.next_step}")


def print_refused(report: LoadReport) -> None:
    """Print each line that could not be stored, with its file and number."""
    for each in report.refused[:_MOST_TOLD]:
        place = f"{each.file}:{each.line}" if each.line else each.file
        say(f"{place}: {each.reason}")
    if report.refused_count > _MOST_TOLD:
        say(f"… and {report.refused_count - _MOST_TOLD:,} more")
