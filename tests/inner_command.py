"""The `sakuin` command inside this process, 20 times faster, for what needs none of its own."""

import json
from dataclasses import dataclass, field
from typing import Any

from typer.testing import CliRunner, Result

from sakuin.app.cli import app


@dataclass(frozen=True, slots=True)
class InnerCommand:
    """Runs commands with these variables. What `main` makes of errors is not seen here."""

    variables: dict[str, str] = field(default_factory=dict)

    def finish(self, *arguments: str, text: str | bytes | None = None) -> Result:
        """Run to the end and return everything; what was raised is raised here."""
        plain = {"COLUMNS": "120", "TERM": "dumb", **self.variables}
        done = CliRunner().invoke(app, list(arguments), input=text, env=plain)
        if done.exception and not isinstance(done.exception, SystemExit):
            raise done.exception
        return done

    def run(self, *arguments: str, code: int = 0, text: str | bytes | None = None) -> str:
        """Run to the end, demand the exit code, and return standard output."""
        done = self.finish(*arguments, text=text)
        assert done.exit_code == code, done.output
        return done.stdout

    def json(self, *arguments: str) -> Any:
        """Run with --json and return what it printed."""
        return json.loads(self.run(*arguments, "--json"))
