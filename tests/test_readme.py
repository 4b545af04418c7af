"""Both READMEs run: their commands, their SQL, their PHP and Python, every query example."""

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine, make_url, select

from command import Command
from databases import Servers
from oracle import Row, matching, settle
from sakuin.app.paragraph import Paragraph
from sakuin.app.paragraph_index import PARAGRAPHS
from sakuin.app.private_mariadb import PrivateServer
from sakuin.indexer.parse import parse
from sakuin.queue import open_engine, queue_counts, read, replay
from web import serving

ROOT = Path(__file__).resolve().parents[1]
READMES = ("README.md", "README.ja.md")
BIN = Path(sys.executable).parent


def block(readme: str, name: str) -> str:
    """The fenced block behind `<!-- test: name -->`."""
    text = (ROOT / readme).read_text(encoding="utf-8")
    found = re.search(rf"<!-- test: {name} -->\n```\w+\n(.*?)```", text, re.DOTALL)
    assert found, f"{readme} has no block {name}"
    return found[1]


def sh(script: str, folder: Path, **variables: str) -> str:
    path = f"{BIN}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["sh", "-euc", script],
        cwd=folder,
        env={**os.environ, "PATH": path, **variables},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, f"{script}\n{done.stderr}"
    return done.stdout


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "novel.txt").write_text("人間は考える\n殺し屋と人間\n残酷な話\n")
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("機械の話\n")
    return tmp_path


@pytest.mark.parametrize("readme", READMES)
def test_up(readme: str, folder: Path) -> None:
    install, up = block(readme, "up").splitlines()
    assert install == "pip install ."
    printed = sh(f"{up} --once", folder)
    assert "searchable" in printed


@pytest.mark.parametrize("readme", READMES)
def test_steps(readme: str, folder: Path) -> None:
    *steps, serve = block(readme, "steps").splitlines()
    sh("\n".join(steps), folder)
    assert sh(block(readme, "discovery"), folder)
    with Command(folder, {}).start(*serve.split()[1:], "--port", "0") as process:
        process.wait_for_line("http://")
        assert process.end(signal.SIGTERM) == 0


@pytest.fixture
def private(servers: Servers) -> Iterator[PrivateServer]:
    server = servers.private()
    yield server
    admin = open_engine(server.url)
    replay(admin, lambda c: c.exec_driver_sql("DROP DATABASE IF EXISTS novels"))
    replay(admin, lambda c: c.exec_driver_sql("DROP USER IF EXISTS librarian@localhost"))
    admin.dispose()


def make_database(readme: str, server: PrivateServer) -> None:
    admin = open_engine(server.url)
    for statement in block(readme, "mariadb").split(";\n"):
        if statement.strip():
            replay(admin, lambda c, s=statement: c.exec_driver_sql(s))  # type: ignore[misc]
    admin.dispose()


def steps_on(readme: str, server: PrivateServer) -> str:
    """The README's steps, told where this server's socket is."""
    steps = block(readme, "mariadb-steps")
    assert "@localhost/novels'" in steps
    return steps.replace("/novels'", f"/novels?unix_socket={server.socket}'")


@pytest.mark.parametrize("readme", READMES)
def test_mariadb_and_pushes(readme: str, folder: Path, private: PrivateServer) -> None:
    """The grants suffice; a push by shell and one by PHP arrive."""
    make_database(readme, private)
    printed = sh(steps_on(readme, private), folder)
    assert "2" in printed
    account = f"--socket={private.socket} --user=librarian --password=choose-one"
    connecting = f'mariadb() {{ command mariadb {account} "$@"; }}\n'
    sh(connecting + block(readme, "push-shell"), folder)
    url = f"mysql+pymysql://librarian:choose-one@localhost/novels?unix_socket={private.socket}"
    database = open_engine(url)
    assert read(database, lambda c: queue_counts(c, "default")).ready == 1
    push_by_php(block(readme, "push-php"), folder, url, database)
    assert read(database, lambda c: queue_counts(c, "index:paragraphs")).ready == 1
    database.dispose()


@pytest.mark.parametrize("readme", READMES)
def test_attach(readme: str, folder: Path, private: PrivateServer) -> None:
    """A table of somebody's own schema becomes searchable, and verify agrees."""
    admin = open_engine(private.url)
    for statement in (
        "CREATE DATABASE novels CHARACTER SET utf8mb4",
        "CREATE DATABASE blog CHARACTER SET utf8mb4",
        (
            "CREATE TABLE blog.articles (id INT PRIMARY KEY AUTO_INCREMENT, title VARCHAR(100), "
            "body TEXT, status VARCHAR(10), category_id INT, published_at DATETIME)"
        ),
        (
            "INSERT INTO blog.articles (title, body, status, category_id, published_at) VALUES "
            "('人間', '<p>失格</p>', 'public', 3, '2024-05-01'), "
            "('草稿', '人間', 'draft', 3, '2024-05-01'), "
            "('人間', '以前', 'public', 3, '2023-12-31')"
        ),
    ):
        replay(admin, lambda c, s=statement: c.exec_driver_sql(s))  # type: ignore[misc]
    url = make_url(private.url).set(database="novels").render_as_string(hide_password=False)
    *steps, verify = block(readme, "attach").splitlines()
    try:
        sh("sakuin init", folder, SAKUIN_DATABASE_URL=url)
        printed = sh("\n".join(steps), folder, SAKUIN_DATABASE_URL=url)
        assert printed.splitlines()[0].startswith("1 found")
        sh(verify, folder, SAKUIN_DATABASE_URL=url)
    finally:
        replay(admin, lambda c: c.exec_driver_sql("DROP DATABASE blog"))
        admin.dispose()


@pytest.mark.parametrize("readme", READMES)
def test_model(readme: str, folder: Path) -> None:
    """The model of the README is saved, indexed by `sakuin worker`, and found."""
    (folder / "shop_models.py").write_text(
        "from sqlalchemy import String, Text\n"
        "from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column\n\n"
        "class Base(DeclarativeBase):\n    pass\n\n" + block(readme, "model")
    )
    (folder / "save.py").write_text(
        "from sqlalchemy.orm import Session\n"
        "from sakuin.queue import create_schema, open_engine\n"
        "from shop_models import Article, Base\n\n"
        "engine = open_engine('sqlite:///sakuin-data/sakuin.sqlite3')\n"
        "create_schema(engine)\nBase.metadata.create_all(engine)\n"
        "with Session(engine) as session, session.begin():\n"
        "    session.add(Article(title='人間失格', body='恥の多い生涯'))\n"
    )
    (folder / "find.py").write_text(
        "from sqlalchemy.orm import Session\n"
        "from sakuin.queue import open_engine\n"
        "from shop_models import Article\n\n"
        "with Session(open_engine('sqlite:///sakuin-data/sakuin.sqlite3')) as session:\n"
        "    print([article.body for article in Article.find_fulltext(session, '人間')])\n"
    )
    program = f"sakuin init\n{sys.executable} save.py\nsakuin worker --drain\n"
    variables = {"SAKUIN_MODELS": "shop_models", "PYTHONPATH": str(folder)}
    printed = sh(f"{program}{sys.executable} find.py", folder, **variables)
    assert printed.endswith("['恥の多い生涯']\n")


def push_by_php(program: str, folder: Path, url: str, database: Engine) -> None:
    php = shutil.which("php")
    if php is None:
        assert not os.environ.get("CI"), "no php in CI"
        pytest.skip("PHP not tested: no php here; apt-get install php-cli php-mysql")
    socket = make_url(url).query["unix_socket"]
    last = read(database, lambda c: c.execute(select(Paragraph.id)).scalars().all())[-1]
    connecting = (
        f"<?php $db = new PDO('mysql:unix_socket={socket};dbname=novels;charset=utf8mb4', "
        "'librarian', 'choose-one', [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION]);\n"
    )
    script = folder / "push.php"
    script.write_text(connecting + program.replace("17", str(last)))
    subprocess.run([php, str(script)], check=True, timeout=60)
    bodies = read(database, lambda c: c.execute(select(Paragraph.body)).scalars().all())
    assert "人間は考える葦である" in bodies


@pytest.mark.parametrize("readme", READMES)
def test_curl(readme: str, folder: Path) -> None:
    if shutil.which("curl") is None:
        assert not os.environ.get("CI"), "no curl in CI"
        pytest.skip("curl is not installed")
    with Command(folder, {}).start("serve", "--port", "0") as process:
        address = process.wait_for_line(r"(http://\S+)/ ")[1]
        printed = sh(block(readme, "curl").replace("http://127.0.0.1:8000", address), folder)
    assert '"receipt"' in printed
    assert '"total"' in printed


@pytest.mark.parametrize("readme", READMES)
def test_python(readme: str, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(block(readme, "python"))
    done = subprocess.run(
        [sys.executable, str(program)], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout == 'b\'{"to": "you"}\'\n'


BODIES = {
    "1": "人間は考える",
    "2": "殺し屋と人間",
    "3": "残酷な機械",
    "4": "There is a cat in the library",
    "5": "cat a in libraries, iPhone15",
    "6": "残酷な人間の殺し",
}


@pytest.mark.parametrize("readme", READMES)
def test_every_query_example(readme: str, tmp_path: Path) -> None:
    text = (ROOT / readme).read_text(encoding="utf-8")
    table = text.split("<!-- test: queries -->")[1].split("\n\n")[0]
    queries = re.findall(r"^\| `(.+?)` \|", table, re.MULTILINE)
    assert len(queries) >= 8
    with serving(tmp_path, f"sqlite:///{tmp_path / 'q.db'}") as web:
        for body in BODIES.values():
            web.add(body)
        web.drain()
        for query in queries:
            found = web.get("/api/v1/search", q=query, per_page=100).json()
            ids = {str(item["id"]) for item in found["items"]}
            parsed = parse(query, fields=PARAGRAPHS.fields)
            rows = [Row(k, {"body": settle(v)}, {"id": int(k)}) for k, v in BODIES.items()]
            assert ids == matching(parsed.query, rows), query
            assert 0 < len(ids) < len(BODIES), query
            assert not parsed.diagnostics, query
