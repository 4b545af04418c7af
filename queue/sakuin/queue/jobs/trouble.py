"""Says what stands in the way once, not at every try, and once that it is over."""

import logging

_LOG = logging.getLogger("sakuin.jobs")


class Trouble:
    """What keeps one part of a worker from going on."""

    def __init__(self, doing: str) -> None:
        self._doing = doing
        self._said: type[Exception] | None = None

    def is_there(self, error: Exception) -> None:
        """Say so, unless it has been said since it was over."""
        if type(error) is not self._said:
            _LOG.warning("waiting to %s: %s", self._doing, error)
        self._said = type(error)

    def is_over(self) -> None:
        """Say so, if there was any."""
        if self._said is not None:
            _LOG.warning("going on to %s", self._doing)
        self._said = None
