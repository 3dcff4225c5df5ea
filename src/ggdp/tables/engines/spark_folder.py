"""Folders of Parquet files that Spark writes: hidden until they are whole, and then without a trace of how.

A folder is made beside its target under a random hidden name, and renamed onto it at the end; whatever fails, the
hidden one is removed with all it holds. Of a finished one only the files of parts are left, one for each part.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ggdp.errors import ArgumentError, GgdpError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ggdp.tables.engines.spark_noise import CellPlan

__all__ = ["free", "hidden", "publish", "tidied"]

_PART = re.compile(r"part-(\d{5,})-.*\.parquet")


def free(path: str | os.PathLike[str]) -> Path:
    """Return the path of a folder that can be made."""
    text = os.fspath(path)
    if "://" in text:
        raise ArgumentError("path", text, "must be a folder on a file system that driver and executors share")
    target = Path(os.path.abspath(text))
    if os.path.lexists(target):
        raise ArgumentError("path", text, "exists; a release is written once, and never over another one")
    if not target.parent.is_dir():
        raise ArgumentError("path", text, "the folder to make it in does not exist")
    return target


@contextmanager
def hidden(target: Path) -> Iterator[Path]:
    """Make a folder beside the target, and remove it with all it holds."""
    hidden = target.with_name(f".{target.name}.{secrets.token_hex(8)}")
    hidden.mkdir()
    try:
        yield hidden
    finally:
        shutil.rmtree(hidden, ignore_errors=True)
        if hidden.exists():
            message = f"{hidden} cannot be removed; remove it, and never publish what is in it"
            raise GgdpError(message)


def tidied(folder: Path, plan: CellPlan) -> tuple[str, ...]:
    """Leave one file for each part and nothing else; return their names in the order of the cells."""
    import pyarrow.parquet as pq

    found: dict[int, Path] = {}
    for entry in sorted(folder.iterdir()):
        match = _PART.fullmatch(entry.name)
        if match is None:
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
        elif found.setdefault(int(match.group(1)), entry) is not entry:
            message = "Spark has written two files for one part; nothing was released"
            raise GgdpError(message)
    if 0 not in found or max(found) >= plan.files or (plan.threshold is None and len(found) != plan.files):
        message = "Spark has written other files than it was asked for; nothing was released"
        raise GgdpError(message)
    # Spark writes no file for a part without rows, but for the first.
    schema = pq.read_schema(found[0])
    for part in range(plan.files):
        if part not in found:
            found[part] = found[0].with_name(f"part-{part:05d}{found[0].name.removeprefix('part-00000')}")
            with pq.ParquetWriter(found[part], schema, compression="snappy", store_schema=False) as empty:
                empty.add_key_value_metadata(schema.metadata)
    return tuple(found[part].name for part in sorted(found))


def publish(folder: Path, target: Path) -> None:
    """Rename a folder onto a path that does not exist."""
    try:
        # Making it is refused if somebody has made it meanwhile; renaming onto one's own empty folder is not.
        target.mkdir()
    except FileExistsError:
        raise ArgumentError(
            "path", str(target), "exists; a release is written once, and never over another one"
        ) from None
    try:
        folder.rename(target)
    except BaseException:
        target.rmdir()
        raise
