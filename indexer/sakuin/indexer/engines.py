"""Choosing an engine by name; each library is imported only when its engine is asked for."""

from sakuin.indexer.engine import Engine

ENGINE_NAMES = ("tantivy", "whoosh")


def engine_named(name: str) -> Engine:
    """Return the engine of that name.

    Raises ValueError for an unknown name, and ImportError where its library is not installed.
    """
    if name == "tantivy":
        from sakuin.indexer.tantivy_engine import TantivyEngine

        return TantivyEngine()
    if name == "whoosh":
        from sakuin.indexer.whoosh_engine import WhooshEngine

        return WhooshEngine()
    raise ValueError(f"no engine is called {name!r}: choose one of {', '.join(ENGINE_NAMES)}")


def default_engine() -> Engine:
    """Return tantivy where it is installed and loads, whoosh elsewhere."""
    try:
        return engine_named("tantivy")
    except ImportError:
        return engine_named("whoosh")
