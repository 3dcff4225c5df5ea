"""What the views of tables show: computed in a process of its own, from plain values to plain values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import frozen

from ggdp._rounding import rounded_text
from ggdp.explorer.figures import Picture, drawn
from ggdp.explorer.releasing import Asked, balance_in_words, read_safely
from ggdp.explorer.simulated_table import BUNDLED, ShownTable, Simulation, bundled_table, simulated_table
from ggdp.explorer.typed_table import TypedTable, in_words_of_the_page

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ggdp.ledger.budgets import Balance
    from ggdp.ledger.readable_ledger import WhatIf

    Progress = Callable[[int, int], None]

__all__ = [
    "BudgetResults",
    "CheckResults",
    "TableResults",
    "budget_results",
    "check_results",
    "dots_results",
    "of_bundled",
    "table_results",
]

# Cells whose dots are drawn.
_CELLS = 3
_ENTRIES = 20


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


@frozen(kw_only=True)
class BudgetResults:
    """A ledger, and what further releases would leave of it.

    Attributes
    ----------
    headlines : tuple of (str, str)
        What remains and what was spent: a number, and what it is.
    ledger : tuple of (str, str)
        The ledger at a glance.
    answer : str
        What the release that is asked about would leave, and how many more fit.
    refused : bool
        Whether it does not fit.
    pictures : tuple of Picture
        The burn-down, and the composition curve if anything was released.
    entries : tuple
        The last entries: number, time, analyst, guarantee, charge, files.
    csv : bytes
        All entries.
    """

    headlines: tuple[tuple[str, str], ...]
    ledger: tuple[tuple[str, str], ...]
    answer: str
    refused: bool
    pictures: tuple[Picture, ...]
    entries: tuple[tuple[str, ...], ...]
    csv: bytes


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
    from ggdp.plots.original_and_noisy import plot_original_and_noisy
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
    from ggdp.plots.quantile_dots import count_dots, dots_in_words, plot_count_dots
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
    from ggdp.plots.max_cells import plot_max_cells
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


def budget_results(
    url: str,
    epsilon: float,
    delta: float | None,
    max_cells: int,
    analyst: str | None,
    times: int = 0,  # noqa: ARG001 - how often the ledger was to be read again
    *,
    progress: Progress,
) -> BudgetResults:
    """Return a ledger at a glance, and what tables of counts would leave of it."""
    from ggdp.ledger import Ledger
    from ggdp.ledger.export import exported
    from ggdp.plots.ledgers import plot_burn_down

    progress(0, 1)
    with in_words_of_the_page():
        ledger = Ledger(url)
        entries = ledger.entries()
        mechanism = _counts_of(ledger, epsilon, delta, max_cells, progress)
        what_if = ledger.what_if(mechanism, analyst)
        remaining = ledger.remaining(analyst)
    left = ledger.burn_down()
    burned = ", ".join(rounded_text(number) for number in left[-_ENTRIES:])
    description = f"What is left of the budget after each of {len(entries):,} entries: {burned}."
    if what_if.fitting:
        further = ", ".join(rounded_text(number) for number in what_if.left[:5])
        description += f" Dashed, what further releases would leave: {further}{', ...' if what_if.fitting > 5 else ''}."
    pictures = [drawn(plot_burn_down(ledger, what_if=what_if), "burn-down", "Burn-down of the budget", description)]
    pictures += _composition(entries)
    rows: list[tuple[str, str]] = [
        ("protects", f"one {ledger.unit}, {ledger.neighbours} neighbours"),
        ("accounting", ledger.accounting),
        ("budget", balance_in_words(ledger.budget)),
        ("spent", balance_in_words(ledger.spent(analyst))),
        ("remaining", balance_in_words(remaining)),
        ("entries", f"{len(entries):,}"),
        ("head", ledger.head.hash),
    ]
    return BudgetResults(
        headlines=_headlines(ledger.analysts.get(analyst or "", ledger.budget), ledger.spent(analyst), remaining),
        ledger=tuple(rows),
        answer=_answer(what_if),
        refused=what_if.fitting == 0,
        pictures=tuple(pictures),
        entries=tuple(_entry(entry) for entry in reversed(entries[-_ENTRIES:])),
        csv=exported(ledger.records(), "csv").encode(),
    )


def _counts_of(ledger: Any, epsilon: float, delta: float | None, max_cells: int, progress: Progress) -> Any:  # noqa: ANN401
    """Return the mechanism of a table of counts, of the best order, for the neighbours of a ledger."""
    from ggdp.mechanisms import Mechanism
    from ggdp.planning import plan
    from ggdp.privacy import ApproxDP, PureDP, Sensitivity

    goal = PureDP(epsilon) if delta is None else ApproxDP(epsilon, delta)
    moves = Sensitivity.histogram(ledger.neighbours, max_cells)
    return Mechanism(plan(goal, moves, support="integer", progress=progress).calibration)


def _headlines(budget: Balance, spent: Balance, remaining: Balance) -> tuple[tuple[str, str], ...]:
    if remaining.epsilon is None or spent.epsilon is None or budget.epsilon is None:
        return ((balance_in_words(remaining), "remain"), (balance_in_words(spent), "were used"))
    left, used, whole = (rounded_text(float(part), 4) for part in (remaining.epsilon, spent.epsilon, budget.epsilon))
    return ((left, f"of epsilon = {whole} remains"), (used, "was spent"))


def _answer(what_if: WhatIf) -> str:
    if what_if.remaining is None:
        return f"It does not fit: {what_if.refusal}."
    number = f"{what_if.fitting:,}{' or more' if what_if.refusal is None else ''}"
    fit = "1 such release fits" if number == "1" else f"{number} such releases fit"
    return f"It would leave {balance_in_words(what_if.remaining)}. {fit}, one after another."


def _composition(entries: Sequence[Any]) -> list[Picture]:
    """Return the composition curve of what was released; nothing if nothing was."""
    from collections import Counter

    from ggdp.ledger.accounting.reserved import composition_of
    from ggdp.ledger.overview import NOTE
    from ggdp.plots.compositions import plot_composition

    if not entries:
        return []
    laws = {entry.request.law: entry.request for entry in entries}
    counts = Counter(entry.request.law for entry in entries)
    total = composition_of([(laws[law], count) for law, count in counts.items()])
    basic = total.basic
    said = (
        f"Delta against epsilon of all {len(entries):,} releases together, with each one alone and their plain sum, "
        f"epsilon = {rounded_text(basic.epsilon)} and delta = {rounded_text(basic.delta)}. {NOTE}"
    )
    return [drawn(plot_composition(total), "composition", "Composition curve", said)]


def _entry(entry: Any) -> tuple[str, ...]:  # noqa: ANN401 - an entry of a ledger
    return (
        str(entry.number),
        entry.time[:16].replace("T", " "),
        entry.analyst or "",
        str(entry.guarantee),
        "" if entry.files is None else ", ".join(entry.files),
    )
