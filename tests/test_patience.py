"""A drain from cron ends, whatever stands in its way; a daemon waits."""

from pathlib import Path

import pytest

from sakuin.app import worker as worker_module
from sakuin.app.worker import Worker
from web import serving


def test_a_drain_that_gets_nowhere_gives_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error that stands in the way is raised, nothing is lost, and a later drain does it."""
    monkeypatch.setattr(worker_module, "PATIENCE_SECONDS", 0.5)
    with serving(tmp_path, f"sqlite:///{tmp_path / 'q.db'}") as web:
        added = web.add("人間")
        folder = web.parts.copy.generations.directory
        away = folder.with_name("away")
        folder.rename(away)
        folder.write_text("a file where the folder must be")
        with pytest.raises(OSError, match="paragraphs"):
            Worker(web.parts.copy, web.parts.settings).drain()
        folder.unlink()
        away.rename(folder)
        web.drain()
        assert web.status(added["receipt"]) == "searchable"
