"""A supervisor as a program, for tests that send it signals: `python supervisor_program.py PLAN`.

PLAN is JSON: the fields of a Plan, with its roles.
"""

import json
import logging
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict

from sakuin.queue.processes import Plan, Role, RoleRefused, stop_on_signals, supervise


def main() -> int:
    """Supervise until told to stop."""
    logging.basicConfig(level=logging.INFO)
    fields = json.loads(sys.argv[1])
    roles = tuple(Role(**role) for role in fields.pop("roles"))
    stop, at_once = threading.Event(), threading.Event()
    with stop_on_signals(stop, at_once):
        try:
            supervise(Plan(roles=roles, **fields), stop, at_once)
        except RoleRefused as error:
            print(error)
            return 78
    return 0


@contextmanager
def supervisor_program(plan: Plan) -> Iterator["subprocess.Popen[str]"]:
    """Start it in the background; it does not outlive the block."""
    process = subprocess.Popen(
        [sys.executable, __file__, json.dumps(asdict(plan))],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


if __name__ == "__main__":
    sys.exit(main())
