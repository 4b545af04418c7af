"""The engine that the settings choose."""

from sakuin.app.settings import Settings, SettingsError
from sakuin.indexer.engine import Engine
from sakuin.indexer.engines import ENGINE_NAMES, default_engine, engine_named


def chosen_engine(settings: Settings) -> Engine:
    """Return the engine of the settings; SettingsError where it is not installed."""
    try:
        return engine_named(settings.engine) if settings.engine else default_engine()
    except ImportError as error:
        what = settings.engine or " or ".join(ENGINE_NAMES)
        raise SettingsError(
            f"engine (SAKUIN_ENGINE): {what} is not installed here: {error}"
        ) from None
