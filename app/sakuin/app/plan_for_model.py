"""Triggers on a model's own table, so that the model's index hears raw SQL of anybody too."""

from uuid import UUID

from sqlalchemy import Connection

from sakuin.app.attach_errors import AttachError
from sakuin.app.attached_table import AttachedTable, Kind
from sakuin.app.inspect_table import TableFacts, inspect_table
from sakuin.app.model_loader import ModelLoader

_KINDS: dict[type, Kind] = {int: Kind.INTEGER, str: Kind.TEXT, UUID: Kind.UUID}


def plan_for_model(
    connection: Connection, place: str, name: str, loader: ModelLoader
) -> tuple[AttachedTable, TableFacts]:
    """Read the table, and say which triggers push into the index `name` of the loader's model.

    Every column is watched: a change that changes no document costs one look at its row.
    AttachError where the table is not the model's, or where SQL would spell its ids otherwise.
    """
    facts = inspect_table(connection, place)
    if facts.name not in loader.tables:
        raise AttachError(f"index {name} is of {', '.join(loader.tables)}, not of {facts.name}")
    key = facts.key_columns()
    kinds = [_KINDS.get(kind) for kind in loader.kinds]
    if tuple(facts.key) != loader.key_names or [column.kind for column in key] != kinds:
        raise AttachError(
            f"the key of {facts.name} is written otherwise in SQL than by the model: triggers "
            "cannot name its documents; call enqueue() where such rows are changed"
        )
    plain = (each for each in facts.columns.values() if each.name not in facts.generated)
    table = AttachedTable(
        name=name,
        schema=facts.schema,
        table=facts.name,
        key=key,
        searched=(),
        weights=(),
        watched=tuple(plain),
        triggers_only=True,
    )
    return table, facts
