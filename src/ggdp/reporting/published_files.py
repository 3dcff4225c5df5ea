"""The files that a manifest names: whether they are those that were released, and their first rows."""

from __future__ import annotations

import csv
import hashlib
import io
import os
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from attrs import frozen

from ggdp.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

__all__ = ["Estimate", "FileState", "PublishedTable", "Row", "published_tables"]

FileState: TypeAlias = Literal["same", "changed", "absent"]
# Rows that a page shows, and rows that errors are looked up in.
SHOWN, READ = 8, 10_000
# Bytes of a CSV file that they are looked for in.
HEAD = 32 << 20


@frozen(kw_only=True)
class Estimate:
    """A published number with its 95 % interval; None where it is empty."""

    value: float | None
    lower: float | None
    upper: float | None

    @property
    def half_width(self) -> float | None:
        """Half of the length of the interval."""
        return None if self.lower is None or self.upper is None else (self.upper - self.lower) / 2.0


@frozen(kw_only=True)
class Row:
    """A row of a published table: its cell, and its numbers by their columns."""

    cell: tuple[str, ...]
    estimates: dict[str, Estimate]


@frozen(kw_only=True)
class PublishedTable:
    """A table of a release, as its manifest describes it.

    Attributes
    ----------
    by : tuple of str
        The columns that it is counted by.
    cells : int, optional
        How many cells it has; None where keys are not public.
    covers : str, optional
        What its intervals cover, where that is not all that the source holds.
    estimates : tuple of str
        The columns with published numbers: the count, and statistics.
    file : str, optional
        The name of its file.
    state : {"same", "changed", "absent"}
        Whether the file beside the manifest has the digest that the manifest names.
    rows : tuple of Row
        The first rows of the file, where it is the same.
    """

    by: tuple[str, ...]
    cells: int | None
    covers: str | None
    estimates: tuple[str, ...]
    file: str | None
    state: FileState
    rows: tuple[Row, ...] = ()

    @property
    def name(self) -> str:
        """The columns, or what a table without any is about."""
        return " × ".join(self.by) or "all rows together"

    @property
    def shown(self) -> tuple[Row, ...]:
        """The rows that a page shows."""
        return self.rows[:SHOWN]

    def half_widths(self, estimate: str) -> list[float]:
        """Return the half-widths of an estimate's intervals in the rows that were read, from the least on."""
        found = (row.estimates[estimate].half_width for row in self.rows)
        return sorted(width for width in found if width is not None)


def published_tables(manifest: Mapping[str, Any], path: Path) -> tuple[PublishedTable, ...]:
    """Return the tables of a manifest, each with what its file holds.

    Raises
    ------
    ArgumentError
        If a table, or a file with the digest that the manifest names, is not as the manifest describes it.
    """
    return tuple(_table(table, path) for table in manifest.get("table", {}).get("tables", ()))


def _table(described: Mapping[str, Any], path: Path) -> PublishedTable:
    by, url = tuple(described["tableSchema"]["primaryKey"]), described["url"]
    columns = [column["name"] for column in described["tableSchema"]["columns"]]
    found = set(columns)
    estimates = ["count"] if {"count", "lower", "upper"} <= found else []
    estimates += [name for name in columns if {f"{name}_lower", f"{name}_upper"} <= found]
    state = _state(described, path.parent)
    rows: tuple[Row, ...] = ()
    if state == "same" and "parts" not in described:
        try:
            rows = tuple(_row(row, by, estimates) for row in _rows(path.parent / url))
        except Exception:
            expected = f"names the file {url!r}, which is not the table that it describes"
            raise ArgumentError("manifests", str(path), expected) from None
    return PublishedTable(
        by=by,
        cells=described["cells"],
        covers=described["covers"],
        estimates=tuple(estimates),
        file=url,
        state=state,
        rows=rows,
    )


def _state(described: Mapping[str, Any], directory: Path) -> FileState:
    """Return whether the file of a table is the one that was released."""
    url, digest = described["url"], described["sha256"]
    if url is None or digest is None or not os.path.isfile(directory / url):
        return _state_of_directory(described, directory) if "parts" in described else "absent"
    try:
        with (directory / url).open("rb") as file:
            return "same" if hashlib.file_digest(file, "sha256").hexdigest() == digest else "changed"
    except OSError:
        return "absent"


def _state_of_directory(described: Mapping[str, Any], directory: Path) -> FileState:
    """Return whether a directory that Spark wrote has the parts that were released, and nothing else."""
    url, parts = described["url"], {part["url"]: part["sha256"] for part in described["parts"]}
    try:
        if not os.path.isdir(directory / url):
            return "absent"
        found = {f"{url}/{file.name}": file for file in (directory / url).iterdir()}
        if found.keys() != parts.keys() or not all(file.is_file() for file in found.values()):
            return "changed"
        for name, file in found.items():
            with file.open("rb") as content:
                if hashlib.file_digest(content, "sha256").hexdigest() != parts[name]:
                    return "changed"
    except OSError:
        return "absent"
    return "same"


def _rows(path: Path) -> list[dict[str, Any]]:
    """Return the first rows of a CSV or Parquet file, of whatever size."""
    if path.suffix.lower() == ".csv":
        with path.open("rb") as file:
            head = file.read(HEAD)
        # The last record of a longer file may not be whole.
        whole = len(head) < HEAD
        text = head if whole else head[: head.rindex(b"\n")]
        rows = list(islice(csv.DictReader(io.StringIO(text.decode("utf-8"), newline="")), READ + 1))
        return rows[: READ if whole or len(rows) > READ else -1]
    import pyarrow.parquet as pq

    batches = pq.ParquetFile(path).iter_batches(batch_size=READ)
    found: list[dict[str, Any]] = next((batch.to_pylist() for batch in batches), [])
    return found


def _row(row: Mapping[str, Any], by: Sequence[str], estimates: Sequence[str]) -> Row:
    ends = {name: ("lower", "upper") if name == "count" else (f"{name}_lower", f"{name}_upper") for name in estimates}
    return Row(
        cell=tuple(str(row[name]) for name in by),
        estimates={
            name: Estimate(value=_number(row[name]), lower=_number(row[low]), upper=_number(row[high]))
            for name, (low, high) in ends.items()
        },
    )


def _number(value: object) -> float | None:
    return None if value in (None, "") else float(str(value))
