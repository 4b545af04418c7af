"""One kind of job: a function, the declared shape of what it takes and gives, how to run it."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NoReturn, get_type_hints

from sakuin.queue.errors import QueueError
from sakuin.queue.jobs.run import Run
from sakuin.queue.limit import Limit
from sakuin.queue.payloads import Payload
from sakuin.queue.retry import RetryPolicy

JOB_POLICY = RetryPolicy(max_crashes=3)
"""Five deliveries; three deaths of the process that ran it."""


class BadKind(QueueError, ValueError):
    """A function that cannot be a kind of job as it is declared; the message says why."""


class UnknownKind(QueueError):
    """A kind that nobody registered."""


class BadTarget(QueueError):
    """A text that names no registry of jobs; the message says what was found instead."""


@dataclass(frozen=True, slots=True)
class Nothing:
    """What a job is told whose function takes no arguments: `{}`."""


NOTHING = Nothing()


@dataclass(frozen=True, slots=True)
class Rules:
    """What the worker has to know of a kind: when to try again, how long it may take, its queue."""

    policy: RetryPolicy = JOB_POLICY
    seconds: float | None = None
    queue: str = "default"


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of job. `result` is None where the function gives nothing back."""

    name: str
    function: Callable[..., Any]
    args: Payload[Any]
    result: Payload[Any] | None
    takes_args: bool
    takes_run: bool
    queue: str
    priority: int
    limit: Limit | Callable[[Any], Limit] | None
    unique_key: Callable[[Any], str] | None
    rules: Rules
    keep_seconds: float

    def call(self, args: Any, run: Run) -> Any:
        """Run the function with what it asks for."""
        return self.function(*[args] * self.takes_args, *[run] * self.takes_run)

    def limit_of(self, args: Any) -> Limit | None:
        """Return the limit of one job; unless it names a group, it is for this kind alone."""
        limit = self.limit(args) if callable(self.limit) else self.limit
        return limit and replace(limit, group=limit.group or self.name)


def shape_of(name: str, function: Callable[..., Any]) -> tuple[Any, bool, Any]:
    """Return the declared type of the arguments (or None), if it takes a Run, and the result's."""
    where = f"kind {name!r}: {name_of(function)}"
    if inspect.iscoroutinefunction(function):
        raise BadKind(f"{where} is a coroutine function: let it be a plain one, with asyncio.run")
    try:
        hints = get_type_hints(function, include_extras=True)
    except (NameError, TypeError) as error:
        raise BadKind(f"{where}: its annotations cannot be read: {error}") from error
    parameters = list(inspect.signature(function).parameters.values())
    for parameter in parameters:
        if parameter.name not in hints:
            raise BadKind(f"{where}: say the type of {parameter.name}")
        if parameter.kind not in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            raise BadKind(f"{where}: {parameter.name} must be a plain parameter")
    types = [hints[parameter.name] for parameter in parameters]
    takes_run = bool(types) and types[-1] is Run
    declared = types[: len(types) - takes_run]
    if len(declared) > 1:
        raise BadKind(f"{where} takes {len(types)} parameters: let it take one value, and a Run")
    if "return" not in hints:
        raise BadKind(f"{where}: say what it returns (-> None for nothing)")
    result = hints["return"]
    gives_none = result in (type(None), NoReturn)
    return (declared[0] if declared else None), takes_run, None if gives_none else result


def name_of(function: Callable[..., Any]) -> str:
    """Return what to call a function in a message to people."""
    return getattr(function, "__qualname__", repr(function))
