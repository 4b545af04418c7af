"""Starts a MariaDB server of our own in a folder: for the demo, the tests and the benchmarks.

It listens on 127.0.0.1 and on a socket only, has one account with a random password, reads no
configuration file, and ends with the `with` block. Started again on the same folder it has the
same data, port and password.
"""

import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pymysql

DATABASE = "sakuin"
START_SECONDS = 30.0
STOP_SECONDS = 30.0
_REMEDY = "apt-get install mariadb-server (or set SAKUIN_DATABASE_URL to a server of yours)"


class PrivateServerError(Exception):
    """The server could not be made or started; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class _Account:
    port: int
    password: str


class PrivateServer:
    """A running private server. Use `private_mariadb` to get one."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._sockets = Path(tempfile.mkdtemp(prefix="sakuin-"))  # a socket's path must be short
        self._account = _account(folder)
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """The address for `open_engine`, naming an empty database on a new folder."""
        account = self._account
        return f"mysql+pymysql://sakuin:{account.password}@127.0.0.1:{account.port}/{DATABASE}"

    @property
    def socket(self) -> Path:
        """The server's Unix socket."""
        return self._sockets / "mariadb.sock"

    @property
    def pid(self) -> int:
        """The number of the server's process."""
        return self._running().pid

    def start(self) -> None:
        """Start the server and wait until it answers. Raises PrivateServerError."""
        log = self._folder / "server.log"
        with log.open("ab") as output:
            self._process = subprocess.Popen(  # noqa: S603 - fixed program, own folder
                self._command(),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,  # Ctrl-C reaches us alone; we then stop it in order
            )
        deadline = time.monotonic() + START_SECONDS
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > deadline:
                self.kill()
                tail = log.read_text(errors="replace")[-2_000:]
                raise PrivateServerError(f"mariadbd did not start; the end of {log}:\n{tail}")
            time.sleep(0.02)  # between two tries to connect: a server says nowhere that it is up

    def stop(self) -> None:
        """Stop the server in order and wait until it has ended."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """Stop the server as a power cut would (SIGKILL)."""
        self._end(signal.SIGKILL)

    def restart(self) -> None:
        """Start again after `stop` or `kill`, or stop and start: same folder, port and account."""
        self.stop()
        self.start()

    def close(self) -> None:
        """Stop the server and free what is outside its folder."""
        self.stop()
        shutil.rmtree(self._sockets, ignore_errors=True)

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            raise PrivateServerError("the server is not running: start() it first")
        return self._process

    def _end(self, how: signal.Signals) -> None:
        if self._process is None:
            return
        if self._process.poll() is None:
            self._process.send_signal(how)
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process = None

    def _answers(self) -> bool:
        account = self._account
        try:
            pymysql.connect(
                host="127.0.0.1",
                port=account.port,
                user="sakuin",
                password=account.password,
                database=DATABASE,
                connect_timeout=2,
            ).close()
        except pymysql.MySQLError:
            return False
        return True

    def _command(self) -> list[str]:
        start = self._folder / "start.sql"
        start.unlink(missing_ok=True)
        start.touch(mode=0o600)  # it holds the password
        start.write_text(
            f"CREATE DATABASE IF NOT EXISTS {DATABASE} CHARACTER SET utf8mb4;\n"
            f"CREATE USER IF NOT EXISTS sakuin@'%' IDENTIFIED BY '{self._account.password}';\n"
            "GRANT ALL ON *.* TO sakuin@'%' WITH GRANT OPTION;\n"
        )
        return [
            str(_program("mariadbd")),
            "--no-defaults",
            f"--datadir={self._folder / 'data'}",
            f"--tmpdir={_tmpdir(self._folder)}",
            f"--socket={self.socket}",
            f"--port={self._account.port}",
            "--bind-address=127.0.0.1",
            f"--pid-file={self._folder / 'server.pid'}",
            f"--init-file={start}",
            "--character-set-server=utf8mb4",
            "--skip-log-bin",
            "--skip-ssl",  # loopback only; from 11.4 on it would encrypt by itself
            "--skip-name-resolve",
            "--innodb-log-file-size=64M",
            *_as_root(),
        ]


@contextmanager
def private_mariadb(folder: Path | None = None) -> Iterator[PrivateServer]:
    """Run a private server while the block runs, in `folder` or in one that goes with it.

    Raises PrivateServerError, which names the package to install, where there is no server.
    """
    _program("mariadbd")
    where = folder or Path(tempfile.mkdtemp(prefix="sakuin-mariadb-"))
    try:
        where.mkdir(parents=True, exist_ok=True)
        _initialise(where)
        server = PrivateServer(where.resolve())
        try:
            server.start()
            yield server
        finally:
            server.close()
    finally:
        if folder is None:
            shutil.rmtree(where, ignore_errors=True)


def _tmpdir(folder: Path) -> Path:
    """Make a folder for temporary tables: servers that share one delete each other's."""
    made = folder / "tmp"
    made.mkdir(exist_ok=True)
    return made


def _initialise(folder: Path) -> None:
    """Make the data folder, once: in another place first, so that half of one is never taken."""
    data = folder / "data"
    if data.exists():
        return
    new = folder / f"data-{secrets.token_hex(4)}.tmp"
    code, output = _run_alone(
        [
            str(_program("mariadb-install-db")),
            "--no-defaults",
            f"--datadir={new}",
            f"--tmpdir={_tmpdir(folder)}",
            "--auth-root-authentication-method=socket",
            "--skip-test-db",
            "--skip-name-resolve",
            "--innodb-log-file-size=64M",
            *_as_root(),
        ]
    )
    if code:
        shutil.rmtree(new, ignore_errors=True)
        raise PrivateServerError(f"mariadb-install-db failed in {folder}:\n{output[-2_000:]}")
    new.rename(data)


def _run_alone(command: list[str]) -> tuple[int, str]:
    """Run a program that starts others; when we are interrupted, none of them is left."""
    process = subprocess.Popen(  # noqa: S603 - fixed program, own folder
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        output, _ = process.communicate()
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        raise
    return process.returncode, output.decode(errors="replace")


def _account(folder: Path) -> _Account:
    """Return the port and password kept in the folder, made up at first."""
    kept = folder / "account.json"
    if not kept.exists():
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        kept.touch(mode=0o600)
        kept.write_text(json.dumps({"port": port, "password": secrets.token_hex(16)}))
    return _Account(**json.loads(kept.read_text()))


def _as_root() -> list[str]:
    return ["--user=root"] if os.geteuid() == 0 else []


def _program(name: str) -> Path:
    """Find a program of the server; Debian keeps mariadbd outside a normal user's path."""
    places = os.pathsep.join((os.environ.get("PATH", os.defpath), "/usr/sbin", "/usr/local/sbin"))
    found = shutil.which(name, path=places)
    if found is None:
        raise PrivateServerError(f"{name} is not installed: {_REMEDY}")
    return Path(found)
