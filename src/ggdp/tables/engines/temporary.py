"""Temporary files of an engine, for rows that do not fit in memory: none, unless a directory is configured.

Rows of private data are written to disk only into a directory that was configured for them, `GGDP_TEMP_DIR` or
`temp_dir`, since what is deleted can often be recovered and a process can be killed at any time. Inside it each process
has a directory of its own that only its user can read, and that is removed

- when the process ends, and when it is killed, whatever the signal, by a small process that waits for its end;
- when the machine stops, by the next process that uses the same directory.

An encrypted disk is the right place. DuckDB's own encryption of temporary files is not used: the random numbers of the
library that its Python package contains are not suitable for keys.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from pathlib import Path

from ggdp.errors import ArgumentError, ArgumentTypeError

# The environment variable that names the directory.
TEMP_DIR = "GGDP_TEMP_DIR"
_PREFIX = "ggdp-"
_LOCK = "owner"
# Waits for the end of its input, which comes when the process that holds the other end is gone.
_GUARD = 'cat >/dev/null; rm -rf -- "$1"'
_guards: list[int] = []


def chosen_directory(temp_dir: str | os.PathLike[str] | None) -> Path | None:
    """Return the directory for temporary files that the caller or the environment names; None if neither does."""
    path = os.environ.get(TEMP_DIR) if temp_dir is None else temp_dir
    if not path:
        return None
    if not isinstance(path, str | os.PathLike):
        raise ArgumentTypeError("temp_dir", path, "must be the path of a directory")
    directory = Path(path)
    if not directory.is_dir():
        raise ArgumentError("temp_dir", str(path), "is not a directory; create it first")
    if not os.access(directory, os.W_OK | os.X_OK):
        raise ArgumentError("temp_dir", str(path), "no write permission")
    return directory.resolve()


def private_directory(within: Path) -> Path:
    """Return a new directory that only this user can read, and that is removed however this process ends."""
    remove_abandoned(within)
    directory = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=within))
    lock = os.open(directory / _LOCK, os.O_CREAT | os.O_RDWR, 0o600)
    _hold(lock)
    _guards.append(_guarded(directory))
    return directory


def _guarded(directory: Path) -> int:
    """Start a process that removes a directory when this process ends; return its id.

    The operating system closes the pipe between them at the latest then. No signal of a terminal reaches it.
    """
    reading, _ = os.pipe()
    silent = [(os.POSIX_SPAWN_OPEN, place, os.devnull, os.O_WRONLY, 0) for place in (1, 2)]
    try:
        return os.posix_spawn(
            "/bin/sh",
            ["sh", "-c", _GUARD, "sh", str(directory)],
            os.environ,
            file_actions=[(os.POSIX_SPAWN_DUP2, reading, 0), *silent],
            setsid=True,
        )
    finally:
        os.close(reading)


def remove_abandoned(within: Path) -> None:
    """Remove directories of processes that have ended: their locks are free."""
    for directory in within.glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):
            if directory.is_symlink() or directory.stat().st_uid != os.getuid():
                continue
            lock = os.open(directory / _LOCK, os.O_RDWR)
            try:
                _hold(lock)
                shutil.rmtree(directory, ignore_errors=True)
            finally:
                os.close(lock)


def _hold(lock: int) -> None:
    """Take a lock that lasts as long as the file is open; raise OSError if another process has it."""
    import fcntl

    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
