"""Tables that a browser sends: kept in memory, never written, and limited in size.

Shiny would write an upload to a file. Here the page posts it to an address of our own, with a ticket that only this
visitor's page knows, and it is read into an Arrow table.
"""

from __future__ import annotations

import io
import secrets
from typing import TYPE_CHECKING

from attrs import field, frozen
from starlette.responses import JSONResponse

from ggdp.errors import GgdpError, SourceError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    import pyarrow as pa
    from starlette.requests import Request
    from starlette.responses import Response

__all__ = ["LARGEST", "Source", "Uploads", "table_of"]

# Bytes of an upload; a larger file is named on the command line instead, and read in pieces from where it is.
LARGEST = 50 * 2**20


@frozen(kw_only=True)
class Source:
    """The table that a visitor looks at: a file on this machine, or a table in memory.

    Attributes
    ----------
    name : str
        What the visitor calls it.
    data : path or pyarrow.Table
        What `ggdp.release_table` and its like take.
    """

    name: str
    data: Path | pa.Table = field(repr=False)


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
            return _refused(404, "This page is no longer connected. Reload it and choose the file again.")
        body = bytearray()
        async for chunk in request.stream():
            body += chunk
            if len(body) > LARGEST:
                return _refused(413, too_large(LARGEST))
        name = request.query_params.get("name", "table")[:200]
        try:
            source = Source(name=name, data=table_of(name, bytes(body)))
        except GgdpError as refused:
            return _refused(400, str(refused))
        await arrived(source)
        return JSONResponse({"message": f"{name} is loaded."})


def too_large(limit: int) -> str:
    """Return what to do with a file over the limit."""
    return (
        f"The file is larger than {limit // 2**20} MB, which is the most that the page takes. Start the page with the "
        "file instead: ggdp explore FILE"
    )


def table_of(name: str, content: bytes) -> pa.Table:
    """Return the table in the bytes of a CSV or Parquet file; cells of a CSV file stay text.

    Raises
    ------
    SourceError
        If it is no such file. Nothing that the file holds is quoted.
    """
    import pyarrow as pa
    from pyarrow import csv, parquet

    if not content:
        message = f"{name} is empty; choose a CSV or Parquet file with a header and rows"
        raise SourceError(message)
    try:
        if content[:4] == b"PAR1":
            return parquet.read_table(pa.BufferReader(content))
        if b"\0" in content[:4096]:
            raise pa.ArrowInvalid
        header = csv.open_csv(io.BytesIO(content)).schema.names
        types = csv.ConvertOptions(column_types=dict.fromkeys(header, pa.string()), strings_can_be_null=False)
        return csv.read_csv(io.BytesIO(content), convert_options=types)
    except (pa.ArrowException, UnicodeDecodeError, OSError, ValueError):
        message = f"{name} is not a CSV file (in UTF-8, with a header line) or a Parquet file; choose another one"
        raise SourceError(message) from None


def _refused(status: int, message: str) -> Response:
    return JSONResponse({"message": message}, status_code=status)
