"""The private MariaDB server: quick, ours alone, restartable, and gone at the end."""

import os
import shutil
import stat
import time
from pathlib import Path

import pytest
from sqlalchemy import make_url

from databases import Servers, claimed, push_all
from sakuin.app.private_mariadb import PrivateServer, PrivateServerError, private_mariadb
from sakuin.queue import DatabaseAway, DatabaseRefused, create_schema, open_engine, read


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_server_keeps_its_data_port_and_account(servers: Servers, tmp_path: Path) -> None:
    """Started again on a folder, after a stop or a crash, it is the same server."""
    servers.need_program()
    folder = tmp_path / "server"
    with private_mariadb(folder) as server:
        url, first = server.url, server.pid
        engine = open_engine(url)
        create_schema(engine)
        push_all(engine, "q", b"before the crash")
        server.kill()
        assert not is_running(first)
        with pytest.raises(DatabaseAway):
            claimed(engine)
        server.start()
        assert server.url == url
        assert server.pid != first
        push_all(engine, "q", b"after the crash")
        last = server.pid
    assert not is_running(last)
    with private_mariadb(folder) as server:
        assert server.url == url
        assert claimed(engine) == [b"before the crash", b"after the crash"]
        engine.dispose()


def test_it_is_ours_alone(servers: Servers) -> None:
    """Loopback only, no account without the password, no data readable by others."""
    server: PrivateServer = servers.private()
    engine = open_engine(server.url)
    name = "SELECT @@bind_address, @@log_bin"
    assert tuple(read(engine, lambda connection: connection.exec_driver_sql(name).one())) == (
        "127.0.0.1",
        0,
    )
    engine.dispose()
    for user in ("sakuin", "root", "nobody"):
        address = make_url(server.url).set(username=user, password="")
        with pytest.raises(DatabaseRefused, match=r"[Dd]enied"):
            create_schema(open_engine(address.render_as_string(hide_password=False)))
    account = server._folder / "account.json"
    assert stat.S_IMODE(account.stat().st_mode) == 0o600


def test_a_temporary_folder_goes_with_the_server(servers: Servers) -> None:
    """Made, started and stopped within seconds, and nothing left behind."""
    servers.need_program()
    begun = time.monotonic()
    with private_mariadb() as server:
        ready_seconds = time.monotonic() - begun
        folder, socket = server._folder, server.socket
        assert socket.exists()
    assert not folder.exists()
    assert not socket.parent.exists()
    assert ready_seconds < 20


def test_without_a_server_program_the_package_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(shutil, "which", lambda *_args, **_options: None)
    with (
        pytest.raises(PrivateServerError, match="apt-get install mariadb-server"),
        private_mariadb(tmp_path),
    ):
        pass


def test_a_server_that_cannot_start_shows_its_log(servers: Servers, tmp_path: Path) -> None:
    """A data folder that is not one: the end of the server's log is in the error."""
    servers.need_program()
    data = tmp_path / "data"
    data.mkdir()
    (data / "ibdata1").write_bytes(b"not a tablespace")
    with pytest.raises(PrivateServerError, match="did not start"), private_mariadb(tmp_path):
        pass
