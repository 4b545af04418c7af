"""What is said of a value that cannot be taken: which one it is, and why."""


class Refused(ValueError):
    """A value that cannot be taken: `field` names it, `reason` says why."""

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(f"{field} {reason}")
        self.field, self.reason = field, reason
