"""The manifest of released tables, and in words what they count and whom they protect.

The page "The manifest" of the documentation has the parts of a manifest; `table_manifest` makes its part ``table``.

References
----------
W3C, "Metadata Vocabulary for Tabular Data", 2015, section 5.6 (columns) and 4.11.1 (datatypes). The column ``covers``
is an attribute of observations in the manner of SDMX: the same in every row, so that no count is read without it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ggdp._rounding import number_of
from ggdp.domain.column import Column
from ggdp.releases.release import Described, Release, Wording, left_out, manifest_of
from ggdp.tables.request import COUNTS, COVERS, PERCENT, TableRequest
from ggdp.tables.statistics.margins import describe_split
from ggdp.tables.statistics.statistic import Quantile
from ggdp.tables.statistics.statistics_plan import measure_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ggdp.tables.table_plan import TablePlan
    from ggdp.tables.units_over_limit import CutCount


def table_manifest(
    plan: TablePlan,
    release: Release | Described,
    files: Sequence[dict[str, Any]] | None = None,
    cut: Sequence[CutCount] = (),
    error: Mapping[str, Any] | None = None,
    earlier: bool = False,
) -> dict[str, Any]:
    """Return the manifest of tables; `files` has the ``url`` and ``sha256`` of each, once they are written.

    An `earlier` one is as version 0.1.0 wrote it: with raw counts in every table, and without the words on noise.
    """
    request = plan.request
    written = files or [{"url": None, "sha256": None}] * len(request.by)
    return {
        **manifest_of(release, wording_of(plan, cut, earlier=earlier), error),
        "table": {
            "request": request.to_dict(),
            # Without a column of units, persons are not mentioned.
            "unit": {
                "kind": "row" if request.unit is None else "column",
                "column": request.unit,
                "name": request.unit_name,
                "max_cells": max(request.most_cells),
                "max_rows_per_cell": request.max_rows_per_cell,
            },
            "regime": request.regime,
            "cells": request.cells,
            "cut": None if plan.cut is None else {**plan.cut.to_dict(), "tables": [count.to_dict() for count in cut]},
            "statistics": None if plan.statistics is None else describe_split(plan.statistics),
            "warnings": list(request.warnings),
            "tables": [
                {
                    **file,
                    **table_properties(request, number),
                    "tableSchema": {
                        "columns": _columns(request, number, earlier=earlier),
                        "primaryKey": list(request.by[number]),
                    },
                }
                for number, file in enumerate(written)
            ],
        },
    }


def wording_of(plan: TablePlan, cut: Sequence[CutCount] = (), *, earlier: bool = False) -> Wording:
    """Return the wording of a statement: what a count is, what it may omit, and who is protected."""
    request = plan.request
    said, noise = [] if earlier else ["These numbers carry random noise that protects privacy."], list[str]()
    said.append(_what_counts_are(request))
    for name, term in request.derived:
        found = request.domain[name].lookup
        looked_up = found and f"looked up by {found.key!r} in the public file {found.file!r}"
        said.append(f"The column {name!r} is {looked_up or f'computed from each row by itself: {term}'}.")
    if request.where is not None:
        said.append(f"Only rows with {request.where} are counted.")
        who = f"All rows of each of the {units_noun(request)} are" if request.unit is not None else "All rows are"
        said.append(f"{who} protected, also those that are left out.")
    said += _left_out(request)
    for count in cut:
        table = "" if len(request.by) == 1 else f" of {' x '.join(request.by[count.table])}"
        said.append(
            f"The number of {units_noun(request)} in more than {number_of(request.cells_per_unit, 'cell')}{table} is "
            f"about {max(count.noisy, 0):,} (95 % interval: {count.lower:,} to {count.upper:,}); it has noise of its "
            "own, and is part of the guarantee."
        )
    for part in plan.parts if plan.statistics is None else ():
        shared = [request.by[table] for table, is_whole in zip(part.tables, part.complete, strict=True) if is_whole]
        if len(shared) > 1:
            raw = "raw noisy counts" if "noisy_count" in request.count_columns else "counts"
            total = "which has noise as well"
            if request.neighbours == "replace-one":
                total = f"the number of {request.unit_name or 'rows'} without noise"
            alike = listing([" x ".join(names) or "all rows" for names in shared])
            alike = f"all {len(shared):,} tables" if 2 < len(shared) == len(request.by) else alike
            said.append(f"The {raw} of {alike} add up to the same total, {total}: their noise is drawn together.")
    columns = [column for domain in request.domains for column in domain]
    of_units = f"All {'rows' if request.unit is None and not request.unit_name else units_noun(request)} are stated to"
    first_levels: dict[str, list[str]] = {}
    for column in dict.fromkeys(column for column in columns if column.complete):
        first_levels.setdefault(str(column.labels[0]), []).append(repr(column.name))
    for level, named in first_levels.items():
        said.append(f"{of_units} have a declared value of {listing(named)}; a row without one is counted in {level!r}.")
    if any(column.other_code is None or column.missing_code is None for column in columns):
        said.append("Rows whose values fit no cell are not counted.")
    if any(domain.impossible for domain in request.domains):
        said.append("Cells that cannot occur are left out; they were declared beforehand.")
    complete = [names for names, regime in zip(request.by, request.regimes, strict=True) if regime == "declared"]
    whole = tuple(" x ".join(names) for names in complete) if request.regime == "mixed" else ()
    if plan.statistics is not None:
        ranges = {one.column: request.values_in(one.column) for one in request.each_statistic}
        shown = "; ".join(f"{column!r}: {values}" for column, values in ranges.items())
        partial = [name for name in ranges if not request.domain[name].complete]
        of = "" if len(partial) == len(ranges) else f" in {' and '.join(map(repr, partial))}"
        out = f", and what is not a number{of} is left out" if partial else ""
        said.append(f"For statistics, values are clamped and rounded to public ranges and steps ({shown}){out}.")
        for name in (name for name in ranges if name not in partial):
            said.append(f"{of_units} have a number in {name!r}; a row without one has the middle of its range.")
        rules: dict[str | None, list[str]] = {}
        for statistic in request.each_statistic if request.unit is not None else ():
            rules.setdefault(measure_of(request, statistic).rule, []).extend(statistic.names)
        for rule, names in ((rule, dict.fromkeys(named)) for rule, named in rules.items()):
            which = {"min": "least", "max": "largest"}.get(str(rule), rule)
            said.append(f"For {', '.join(names)} each unit has one value in a cell: the {which} of its values there.")
        said += dict.fromkeys(one.meaning for one in request.each_statistic if one.meaning is not None)
        name = plan.mechanism.record.name
        noise.append(
            f"{name[0].upper()}{name[1:]} noise was added to sums over the units of each cell, from which counts and "
            f"statistics are estimated: 95% of the counts are within {plan.half_width:,} of the counts without noise."
        )
        if plan.threshold is not None:
            noise += [f"{' and '.join(whole)} {'is' if len(whole) == 1 else 'are'} complete."] if whole else []
            noise.append(left_out(plan.threshold, whole))
            noise.append("The statistics of the cells that are shown have noise of their own.")
        if plan.statistics.quantiles:
            words = "Quantiles are drawn at random, by the Exponential mechanism, better values with more probability."
            noise.append(words)
        noise.append(
            "Intervals are functions of released values alone. A statistic that is not known at all is left empty, and "
            "its interval is the whole range."
        )
        if request.digits is not None:
            digits = number_of(request.digits, "decimal digit")
            noise.append(f"Statistics are rounded to {digits}, and the ends of their intervals outwards.")
        if not request.nonnegative and complete:
            noise.append("Because of the noise, counts may be negative, and parts may not add up to their totals.")
    if request.percent_of is not None:
        most = max(request.most_cells)
        several = f", where each of the {units_noun(request)} counts up to {most:,} times" if most > 1 else ""
        said.append(f"Percentages are shares of {_total(request)}{several}.")
        if request.digits is not None:
            digits = number_of(request.digits, "decimal digit")
            said.append(f"They are rounded to {digits}, and the ends of their intervals outwards.")
        said.append("A percentage is left blank where that total may be nothing but noise.")
    return Wording(
        protected=protected_unit(request),
        first=" ".join(said),
        true="the counts without noise",
        tables=tuple(" x ".join(names) or "all rows" for names in request.by) if len(plan.parts) > 1 else (),
        complete=whole,
        noise=" ".join(noise),
    )


def _what_counts_are(request: TableRequest) -> str:
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
    said = []
    if request.count == "rows":
        be = "is" if request.most_in_a_cell == 1 else "are"
        rows = number_of(request.most_in_a_cell, "row")
        said.append(f"Of each of the {units_noun(request)} at most {rows} {be} counted in a cell")
    # Where a table has no more cells than a unit is counted in, none is left out.
    within = [names for names, limits in zip(request.by, request.limits_cells, strict=True) if limits]
    if within:
        cells = "one cell" if request.cells_per_unit == 1 else f"{request.cells_per_unit:,} cells"
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


def _columns(request: TableRequest, number: int, *, earlier: bool) -> list[dict[str, Any]]:
    """Return the columns of a table in the manner of CSV on the Web."""
    covers, limited = coverage(request, number), limits(request, number)
    interval = f"95 % interval for {covers or 'the count without noise'}; from the raw noisy count"
    if request.nonnegative:
        interval += ", at least 0"
    said: list[tuple[str, str, str]] = []
    for column in request.domains[number]:
        kind = Column(name=column.name, levels=column.labels[:1]).kind if column.labels else "text"
        if column.kind == "open":
            words = (
                "levels chosen privately, as text; in a CSV file those that a spreadsheet would take for a formula, "
                "and those that begin with an apostrophe, have an apostrophe before them"
            )
        else:
            bins = "public bins of time" if column.dated else "public bins of numbers"
            roles = (("others", column.other), ("none", column.missing))
            extra = [f"{label!r} for {role}" for role, label in roles if label]
            words = ", ".join([bins if column.kind == "bins" else "public levels", *extra])
        said.append((column.name, "string" if kind == "text" else kind, words))
    counts = COUNTS if earlier else request.count_columns
    after = " after the adjustments that the manifest names" if "noisy_count" in counts else ""
    count = f"{'' if earlier else 'noisy '}count of {counted_noun(request)}{after}"
    described = (
        ("count", "integer", f"{count}; {limited}" if limited else count),
        ("noisy_count", "integer", "raw noisy count; it may be negative"),
        ("lower", "integer", f"lower end of the {interval}"),
        ("upper", "integer", f"upper end of the {interval}"),
    )
    said += [one for one in described if one[0] in counts]
    for statistic in request.table_statistics[number]:
        of = f"{statistic.column}, clamped to {request.values_in(statistic.column)}"
        fractions = statistic.fractions if isinstance(statistic, Quantile) else ()
        texts = [f"{fraction:g} quantile of {of}" for fraction in fractions] or [f"{statistic.kind} of {of}"]
        for name, text in zip(statistic.names, texts, strict=True):
            said.append((name, "number", f"{text}; empty where the noisy sums say nothing"))
            for end in ("lower", "upper"):
                said.append((f"{name}_{end}", "number", f"{end} end of the 95 % interval for the {text}"))
    if request.percent_of is not None:
        of = f"{_total(request)}{f'; {limited}' if limited else ''}"
        said.append((PERCENT, "number", f"noisy count in percent of {of}; empty where that may be nothing but noise"))
        for end in ("lower", "upper"):
            words = f"{end} end of the 95 % interval for the percentage without noise"
            said.append((f"{PERCENT}_{end}", "number", words))
    if covers is not None:
        said.append((COVERS, "string", f"what the interval covers, the same in every row: {covers}"))
    empty = {PERCENT, *(name for statistic in request.table_statistics[number] for name in statistic.names)}
    return [
        {"name": name, "datatype": kind, "dc:description": words, "required": name not in empty}
        for name, kind, words in said
    ]


def _total(request: TableRequest) -> str:
    """Return what percentages are of."""
    if not request.percent_of:
        return "the sum of all counts of the table" if request.total is None else f"the public total, {request.total:,}"
    return f"the sum of the counts with the same {' and '.join(request.percent_of)}"


def listing(names: Sequence[str]) -> str:
    """Return names in a sentence: a, b and c."""
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def units_noun(request: TableRequest) -> str:
    """Return what units are called: the name that was given, or units."""
    return request.unit_name or "units"


def counted_noun(request: TableRequest) -> str:
    """Return what a count is a number of: rows, patients, or "different values of 'patient'"."""
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


def coverage(request: TableRequest, table: int) -> str | None:
    """Return what intervals cover, such as 'units counted, at most 2 cells each'; None if all that the source holds."""
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
        "covers": coverage(request, table),
    }


def protected_unit(request: TableRequest) -> str:
    """Return the protected unit, in words: what one of two neighbours lacks."""
    rows = "one row" if request.unit is None else f"all rows with one value of the column {request.unit!r}"
    return rows if request.unit_name is None else f"{rows} (one of the {request.unit_name})"
