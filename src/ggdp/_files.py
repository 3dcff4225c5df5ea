"""Files written atomically, completely or not at all; small files read; and the user's cache directory."""

from __future__ import annotations

import os
import secrets
import stat
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["cache_directory", "regular_content", "write_together"]


def cache_directory() -> Path | None:
    """Return XDG_CACHE_HOME/ggdp where that is set, or else ggdp's directory among the platform's caches.

    None if there is no home directory.
    """
    named = Path(os.environ.get("XDG_CACHE_HOME", ""))
    # The specification has a relative path ignored.
    if named.is_absolute():
        return named / "ggdp"
    try:
        home = Path.home()
    except RuntimeError:
        return None
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local") / "ggdp" / "Cache"
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "ggdp"
    return home / ".cache" / "ggdp"


def write_together(contents: Mapping[Path, bytes | None], *, overwrite: bool) -> None:
    """Write all files or none: temporary files first, then renamed; existing files stay unless overwritten.

    A file whose content is None belonged to an earlier version of the others, and is removed after they are in place.

    A process that is killed may leave hidden files beside the targets. One that is killed while it replaces several
    files leaves some old and some new ones, each of them whole; manifests hold the digests that tell.
    """
    beside: dict[Path, Path] = {}
    made: list[Path] = []
    try:
        for target, content in contents.items():
            if content is None:
                continue
            hidden = target.with_name(f".{target.name[:100]}.{secrets.token_hex(6)}")
            # Created with the umask of the process, like any other file.
            descriptor = _created(hidden)
            beside[target] = hidden
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
        for target, source in beside.items():
            if not overwrite:
                # Refused where the target already exists, also when another run has just made it.
                os.close(_created(target))
                made.append(target)
            source.replace(target)
        for target, content in contents.items():
            if content is None:
                target.unlink(missing_ok=True)
    except BaseException:
        for target in made:
            target.unlink(missing_ok=True)
        raise
    finally:
        for source in beside.values():
            source.unlink(missing_ok=True)


def regular_content(path: Path, most: int, *, secret: bool = False) -> bytes:
    """Return the content of a regular file of a limited size; pipes and devices are not waited for.

    Raises
    ------
    ValueError
        If it is larger or of another kind; or if it is secret, and others than its owner may read it.
    """
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            message = "is not a regular file"
            raise ValueError(message)
        # The rule of ssh.
        if secret and os.name == "posix" and status.st_uid == os.getuid() and status.st_mode & 0o077:
            message = f"can be read by other users; run: chmod 600 {path}"
            raise ValueError(message)
        content = file.read(most + 1)
    if len(content) > most:
        message = f"is larger than {most:,} bytes"
        raise ValueError(message)
    return content


def _created(path: Path) -> int:
    """Create a file and return its descriptor."""
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
