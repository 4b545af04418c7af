"""`sakuin attach`, `detach` and `index verify|repair` as commands, and docs/from-mroonga.md."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine as Database
from typer.testing import CliRunner

from attaching import make_articles, run
from command import Command
from sakuin.app.cli import app

PAGE = (Path(__file__).resolve().parents[1] / "docs" / "from-mroonga.md").read_text("utf-8")
ARTICLES = """\
CREATE TABLE articles (id INT UNSIGNED AUTO_INCREMENT PRIMARY KEY, title VARCHAR(200),
  body MEDIUMTEXT, status VARCHAR(10), category_id INT, published_at DATETIME)
"""
PHP_INSERT = """\
<?php
[$_, $dsn, $user, $password] = $argv;
$db = new PDO($dsn, $user, $password, [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION]);
$db->exec("INSERT INTO articles (title, body, status) VALUES ('PHP から', '人間と人間', 'public')");
"""


def program(name: str) -> str:
    found = re.search(rf"<!-- test: {name} -->\n```\w+\n(.*?)```", PAGE, re.DOTALL)
    assert found, f"docs/from-mroonga.md has no program {name}"
    return found[1]


def php(source: str, folder: Path, *arguments: str) -> str:
    if shutil.which("php") is None:
        if os.environ.get("CI"):
            pytest.fail("PHP not tested: apt-get install php-cli php-mysql", pytrace=False)
        pytest.skip("PHP not tested: apt-get install php-cli php-mysql")
    path = folder / "program.php"
    path.write_text(source, encoding="utf-8")
    done = subprocess.run(
        ["php", str(path), *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def python(source: str, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", source, *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@dataclass(frozen=True, slots=True)
class Sakuin:
    """Runs commands in this process, which costs less; workers and servers as real ones."""

    real: Command

    def line(self, line: str, code: int = 0) -> str:
        """Run a line of a script and return standard output."""
        _, *words = shlex.split(line)
        return self.run(*words, code=code)[0]

    def run(self, *words: str, code: int = 0) -> tuple[str, str]:
        """Run to the end, demand the exit code, return standard output and error."""
        if words[0] == "worker":
            return self.real.run(*words, code=code), ""
        done = CliRunner().invoke(app, words, env=self.real.variables)
        assert done.exit_code == code, f"{words}: {done.output} {done.exception!r}"
        return done.stdout, done.stderr

    def json(self, *words: str) -> Any:
        """Run with --json and return what it printed."""
        return json.loads(self.run(*words, "--json")[0])


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_moving_from_mroonga(
    mariadb_url: str, open_database: Callable[[str], Database], here: Path
) -> None:
    """docs/from-mroonga.md, word for word; a raw INSERT from PHP becomes searchable."""
    engine = open_database(mariadb_url)
    run(
        engine,
        ARTICLES,
        "INSERT INTO articles (title, body, status) VALUES ('人間失格', '恥の多い', 'public'),"
        " ('草稿', '人間', 'draft'), ('殺し屋', '人間と殺し', 'public')",
    )
    sakuin = Sakuin(Command(here, {"SAKUIN_DATABASE_URL": mariadb_url}))
    *_, searched, verified = [sakuin.line(line) for line in program("ATTACH").splitlines()]
    assert searched.startswith("2 found")
    assert "2 documents, 2 rows" in verified
    url = engine.url
    dsn = f"mysql:host={url.host};port={url.port};dbname={url.database};charset=utf8mb4"
    login = (dsn, str(url.username), str(url.password))
    php(PHP_INSERT, here, *login)
    sakuin.line("sakuin worker --drain")
    expected = {"3", "1 人間失格", "3 殺し屋", "4 PHP から"}
    with sakuin.real.start("serve", "--port", "0", "--no-worker") as serving:
        address = serving.wait_for_line(r"(http://127\.0\.0\.1:\d+)")[1]
        by_php = php(program("PHP_SEARCH"), here, *login, address, "人間")
        assert set(by_php.splitlines()) == expected
        assert python(program("PYTHON_SEARCH"), mariadb_url, address, "人間") == by_php
        assert php(program("PHP_SEARCH"), here, *login, address, "人間 -人間") == "0\n"
    run(engine, "TRUNCATE TABLE articles")
    verify_or_repair, drain, verify = program("MEND").splitlines()
    first, _, second = verify_or_repair.partition(" || ")
    assert "extra  3: 1, 3, 4" in sakuin.line(first, code=4)
    sakuin.line(second)
    sakuin.line(drain)
    assert "0 documents, 0 rows" in sakuin.line(verify)
    assert "0 documents, 0 rows" in sakuin.line("sakuin index verify")  # of paragraphs


def test_attach_and_detach(here: Path, open_database: Callable[[str], Database]) -> None:
    """What is shown, asked and answered; exit codes of design §8."""
    engine = open_database(f"sqlite:///{here / 'own.db'}")
    sakuin = Sakuin(Command(here, {"SAKUIN_DATABASE_URL": f"sqlite:///{here / 'own.db'}"}))
    make_articles(engine)
    run(engine, "INSERT INTO articles (id, title, body) VALUES (1, '題', '人間')")
    attach = ("attach", "articles", "--columns", "title:2,body", "--url", "/a/{id}")
    assert sakuin.run(*attach, "--sql-only")[0].count("CREATE TRIGGER") == 3
    nothing, asked = sakuin.run(*attach, code=2)
    assert (nothing, "say --yes" in asked, "CREATE TRIGGER" in asked) == ("", True, True)
    done = sakuin.json(*attach, "--yes")
    assert (done["index"], done["triggers"], done["pushed"]) == ("articles", 3, 1)
    sakuin.run("worker", "--drain")
    (item,) = sakuin.json("search", "--index", "articles", "人間")["items"]
    assert (item["id"], item["url"]) == (1, "/a/1")
    run(engine, "DROP TRIGGER sakuin_articles_delete", "DELETE FROM articles")
    report = json.loads(sakuin.run("index", "verify", "--index", "articles", "--json", code=4)[0])
    assert report["triggers_missing"] == ["sakuin_articles_delete"]
    assert report["extra"] == {"count": 1, "first": ["1"]}
    assert "attached: articles" in sakuin.run("detach", "nothing", "--yes", code=1)[1]
    assert (here / "sakuin-data" / "index" / "articles").is_dir()
    assert sakuin.json("detach", "articles", "--yes", "--purge")["purged"] is True
    assert not (here / "sakuin-data" / "index" / "articles").exists()
