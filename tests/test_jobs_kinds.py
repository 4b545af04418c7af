"""Kinds of jobs: what is declared when a function is registered, pushed and read."""

import json
import types
from collections.abc import Callable
from typing import Annotated, Any

import pytest
from sqlalchemy import Engine

import example_jobs
from databases import claim_one
from example_jobs import Mail, do_nothing, jobs, send, write_limited
from sakuin.queue import (
    BadMessage,
    Limit,
    PayloadError,
    PayloadUndeclared,
    Protocol,
    RetryPolicy,
    replay,
)
from sakuin.queue.jobs import BadKind, BadTarget, Jobs, Run, UnknownKind, job_of, load_jobs


def test_a_job_is_a_message_of_its_kind(engine: Engine) -> None:
    """The arguments are the data as JSON; queue, priority and unique key are the kind's."""
    first = replay(engine, lambda on: jobs.push(on, send, Mail("tama@example.com", 2)))
    again = replay(engine, lambda on: jobs.push(on, "mail", Mail("tama@example.com", 2)))
    assert again == first, "there is one of that unique key already"
    message = claim_one(engine, "mail")
    assert (message.id, message.kind, message.priority) == (first, "mail", 3)
    assert json.loads(message.data) == {"to": "tama@example.com", "copies": 2}
    assert do_nothing.__name__ == "do_nothing", "it stays a plain function"
    job_id = replay(
        engine, lambda on: jobs.start(on, send, Mail("b"), queue="q", keep_seconds=60.0)
    )
    job = replay(engine, lambda on: job_of(on, job_id))
    assert job is not None
    assert (job.status, job.kind, job.keep_seconds) == ("waiting", "mail", 60.0)
    assert claim_one(engine).id == job.message_id


def test_a_limit_is_a_function_of_the_arguments(engine: Engine) -> None:
    """Unless it names a group it is for the jobs of that kind alone."""
    step = example_jobs.Step("/tmp/x/notes")
    replay(engine, lambda on: jobs.push(on, write_limited, step, queue="q"))
    assert claim_one(engine).limit_key == b"limited/notes"
    fixed = Jobs()
    fixed.job("a", limit=Limit("k", to=3, group="g"))(do_nothing)
    assert fixed.get("a").limit_of(None) == Limit("k", to=3, group="g")


@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
def test_wrong_arguments_are_refused_when_pushed(engine: Engine) -> None:
    """Neko by another class, a wrong field, an unknown kind: nothing is pushed, the field named."""
    for args, said in ((example_jobs.Step("x"), "mail"), (Mail(5), "to")):  # type: ignore[arg-type]
        with pytest.raises(PayloadError, match=said):
            replay(engine, lambda on, args=args: jobs.push(on, "mail", args))  # type: ignore[misc]
    with pytest.raises(UnknownKind, match=r"'male'; known: .*mail"):
        replay(engine, lambda on: jobs.push(on, "male", Mail("x")))
    with pytest.raises(UnknownKind, match="function note"):
        replay(engine, lambda on: jobs.push(on, example_jobs.note, Mail("x")))


class Point:
    def __init__(self, x: int) -> None:
        self.x = x


AsNumber = Annotated[Point, Protocol(int, write=lambda point: point.x, read=Point)]


def takes_any(args: Any) -> None: ...
def takes_object(args: object) -> None: ...
def gives_list(args: int) -> list[Any]: ...  # type: ignore[empty-body]
def takes_foreign(args: Point) -> None: ...
def takes_protocol(args: AsNumber, run: Run) -> AsNumber: ...  # type: ignore[empty-body]
def takes_only_run(run: Run) -> None: ...
def takes_dict(args: dict[str, tuple[int, str]]) -> None: ...
def says_nothing(args): ...  # type: ignore[no-untyped-def]
def says_no_result(args: int): ...  # type: ignore[no-untyped-def]
def takes_two(args: int, more: int) -> None: ...
def takes_stars(*args: int) -> None: ...
def takes_missing(args: "Missing") -> None: ...  # type: ignore[name-defined]  # noqa: F821
async def waits(args: int) -> None: ...


@pytest.mark.parametrize(
    ("function", "error", "said"),
    [
        (takes_any, PayloadUndeclared, "may be anything"),
        (takes_object, PayloadUndeclared, "may be anything"),
        (gives_list, PayloadUndeclared, "the result of k.*an item of it may be anything"),
        (takes_foreign, PayloadUndeclared, "Protocol"),
        (says_nothing, BadKind, "say the type of args"),
        (says_no_result, BadKind, "say what it returns"),
        (takes_two, BadKind, "takes 2 parameters"),
        (takes_stars, BadKind, "args must be a plain parameter"),
        (takes_missing, BadKind, "'Missing' is not defined"),
        (waits, BadKind, "coroutine"),
    ],
)
def test_an_undeclared_shape_fails_at_registration(
    function: Callable[..., Any], error: type[Exception], said: str
) -> None:
    """Before anything runs, and the kind is not there afterwards."""
    registry = Jobs()
    with pytest.raises(error, match=said):
        registry.job("k")(function)
    assert registry.names == ()


def test_declared_shapes_are_taken() -> None:
    registry = Jobs()
    for number, function in enumerate((takes_protocol, takes_only_run, takes_dict, do_nothing)):
        registry.job(f"k{number}")(function)  # type: ignore[type-var]
    assert registry.get("k0").args.encode(Point(7)) == b"7"
    assert registry.get("k1").args.decode(b"{}") is not None
    with pytest.raises(PayloadError, match=r"field a\.1"):
        registry.get("k2").args.decode(b'{"a": [1, 2]}')


def test_registries_are_merged() -> None:
    """Sakuin's own kinds stand beside an application's; no name is taken twice."""
    ours, theirs = Jobs(), Jobs()
    ours.job("ours", seconds=3.0)(do_nothing)
    theirs.job("theirs", policy=RetryPolicy(max_attempts=9))(takes_dict)
    theirs.include(ours)
    assert theirs.names == ("ours", "theirs")
    assert theirs.rules["ours"].seconds == 3.0
    assert theirs.rules["theirs"].policy.max_attempts == 9
    with pytest.raises(BadKind, match="'ours' is registered already"):
        theirs.include(ours)
    with pytest.raises(BadKind, match="registered already, as 'ours'"):
        ours.job("again")(do_nothing)
    with pytest.raises(BadKind, match="seconds=0"):
        ours.job("never", seconds=0)
    with pytest.raises(BadMessage, match="kind 'a b'"):
        ours.job("a b")


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("example_jobs", r'write "package\.module:name"'),
        ("example_jobs:", "write"),
        ("no_such_module:jobs", "no_such_module cannot be imported: ModuleNotFoundError"),
        ("example_jobs:nope", "there is nothing of that name in example_jobs"),
        ("example_jobs:Mail", "there is a type in example_jobs, not a Jobs"),
        ("empty_jobs:jobs", "no kind of job is registered"),
    ],
)
def test_a_bad_target_says_what_was_found(
    target: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    empty = types.ModuleType("empty_jobs")
    empty.jobs = Jobs()  # type: ignore[attr-defined]
    monkeypatch.setitem(__import__("sys").modules, "empty_jobs", empty)
    with pytest.raises(BadTarget, match=said):
        load_jobs(target)
    assert load_jobs("example_jobs:jobs") is jobs
