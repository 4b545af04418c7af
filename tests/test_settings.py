"""Settings: flag > variable > sakuin.toml > default, and errors that name the setting."""

from pathlib import Path

import pytest

from sakuin.app.settings import OPTIONS, SettingsError, as_environment, read_settings


def test_defaults_need_nothing(tmp_path: Path) -> None:
    settings = read_settings({}, {}, tmp_path)
    assert settings.is_sqlite
    assert settings.database_url.endswith("/sakuin-data/sakuin.sqlite3")
    assert settings.host == "127.0.0.1"


def test_flag_wins_over_variable_over_file(tmp_path: Path) -> None:
    (tmp_path / "sakuin.toml").write_text('port = 1\nengine = "whoosh"\nhost = "::1"\n')
    variables = {"SAKUIN_PORT": "2", "SAKUIN_ENGINE": "tantivy"}
    settings = read_settings({"port": 3, "engine": None}, variables, tmp_path)
    assert (settings.port, settings.engine, settings.host) == (3, "tantivy", "::1")


def test_a_secret_comes_from_a_file(tmp_path: Path) -> None:
    secret = tmp_path / "url"
    secret.write_text("mysql+pymysql://u:p@h/s\n")
    variables = {"SAKUIN_DATABASE_URL_FILE": str(secret)}
    assert read_settings({}, variables, tmp_path).database_url == "mysql+pymysql://u:p@h/s"
    secret.unlink()
    with pytest.raises(SettingsError, match="SAKUIN_DATABASE_URL_FILE"):
        read_settings({}, variables, tmp_path)


@pytest.mark.parametrize(
    ("variables", "named"),
    [
        ({"SAKUIN_ENGINE": "lucene"}, "SAKUIN_ENGINE"),
        ({"SAKUIN_PORT": "http"}, "SAKUIN_PORT"),
        ({"SAKUIN_ROOT_PATH": "books"}, "SAKUIN_ROOT_PATH"),
        ({"SAKUIN_PORT": "70000"}, "SAKUIN_PORT"),
        ({"SAKUIN_BATCH_DOCUMENTS": "0"}, "SAKUIN_BATCH_DOCUMENTS"),
        ({"SAKUIN_LEASE_SECONDS": "nan"}, "SAKUIN_LEASE_SECONDS"),
        ({"SAKUIN_LEASE_SECONDS": "0.2"}, "SAKUIN_LEASE_SECONDS"),
        ({"SAKUIN_READ_ONLY": "perhaps"}, "SAKUIN_READ_ONLY"),
        ({"SAKUIN_POLL_SECONDS": "-1"}, "SAKUIN_POLL_SECONDS"),
        ({"SAKUIN_SEARCH_LOG": "maybe"}, "SAKUIN_SEARCH_LOG"),
        ({"SAKUIN_SEARCH_LOG_DAYS": "0"}, "SAKUIN_SEARCH_LOG_DAYS"),
        ({"SAKUIN_SEARCH_LOG_DAYS": "9999999"}, "SAKUIN_SEARCH_LOG_DAYS"),
        ({"SAKUIN_SEARCH_LOG_QUERIES": "many"}, "SAKUIN_SEARCH_LOG_QUERIES"),
        ({"SAKUIN_DATABASE": "typo"}, "SAKUIN_DATABASE is not a setting"),
    ],
)
def test_a_bad_setting_is_named(variables: dict[str, str], named: str, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=named):
        read_settings({}, variables, tmp_path)


@pytest.mark.parametrize("content", ["port = ", "colour = 1\n", "port = true\n"])
def test_a_bad_file_is_named(content: str, tmp_path: Path) -> None:
    (tmp_path / "sakuin.toml").write_text(content)
    with pytest.raises(SettingsError):
        read_settings({}, {}, tmp_path)


def test_a_child_process_gets_the_same_settings(tmp_path: Path) -> None:
    settings = read_settings({"port": 9, "data_dir": tmp_path / "x"}, {}, tmp_path)
    assert read_settings({}, as_environment(settings), tmp_path / "elsewhere") == settings


def test_every_option_explains_itself() -> None:
    for option in OPTIONS:
        assert option.help
        assert option.variable.startswith("SAKUIN_")
