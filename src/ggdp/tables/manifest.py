"""The manifest of released tables: that of the release, with the request, the unit and the files.

The part ``table`` of a manifest (`ggdp.releases.manifest_schema`):

=========  ========================================================================================
request    what was asked for, with the public domain
unit       what one unit is: a row, or all rows with one value of a column
regime     declared, sparse or open (`ggdp.tables.request`)
cells      how many cells the tables have; null where nobody knows
warnings   what a reader should think twice about
tables     for each table its columns, in the manner of CSV on the Web, and its file with its SHA-256
=========  ========================================================================================

References
----------
W3C, "Metadata Vocabulary for Tabular Data", 2015, section 5.6 (columns) and 4.11.1 (datatypes).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ggdp.releases.manifest import Wording, manifest_of
from ggdp.tables.column import Column

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ggdp.releases import Release
    from ggdp.tables.domain import Domain
    from ggdp.tables.request import TableRequest

__all__ = ["protected_unit", "table_manifest"]

_DATATYPES = {"text": "string", "integer": "integer", "boolean": "boolean", "date": "date"}
_INTERVAL = "95 % interval for the count without noise, from the raw noisy count"
_COUNTS = {
    "count": "count after the adjustments that the manifest names",
    "noisy_count": "raw noisy count; it may be negative",
    "lower": f"lower end of the {_INTERVAL}",
    "upper": f"upper end of the {_INTERVAL}",
}


def table_manifest(
    request: TableRequest, release: Release, files: Sequence[dict[str, Any]] | None = None
) -> dict[str, Any]:
    """Return the manifest of tables; `files` has the ``url`` and ``sha256`` of each, once they are written."""
    written = files or [{"url": None, "sha256": None}] * len(request.by)
    return {
        **manifest_of(release, _wording(request)),
        "table": {
            "request": request.to_dict(),
            "unit": _unit(request),
            "regime": request.regime,
            "cells": request.cells,
            "warnings": list(request.warnings),
            "tables": [
                {**file, "tableSchema": {"columns": _columns(domain), "primaryKey": list(domain.names)}}
                for file, domain in zip(written, request.domains, strict=True)
            ],
        },
    }


def protected_unit(request: TableRequest) -> str:
    """Return in words what one neighbour has and the other has not."""
    return "one row" if request.unit is None else f"all rows with one value of the column {request.unit!r}"


def _wording(request: TableRequest) -> Wording:
    """Return what a count is, whom it may leave out, and who is protected."""
    counted = "Each count is a number of rows."
    if request.unit is not None:
        most = request.max_cells or 1
        cells = "one cell" if most == 1 else f"{most:,} cells"
        tables = "a table" if len(request.by) == 1 else "each table"
        counted = (
            f"Each count is a number of different values of the column {request.unit!r}. Each of them is counted in at "
            f"most {cells} of {tables}; where it is in more, which ones are drawn at random, so that counts can be too "
            "low."
        )
    columns = [column for domain in request.domains for column in domain]
    if any(column.other is None or column.missing is None for column in columns):
        counted += " Rows whose values have no place in the table are counted nowhere."
    return Wording(protected=protected_unit(request), first=counted, true="what they would be without noise")


def _unit(request: TableRequest) -> dict[str, Any]:
    """Return what one unit is; without a column of units nothing is said of persons."""
    if request.unit is None:
        return {"kind": "row", "column": None, "max_cells": 1}
    return {"kind": "column", "column": request.unit, "max_cells": request.max_cells}


def _columns(domain: Domain) -> list[dict[str, Any]]:
    keys = [{"name": column.name, "datatype": _datatype(column), "dc:description": _said(column)} for column in domain]
    counts = [{"name": name, "datatype": "integer", "dc:description": said} for name, said in _COUNTS.items()]
    return [{**column, "required": True} for column in (*keys, *counts)]


def _datatype(column: Column) -> str:
    labels = column.labels
    return _DATATYPES[Column(name=column.name, levels=labels[:1]).kind] if labels else "string"


def _said(column: Column) -> str:
    if column.kind == "open":
        return "levels chosen privately, as text"
    bins = "public bins of time" if column.dated else "public bins of numbers"
    what = bins if column.kind == "bins" else "public levels"
    extra = [f"{label!r} for {role}" for role, label in (("others", column.other), ("none", column.missing)) if label]
    return ", ".join([what, *extra])
