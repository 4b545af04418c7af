"""The index of a model, made when the class is mapped; kept on the class itself."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import inspect
from sqlalchemy.orm import Mapper

from sakuin.app.collection import Collection
from sakuin.app.model_fields import ATTRIBUTE, BadDeclaration, fields_of, read_declaration
from sakuin.app.model_key import key_id
from sakuin.app.model_loader import ModelLoader
from sakuin.indexer.index import Index

_INDEXES = "__search_indexes__"


@dataclass(frozen=True, slots=True, eq=False)
class ModelIndex:
    """A model that declares an index, and that index as a collection."""

    model: type[Any]
    collection: Collection
    loader: ModelLoader

    def id_of_key(self, key: Any) -> str:
        """Return the document's id of a primary key; TypeError when it cannot be one."""
        parts = tuple(key) if isinstance(key, tuple | list) else (key,)
        kinds = self.loader.kinds
        if len(parts) != len(kinds) or any(
            type(part) is not kind and not (kind is not int and isinstance(part, kind))
            for part, kind in zip(parts, kinds, strict=True)
        ):
            wanted = ", ".join(kind.__name__ for kind in kinds)
            raise TypeError(f"{key!r} is no primary key of {self.model.__name__}: give {wanted}")
        return key_id(parts)

    def id_of_row(self, row: object) -> str:
        """Return the document's id of an instance."""
        mapper: Mapper[Any] = inspect(self.model)
        return key_id(mapper.primary_key_from_instance(row))


def declare(mapper: Mapper[Any], model: type) -> None:
    """Make the index of a class that was just mapped, and note which indexes hold its rows.

    A class that shares its parent's declaration shares its index; a class with one of its own
    has an index of its own, and its rows are in both. BadDeclaration for what cannot be.
    """
    parent = None if mapper.concrete else mapper.inherits
    inherited: tuple[ModelIndex, ...] = (
        () if parent is None else getattr(parent.class_, _INDEXES, ())
    )
    is_shared = parent is not None and (
        getattr(model, ATTRIBUTE, None) is getattr(parent.class_, ATTRIBUTE, model)
    )
    own = () if is_shared else (_index(mapper),)
    setattr(model, _INDEXES, own + inherited)


def _index(mapper: Mapper[Any]) -> ModelIndex:
    model = mapper.class_
    declared = read_declaration(mapper)
    fields = fields_of(mapper, declared)
    loader = ModelLoader(mapper, declared, fields)
    name = declared.index or str(getattr(mapper.local_table, "name", ""))
    try:
        collection = Collection(Index(name, fields, loader), declared.title, declared.url)
    except ValueError as error:
        raise BadDeclaration(f"{model.__name__}.{ATTRIBUTE} cannot be used: {error}") from None
    return ModelIndex(model, collection, loader)


def indexes_of(model: type) -> tuple[ModelIndex, ...]:
    """Return the indexes that hold the rows of a class, its own first; TypeError if none does."""
    found: tuple[ModelIndex, ...] | None = getattr(model, _INDEXES, None)
    if not found:
        raise TypeError(f"{model!r} is no searchable model: give a mapped class with {ATTRIBUTE}")
    return found


def index_of(model: type) -> ModelIndex:
    """Return the index that a class declares; TypeError where it has its parent's."""
    found = indexes_of(model)[0]
    if found.model is not model:
        raise TypeError(
            f"{model.__name__} is in the index of {found.model.__name__}: search that, or give "
            f"{model.__name__} a {ATTRIBUTE} of its own"
        )
    return found
