"""Everything the indexer raises on purpose.

IndexerError
├── GenerationGone      the generation asked for is not there any more
│   └── GenerationForeign   it holds rows of another source, and counts as none
├── GenerationMismatch  a generation made with other fields, engine or analysis
├── GenerationBroken    a copy that does not hold what it should
├── Outrun              somebody else published first; this copy is dropped
├── SourceChanged       the rows are not made as they were when the index was declared
├── DiskFull            not enough room to build a copy
├── QueryTooLarge       a query tree beyond what an engine may be asked
│   └── NearTooCommon       too many texts would have to be read to tell what stands near in them
└── TooManySteps        a facet of time with more steps than an answer may have
"""


class IndexerError(Exception):
    """The root of the tree."""


class GenerationGone(IndexerError):
    """The generation asked for has been swept, or never existed."""

    def __init__(self, index: str, number: int) -> None:
        super().__init__(
            f"generation {number} of index {index!r} is not there; `sakuin index list` shows "
            "those that are"
        )
        self.number = number


class GenerationForeign(GenerationGone):
    """The generation holds rows of another source, such as a table attached before."""


class GenerationMismatch(IndexerError):
    """The generation was made by another engine, analysis or set of fields."""

    def __init__(self, index: str, number: int, difference: str) -> None:
        super().__init__(
            f"generation {number} of index {index!r} cannot be used: {difference}; "
            f"run `sakuin index rebuild --index {index}`"
        )


class GenerationBroken(IndexerError):
    """A copy failed its check, or its files cannot be read."""

    def __init__(self, index: str, fault: str) -> None:
        super().__init__(
            f"index {index!r}: {fault}; the copy is not used. If this comes again, run "
            f"`sakuin index rebuild --index {index}`"
        )


class Outrun(IndexerError):
    """Another publisher took the number first: publishing lost the compare-and-swap."""

    def __init__(self, index: str, number: int) -> None:
        super().__init__(f"generation {number} of index {index!r} was published by another process")


class SourceChanged(IndexerError):
    """The rows cannot be read as they were declared; an operator has to say what is meant now."""


class DiskFull(IndexerError):
    """Too little free space for a copy; the current generation goes on serving."""

    def __init__(self, directory: object, needed: int, free: int) -> None:
        super().__init__(
            f"{directory}: {free / 1e6:.0f} MB free, a copy of the index needs "
            f"{needed / 1e6:.0f} MB; free some space, the worker then goes on by itself"
        )


class QueryTooLarge(IndexerError):
    """A query tree with more leaves or depth than an engine may be asked."""


class NearTooCommon(QueryTooLarge):
    """More documents hold all words that must stand near each other than can be looked at."""

    def __init__(self, fault: str) -> None:
        super().__init__(f"{fault}, too many to see which words are near: write rarer ones")


class TooManySteps(IndexerError):
    """A facet of time that would have more buckets than an answer may have."""

    def __init__(self, name: str, step: str, steps: int, most: int) -> None:
        super().__init__(
            f"facet {name}: {steps:,} steps of a {step} lie between the first and the last "
            f"document found, more than {most:,}: ask for a longer step, or for less time"
        )
