"""`sakuin doctor`."""

from typing import Annotated

import typer
from rich.console import Console

from sakuin.app.assemble import installation
from sakuin.app.commands.options import AsJson, DatabaseUrl, DataDir, EngineName, put_json
from sakuin.app.diagnose import Finding, Grade, diagnose
from sakuin.app.settings import read_settings

_COLOURS = {Grade.OK: "green", Grade.WARN: "yellow", Grade.FAIL: "red"}


def doctor(
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
    engine: EngineName = None,
    index: Annotated[
        str | None,
        typer.Option(
            help="Look at this index alone. (no variable; default: all indexes)",
            show_default=False,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Check database, tables, folder, indexes and worker; each line says what to do."""
    flags = {"data_dir": data_dir, "database_url": database_url, "engine": engine}
    with installation(read_settings(flags)) as opened:
        findings = diagnose(opened, index)
    if as_json:
        put_json([_entry(finding) for finding in findings])
    else:
        console = Console(highlight=False, soft_wrap=True)
        for finding in findings:
            grade = f"[{_COLOURS[finding.grade]}]{finding.grade.value:<4}[/]"
            console.print(f"{grade} {finding.subject}: ", end="")
            console.print(finding.text, markup=False)
    if any(finding.grade is Grade.FAIL for finding in findings):
        raise typer.Exit(1)


def _entry(finding: Finding) -> dict[str, str]:
    return {"grade": finding.grade.value, "subject": finding.subject, "text": finding.text}
