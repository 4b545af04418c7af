"""Every setting, read here and nowhere else: flag > SAKUIN_* variable > sakuin.toml > default."""

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

FILE_NAME = "sakuin.toml"
_TESTING = (
    "SAKUIN_TEST_",
    "SAKUIN_STRESS",
    "SAKUIN_SEED",
)  # these steer the tests, not the program


class SettingsError(Exception):
    """A setting that cannot be used: names it, and says what would be right."""


@dataclass(frozen=True, slots=True)
class Option:
    """One setting: its name in sakuin.toml (upper-case with SAKUIN_ as a variable)."""

    name: str
    default: str | int | float | bool
    help: str
    is_secret: bool = False

    @property
    def variable(self) -> str:
        """The environment variable that sets it."""
        return f"SAKUIN_{self.name.upper()}"


OPTIONS = (
    Option(
        "database_url",
        "",
        "where rows and messages live: mysql+pymysql://user:password@host/schema or "
        "sqlite:///file; empty: SQLite in the data folder",
        is_secret=True,
    ),
    Option("data_dir", "./sakuin-data", "folder of the index, and of the database if SQLite"),
    Option("engine", "", "tantivy or whoosh; empty: tantivy where it is installed, else whoosh"),
    Option(
        "models",
        "",
        "modules that declare Searchable models, parted by blanks, as shop.models",
    ),
    Option("host", "127.0.0.1", "address that `sakuin serve` listens on"),
    Option("port", 8000, "port that `sakuin serve` listens on; 0 takes a free one"),
    Option("root_path", "", "path prefix when a proxy serves the pages below one, as /sakuin"),
    Option(
        "read_only",
        False,
        "refuse every change over the web; there is no login, so whoever reaches the pages could "
        "add, edit and delete",
    ),
    Option("max_request_bytes", 64 << 20, "largest request body that the pages take, in bytes"),
    Option("batch_documents", 20_000, "most documents that one batch of the worker takes"),
    Option("batch_bytes", 64 << 20, "text bytes after which one batch of the worker ends"),
    Option("gather_seconds", 0.05, "how long a batch waits for further messages"),
    Option("poll_seconds", 0.1, "how often an idle worker looks for messages"),
    Option("lease_seconds", 30.0, "how long the worker's claim on a message lasts unless renewed"),
    Option(
        "synonyms",
        "",
        "file of synonyms for searches, a group in each line, as `PC, computer`; empty: none",
    ),
    Option(
        "search_log",
        False,
        "keep what is searched for on the web and which results are opened, in the database: the "
        "words without addresses, numbers and keys, a count for each day; never who asked",
    ),
    Option("search_log_days", 30, "how many days the search log keeps them"),
    Option(
        "search_log_queries",
        10_000,
        "most queries that the search log keeps; the least asked go first",
    ),
    Option("jobs", "", "kinds of jobs of your own, as shop.jobs:jobs; empty: Sakuin's alone"),
    Option("tasks", "", "TOML file of recurring tasks; empty: Sakuin's own maintenance alone"),
    Option("alerts", "", "TOML file of alert rules; empty: none"),
    Option("maintenance", True, "verify, sweep, prune and optimise by night, as recurring tasks"),
    Option("time_zone", "Asia/Tokyo", "time zone of the maintenance: it begins at 3:30 there"),
    Option(
        "mail_url",
        "",
        "server that takes e-mail: smtp+starttls://user:password@host:587, smtps:// or smtp://; "
        "empty: none is sent",
        is_secret=True,
    ),
    Option("mail_from", "", "address that e-mail comes from"),
    Option(
        "webhook_secret",
        "",
        "secret that signs webhooks, as whsec_ and base64; empty: none is sent",
        is_secret=True,
    ),
    Option(
        "webhook_allow",
        "",
        "receivers of webhooks on private addresses that are wanted, as host:port, parted by "
        "blanks; all others must be public",
    ),
)

_MOST_SECONDS = 86_400
_MOST_DAYS = 3_660
_SWITCH = {"1": True, "true": True, "yes": True, "on": True}
_SWITCH |= {"0": False, "false": False, "no": False, "off": False}
_KINDS = {int: "a whole number", float: "a number", str: "a text"}


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings in force, checked. See OPTIONS for what each means."""

    database_url: str
    data_dir: Path
    engine: str
    models: str
    host: str
    port: int
    root_path: str
    read_only: bool
    max_request_bytes: int
    batch_documents: int
    batch_bytes: int
    gather_seconds: float
    poll_seconds: float
    lease_seconds: float
    synonyms: str
    search_log: bool
    search_log_days: int
    search_log_queries: int
    jobs: str
    tasks: str
    alerts: str
    maintenance: bool
    time_zone: str
    mail_url: str
    mail_from: str
    webhook_secret: str
    webhook_allow: str

    @property
    def index_root(self) -> Path:
        """The folder that holds a folder for each index."""
        return self.data_dir / "index"

    @property
    def is_sqlite(self) -> bool:
        """Whether the database is a SQLite file."""
        return self.database_url.startswith("sqlite")


def read_settings(
    flags: Mapping[str, Any] | None = None,
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
) -> Settings:
    """Read all settings; SettingsError names the one that is wrong.

    `flags` are those given on the command line (None: not given). Secrets may come from a file
    that SAKUIN_<NAME>_FILE names.
    """
    environment = os.environ if environment is None else environment
    _refuse_unknown(environment)
    file = _read_file((folder or Path.cwd()) / FILE_NAME)
    values = {
        option.name: _convert(option, _find(option, flags or {}, environment, file))
        for option in OPTIONS
    }
    data_dir = _read_folder(str(values["data_dir"]))
    if not values["database_url"] and any(c in str(data_dir) for c in "?%#"):
        raise SettingsError(
            f"data_dir (SAKUIN_DATA_DIR) {data_dir}: ? % and # cannot be in the path of a database"
        )
    url = values["database_url"] or f"sqlite:///{data_dir / 'sakuin.sqlite3'}"
    settings = Settings(**{**values, "data_dir": data_dir, "database_url": url})
    _check(settings)
    return settings


def as_environment(settings: Settings) -> dict[str, str]:
    """Return the variables that give a child process these settings."""
    return {option.variable: str(getattr(settings, option.name)) for option in OPTIONS}


def _read_folder(given: str) -> Path:
    try:
        given.encode()
        return Path(given).expanduser().resolve()
    except (OSError, ValueError, RuntimeError) as error:
        raise SettingsError(f"data_dir (SAKUIN_DATA_DIR) {given!r}: {error}") from None


def _find(
    option: Option,
    flags: Mapping[str, Any],
    environment: Mapping[str, str],
    file: Mapping[str, Any],
) -> Any:
    if flags.get(option.name) is not None:
        return flags[option.name]
    if option.variable in environment:
        return environment[option.variable]
    if option.is_secret and (named := environment.get(f"{option.variable}_FILE")):
        try:
            return Path(named).read_text(encoding="utf-8").strip()
        except (OSError, ValueError) as error:
            raise SettingsError(f"{option.variable}_FILE: cannot read {named}: {error}") from None
    return file.get(option.name, option.default)


def _read_file(path: Path) -> dict[str, Any]:
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise SettingsError(f"{path} cannot be read: {error}") from None
    names = {option.name for option in OPTIONS}
    for name in content:
        if name not in names:
            raise SettingsError(
                f"{path}: {name!r} is not a setting; known: {', '.join(sorted(names))}"
            )
    return content


def _refuse_unknown(environment: Mapping[str, str]) -> None:
    known = {option.variable for option in OPTIONS}
    known |= {f"{option.variable}_FILE" for option in OPTIONS if option.is_secret}
    for variable in environment:
        is_ours = variable.startswith("SAKUIN_") and not variable.startswith(_TESTING)
        if is_ours and variable not in known:
            raise SettingsError(f"{variable} is not a setting; known: {', '.join(sorted(known))}")


def _convert(option: Option, value: Any) -> Any:
    kind = type(option.default)
    if isinstance(value, Path):
        value = str(value)
    if isinstance(value, str) and "\0" in value:
        raise SettingsError(f"{option.name} ({option.variable}) holds a NUL character: remove it")
    if kind is bool:
        if str(value).lower() not in _SWITCH:
            raise SettingsError(
                f"{option.name} ({option.variable}) must be yes or no, not {value!r}"
            )
        return _SWITCH[str(value).lower()]
    try:
        converted = kind(value) if not isinstance(value, bool) else None
    except (TypeError, ValueError, OverflowError):
        converted = None
    if converted is None:
        raise SettingsError(
            f"{option.name} ({option.variable}) must be {_KINDS[kind]}, not {value!r}"
        )
    return converted


def _check(settings: Settings) -> None:
    if settings.engine not in ("", "tantivy", "whoosh"):
        raise SettingsError(
            f"engine (SAKUIN_ENGINE) must be tantivy or whoosh, not {settings.engine!r}"
        )
    if settings.root_path and not settings.root_path.startswith("/"):
        raise SettingsError(
            f"root_path (SAKUIN_ROOT_PATH) must begin with /, not {settings.root_path!r}"
        )
    if not 0 <= settings.port <= 65535:
        raise SettingsError(f"port (SAKUIN_PORT) must be 0 to 65535, not {settings.port}")
    for field in fields(settings):
        value = getattr(settings, field.name)
        if field.name == "port" or isinstance(value, bool) or not isinstance(value, int | float):
            continue
        if not 0 < value < float("inf"):
            raise SettingsError(
                f"{field.name} (SAKUIN_{field.name.upper()}) must be above 0, not {value}"
            )
        if value > _MOST_SECONDS and isinstance(value, float):
            raise SettingsError(
                f"{field.name} (SAKUIN_{field.name.upper()}) must be at most "
                f"{_MOST_SECONDS:,}, not {value}"
            )
    if settings.lease_seconds < 1:
        raise SettingsError("lease_seconds (SAKUIN_LEASE_SECONDS) must be at least 1")
    if settings.search_log_days > _MOST_DAYS:
        raise SettingsError(
            f"search_log_days (SAKUIN_SEARCH_LOG_DAYS) must be at most {_MOST_DAYS:,}, "
            f"not {settings.search_log_days}"
        )
