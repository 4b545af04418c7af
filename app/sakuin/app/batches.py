"""Cutting what is to be written into transactions, by rows and by bytes."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

ROWS_PER_BATCH = 1000
BYTES_PER_BATCH = 16 << 20

T = TypeVar("T")


def batches(items: Iterable[T], weigh: Callable[[T], int]) -> Iterator[list[T]]:
    """Yield the items in lists of up to 1,000; one ends too where they weigh 16 MiB or more."""
    batch: list[T] = []
    weight = 0
    for item in items:
        batch.append(item)
        weight += weigh(item)
        if len(batch) >= ROWS_PER_BATCH or weight >= BYTES_PER_BATCH:
            yield batch
            batch, weight = [], 0
    if batch:
        yield batch
