"""What an account lacks to attach a table is named, with the statement that gives it."""

import re
import secrets
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine as Database
from sqlalchemy import make_url

from attaching import PLAIN, attached, drain, found, make_articles, run
from databases import Servers, claimed
from sakuin.app import private_mariadb
from sakuin.app.attach import attach, plan
from sakuin.app.attach_errors import NotAllowed
from sakuin.app.attached import read_attached
from sakuin.app.private_mariadb import PrivateServer
from sakuin.queue import create_schema, read, replay

GRANT = re.compile(r"^  (GRANT .*|SET GLOBAL [^;]*);", re.MULTILINE)
SAKUIN = "SELECT, INSERT, UPDATE, DELETE, CREATE, ALTER, INDEX, DROP"
Account = Callable[[str], Database]


class WithBinaryLog(PrivateServer):
    """A server that replicates, as most in production do."""

    def _command(self) -> list[str]:
        command = [each for each in super()._command() if each != "--skip-log-bin"]
        return [*command, "--log-bin=binlog", "--server-id=1"]


@pytest.fixture
def admin(mariadb_url: str, open_database: Callable[[str], Database]) -> Database:
    return open_database(mariadb_url)


@pytest.fixture
def account(open_database: Callable[[str], Database]) -> Iterator[Callable[..., Database]]:
    """Make accounts; they go with the test."""
    made: list[tuple[Database, str]] = []

    def make(admin: Database, *grants: str, goes: bool = True) -> Database:
        name, password = f"u{secrets.token_hex(4)}", secrets.token_hex(8)
        run(admin, f"CREATE USER {name}@'%%' IDENTIFIED BY '{password}'")
        for grant in grants:
            run(admin, f"GRANT {grant} TO {name}@'%%'")
        if goes:
            made.append((admin, name))
        url = admin.url.set(username=name, password=password)
        return open_database(url.render_as_string(hide_password=False))

    yield make
    for admin, name in made:
        run(admin, f"DROP USER {name}@'%%'")


def attach_with_help(user: Database, admin: Database, folder: Path) -> list[str]:
    """Attach, and do what the messages say until it works; return what they said."""
    said: list[str] = []
    while True:
        try:
            attached(user, folder)
        except NotAllowed as error:
            statement = GRANT.findall(str(error))[-1]
            if statement in said:
                raise
            said.append(statement)
            replay(admin, lambda c: c.exec_driver_sql(statement.replace("%", "%%")))  # noqa: B023
            user.dispose()
        else:
            return said


def test_each_missing_privilege_is_named_and_enough(
    admin: Database, account: Callable[..., Database], tmp_path: Path
) -> None:
    """Doing what the messages say, and nothing else, ends with an attached table."""
    make_articles(admin)
    create_schema(admin)
    schema = admin.url.database
    run(admin, "CREATE TABLE other (id INT)")
    user = account(
        admin, f"SELECT, DELETE, UPDATE ON {schema}.sakuin_messages", f"SELECT ON {schema}.other",
        f"SELECT ON {schema}.sakuin_queue_steps", f"SELECT ON {schema}.sakuin_pauses",
        f"SELECT ON {schema}.sakuin_jobs",
    )  # fmt: skip
    said = attach_with_help(user, admin, tmp_path)
    kinds = [re.sub(r" TO .*", "", each) for each in said]
    assert f"GRANT TRIGGER ON `{schema}`.`articles`" in kinds
    assert f"GRANT SELECT ON `{schema}`.`articles`" in kinds
    assert f"GRANT INSERT ON `{schema}`.`sakuin_messages`" in kinds
    writer = account(admin, f"SELECT, INSERT ON {schema}.articles")
    run(writer, "INSERT INTO articles (id, body) VALUES (1, '人間')")
    copy = attached(user, tmp_path)
    drain(copy)
    assert found(copy, "人間") == ["1"]


def test_the_sql_as_an_administrator_runs_it(admin: Database) -> None:
    """What `--sql-only` prints is for the database's own command line."""
    client = shutil.which("mariadb")
    if client is None:
        pytest.skip("no mariadb client here: apt-get install mariadb-client")
    make_articles(admin)
    create_schema(admin)
    url = admin.url
    place = ["--protocol=TCP", f"--host={url.host}", f"--port={url.port}"]
    account = [f"--user={url.username}", f"--password={url.password}", "--skip-ssl"]
    subprocess.run(
        [client, "--no-defaults", *place, *account, str(url.database)],
        input=plan(admin, PLAIN).script,
        text=True,
        check=True,
    )
    run(admin, "INSERT INTO articles (id, body) VALUES (7, 'x')")
    assert claimed(admin, "index:articles") == [b'{"ids": ["7"]}']
    assert attach(admin, plan(admin, PLAIN)).triggers == 0


def test_an_account_that_may_not_see_attached_tables_has_none(
    admin: Database, account: Callable[..., Database], tmp_path: Path
) -> None:
    """Whether they are there or not: what else it may see goes on as before."""
    make_articles(admin)
    create_schema(admin)
    user = account(admin, f"SELECT ON {admin.url.database}.sakuin_messages")
    assert read(user, read_attached) == []
    attached(admin, tmp_path)
    assert read(user, read_attached) == []
    assert len(read(admin, read_attached)) == 1


def test_no_trigger_stands_that_could_not_push(
    admin: Database, account: Callable[..., Database], tmp_path: Path
) -> None:
    """An account without INSERT on the messages leaves the table as it was: saves go on."""
    make_articles(admin)
    create_schema(admin)
    schema = admin.url.database
    user = account(admin, f"SELECT, TRIGGER ON {schema}.articles", f"CREATE ON {schema}.*",
                   f"SELECT ON {schema}.*")  # fmt: skip
    with pytest.raises(NotAllowed, match="INSERT"):
        attached(user, tmp_path)
    run(admin, "INSERT INTO articles (id, body) VALUES (1, 'x')")


def test_a_server_with_a_binary_log(
    servers: Servers,
    account: Callable[..., Database],
    open_database: Callable[[str], Database],
    tmp_path: Path,
) -> None:
    """Error 1419: the setting or SUPER, word for word; after it attaching works."""
    servers.need_program()
    folder = tmp_path / "server"
    folder.mkdir()
    private_mariadb._initialise(folder)
    server = WithBinaryLog(folder)
    try:
        server.start()
        admin = open_database(server.url)
        make_articles(admin)
        create_schema(admin)
        schema = make_url(server.url).database
        user = account(admin, f"{SAKUIN}, TRIGGER ON {schema}.*", goes=False)
        with pytest.raises(NotAllowed, match="SET GLOBAL log_bin_trust_function_creators = 1;"):
            attached(user, tmp_path)
        said = attach_with_help(user, admin, tmp_path)
        assert [each.partition(" TO ")[0] for each in said] == ["GRANT SUPER ON *.*"]
        admin.dispose()
        user.dispose()
    finally:
        server.close()
