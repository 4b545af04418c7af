"""Roles as threads of one process, for who does not want a process for each."""

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

_LOG = logging.getLogger("sakuin.processes")
PAUSE_SECONDS = 5.0
END_SECONDS = 10.0
"""So long the end may wait for a thread whose database hangs; it is left behind then."""


@contextmanager
def in_threads(
    runs: Mapping[str, Callable[[threading.Event], object]], pause_seconds: float = PAUSE_SECONDS
) -> Iterator[None]:
    """Run each, by its name, in a thread while the block runs; then stop them and wait.

    `Dispatcher.run` and `Scheduler.run` are such. One that raises, or returns early, is told and
    run again after a pause, so that it never ends in silence.
    """
    stop = threading.Event()
    threads = [
        threading.Thread(
            target=_keep_running, args=(name, run, stop, pause_seconds), name=name, daemon=True
        )
        for name, run in runs.items()
    ]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        end_at = time.monotonic() + END_SECONDS
        for thread in threads:
            thread.join(max(0.0, end_at - time.monotonic()))
            if thread.is_alive():
                _LOG.warning("%s does not come to an end; it is left behind", thread.name)


def _keep_running(
    name: str,
    run: Callable[[threading.Event], object],
    stop: threading.Event,
    pause_seconds: float,
) -> None:
    while not stop.is_set():
        try:
            run(stop)
        except Exception:  # noqa: BLE001  whatever it is, the others and the process go on
            _LOG.exception("%s failed; it is run again in %g s", name, pause_seconds)
        else:
            if not stop.is_set():
                _LOG.warning("%s ended; it is run again in %g s", name, pause_seconds)
        stop.wait(pause_seconds)
