"""Tables sent by a browser: kept in memory, never written to disk, and limited in size.

Shiny would write an upload to a temporary file. Here the page posts it to an address of our own, with a ticket that
only this visitor's page knows. Its bytes go into an anonymous file in memory (`memfd_create`), which has no name in any
file system; the engines, which read paths, open it through a link to this process's descriptor. The link, in a
temporary directory, has the upload's suffix, which tells its format, and holds no data. The memory is freed when the
file is closed or the process ends. Uploads are read by the engines that read files: other CSV parsers are not known to
treat every record as one row.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import shutil
import tempfile
import weakref
from contextlib import contextmanager, nullcontext
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Self

from attrs import field, frozen
from starlette.responses import JSONResponse

from ggdp.errors import ArgumentError, GgdpError
from ggdp.explorer.typed_table import PageError, message_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator
    from contextlib import AbstractContextManager

    from starlette.requests import Request
    from starlette.responses import Response


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
        self._closed = weakref.finalize(self, _free, descriptor, directory)
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


def _free(descriptor: int, directory: str) -> None:
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


# Bytes of an upload; a larger file is named on the command line instead, and read in pieces from where it is.
LARGEST = 50 * 2**20
# Uploads at a time, of all visitors together: each holds memory before it is known whether it is a table.
MOST_AT_ONCE = 4
_GONE = "This page is no longer connected. Reload it and choose the file again."
_BUSY = "Too many files are being sent at once, perhaps from other tabs. Wait a moment and choose the file again."


@frozen(kw_only=True)
class Source:
    """The table that a visitor looks at: a file on this machine, or in memory.

    Attributes
    ----------
    name : str
        What the visitor calls it.
    data : Path
        Where it is.
    file : MemoryFile, optional
        The file in memory, which is freed with the last reference to it.
    """

    name: str
    data: Path = field(repr=False)
    file: MemoryFile | None = field(default=None, repr=False)

    @property
    def typed(self) -> str:
        """What a command names it by: the path that the page was started with, or the name of an upload."""
        path = str(self.data) if self.file is None else self.name
        return f"./{path}" if path.startswith("-") else path

    def held(self) -> AbstractContextManager[None]:
        """Keep a file in memory until the block ends, even if its page is closed before."""
        return nullcontext() if self.file is None else self.file.held()

    def free(self) -> None:
        """Free a file in memory, or have the last holder free it."""
        if self.file is not None:
            self.file.close()


class Uploads:
    """Tickets of visitors, each with what to do with the table that arrives."""

    def __init__(self) -> None:
        self._waiting: dict[str, Callable[[Source], Awaitable[None]]] = {}
        self._under_way = 0

    def ticket(self, arrived: Callable[[Source], Awaitable[None]]) -> str:
        """Return a new ticket; `arrived` is awaited with each table that comes with it."""
        made = secrets.token_urlsafe(24)
        self._waiting[made] = arrived
        return made

    def forget(self, ticket: str) -> None:
        """Accept nothing more with a ticket."""
        self._waiting.pop(ticket, None)

    async def receive(self, request: Request) -> Response:
        """Answer a request that sends a file; the answer says in words what is wrong with it."""
        if request.path_params["ticket"] not in self._waiting:
            return _said(_GONE)
        if self._under_way >= MOST_AT_ONCE:
            return _said(_BUSY, status=503)
        self._under_way += 1
        try:
            return await self._received(request)
        except GgdpError as refused:
            return _said(message_of(refused))
        finally:
            self._under_way -= 1

    async def _received(self, request: Request) -> Response:
        ticket = request.path_params["ticket"]
        file = MemoryFile(request.query_params.get("name", "table")[:200], most=LARGEST)
        try:
            async for chunk in request.stream():
                if not file.has_room(len(chunk)):
                    file.close()
                    return _said(too_large(LARGEST))
                file.write(chunk)
            source = Source(name=file.name, data=file.path, file=file)
            await asyncio.to_thread(require_table, source)
            arrived = self._waiting.get(ticket)
            if arrived is not None:
                await arrived(source)
        except BaseException:
            # It is no table, or the browser went away before all of it had come.
            file.close()
            raise
        if ticket not in self._waiting:
            # The page was closed meanwhile, and will free nothing any more.
            file.close()
            return _said(_GONE)
        return _said(f"{source.name} is loaded.", loaded=True)


def require_table(source: Source) -> None:
    """Raise for an empty file, or one of Parquet that has no schema; nothing that the file holds is quoted.

    Whether a text file has the right columns depends on how it is to be read, and is said when it is.
    """
    if source.data.stat().st_size == 0:
        raise PageError(f"the file {source.name} is empty; choose a file with a header and rows")
    if source.data.suffix == ".parquet":
        import pyarrow.parquet as pq

        try:
            pq.read_schema(source.data)
        except Exception:
            raise PageError(
                f"the file {source.name} is not a Parquet file, or it is damaged; choose another one"
            ) from None


def _said(message: str, *, loaded: bool = False, status: int = 200) -> Response:
    """Return an answer for the page, which shows it; a browser writes other statuses to its console as errors."""
    return JSONResponse({"message": message, "loaded": loaded}, status_code=status)
