"""What the views of tables show: computed in a process of its own, from plain values to plain values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from attrs import frozen

from ggdp._rounding import rounded_text
from ggdp.explorer.figures import Picture, drawn
from ggdp.explorer.releasing import Asked, read_safely
from ggdp.explorer.simulated_table import BUNDLED, ShownTable, Simulation, bundled_table, simulated_table
from ggdp.explorer.typed_table import TypedTable, in_words_of_the_page

if TYPE_CHECKING:
    from collections.abc import Callable

    Progress = Callable[[int, int], None]

__all__ = [
    "CheckResults",
    "TableResults",
    "check_results",
    "dots_results",
    "of_bundled",
    "table_results",
]

# Cells whose dots are drawn.
_CELLS = 3


@frozen(kw_only=True)
class TableResults:
    """A simulated or public table, and what a release would publish of it.

    Attributes
    ----------
    plan : tuple of (str, str)
        The plan, a name and a text in each.
    zero : tuple of (str, str)
        How many counts have an interval that includes 0, and what that number is.
    said : tuple of str
        What is simulated or public, and what is left out.
    picture : Picture
        The numbers before noise, and those that would be published.
    csv : bytes
        The table with the numbers before noise.
    columns : tuple of str
        The numbers that can be shown.
    warnings : tuple of str
        What the plan warns of.
    """

    plan: tuple[tuple[str, str], ...]
    zero: tuple[str, str]
    said: tuple[str, ...]
    picture: Picture
    csv: bytes
    columns: tuple[str, ...]
    warnings: tuple[str, ...] = ()


@frozen(kw_only=True)
class CheckResults:
    """Noise against what is cut off, on the data. NOT private."""

    notice: str
    said: tuple[str, ...]
    picture: Picture
    rows: tuple[tuple[str, ...], ...]
    recommended: int


def of_bundled(table: TypedTable, name: str) -> TypedTable:
    """Return a table of a bundled data set, with the levels that it has; without columns, of its first two."""
    from attrs import evolve

    whole = BUNDLED[name]()
    names = [column.strip() for column in table.by.split(",") if column.strip() in whole.columns]
    by = names or list(whole.columns[:2])
    levels = "\n".join(f"{column}={','.join(whole.levels(column))}" for column in by)
    named = ", ".join(by)
    return evolve(table, by=named, levels=levels, bins="", statistics="", ranges="", unit="", max_cells=None)


def table_results(
    table: TypedTable, data: str, simulation: Simulation, column: str, *, progress: Progress = lambda _, __: None
) -> TableResults:
    """Return what the view of a table shows; `data` is "simulated" or the name of a bundled table."""
    from ggdp.tables.plan_summary import summary_rows

    shown = _shown(table, data, simulation, progress)
    columns = tuple(shown.original)
    return TableResults(
        plan=tuple(summary_rows(shown.release.plan)),
        zero=_zero(shown),
        said=tuple(_said(shown, table, data, simulation)),
        picture=_beside(shown, column if column in columns else columns[0]),
        csv=_csv(shown),
        columns=columns,
        warnings=tuple(shown.release.request.warnings),
    )


def dots_results(
    table: TypedTable, data: str, simulation: Simulation, dots: int, *, progress: Progress = lambda _, __: None
) -> Picture | None:
    """Return the dots of a few cells, from the smallest count to the largest; None where counts come from sums."""
    shown = _shown(table, data, simulation, progress)
    return _dots(shown, dots) if shown.names and shown.release.plan.statistics is None else None


def _shown(table: TypedTable, data: str, simulation: Simulation, progress: Progress) -> ShownTable:
    progress(0, 3)
    plan = table.plan()
    progress(1, 3)
    with in_words_of_the_page(table.unit or None):
        shown = simulated_table(plan, simulation) if data == "simulated" else bundled_table(plan, data, simulation.seed)
    progress(2, 3)
    return shown


def _zero(shown: ShownTable) -> tuple[str, str]:
    """Return how many intervals of counts include 0, and what that number is."""
    cells = len(shown.names)
    if not cells:
        return "no cell", "would be published"
    share = round(100 * shown.including_zero)
    return (
        f"{round(shown.including_zero * cells):,} of {cells:,}",
        f"counts ({share} %) have an interval that includes 0",
    )


def _said(shown: ShownTable, table: TypedTable, data: str, simulation: Simulation) -> list[str]:
    """Return what the numbers are, in sentences."""
    if data != "simulated":
        said = [f"Public data: {BUNDLED[data]().source}. The noise is drawn from seed {simulation.seed}."]
    else:
        unit = table.unit.strip()
        units = f"{simulation.units:,} values of {unit}" if unit else f"{simulation.units:,} rows"
        each = f", each with {rounded_text(simulation.rows)} rows on average" if unit else ""
        even = simulation.spread == "even"
        cells = "all cells equally likely" if even else "cells as likely as 1, 1/2, 1/3 and so on, in a random order"
        said = [f"Simulated, no data are read: {units}{each}, {cells}, from seed {simulation.seed}."]
        if table.statistics.strip():
            said.append("Values are drawn from the beta(2, 5) law on their range: most of them in its lower half.")
        if any(domain.is_open for domain in shown.release.request.domains):
            said.append("Columns without declared levels have 20 simulated ones.")
    if shown.omitted:
        cells = "cell that is not empty is" if shown.omitted == 1 else "cells that are not empty are"
        said.append(f"{shown.omitted:,} {cells} left out: their noisy counts are below the threshold.")
    if shown.table.covers is not None:
        said.append(f"The intervals cover: {shown.table.covers}.")
    return said


def _beside(shown: ShownTable, column: str) -> Picture:
    from ggdp.plots.previews import plot_original_and_noisy
    from ggdp.tables.unit_descriptions import number_of

    what = column.replace("_", " ", 1)
    noisy, lower, upper = shown.published(column)
    original = shown.original[column]
    figure = plot_original_and_noisy(shown.names, original, noisy, lower, upper, what=what, origin=shown.origin)
    known = np.isfinite(original) & np.isfinite(noisy)
    inside = int(((lower <= original) & (original <= upper))[known].sum())
    said = (
        f"The {what} of {number_of(len(shown.names), 'cell')}, {shown.origin} and noisy, with 95% intervals; "
        f"{inside:,} of {int(known.sum()):,} intervals cover the {shown.origin} value."
    )
    if shown.table.covers is not None:
        said += " They are for what is counted: people in more cells than that are missing from some."
    if known.any():
        error = np.abs(noisy - original)[known]
        largest, median = (rounded_text(float(number)) for number in (error.max(), np.median(error)))
        said += f" The largest error is {largest}, the median {median}."
    return drawn(figure, "table-beside", f"{what[0].upper()}{what[1:]}, {shown.origin} and noisy", said)


def _dots(shown: ShownTable, dots: int) -> Picture:
    """Return the dots of a few cells, from the smallest count to the largest."""
    from ggdp.plots.previews import count_dots, dots_in_words, plot_count_dots
    from ggdp.tables.unit_descriptions import counted

    plan = shown.release.plan
    order = np.argsort(shown.original["count"], kind="stable")
    places = np.unique(np.linspace(0, order.size - 1, min(_CELLS, order.size)).round().astype(int))
    noise = {"order": plan.mechanism.order, "scale": plan.mechanism.scale}
    cells = [
        count_dots(shown.names[place], int(shown.table.noisy_count[place]), dots=dots, **noise)
        for place in order[places].tolist()
    ]
    said = "; ".join(dots_in_words(cell) for cell in cells)
    title = "What noisy counts say of the true ones"
    return drawn(
        plot_count_dots(cells, unit=counted(plan.request)), "table-dots", title, f"Quantile dot plots. {said}."
    )


def _csv(shown: ShownTable) -> bytes:
    """Return the table with the numbers before noise as CSV."""
    import io

    import pyarrow as pa
    import pyarrow.csv

    rows = shown.table.to_arrow()
    for name, numbers in shown.original.items():
        rows = rows.append_column(f"{shown.origin}_{name}", pa.array(numbers, mask=np.isnan(numbers)))
    found = io.BytesIO()
    pyarrow.csv.write_csv(rows, found)
    return found.getvalue()


def check_results(asked: Asked, *, progress: Progress) -> CheckResults:
    """Return what ``ggdp check`` finds of the cells of units. NOT private."""
    from ggdp.plots.previews import plot_max_cells
    from ggdp.tables import check_table
    from ggdp.tables.check_result import NOTICE
    from ggdp.tables.unit_descriptions import number_of

    progress(0, 2)
    arguments = asked.table.checked()
    with read_safely(asked):
        found = check_table(asked.path, **arguments)
    progress(1, 2)
    assert found.units is not None
    table = found.units.tables[0]
    unit = asked.table.unit_name.strip() or "units"
    share = {choice["max_cells"]: choice for choice in table["choices"]}[table["recommended"]]
    nulls = found.units.null_rows
    without = f"; {number_of(nulls, 'row')} without one {'is' if nulls == 1 else 'are'} not counted" if nulls else ""
    said = [
        f"{found.units.units:,} different values of {found.units.column} in {found.rows:,} rows{without}.",
        f"Half of them are in at most {number_of(table['quantiles']['0.5'], 'cell')}, 95 of 100 in at most "
        f"{table['quantiles']['0.95']:,}, all in at most {table['quantiles']['1']:,}.",
        f"Noise and what is cut off together are least at {table['recommended']:,} cells per unit, where "
        f"{100 * share['kept']:.3g} % of what there is to count is kept. A number that will be published should be "
        "chosen by what is known of such data, not by this look at them.",
    ]
    description = "; ".join(
        f"{choice['max_cells']:,} cells: plus-minus {choice['plus_minus']:,}, {rounded_text(choice['cut'])} cut off"
        for choice in table["choices"]
    )
    rows = tuple(
        (
            f"{choice['max_cells']:,}",
            f"{choice['plus_minus']:,}",
            rounded_text(choice["cut"]),
            rounded_text(choice["plus_minus"] + choice["cut"]),
            f"{100 * choice['kept']:.4g} %",
            f"{choice['units_cut']:,}",
        )
        for choice in table["choices"]
    )
    title = "Noise against what is cut off, not private"
    return CheckResults(
        notice=NOTICE,
        said=tuple(said),
        picture=drawn(plot_max_cells(table, unit=unit), "max-cells", title, f"{title}: {description}."),
        rows=rows,
        recommended=table["recommended"],
    )
