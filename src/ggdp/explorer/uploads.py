"""Tables that a browser sends: kept in memory, never written, and limited in size.

Shiny would write an upload to a file. Here the page posts it to an address of our own, with a ticket that only this
visitor's page knows, and its bytes stay in memory (`ggdp.explorer.memory_file`). It is read by the engines that read
files: other parsers of CSV are not known to treat every record as one row.
"""

from __future__ import annotations

import asyncio
import secrets
from typing import TYPE_CHECKING

from attrs import field, frozen
from starlette.responses import JSONResponse

from ggdp.errors import GgdpError
from ggdp.explorer.memory_file import MemoryFile, too_large
from ggdp.explorer.typed_table import PageError, message_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from starlette.requests import Request
    from starlette.responses import Response

__all__ = ["LARGEST", "Source", "Uploads", "require_table"]

# Bytes of an upload; a larger file is named on the command line instead, and read in pieces from where it is.
LARGEST = 50 * 2**20


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


class Uploads:
    """Tickets of visitors, each with what to do with the table that arrives."""

    def __init__(self) -> None:
        self._waiting: dict[str, Callable[[Source], Awaitable[None]]] = {}

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
        arrived = self._waiting.get(request.path_params["ticket"])
        if arrived is None:
            return _said("This page is no longer connected. Reload it and choose the file again.")
        try:
            file = MemoryFile(request.query_params.get("name", "table")[:200], most=LARGEST)
        except GgdpError as refused:
            return _said(message_of(refused))
        try:
            async for chunk in request.stream():
                if not file.has_room(len(chunk)):
                    file.close()
                    return _said(too_large(LARGEST))
                file.write(chunk)
            source = Source(name=file.name, data=file.path, file=file)
            await asyncio.to_thread(require_table, source)
        except GgdpError as refused:
            file.close()
            return _said(message_of(refused))
        except BaseException:
            # The browser went away before all of it had come.
            file.close()
            raise
        await arrived(source)
        return _said(f"{source.name} is loaded.", loaded=True)


def require_table(source: Source) -> None:
    """Raise for an empty file, or one of Parquet that has no schema; nothing that the file holds is quoted.

    Whether a text file has the right columns depends on how it is to be read, and is said when it is.
    """
    if source.data.stat().st_size == 0:
        message = f"the file {source.name} is empty; choose a file with a header and rows"
        raise PageError(message)
    if source.data.suffix == ".parquet":
        import pyarrow.parquet as pq

        try:
            pq.read_schema(source.data)
        except Exception:
            message = f"the file {source.name} is not a Parquet file, or it is damaged; choose another one"
            raise PageError(message) from None


def _said(message: str, *, loaded: bool = False) -> Response:
    """Return an answer for the page, which shows it; a browser writes other statuses to its console as errors."""
    return JSONResponse({"message": message, "loaded": loaded})
