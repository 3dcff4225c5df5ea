"""Uploaded files, in memory alone, with a path that engines can open.

The web framework would write an upload to a temporary directory. Here its bytes go into an anonymous file in memory
(`memfd_create`), which has no name in any file system; the engines, which read paths, open it by a link to the
descriptor of this process. The link, in a temporary directory, has the upload's suffix, by which its format is known,
and holds no data. The memory is freed when the file is closed, or the process ends.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from contextlib import contextmanager
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Self

from ggdp.errors import ArgumentError, GgdpError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["SUFFIXES", "MemoryFile", "too_large"]

SUFFIXES = (".csv", ".tsv", ".parquet", ".jsonl", ".ndjson", ".json")
_PACKED = (".gz", ".zst")


class MemoryFile:
    r"""A file in memory. Write to it, then let engines read `path`; close it after use.

    Parameters
    ----------
    name : str
        The name that its user knows it by; its suffix says the format.
    most : int
        Bytes that it may have at most.

    Examples
    --------
    >>> with MemoryFile("people.csv", most=100) as people:
    ...     people.write(b"smokes\nno\n")
    ...     people.path.read_bytes()
    b'smokes\nno\n'
    """

    def __init__(self, name: str, *, most: int) -> None:
        # The name is shown in commands that are pasted into terminals, where a line break or an escape would act.
        plain = "".join(letter if letter.isprintable() else "_" for letter in name)
        self.name, self.size, self._most = PurePath(plain).name, 0, most
        suffix = _suffix(self.name)
        if not hasattr(os, "memfd_create"):
            message = "this system has no files in memory, so no upload is read; start the page with the file instead"
            raise GgdpError(f"{message}: ggdp explore FILE")
        descriptor = os.memfd_create("ggdp-upload", os.MFD_CLOEXEC)
        directory = tempfile.mkdtemp(prefix="ggdp-link-")
        self._descriptor = descriptor
        self._holders, self._is_done = 0, False
        self._closed = weakref.finalize(self, _freed, descriptor, directory)
        self.path = Path(directory) / f"upload{suffix}"
        self.path.symlink_to(f"/proc/{os.getpid()}/fd/{descriptor}")

    def has_room(self, number: int) -> bool:
        """Return whether so many more bytes fit."""
        return self.size + number <= self._most

    def write(self, chunk: bytes) -> None:
        """Append bytes, or raise if the file becomes too large."""
        if not self.has_room(len(chunk)):
            raise ArgumentError("file", self.name, too_large(self._most))
        self.size += len(chunk)
        view = memoryview(chunk)
        while view:
            view = view[os.write(self._descriptor, view) :]

    def close(self) -> None:
        """Free the memory, or have the last holder free it; also done when nothing refers to the file any more."""
        self._is_done = True
        if not self._holders:
            self._closed()

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keep the memory until the block ends, even if the file is closed before."""
        self._holders += 1
        try:
            yield
        finally:
            self._holders -= 1
            if self._is_done:
                self.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _freed(descriptor: int, directory: str) -> None:
    os.close(descriptor)
    shutil.rmtree(directory, ignore_errors=True)


def too_large(most: int) -> str:
    """Return what to do with a file over the limit."""
    return (
        f"The file is larger than {most // 2**20:,} MB, which is the most that the page takes. Start the page with the "
        "file instead: ggdp explore FILE"
    )


def _suffix(name: str) -> str:
    """Return the suffix of a file that ggdp reads, or raise."""
    path = PurePath(name)
    packed = path.suffix.lower() if path.suffix.lower() in _PACKED else ""
    kind = PurePath(path.stem).suffix.lower() if packed else path.suffix.lower()
    if kind not in SUFFIXES or (packed and kind == ".parquet"):
        raise ArgumentError("file", name, f"must be a table that ggdp reads: {', '.join(SUFFIXES)}")
    return kind + packed
