"""The cache directory of downloaded data sets."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from ggdp.errors import DatasetError

__all__ = ["default_directory"]


def default_directory() -> Path:
    """Return XDG_CACHE_HOME/ggdp where that is set, or else ggdp's directory among the platform's caches."""
    named = Path(os.environ.get("XDG_CACHE_HOME", ""))
    # The specification has a relative path ignored.
    if named.is_absolute():
        return named / "ggdp"
    try:
        home = Path.home()
    except RuntimeError:
        raise DatasetError("there is no home directory to keep it in; set XDG_CACHE_HOME, or pass cache=") from None
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local") / "ggdp" / "Cache"
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "ggdp"
    return home / ".cache" / "ggdp"
