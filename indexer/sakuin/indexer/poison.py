"""Finding which documents make a batch fail (promise Q4). Publishes nothing."""

import traceback
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy.exc import SQLAlchemyError

from sakuin.indexer.build import ChunkFailed, Copy, load
from sakuin.indexer.draft import Draft
from sakuin.indexer.errors import DiskFull
from sakuin.queue import QueueError


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a document cannot be indexed."""

    reason: str
    traceback: str


def find_faults(copy: Copy, ids: Sequence[str]) -> dict[str, Fault]:
    """Try these ids in halves on throw-away indexes; return what each faulty one raises.

    Empty when every half works alone: the failure was not the documents'.
    """
    faults: dict[str, Fault] = {}
    pending = [tuple(ids)]
    while pending:
        part = pending.pop()
        fault = _try(copy, part)
        if fault is None:
            continue
        if len(part) == 1:
            faults[part[0]] = fault
            continue
        middle = len(part) // 2
        pending += [part[:middle], part[middle:]]
    return faults


def _try(copy: Copy, ids: Sequence[str]) -> Fault | None:
    try:
        documents, missing = load(copy, ids)
        with Draft(copy.generations, copy.engine, copy.index.fields, None, bulk=False) as draft:
            draft.apply(documents, missing)
            draft.check()
    except (OSError, MemoryError, DiskFull, SQLAlchemyError, QueueError):
        raise
    except ChunkFailed as error:
        return _fault(error.__cause__ or error)
    except Exception as error:  # noqa: BLE001  whatever a document raises is what we look for
        return _fault(error)
    return None


def _fault(error: BaseException) -> Fault:
    return Fault(
        reason=f"{type(error).__name__}: {error}"[:500],
        traceback="".join(traceback.format_exception(error))[-8000:],
    )
