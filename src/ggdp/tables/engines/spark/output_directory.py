"""Directories of Parquet files that Spark writes: hidden until they are complete, and then without Spark's own files.

A directory is made beside its target under a random hidden name, and renamed onto it at the end; whatever fails, the
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

    from ggdp.tables.engines.spark.executor_noise import NoiseTask

_PART = re.compile(r"part-(\d{5,})-.*\.parquet")


def free(path: str | os.PathLike[str]) -> Path:
    """Return the path of a directory that can be created."""
    text = os.fspath(path)
    if "://" in text:
        raise ArgumentError("path", text, "must be a directory on a file system shared by driver and executors")
    target = Path(os.path.abspath(text))
    if os.path.lexists(target):
        raise ArgumentError("path", text, "already exists; a release never replaces another one")
    if not target.parent.is_dir():
        raise ArgumentError("path", text, "the directory to create it in does not exist")
    return target


@contextmanager
def hidden(target: Path) -> Iterator[Path]:
    """Make a directory beside the target, and remove it with all it holds."""
    hidden = target.with_name(f".{target.name}.{secrets.token_hex(8)}")
    hidden.mkdir()
    try:
        yield hidden
    finally:
        shutil.rmtree(hidden, ignore_errors=True)
        if hidden.exists():
            message = f"{hidden} cannot be removed; remove it, and never publish what is in it"
            raise GgdpError(message)


def tidied(directory: Path, task: NoiseTask) -> tuple[str, ...]:
    """Keep one file for each part, remove all others, and return their names in the order of the cells."""
    import pyarrow.parquet as pq

    found: dict[int, Path] = {}
    for found_path in sorted(directory.iterdir()):
        match = _PART.fullmatch(found_path.name)
        if match is None:
            shutil.rmtree(found_path) if found_path.is_dir() else found_path.unlink()
        elif found.setdefault(int(match.group(1)), found_path) is not found_path:
            message = "Spark has written two files for one part; nothing was released"
            raise GgdpError(message)
    if 0 not in found or max(found) >= task.files or (task.threshold is None and len(found) != task.files):
        message = "Spark has written unexpected files; nothing was released"
        raise GgdpError(message)
    # Spark writes no file for a part without rows, but for the first.
    schema = pq.read_schema(found[0])
    for part in range(task.files):
        if part not in found:
            found[part] = found[0].with_name(f"part-{part:05d}{found[0].name.removeprefix('part-00000')}")
            with pq.ParquetWriter(found[part], schema, compression="snappy", store_schema=False) as empty:
                empty.add_key_value_metadata(schema.metadata)
    return tuple(found[part].name for part in sorted(found))


def publish(directory: Path, target: Path) -> None:
    """Rename a directory onto a path that does not exist."""
    try:
        # Creating it fails if it exists by now; renaming onto an empty directory of our own does not.
        target.mkdir()
    except FileExistsError:
        raise ArgumentError("path", str(target), "already exists; a release never replaces another one") from None
    try:
        directory.rename(target)
    except BaseException:
        target.rmdir()
        raise
