"""The searchable models of an application, found by the names of its modules."""

import importlib
from collections.abc import Iterator, Sequence
from types import ModuleType
from typing import Any

from sqlalchemy import inspect
from sqlalchemy.orm import Mapper, registry

from sakuin.app.collection import Collection
from sakuin.app.import_path import look_here_too
from sakuin.app.model_index import ModelIndex, indexes_of
from sakuin.app.searchable import Searchable
from sakuin.app.settings import SettingsError


def model_collections(modules: Sequence[str]) -> list[Collection]:
    """Import modules and return the indexes of their searchable models, by name.

    Modules are looked for where Python does, and at last in the working directory.
    Of a module count the models in it, and all others that have the same declarative base (or
    registry) as one of them, or as a base that is in it. Raises SettingsError for a module that
    cannot be imported or has none, and for two models that claim one index.
    """
    found: dict[str, ModelIndex] = {}
    for name in modules:
        indexes = list(_indexes(_import(name)))
        if not indexes:
            raise SettingsError(
                f"models (SAKUIN_MODELS): module {name!r} has no model with Searchable"
            )
        for each in indexes:
            other = found.setdefault(each.collection.index.name, each)
            if other is not each:
                raise SettingsError(
                    f"models (SAKUIN_MODELS): {_name(other.model)} and {_name(each.model)} both "
                    f"claim index {each.collection.index.name!r}: give one SearchFields(index=…)"
                )
    return [found[name].collection for name in sorted(found)]


def _import(name: str) -> ModuleType:
    look_here_too()
    try:
        return importlib.import_module(name)
    except Exception as error:
        raise SettingsError(
            f"models (SAKUIN_MODELS): module {name!r} cannot be imported: "
            f"{type(error).__name__}: {error}"
        ) from error


def _indexes(module: ModuleType) -> Iterator[ModelIndex]:
    registries = dict.fromkeys(
        each for value in vars(module).values() if (each := _registry(value))
    )
    mappers = (mapper for each in registries for mapper in each.mappers)
    for mapper in sorted(mappers, key=lambda mapper: _name(mapper.class_)):
        model = mapper.class_
        if issubclass(model, Searchable) and indexes_of(model)[0].model is model:
            yield indexes_of(model)[0]


def _registry(value: Any) -> registry | None:
    if isinstance(value, registry):
        return value
    if not isinstance(value, type):
        return None
    mapper: Mapper[Any] | None = inspect(value, raiseerr=False)
    found = mapper.registry if mapper is not None else getattr(value, "registry", None)
    return found if isinstance(found, registry) else None


def _name(model: type) -> str:
    return f"{model.__module__}.{model.__qualname__}"
