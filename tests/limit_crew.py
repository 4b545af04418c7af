"""A process that works on limited messages until killed, for tests that need several.

`python limit_crew.py URL SEED` waits for a line on stdin, then claims and acks. It writes a line
`id begun ended` for each message whose ack is certain, with the clock that all processes share.
"""

import os
import random
import sys
import time

from sakuin.queue import ack, claim, open_engine


def main() -> None:
    """Work for ever."""
    url, seed = sys.argv[1:]
    engine = open_engine(url)
    chance = random.Random(int(seed))
    sys.stdin.readline()
    while True:
        for one in (batch := claim(engine, "q", limit=chance.randint(1, 4), lease_seconds=60)):
            begun = time.monotonic()
            if chance.random() < 0.1:
                time.sleep(0.01)  # the work: others run meanwhile
            ended = time.monotonic()
            if not ack(engine, [one]):
                os.write(1, f"{one.id} {begun} {ended}\n".encode())
        if not batch:
            time.sleep(0.02)  # between two polls


if __name__ == "__main__":
    main()
