"""Where fetched data sets are kept: in a folder of the user's, each file whole or not there at all."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from ggdp.errors import DatasetError

__all__ = ["default_folder", "keep"]


def default_folder() -> Path:
    """Return XDG_CACHE_HOME/ggdp where that is set, otherwise ggdp's folder among the caches of the platform."""
    named = Path(os.environ.get("XDG_CACHE_HOME", ""))
    # The specification has a relative path ignored.
    if named.is_absolute():
        return named / "ggdp"
    try:
        home = Path.home()
    except RuntimeError:
        raise DatasetError("there is no home folder to keep it in; set XDG_CACHE_HOME, or pass cache=") from None
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local") / "ggdp" / "Cache"
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "ggdp"
    return home / ".cache" / "ggdp"


def keep(target: Path, content: bytes) -> None:
    """Write a file whole or not at all, whoever else writes it at the same time and whenever the process ends."""
    target.parent.mkdir(parents=True, exist_ok=True)
    # Each writer has a file of its own beside the target, and the last move wins.
    descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    beside = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        beside.chmod(0o644)
        beside.replace(target)
    finally:
        beside.unlink(missing_ok=True)
