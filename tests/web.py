"""The application as programs meet it: a client, and a worker that is run when a test says so."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from sakuin.app.assemble import Parts, initialise
from sakuin.app.main import create_app
from sakuin.app.settings import read_settings
from sakuin.app.worker import Worker


@dataclass(frozen=True, slots=True)
class Web:
    """A client of one application, and the application's own parts."""

    client: TestClient
    parts: Parts

    def get(self, path: str, **parameters: Any) -> Any:
        """GET and return the response."""
        return self.client.get(path, params=parameters or None)

    def add(self, body: str, source: str = "s") -> dict[str, Any]:
        """Add a paragraph and return the answer's JSON."""
        response = self.client.post("/api/v1/paragraphs", json={"body": body, "source": source})
        assert response.status_code == 202, response.text
        added: dict[str, Any] = response.json()
        return added

    def status(self, receipt: str) -> str:
        """Return a receipt's status."""
        return str(self.client.get(f"/api/v1/receipts/{receipt}").json()["status"])

    def drain(self) -> None:
        """Make everything searchable."""
        Worker(self.parts.copy, self.parts.settings).drain()


@contextmanager
def serving(folder: Path, database_url: str, engine: str = "", **flags: Any) -> Iterator[Web]:
    """Start the application on an empty database, without a server between it and the client."""
    given = {"data_dir": folder, "database_url": database_url, "engine": engine, **flags}
    app = create_app(read_settings(given, {}, folder))
    with TestClient(app, raise_server_exceptions=False, follow_redirects=False) as client:
        parts = app.state.installation.parts()
        initialise(parts)
        yield Web(client, parts)
