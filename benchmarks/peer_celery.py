"""The Celery application of the comparison; runs where Celery is installed, not where we are.

python peer_celery.py BROKER_URL COUNT     # put so many jobs in
python -m celery -A peer_celery -b BROKER_URL worker -c PROCESSES
"""

import sys

from celery import Celery  # type: ignore[import-not-found]

app = Celery("peer_celery")
app.conf.update(task_acks_late=True, task_ignore_result=True, worker_prefetch_multiplier=4)


def do_nothing() -> None:
    """Cost nothing: what remains is what the queue costs."""


nothing = app.task(do_nothing, name="nothing")


def main() -> None:
    """Put jobs in."""
    broker, count = sys.argv[1:]
    app.conf.broker_url = broker
    for _ in range(int(count)):
        nothing.delay()


if __name__ == "__main__":
    main()
