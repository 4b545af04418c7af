"""dj-queue in the comparison, a whole Django project; runs where dj-queue is installed.

    python peer_dj_queue.py DATABASE_FILE migrate|put|work NUMBER

DATABASE_FILE holds Django's settings of the database as JSON. `put` puts NUMBER jobs in, `work`
runs the supervisor with NUMBER worker processes; all else is as dj-queue has it by default.
"""

import importlib
import json
import sys
from pathlib import Path

from django import setup  # type: ignore[import-not-found]
from django.conf import settings  # type: ignore[import-not-found]
from django.core.management import call_command  # type: ignore[import-not-found]

AT_ONCE = 1_000


def main() -> None:
    """Do what is asked for."""
    database, action, number = sys.argv[1:]
    _configure(json.loads(Path(database).read_text(encoding="utf-8")), int(number))
    if action == "migrate":
        call_command("migrate", verbosity=0)
    elif action == "put":
        _put(int(number))
    else:
        call_command("dj_queue", "--only-work")


def _configure(database: dict[str, object], processes: int) -> None:
    backend = {
        "BACKEND": "dj_queue.backend.DjQueueBackend",
        "QUEUES": [],
        "OPTIONS": {"workers": [{"processes": processes}]},
    }
    settings.configure(
        INSTALLED_APPS=["dj_queue"],
        DATABASES={"default": database},
        DATABASE_ROUTERS=["dj_queue.routers.DjQueueRouter"],
        TASKS={"default": backend},
        USE_TZ=True,
    )
    setup()


def _put(count: int) -> None:
    nothing = importlib.import_module("peer_dj_task").do_nothing
    backend = nothing.get_backend()
    for begin in range(0, count, AT_ONCE):
        backend.enqueue_all([(nothing, [], {})] * min(AT_ONCE, count - begin))


if __name__ == "__main__":
    main()
