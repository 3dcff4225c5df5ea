"""The manifest of released tables: that of the release, with the request, the unit and the files.

The part ``table`` of a manifest (`ggdp.releases.manifest_schema`):

=========  ========================================================================================
request    the request, with the public domain
unit       what one unit is: a row, or all rows with one value of a column, and how much of it counts
regime     declared, sparse, open or mixed (`ggdp.tables.request`)
cells      how many cells the tables have; null if unknown
cut        how many units are in more cells than they are counted in; null if not requested
statistics which sums noise was added to, and what quantiles cost; null where noise was added to counts
warnings   what a reader should think twice about
tables     for each table its columns, in the manner of CSV on the Web, its regime, in how many of its
           cells a unit can be, what its intervals cover, and its file with its SHA-256
=========  ========================================================================================

References
----------
W3C, "Metadata Vocabulary for Tabular Data", 2015, section 5.6 (columns) and 4.11.1 (datatypes). The column ``covers``
is an attribute of observations in the manner of SDMX: the same in every row, so that no count is read without it.

What tables count and whom they protect, in words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ggdp.domain.column import Column
from ggdp.releases.release_manifest import Wording, manifest_of
from ggdp.tables.request import COVERS
from ggdp.tables.statistics.margins import (
    column_descriptions,
    noise_sentences,
    split_described,
    statistic_sentences,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ggdp.releases import Release
    from ggdp.releases.release_manifest import Described
    from ggdp.tables.request import TableRequest
    from ggdp.tables.table_plan import TablePlan
    from ggdp.tables.units_over_limit import CutCount


_DATATYPES = {"text": "string", "integer": "integer", "boolean": "boolean", "date": "date"}


def table_manifest(
    plan: TablePlan,
    release: Release | Described,
    files: Sequence[dict[str, Any]] | None = None,
    cut: Sequence[CutCount] = (),
    error: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the manifest of tables; `files` has the ``url`` and ``sha256`` of each, once they are written."""
    request = plan.request
    written = files or [{"url": None, "sha256": None}] * len(request.by)
    return {
        **manifest_of(release, wording_of(plan, cut), error),
        "table": {
            "request": request.to_dict(),
            "unit": _unit(request),
            "regime": request.regime,
            "cells": request.cells,
            "cut": _cut(plan, cut),
            "statistics": None if plan.statistics is None else split_described(plan.statistics),
            "warnings": list(request.warnings),
            "tables": [
                {
                    **file,
                    **table_properties(request, number),
                    "tableSchema": {"columns": _columns(request, number), "primaryKey": list(request.by[number])},
                }
                for number, file in enumerate(written)
            ],
        },
    }


def with_files(manifest: dict[str, Any], files: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return a manifest with the ``url`` and ``sha256`` of the files that were written."""
    tables = [{**table, **file} for table, file in zip(manifest["table"]["tables"], files, strict=True)]
    return {**manifest, "table": {**manifest["table"], "tables": tables}}


def wording_of(plan: TablePlan, cut: Sequence[CutCount] = ()) -> Wording:
    """Return the wording of a statement: what a count is, what it may omit, and who is protected."""
    request = plan.request
    said = [_counted(request), *_left_out(request), *(_of_cut(request, count) for count in cut)]
    columns = [column for domain in request.domains for column in domain]
    if any(column.other is None or column.missing is None for column in columns):
        said.append("Rows whose values fit no cell are not counted.")
    if any(domain.impossible for domain in request.domains):
        said.append("Cells that cannot occur are left out; they were declared beforehand.")
    if plan.statistics is not None:
        said += statistic_sentences(request)
    complete = [names for names, regime in zip(request.by, request.regimes, strict=True) if regime == "declared"]
    return Wording(
        protected=protected_unit(request),
        first=" ".join(said),
        true="the counts without noise",
        complete=tuple(" x ".join(names) for names in complete) if request.regime == "mixed" else (),
        noise="" if plan.statistics is None else noise_sentences(plan),
    )


def _counted(request: TableRequest) -> str:
    if request.unit is None:
        each = "" if request.unit_name is None else f", one for each of the {request.unit_name}"
        return f"Each count is a number of rows{each}."
    if request.count == "rows":
        whose = f"with the same value of the column {request.unit!r} belong to one of the {units_noun(request)}"
        return f"Each count is a number of rows; rows {whose}."
    if request.unit_name is None:
        return f"Each count is a number of different values of the column {request.unit!r}."
    return f"Each count is a number of {request.unit_name}: different values of the column {request.unit!r}."


def _left_out(request: TableRequest) -> list[str]:
    """Return how much of a unit is counted, and what that does to counts and intervals."""
    if not any(request.limits_units):
        return []
    rows = number_of(request.most_in_a_cell, "row")
    be = "is" if request.most_in_a_cell == 1 else "are"
    said = [f"Of each of the {units_noun(request)} at most {rows} {be} counted in a cell"] * (request.count == "rows")
    # Where a table has no more cells than a unit is counted in, none is left out.
    within = [
        names
        for names, size in zip(request.by, request.sizes, strict=True)
        if size is None or size > (request.max_cells or 1)
    ]
    if within:
        cells = "one cell" if request.max_cells == 1 else f"{request.max_cells:,} cells"
        tables = "a table" if len(request.by) == 1 else "each table"
        if len(within) < len(request.by):
            tables = " and of ".join(" x ".join(names) for names in within)
        said.append(f"{'e' if said else 'E'}ach of them is counted in at most {cells} of {tables}")
        said.append("if it is in more, they are chosen at random")
    covered = (
        f"The intervals allow for those that are left out: they cover all {units_noun(request)} of a cell."
        if request.count_cut is not None
        else "The intervals cover what is counted, not what is left out."
    )
    return [f"{'; '.join(said)}, so counts can be too low.", covered]


def _of_cut(request: TableRequest, count: CutCount) -> str:
    table = "" if len(request.by) == 1 else f" of {' x '.join(request.by[count.table])}"
    cells = f"{number_of(request.max_cells or 1, 'cell')}{table}"
    about = f"about {max(count.noisy, 0):,} (95 % interval: {count.lower:,} to {count.upper:,})"
    return (
        f"The number of {units_noun(request)} in more than {cells} is {about}; it has noise of its own, and is "
        "part of the guarantee."
    )


def _unit(request: TableRequest) -> dict[str, Any]:
    """Return what one unit is, and how much of it is counted; without a column of units, persons are not mentioned."""
    kind = "row" if request.unit is None else "column"
    return {
        "kind": kind,
        "column": request.unit,
        "name": request.unit_name,
        "max_cells": max(request.most_cells),
        "max_rows_per_cell": request.max_rows_per_cell,
    }


def _cut(plan: TablePlan, cut: Sequence[CutCount]) -> dict[str, Any] | None:
    if plan.cut is None:
        return None
    return {
        **plan.cut.to_dict(),
        "tables": [
            {
                "table": count.table + 1,
                "noisy_count": count.noisy,
                "lower": count.lower,
                "upper": count.upper,
                "allowance": count.allowance,
            }
            for count in cut
        ],
    }


def _columns(request: TableRequest, number: int) -> list[dict[str, Any]]:
    domain, covers = request.domains[number], covered(request, number)
    keys = [{"name": column.name, "datatype": _datatype(column), "dc:description": _said(column)} for column in domain]
    counts = [
        {"name": name, "datatype": "integer", "dc:description": said} for name, said in _counts(request, number).items()
    ]
    measured = column_descriptions(request)
    counts += [{"name": name, "datatype": "number", "dc:description": said} for name, said in measured.items()]
    if covers is not None:
        said = f"what the interval covers, the same in every row: {covers}"
        counts.append({"name": COVERS, "datatype": "string", "dc:description": said})
    empty = {name for statistic in request.statistics for name in statistic.names}
    return [{**column, "required": column["name"] not in empty} for column in (*keys, *counts)]


def _counts(request: TableRequest, number: int) -> dict[str, str]:
    covers = covered(request, number) or "the count without noise"
    limited = limits(request, number)
    interval = f"95 % interval for {covers}; from the raw noisy count"
    if request.nonnegative:
        interval += ", at least 0"
    return {
        "count": f"count of {counted(request)} after the adjustments that the manifest names"
        + (f"; {limited}" if limited else ""),
        "noisy_count": "raw noisy count; it may be negative",
        "lower": f"lower end of the {interval}",
        "upper": f"upper end of the {interval}",
    }


def _datatype(column: Column) -> str:
    labels = column.labels
    return _DATATYPES[Column(name=column.name, levels=labels[:1]).kind] if labels else "string"


def _said(column: Column) -> str:
    if column.kind == "open":
        return (
            "levels chosen privately, as text; in a CSV file those that a spreadsheet would take for a formula, and "
            "those that begin with an apostrophe, have an apostrophe before them"
        )
    bins = "public bins of time" if column.dated else "public bins of numbers"
    what = bins if column.kind == "bins" else "public levels"
    extra = [f"{label!r} for {role}" for role, label in (("others", column.other), ("none", column.missing)) if label]
    return ", ".join([what, *extra])


def number_of(number: int, noun: str) -> str:
    """Return a number with its noun.

    Examples
    --------
    >>> number_of(1, "cell"), number_of(1200, "row")
    ('1 cell', '1,200 rows')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def units_noun(request: TableRequest) -> str:
    """Return what units are called: the name that was given, or units."""
    return request.unit_name or "units"


def counted(request: TableRequest) -> str:
    """Return what a count is a number of.

    Examples
    --------
    >>> from ggdp import PureDP
    >>> from ggdp.tables.request import TableRequest
    >>> domain = {"ward": ["births", "eyes", "surgery"]}
    >>> counted(TableRequest(by="ward", goal=PureDP(1.0), domain=domain))
    'rows'
    >>> counted(TableRequest(by="ward", goal=PureDP(1.0), domain=domain, unit="patient", max_cells=2))
    "different values of 'patient'"
    """
    if request.unit is None or request.count == "rows":
        return "rows" if request.unit is not None else request.unit_name or "rows"
    return request.unit_name or f"different values of {request.unit!r}"


def limits(request: TableRequest, table: int) -> str:
    """Return how much of a unit is counted in one of the tables; nothing where all of it is."""
    if not request.limits_units[table]:
        return ""
    most, size = request.most_cells[table], request.sizes[table]
    cells = number_of(most, "cell")
    if request.count == "units":
        return f"at most {cells} each"
    within = "a cell" if most == size else f"each of at most {cells}"
    return f"at most {number_of(request.most_in_a_cell, 'row')} in {within} for each of the {units_noun(request)}"


def covered(request: TableRequest, table: int) -> str | None:
    """Return what the intervals of a table cover, where that is not all that the source holds; else None.

    Examples
    --------
    >>> from ggdp import PureDP
    >>> from ggdp.tables.request import TableRequest
    >>> asked = {"by": "ward", "goal": PureDP(1.0), "domain": {"ward": ["births", "eyes", "surgery"]}, "unit": "id"}
    >>> covered(TableRequest(**asked, max_cells=2), 0)
    'units counted, at most 2 cells each'
    >>> covered(TableRequest(**asked, max_cells=2, count_cut=0.1, unit_name="patients"), 0)
    'all patients; counts: at most 2 cells each'
    >>> covered(TableRequest(**asked, max_cells=3), 0) is None
    True
    """
    limited = limits(request, table)
    if not limited:
        return None
    if request.count_cut is not None:
        return f"all {units_noun(request)}; counts: {limited}"
    return f"{units_noun(request) if request.count == 'units' else 'rows'} counted, {limited}"


def table_properties(request: TableRequest, table: int) -> dict[str, Any]:
    """Return what is known of one table beforehand, as plans and manifests have it."""
    return {
        "regime": request.regimes[table],
        "cells": request.sizes[table],
        "max_cells": request.most_cells[table],
        "covers": covered(request, table),
    }


def protected_unit(request: TableRequest) -> str:
    """Return the protected unit, in words: what one of two neighbours lacks."""
    rows = "one row" if request.unit is None else f"all rows with one value of the column {request.unit!r}"
    return rows if request.unit_name is None else f"{rows} (one of the {request.unit_name})"
