"""Files of pictures that commands draw: checked before the work, written whole or not at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ggdp._files import write_together
from ggdp.errors import ArgumentError

if TYPE_CHECKING:
    from pathlib import Path

FORMATS = (".png", ".pdf", ".svg")


def require_picture(plot: Path, *, overwrite: bool) -> None:
    """Raise if the file cannot be written, before the work is done."""
    if plot.suffix.lower() not in FORMATS:
        raise ArgumentError("plot", str(plot), "must end in " + ", ".join(FORMATS))
    if not plot.parent.is_dir():
        raise ArgumentError("plot", str(plot), f"{str(plot.parent)!r} is not a directory; create it first")
    if plot.exists() and not overwrite:
        raise ArgumentError("plot", str(plot), "already exists; pass --overwrite to replace it, or name another file")


def write_picture(plot: Path, content: bytes, *, overwrite: bool) -> None:
    """Write a picture."""
    try:
        write_together({plot: content}, overwrite=overwrite)
    except OSError as failed:
        why = failed.strerror or str(failed)
        raise ArgumentError("plot", str(plot), f"cannot be written ({why}); name another file") from None
