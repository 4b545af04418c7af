"""When a failed message is tried again, as a plain value."""

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Wait first_seconds after the first failure, twice that after the next, up to most_seconds.

    `jitter` is the share by which a wait may be shorter or longer. After `max_attempts` deliveries
    a message goes to the dead list; with `max_crashes`, also when so many deliveries had no end,
    because the process that worked on it died. One that was delivered `alone_after` times without
    an end is delivered alone from then on, so that a message that kills its worker takes no others
    along; or, where `suspects_together` is more than 1, with so many others of its kind at first,
    an eighth of that after each further time.
    """

    max_attempts: int = 5
    first_seconds: float = 1.0
    most_seconds: float = 300.0
    jitter: float = 0.2
    alone_after: int = 2
    suspects_together: int = 1
    max_crashes: int | None = None

    def __post_init__(self) -> None:
        if not 1 <= self.max_attempts <= 65_535:
            raise ValueError(f"max_attempts={self.max_attempts}: use 1 to 65535")
        if not 0 <= self.first_seconds <= self.most_seconds < math.inf:
            raise ValueError(
                f"first_seconds={self.first_seconds}, most_seconds={self.most_seconds}: "
                "use 0 <= first_seconds <= most_seconds"
            )
        if not 0 <= self.jitter <= 1:
            raise ValueError(f"jitter={self.jitter}: use 0 to 1")
        if self.alone_after < 1:
            raise ValueError(f"alone_after={self.alone_after}: use 1 or more")
        if self.suspects_together < 1:
            raise ValueError(f"suspects_together={self.suspects_together}: use 1 or more")
        if self.max_crashes is not None and self.max_crashes < 1:
            raise ValueError(f"max_crashes={self.max_crashes}: use 1 or more, or None")

    def is_spent(self, attempts: int, errors: int = 0) -> bool:
        """Tell whether a message that was delivered, and failed, so often is to be given up."""
        return attempts >= self.max_attempts or self.is_killer(attempts, errors)

    def is_killer(self, attempts: int, errors: int) -> bool:
        """Tell whether too many of the deliveries had no end."""
        return self.max_crashes is not None and attempts - errors >= self.max_crashes

    def company(self, crashes: int) -> int | None:
        """Return with how many of its kind a message comes at most; None: with any number.

        `crashes` counts its deliveries that had no end.
        """
        if crashes < self.alone_after:
            return None
        return max(1, self.suspects_together >> 3 * min(crashes - self.alone_after, 8))

    def delay_seconds(self, attempts: int, chance: float) -> float:
        """Return the wait after that many deliveries; `chance` in 0..1 picks within the jitter."""
        doublings = min(max(attempts - 1, 0), 64)
        wait = min(self.first_seconds * 2.0**doublings, self.most_seconds)
        return wait * (1 + self.jitter * (2 * chance - 1))
