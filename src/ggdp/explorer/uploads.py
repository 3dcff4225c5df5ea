"""Files that a browser sends, which stay in memory: the table that views look at, unless the command names it; studies.

Shiny would write an upload to a temporary file. Here the browser posts it to an address of our own, with a ticket that
only this visitor's page knows. Its bytes go into an anonymous file in memory (`memfd_create`), which has no name in any
file system; the engines, which read paths, open it through a link to this process's descriptor. The link, in a
temporary directory, has the upload's suffix, which tells its format, and holds no data. The memory is freed when the
file is closed or the process ends. Uploads are limited in size, and read by the engines that read files: other CSV
parsers are not known to treat every record as one row.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import shutil
import tempfile
import weakref
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from htmltools import Tag, tags
from shiny import Session, reactive, render, ui
from starlette.responses import JSONResponse, Response

from ggdp.errors import ArgumentError, GgdpError
from ggdp.explorer.typed_table import READING, FileFields, text_inputs
from ggdp.explorer.view import Shared, choices, group
from ggdp.explorer.wording import LABELS, ExplorerError, message_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Sequence

    from starlette.requests import Request


SUFFIXES = (".csv", ".tsv", ".parquet", ".jsonl", ".ndjson", ".json")
_PACKED = (".gz", ".zst")
# Bytes of an upload; a larger file is named on the command line instead, and read in pieces from where it is. Of a
# study, which is text that people write.
LARGEST, LARGEST_STUDY = 50 * 2**20, 2**20
# Uploads at a time, of all visitors together: each holds memory before it is known whether it is a table.
MOST_AT_ONCE = 4
_GONE = "This page is no longer connected. Reload it and choose the file again."
_BUSY = "Too many files are being sent at once, perhaps from other tabs. Wait a moment and choose the file again."


class Source:
    """The table that a visitor looks at: a file on this machine, or one in memory (`MemoryFile`)."""

    def __init__(self, name: str, path: Path, typed: str | None = None) -> None:
        self.name, self.path = name, path  # what the visitor calls it, and where it is
        typed = str(path) if typed is None else typed
        # What a command names it by: the path that the explorer was started with, or the name of an upload.
        self.typed = f"./{typed}" if typed.startswith("-") else typed

    def hold(self) -> AbstractContextManager[None]:
        """Keep the file until the block ends."""
        return nullcontext()

    def close(self) -> None:
        """Free what the file takes, which on disk is nothing."""


class MemoryFile(Source):
    """A file in memory of at most `most` bytes. Write to it, then let engines read `path`; close it after use.

    Its name is what its user calls it; the suffix says the format. The memory is also freed when nothing refers to the
    file any more.
    """

    def __init__(self, name: str, *, most: int, suffixes: tuple[str, ...] = SUFFIXES) -> None:
        # The name is shown in commands that are pasted into terminals, where a line break or an escape would act.
        path = PurePath(PurePath("".join(letter if letter.isprintable() else "_" for letter in name)).name)
        packed = path.suffix.lower() if path.suffix.lower() in _PACKED else ""
        kind = PurePath(path.stem).suffix.lower() if packed else path.suffix.lower()
        if kind not in suffixes or (packed and kind in (".parquet", ".toml")):
            what, more = "a study", ""
            if suffixes == SUFFIXES:
                what, more = "a table that ggdp reads", "; name others when you start the page: ggdp explore FILE"
            raise ArgumentError("file", path.name, f"must be {what}: {', '.join(suffixes)}{more}")
        if not hasattr(os, "memfd_create"):
            message = "this system has no files in memory, so no upload is read; start the page with the file instead"
            raise GgdpError(f"{message}: ggdp explore FILE")
        self._descriptor = os.memfd_create("ggdp-upload", os.MFD_CLOEXEC)
        directory = tempfile.mkdtemp(prefix="ggdp-link-")
        freeing = ExitStack()
        freeing.callback(shutil.rmtree, directory, ignore_errors=True)
        freeing.callback(os.close, self._descriptor)
        self._free = weakref.finalize(self, freeing.close)
        super().__init__(path.name, Path(directory) / f"upload{kind}{packed}", path.name)
        self.path.symlink_to(f"/proc/{os.getpid()}/fd/{self._descriptor}")
        self._most, self._size, self._holders, self._is_done = most, 0, 0, False

    def write(self, chunk: bytes) -> None:
        """Append bytes, or raise if the file becomes too large."""
        self._size += len(chunk)
        if self._size > self._most:
            raise ExplorerError(too_large(self._most))
        view = memoryview(chunk)
        while view:
            view = view[os.write(self._descriptor, view) :]

    def close(self) -> None:
        """Free the memory, or have the last holder free it."""
        self._is_done = True
        if not self._holders:
            self._free()

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Keep the memory until the block ends, even if the file is closed before."""
        self._holders += 1
        try:
            yield
        finally:
            self._holders -= 1
            if self._is_done:
                self.close()


def too_large(most: int) -> str:
    """Return what to do with a file over the limit."""
    taken = f"{most // 2**20:,} MB, which is the most that the page takes"
    return f"The file is larger than {taken}. Start the page with the file instead: ggdp explore FILE"


class Uploads:
    """Tickets of visitors, each with what to do with the file that arrives, and what it may be."""

    def __init__(self) -> None:
        self._waiting: dict[str, tuple[Callable[[Source], Awaitable[None]], dict[str, Any]]] = {}
        self._under_way = 0

    def ticket(self, arrived: Callable[[Source], Awaitable[None]], **limits: Any) -> str:  # noqa: ANN401 - those of `MemoryFile`
        """Return a new ticket; `arrived` is awaited with each file that comes with it, and may refuse it."""
        made = secrets.token_urlsafe(24)
        self._waiting[made] = arrived, {"most": LARGEST, **limits}
        return made

    def forget(self, ticket: str) -> None:
        """Accept nothing more with a ticket."""
        self._waiting.pop(ticket, None)

    async def receive(self, request: Request) -> Response:
        """Answer a request that sends a file; the answer says in words what is wrong with it."""
        if request.path_params["ticket"] not in self._waiting:
            return _answer(_GONE)
        if self._under_way >= MOST_AT_ONCE:
            return _answer(_BUSY, status=503)
        ticket = request.path_params["ticket"]
        _, limits = self._waiting[ticket]
        self._under_way += 1
        try:
            # Unless all goes well, the file is freed: it may be too large or no table, the browser may go away before
            # all of it has come, or the page may be closed meanwhile and free nothing any more.
            with ExitStack() as freeing:
                file = MemoryFile(request.query_params.get("name", "table")[:200], **limits)
                freeing.callback(file.close)
                async for chunk in request.stream():
                    file.write(chunk)
                await asyncio.to_thread(require_table, file)
                if ticket in self._waiting:
                    arrived, _ = self._waiting[ticket]
                    await arrived(file)
                if ticket not in self._waiting:
                    return _answer(_GONE)
                freeing.pop_all()
                return _answer(f"{file.name} is loaded.", loaded=True)
        except GgdpError as refused:
            return _answer(message_of(refused))
        finally:
            self._under_way -= 1


def require_table(source: Source) -> None:
    """Raise for an empty file, or one of Parquet that has no schema; nothing that the file holds is quoted.

    Whether a text file has the right columns depends on how it is to be read, and is said when it is.
    """
    if source.path.stat().st_size == 0:
        raise ExplorerError(f"the file {source.name} is empty; choose a file with a header and rows")
    if source.path.suffix == ".parquet":
        import pyarrow.parquet as pq

        try:
            pq.read_schema(source.path)
        except Exception:
            message = f"the file {source.name} is not a Parquet file, or it is damaged; choose another one"
            raise ExplorerError(message) from None


def _answer(message: str, *, loaded: bool = False, status: int = 200) -> Response:
    """Return an answer for the page, which shows it; a browser writes other statuses to its console as errors."""
    return JSONResponse({"message": message, "loaded": loaded}, status_code=status)


def file_form(settings: FileFields) -> list[Tag]:
    """Return where a file is chosen, and the inputs of how its text is read, folded unless one is set."""
    lines = {"quoted": "quoted fields may contain line ends", "strict": "strict: each line is one record"}
    texts = text_inputs(settings, *READING)
    strict = choices(settings, "lines", LABELS["strict_lines"], lines)
    opened = settings.lines == "strict" or any(getattr(settings, name) for name in READING)
    return [ui.output_ui("file"), group("How text is read", *texts, strict, opened=opened)]


def require_source(shared: Shared) -> Source:
    """Return the file, or raise if there is none."""
    source = shared.source()
    if source is None:
        raise ExplorerError("choose a file first, or start the page with one: ggdp explore FILE")
    return source


def serve_file_form(session: Session, shared: Shared) -> None:
    """Take the files that are chosen; the views see them as `Shared.source`."""

    async def arrived(source: Source) -> None:
        async with reactive.lock():
            shared.source.set(source)
            await reactive.flush()

    ticket = shared.uploads.ticket(arrived)
    session.on_ended(lambda: shared.uploads.forget(ticket))

    @render.ui
    def file() -> Tag:
        source = shared.source()
        named = "No file yet." if source is None else f"Looking at {source.name}."
        limit = f"CSV, TSV, Parquet or JSON lines, up to {LARGEST // 2**20} MB; it stays in memory."
        return chooser(session.ns("chooser"), "File", ticket, named, (*SUFFIXES, *_PACKED), LARGEST, limit)


def chooser(key: str, label: str, ticket: str, named: str, accepted: Sequence[str], most: int, hint: str) -> Tag:
    """Return where a file is chosen that comes with a ticket; `named` says which one there is."""
    field = tags.input(
        id=key,
        type="file",
        # Shiny would upload it too, to a file.
        data_shiny_no_bind_input="",
        accept=",".join(accepted),
        data_ticket=ticket,
        data_largest=str(most),
        data_too_large=too_large(most),
        aria_describedby=f"{key}-words",
    )
    words = tags.p(named, id=f"{key}-words", class_="hint", role="status", data_now=named)
    return tags.div(tags.label(label, for_=key), field, words, tags.p(hint, class_="hint"), class_="file")
