"""A private DuckDB database in memory, and Arrow batches as relations of it.

Claim. Which row of a relation is which row of the data does not depend on other rows. Parquet files hold statistics of
their row groups, by which an optimiser may decide an expression for all rows of a group at once; writers leave NaN out
of them, so that one NaN would be read by its neighbours' values. Here no optimiser may use statistics or put a filter
into a scan (`NO_STATISTICS`).

References
----------
Apache Parquet, ``parquet.thrift``, `ColumnOrder` (NaN in statistics).
"""

from __future__ import annotations

import os
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import narwhals as nw
import pyarrow as pa

from ggdp.tables.engines.frames import framed
from ggdp.tables.engines.temporary import private_directory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from ggdp.tables.engines.frames import Frame

# Those that use statistics of a source, or let a source use them.
NO_STATISTICS = (
    "statistics_propagation",
    "filter_pushdown",
    "join_filter_pushdown",
    "compressed_materialization",
    "row_group_pruner",
    "late_materialization",
)
# No extension is loaded over the network, and nothing is printed.
_CONFIG = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "disabled_optimizers": ",".join(NO_STATISTICS),
}
# Up to this many groups are finished in memory.
_FEW_GROUPS = 1 << 18


def connected(temp_dir: Path | None = None) -> Any:  # noqa: ANN401 - duckdb is untyped here
    """Return a new connection to an in-memory database; its tables are temporary and end with the connection.

    Rows that do not fit in memory go to a private directory within `temp_dir`; without one, counting them fails. A
    database that has failed for good, as a damaged file can make it do, is replaced by a new one.
    """
    connection = _database(os.getpid(), temp_dir).cursor()
    if not is_alive(connection):
        # It ends with its last connection, so that other threads fail by themselves and not in the middle of a call.
        _database.cache_clear()
        connection = _database(os.getpid(), temp_dir).cursor()
    connection.execute("SET enable_progress_bar = false; SET preserve_insertion_order = false")
    return connection


@lru_cache(maxsize=4)
def _database(process: int, temp_dir: Path | None) -> Any:  # noqa: ANN401, ARG001 - threads do not survive a fork
    """Return the database of this process: starting one takes as long as counting a million rows."""
    import duckdb

    directory = "" if temp_dir is None else str(private_directory(temp_dir))
    return duckdb.connect(":memory:", config={**_CONFIG, "temp_directory": directory})


def is_alive(connection: Any) -> bool:  # noqa: ANN401 - duckdb is untyped here
    """Return whether the database of a connection answers. One that was invalidated never does again."""
    import duckdb

    try:
        connection.cursor().execute("SELECT 1").fetchall()
    except duckdb.FatalException:
        return False
    return True


class Stream:
    """Arrow batches that can be read again: `batches` is called for each read.

    DuckDB knows nothing of them but the schema, and asks for it without asking for rows.
    """

    def __init__(self, schema: pa.Schema, batches: Callable[[], Iterator[pa.RecordBatch]]) -> None:
        self._schema, self._batches = schema, batches

    def __arrow_c_schema__(self) -> object:
        return self._schema.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        reader = pa.RecordBatchReader.from_batches(self._schema, self._batches())
        return reader.__arrow_c_stream__(requested_schema)


def evaluated(connection: Any, frame: Frame) -> Frame:  # noqa: ANN401 - duckdb is untyped here
    """Return a frame that is computed once: in memory, or as a table of the connection if it is large."""
    groups = nw.to_native(frame)
    # Few groups are finished in memory, since DuckDB would bind each of the many small operations that are left.
    found = groups.limit(_FEW_GROUPS + 1).to_arrow_table()
    if found.num_rows <= _FEW_GROUPS:
        return framed(found)
    groups.query("ggdp_found", "CREATE OR REPLACE TEMP TABLE ggdp_groups AS SELECT * FROM ggdp_found")
    return framed(connection.table("ggdp_groups"))
