"""Typed payloads: declared classes, JSON on the wire, checked when written and when read.

Whatever pydantic can describe by a JSON schema without gaps is declared: dataclasses, TypedDict,
NamedTuple, models, and list, dict, tuple… of such. A class of somebody else is declared by a
`Protocol` in its annotation. Unknown fields of an object are passed over, so that a writer may be
newer than the reader.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, overload

from pydantic import GetCoreSchemaHandler, PydanticUserError, TypeAdapter, ValidationError
from pydantic.errors import PydanticInvalidForJsonSchema, PydanticSchemaGenerationError
from pydantic_core import CoreSchema, PydanticSerializationError, core_schema

from sakuin.queue.errors import PayloadError, PayloadUndeclared

T = TypeVar("T")

_SAYS_WHAT = frozenset({"type", "$ref", "anyOf", "oneOf", "allOf", "enum", "const"})


@dataclass(frozen=True, slots=True)
class Protocol:
    """How a class that is not ours is written and read, as a value of the declared `shape`.

    `Annotated[Point, Protocol(tuple[int, int], write=…, read=…)]` may be registered itself, or be
    a field of another declared class.
    """

    shape: Any
    write: Callable[[Any], Any]
    read: Callable[[Any], Any]

    def __get_pydantic_core_schema__(
        self, _source: object, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """Describe the class to pydantic by its shape."""
        shape = handler.generate_schema(self.shape)
        written = core_schema.plain_serializer_function_ser_schema(self.write, return_schema=shape)
        return core_schema.no_info_after_validator_function(self.read, shape, serialization=written)


class Payload(Generic[T]):
    """One declared type under its name. Get one from `Payloads.register`."""

    def __init__(self, name: str, adapter: TypeAdapter[T]) -> None:
        self.name = name
        self._adapter = adapter

    def encode(self, value: T) -> bytes:
        """Return the value as JSON. Raises PayloadError if it is not of the declared type."""
        try:
            data = self._adapter.dump_json(value, warnings=False)
            self.decode(data)
            return self._adapter.dump_json(value, warnings="error")  # other classes look alike
        except (PydanticSerializationError, TypeError, ValueError, AttributeError) as error:
            raise PayloadError(f"{self.name}: cannot be written: {error}") from error

    def decode(self, data: bytes) -> T:
        """Return the value that the JSON holds. Raises PayloadError that names the field."""
        try:
            return self._adapter.validate_json(data, strict=True)
        except ValidationError as error:
            raise PayloadError(f"{self.name}: {'; '.join(_problems(error))}") from error


class Payloads:
    """The declared types of one application, by name."""

    def __init__(self) -> None:
        self._payloads: dict[str, Payload[Any]] = {}

    @overload
    def register(self, name: str, declared: type[T]) -> Payload[T]: ...

    @overload
    def register(self, name: str, declared: object) -> Payload[Any]: ...

    def register(self, name: str, declared: Any) -> Payload[Any]:
        """Declare a type under a name. Raises PayloadUndeclared if a part of it has no shape."""
        if name in self._payloads:
            raise PayloadUndeclared(f"payload {name!r} is registered already")
        try:
            adapter: TypeAdapter[Any] = TypeAdapter(declared)
            described = adapter.json_schema()
        except (PydanticSchemaGenerationError, PydanticInvalidForJsonSchema) as error:
            raise PayloadUndeclared(f"payload {name!r}: {_first_line(error)}: {_REMEDY}") from error
        except PydanticUserError as error:
            raise PayloadUndeclared(f"payload {name!r}: {_first_line(error)}") from error
        for place in _gaps(described, "it"):
            raise PayloadUndeclared(f"payload {name!r}: {place} may be anything: {_REMEDY}")
        payload = Payload(name, adapter)
        self._payloads[name] = payload
        return payload

    def get(self, name: str) -> Payload[Any]:
        """Return the payload of that name. Raises PayloadUndeclared that lists the known ones."""
        try:
            return self._payloads[name]
        except KeyError:
            known = ", ".join(sorted(self._payloads)) or "none"
            raise PayloadUndeclared(f"no payload {name!r} is registered; known: {known}") from None


_REMEDY = "declare its type, or give it a sakuin.queue.Protocol"


def _gaps(schema: Any, place: str) -> Iterator[str]:
    """Yield the places of a JSON schema where any value would do."""
    if schema is True or (isinstance(schema, dict) and not _SAYS_WHAT & schema.keys()):
        yield place
        return
    if not isinstance(schema, dict):
        return
    kind = schema.get("type")
    if kind == "array" and "items" not in schema and "prefixItems" not in schema:
        yield f"an item of {place}"
    if kind == "object" and schema.get("additionalProperties", "properties" not in schema) is True:
        yield f"a value of {place}"
    for name, part in {**schema.get("properties", {}), **schema.get("$defs", {})}.items():
        yield from _gaps(part, name)
    for choice in ("anyOf", "oneOf", "allOf", "prefixItems"):
        for part in schema.get(choice, ()):
            yield from _gaps(part, place)
    for within in ("items", "additionalProperties"):
        if isinstance(schema.get(within), dict):
            yield from _gaps(schema[within], f"an item of {place}")


def _problems(error: ValidationError) -> Iterator[str]:
    for problem in error.errors(include_url=False, include_input=False, include_context=False):
        field = ".".join(str(step) for step in problem["loc"])
        yield f"field {field}: {problem['msg']}" if field else str(problem["msg"])


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]
