"""Typed payloads: what is declared round-trips, what is not is refused when it is registered."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel
from typing_extensions import TypedDict

from sakuin.queue import Payload, PayloadError, Payloads, PayloadUndeclared, Protocol


@dataclass
class Neko:
    name: str
    color: str
    age: int


class Pair(NamedTuple):
    left: int
    right: str


class Options(TypedDict):
    limit: int


class House(BaseModel):
    cats: list[Neko]


class Point:
    """A class of somebody else: nothing declares its shape."""

    def __init__(self, x: int, y: int) -> None:
        self.x, self.y = x, y

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Point) and (self.x, self.y) == (other.x, other.y)

    __hash__ = None  # type: ignore[assignment]


DeclaredPoint = Annotated[
    Point,
    Protocol(
        tuple[int, int], write=lambda point: (point.x, point.y), read=lambda pair: Point(*pair)
    ),
]


@dataclass
class Path:
    name: str
    points: list[DeclaredPoint]


TAMA = Neko("tama", "white", 666)


@pytest.mark.parametrize(
    ("declared", "value", "wire"),
    [
        (Neko, TAMA, b'{"name":"tama","color":"white","age":666}'),
        (list[int], [1, 2], b"[1,2]"),
        (dict[str, Neko], {"a": TAMA}, b'{"a":{"name":"tama","color":"white","age":666}}'),
        (tuple[int, str, Neko], (1, "x", TAMA), None),
        (tuple[int, ...], (1, 2, 3), b"[1,2,3]"),
        (set[int], {7}, b"[7]"),
        (int | None, None, b"null"),
        (Pair, Pair(1, "x"), b'[1,"x"]'),
        (Options, {"limit": 5}, b'{"limit":5}'),
        (House, House(cats=[TAMA]), None),
        (DeclaredPoint, Point(1, 2), b"[1,2]"),
        (Path, Path("p", [Point(1, 2), Point(3, 4)]), b'{"name":"p","points":[[1,2],[3,4]]}'),
    ],
)
def test_declared_types_round_trip(declared: Any, value: object, wire: bytes | None) -> None:
    """sjson's promise: Neko, containers, tuples, and a foreign class by its protocol."""
    payload = Payloads().register("payload", declared)
    data = payload.encode(value)
    assert wire is None or data == wire
    back = payload.decode(data)
    assert back == value
    assert type(back) is type(value)


@given(st.builds(Neko, name=st.text(), color=st.text(), age=st.integers(-(2**63), 2**63)))
@settings(derandomize=True, max_examples=100, deadline=None)
def test_any_neko_round_trips(neko: Neko) -> None:
    """Any text that has an encoding, any integer."""
    payload = Payloads().register("neko", Neko)
    try:
        neko.name.encode()
        neko.color.encode()
    except UnicodeEncodeError:
        with pytest.raises(PayloadError, match="neko"):
            payload.encode(neko)
    else:
        assert payload.decode(payload.encode(neko)) == neko


@pytest.mark.parametrize(
    "undeclared",
    [
        Point,
        object,
        Any,
        list,
        dict,
        tuple,
        list[Any],
        tuple[Any, ...],
        dict[str, Any],
        dict[str, Point],
        list[list[dict[str, object]]],
        Callable[[int], int],
    ],
    ids=str,
)
def test_an_undeclared_type_is_refused_at_registration(undeclared: Any) -> None:
    """Before anything runs, with the remedy."""
    payloads = Payloads()
    with pytest.raises(PayloadUndeclared, match=r"'job'.*(declare its type|Protocol)"):
        payloads.register("job", undeclared)
    with pytest.raises(PayloadUndeclared, match="known: none"):
        payloads.get("job")


@dataclass
class Holder:
    inside: object


def test_an_undeclared_field_is_named() -> None:
    with pytest.raises(PayloadUndeclared, match="inside"):
        Payloads().register("holder", Holder)


@pytest.mark.parametrize(
    ("data", "named"),
    [
        (b"{}", "field name: Field required; field color"),
        (b'{"name":"a","color":"b","age":"6"}', "field age: .*integer"),
        (b'{"name":"a","color":"b","age":6.5}', "field age"),
        (b'{"name":null,"color":"b","age":6}', "field name"),
        (b"[1]", "neko: "),
        (b"nope", "neko: Invalid JSON"),
        (b"\xff\xfe", "neko: Invalid JSON"),
        (b"", "neko: Invalid JSON"),
        (b"[" * 100_000, "neko: Invalid JSON"),
    ],
)
def test_misshapen_data_is_an_error_that_names_the_field(data: bytes, named: str) -> None:
    payload = Payloads().register("neko", Neko)
    with pytest.raises(PayloadError, match=named):
        payload.decode(data)


@pytest.mark.parametrize(
    ("value", "named"),
    [
        (Neko("a", "b", "old"), "field age"),  # type: ignore[arg-type]
        (Neko("a", "b", 1.5), "field age"),  # type: ignore[arg-type]
        ({"name": "a"}, "field color"),
        ({"name": "a", "color": "b", "age": 6}, "Neko"),
        (Point(1, 2), "Point"),
        (None, "neko"),
    ],
)
def test_a_value_of_another_type_is_refused_when_pushed(value: Any, named: str) -> None:
    payload: Payload[Any] = Payloads().register("neko", Neko)
    with pytest.raises(PayloadError, match=named):
        payload.encode(value)


def test_a_number_that_json_has_not_is_refused() -> None:
    """NaN would come back as null."""
    payload = Payloads().register("number", list[float])
    with pytest.raises(PayloadError, match="field 0"):
        payload.encode([float("nan")])


def test_a_newer_writer_may_add_fields() -> None:
    payload = Payloads().register("neko", Neko)
    data = b'{"name":"tama","color":"white","age":666,"owner":"me"}'
    assert payload.decode(data) == TAMA


def test_names_are_registered_once_and_found_again() -> None:
    payloads = Payloads()
    neko = payloads.register("neko", Neko)
    assert payloads.get("neko") is neko
    with pytest.raises(PayloadUndeclared, match="'neko' is registered already"):
        payloads.register("neko", Pair)
    with pytest.raises(PayloadUndeclared, match=r"no payload 'inu'.*known: neko"):
        payloads.get("inu")
