"""The languages that a query may be written in; all give the same tree."""

from enum import StrEnum


class Dialect(StrEnum):
    """Sakuin's own language, and those of two older programs."""

    SAKUIN = "sakuin"
    ESTRAIER = "estraier"
    TRITONN = "tritonn"
