"""The cache directory of downloaded data sets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ggdp._files import cache_directory
from ggdp.errors import DatasetError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["default_directory"]


def default_directory() -> Path:
    """Return the user's cache directory of ggdp."""
    directory = cache_directory()
    if directory is None:
        raise DatasetError("there is no home directory to keep it in; set XDG_CACHE_HOME, or pass cache=")
    return directory
