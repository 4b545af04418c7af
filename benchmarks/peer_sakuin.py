"""Our own worker as a program, so that it is started and stopped as its peers are.

    python peer_sakuin.py DATABASE_URL PROCESSES BATCH

Works until it is sent SIGTERM.
"""

import signal
import sys
import threading

from sakuin.queue import open_engine
from sakuin.queue.jobs import Jobs, Worker

jobs = Jobs()


@jobs.job("nothing")
def do_nothing() -> None:
    """Cost nothing: what remains is what the queue costs."""


def main() -> None:
    """Work until told to stop."""
    url, processes, batch = sys.argv[1:]
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    worker = Worker(
        open_engine(url), "peer_sakuin:jobs", processes=int(processes), batch=int(batch)
    )
    worker.run(stop)


if __name__ == "__main__":
    main()
