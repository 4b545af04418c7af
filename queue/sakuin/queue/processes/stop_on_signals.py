"""Turns TERM and Ctrl-C into events."""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_SIGNALS = (signal.SIGTERM, signal.SIGINT)


@contextmanager
def stop_on_signals(
    stop: threading.Event, at_once: threading.Event | None = None
) -> Iterator[None]:
    """Set `stop` at the first TERM or INT, and `at_once` at the second, while the block runs.

    Belongs in the main thread, which alone may take signals.
    """
    # An event must not be set in a handler: it may interrupt a wait for that very event, which
    # holds its lock. So the handler writes a byte, and a thread sets the events.
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    listening = threading.Thread(
        target=_listen, args=(reading, stop, at_once), name="signals", daemon=True
    )
    listening.start()
    before = {one: signal.signal(one, lambda *_: _write(writing)) for one in _SIGNALS}
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)
        os.close(writing)
        listening.join()
        os.close(reading)


def _write(descriptor: int) -> None:
    try:
        os.write(descriptor, b"!")
    except BlockingIOError:
        return  # thousands wait to be read: one more tells nothing new


def _listen(reading: int, stop: threading.Event, at_once: threading.Event | None) -> None:
    while os.read(reading, 1):
        if not stop.is_set():
            stop.set()
        elif at_once is not None:
            at_once.set()
