"""The kinds of jobs of an application: registered functions, and how their jobs are pushed."""

import importlib
import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar

from sqlalchemy import Connection

from sakuin.queue.errors import QueueError
from sakuin.queue.jobs.job import KEEP_SECONDS
from sakuin.queue.jobs.kind import (
    JOB_POLICY,
    NOTHING,
    BadKind,
    BadTarget,
    Kind,
    Nothing,
    Rules,
    UnknownKind,
    name_of,
    shape_of,
)
from sakuin.queue.jobs.push_job import push_job
from sakuin.queue.limit import Limit
from sakuin.queue.limits import check_kind, check_priority, check_queue
from sakuin.queue.payloads import Payloads
from sakuin.queue.push import push
from sakuin.queue.retry import RetryPolicy

Function = TypeVar("Function", bound=Callable[..., Any])


class Jobs:
    """The kinds of jobs of one application."""

    def __init__(self) -> None:
        self._kinds: dict[str, Kind] = {}
        self._payloads = Payloads()

    def job(
        self,
        name: str,
        *,
        queue: str = "default",
        priority: int = 5,
        limit: Limit | Callable[[Any], Limit] | None = None,
        unique_key: Callable[[Any], str] | None = None,
        policy: RetryPolicy = JOB_POLICY,
        seconds: float | None = None,
        keep_seconds: float = KEEP_SECONDS,
    ) -> Callable[[Function], Function]:
        """Register the function below as a kind of job; it stays an ordinary function.

        It takes its arguments as one declared value, and a `Run` if it wants; both may be left
        out. What it says to return is kept as the result of a job that was started with a life.
        `limit` and `unique_key` may be functions of the arguments. After `seconds` the process
        that runs it is stopped. Raises BadKind, or PayloadUndeclared if a part of the arguments
        or of the result has no declared shape.
        """
        check_kind(name)
        if seconds is not None and not 0 < seconds < math.inf:
            raise BadKind(f"kind {name!r}: seconds={seconds}: use more than 0, or None for ever")

        def register(function: Function) -> Function:
            self._check_free(name, function)
            args, takes_run, result = shape_of(name, function)
            declared = Nothing if args is None else args
            self._kinds[name] = Kind(
                name=name,
                function=function,
                args=self._payloads.register(name, declared),
                result=result and self._payloads.register(f"the result of {name}", result),
                takes_args=args is not None,
                takes_run=takes_run,
                queue=check_queue(queue),
                priority=check_priority(priority),
                limit=limit,
                unique_key=unique_key,
                rules=Rules(policy, seconds, queue),
                keep_seconds=keep_seconds,
            )
            return function

        return register

    def include(self, other: "Jobs") -> None:
        """Take up the kinds of another registry. Raises BadKind for a name that is there."""
        for name in other.rules:  # in their order
            kind = other.get(name)
            self._check_free(name, kind.function)
            self._kinds[name] = kind

    @property
    def names(self) -> tuple[str, ...]:
        """The kinds, in order of their names."""
        return tuple(sorted(self._kinds))

    @property
    def rules(self) -> Mapping[str, Rules]:
        """What a worker has to know of each kind."""
        return {name: kind.rules for name, kind in self._kinds.items()}

    def get(self, kind: str | Callable[..., Any]) -> Kind:
        """Return a kind by its name or its function. Raises UnknownKind that lists the known."""
        if isinstance(kind, str):
            found = self._kinds.get(kind)
        else:
            found = next((one for one in self._kinds.values() if one.function is kind), None)
        if found is None:
            what = repr(kind) if isinstance(kind, str) else f"function {name_of(kind)}"
            known = ", ".join(self.names) or "none"
            raise UnknownKind(f"no kind of job is registered as {what}; known: {known}")
        return found

    def push(
        self,
        connection: Connection,
        kind: str | Callable[..., Any],
        args: Any = NOTHING,
        *,
        queue: str | None = None,
        priority: int | None = None,
        delay_seconds: float = 0.0,
        at: datetime | None = None,
        expires_seconds: float | None = None,
    ) -> int:
        """Push a job and return its message's id; it commits with the caller's rows.

        Queue and priority are the kind's unless given, the rest is as for `push`. Raises
        UnknownKind, PayloadError, BadMessage, or LimitReached for a limit that discards.
        """
        found = self.get(kind)
        return push(
            connection,
            queue or found.queue,
            found.args.encode(args),
            kind=found.name,
            priority=found.priority if priority is None else priority,
            delay_seconds=delay_seconds,
            at=at,
            expires_seconds=expires_seconds,
            unique_key=found.unique_key and found.unique_key(args),
            limit=found.limit_of(args),
        )

    def start(
        self,
        connection: Connection,
        kind: str | Callable[..., Any],
        args: Any = NOTHING,
        *,
        notify: Sequence[str] = (),
        keep_seconds: float | None = None,
        queue: str | None = None,
        priority: int | None = None,
        delay_seconds: float = 0.0,
        at: datetime | None = None,
        expires_seconds: float | None = None,
    ) -> int:
        """As `push`, for a job whose life is remembered: return the id of the job.

        Each address of `notify` (mailto: or https:) is told when it ends.
        """
        found = self.get(kind)
        return push_job(
            connection,
            queue or found.queue,
            found.args.encode(args),
            kind=found.name,
            notify=notify,
            keep_seconds=found.keep_seconds if keep_seconds is None else keep_seconds,
            priority=found.priority if priority is None else priority,
            delay_seconds=delay_seconds,
            at=at,
            expires_seconds=expires_seconds,
            unique_key=found.unique_key and found.unique_key(args),
            limit=found.limit_of(args),
        )

    def _check_free(self, name: str, function: Callable[..., Any]) -> None:
        if name in self._kinds:
            raise BadKind(f"kind {name!r} is registered already")
        for kind in self._kinds.values():
            if kind.function is function:
                raise BadKind(f"{name_of(function)} is registered already, as {kind.name!r}")


def load_jobs(target: str) -> Jobs:
    """Import the registry, or the function that returns one, that "package.module:name" names.

    Raises BadTarget.
    """
    module_name, colon, name = target.partition(":")
    if not (module_name and colon and name):
        raise BadTarget(f'jobs {target!r}: write "package.module:name" of a sakuin.queue.jobs.Jobs')
    try:
        module = importlib.import_module(module_name)
    except Exception as error:
        raise BadTarget(
            f"jobs {target!r}: {module_name} cannot be imported: {type(error).__name__}: {error}"
        ) from error
    found = getattr(module, name, None)
    if inspect.isfunction(found):
        try:
            found = found()
        except QueueError as error:
            raise BadTarget(f"jobs {target!r}: {error}") from error
    if not isinstance(found, Jobs):
        there = "nothing of that name" if found is None else f"a {type(found).__name__}"
        raise BadTarget(f"jobs {target!r}: there is {there} in {module_name}, not a Jobs")
    if not found.names:
        raise BadTarget(f"jobs {target!r}: no kind of job is registered there")
    return found
