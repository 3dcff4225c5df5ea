"""The tables of the report: the paper's rows, ours beside them, and marks for what a reader must know."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from ggdp_reproduction.experiments.noisy_counts import ADJUSTMENT_LABELS
from ggdp_reproduction.experiments.sanitisers import ALL

if TYPE_CHECKING:
    from collections.abc import Callable

    from ggdp_reproduction.experiments.count_runs import CountRun
    from ggdp_reproduction.experiments.noisy_counts import Adjustment
    from ggdp_reproduction.experiments.sanitisers import Sanitiser
    from ggdp_reproduction.experiments.svm_runs import SvmRun

__all__ = ["AccuracyTable", "ErrorTable", "TableRow", "accuracy_table", "error_table"]

# Which rows a table has; the others are in the file of all numbers.
PAPER_ROWS: tuple[Adjustment, ...] = ("clip-rescale",)
OUR_ROWS: dict[str, tuple[Adjustment, ...]] = {
    "tight-gaussian-pdp": ("clip-rescale",),
    "analytic-gaussian": ("clip-rescale", "project"),
    "tight-gg3-adp": ("clip-rescale",),
    "integer-laplace": ("project", "clip-zero"),
    "integer-best": ("project", "clip-zero"),
    "replace-one-laplace": ("project",),
    "replace-one-gaussian": ("project",),
}


class TableRow(NamedTuple):
    """A mechanism at one epsilon, with a cell for each delta.

    `outside` and `total` are the marks of the classic formula outside its domain, and of a published total.
    """

    label: str
    ours: bool
    outside: bool
    total: bool
    adjustment: str
    cells: list[dict[str, str] | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class AccuracyTable:
    """Accuracies of the classifier: rows by epsilon, columns by delta."""

    deltas: list[float]
    groups: list[tuple[float, list[TableRow]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorTable(AccuracyTable):
    """Distances and divergences of one data set: rows by epsilon, columns by delta."""

    repeats: int
    n: int
    cells: int


def error_table(run: CountRun) -> ErrorTable:
    """Return the table of distances and divergences of one data set."""
    epsilons, deltas = _goals(run.rows)
    present = {row["sanitiser"] for row in run.rows}
    chosen = [
        (one, adjustment)
        for one in ALL
        if one.key in present
        for adjustment in (PAPER_ROWS if one.group == "paper" else OUR_ROWS.get(one.key, ()))
    ]
    written = _errors([row for row in run.rows if row["kl_mean"] is not None])

    def table_row(one: Sanitiser, adjustment: Adjustment, epsilon: float) -> TableRow:
        found = [run.row(one.key, epsilon, delta, adjustment) for delta in _columns(one, deltas)]
        total = adjustment != "clip-zero" and one.neighbours == "add-remove"
        return _table_row(one, found, [written(row) for row in found], total, ADJUSTMENT_LABELS[adjustment])

    return ErrorTable(
        deltas=deltas,
        groups=[(epsilon, [table_row(*one, epsilon) for one in chosen]) for epsilon in epsilons],
        repeats=run.rows[0]["repeats"],
        n=run.n,
        cells=run.cells,
    )


def accuracy_table(run: SvmRun) -> AccuracyTable:
    """Return the table of the classifier's accuracies."""
    summary = {(row["sanitiser"], row["epsilon"], row["delta"]): row for row in run.summary()}
    epsilons, deltas = _goals(run.rows)
    groups = []
    for epsilon in epsilons:
        rows = []
        for one in ALL:
            found = [summary.get((one.key, epsilon, delta)) for delta in _columns(one, deltas)]
            if any(found):
                rows.append(_table_row(one, found, [_accuracy(row) for row in found]))
        groups.append((epsilon, rows))
    return AccuracyTable(deltas=deltas, groups=groups)


def _goals(rows: list[dict[str, Any]]) -> tuple[list[float], list[float]]:
    """Return the different epsilons and deltas, rising."""
    return sorted({row["epsilon"] for row in rows}), sorted({row["delta"] for row in rows if row["delta"] is not None})


def _columns(one: Sanitiser, deltas: list[float]) -> list[float | None]:
    """Return the delta of each column; a mechanism without delta has the same numbers in all of them."""
    return [delta if one.uses_delta else None for delta in deltas]


def _table_row(
    one: Sanitiser, found: list[Any], cells: list[dict[str, str] | None], total: bool = False, adjustment: str = ""
) -> TableRow:
    outside = any("outside the domain" in (row["note"] or "") for row in found if row)
    return TableRow(one.label, one.group == "ours", outside, total, adjustment, cells)


def _errors(rows: list[dict[str, Any]]) -> Callable[[dict[str, Any]], dict[str, str]]:
    """Return what writes distance and divergence of a row, so that the numbers of a column are aligned."""
    # Distances in the tens of thousands say nothing after the point.
    l1 = "{:,.0f}" if max(row["l1_mean"] for row in rows) >= 10_000.0 else "{:,.1f}"
    l1_widest = max((l1.format(row["l1_sd"]) for row in rows), key=len)
    kl_widest = max((f"{1000.0 * row['kl_sd']:,.1f}" for row in rows), key=len)

    def errors(row: dict[str, Any]) -> dict[str, str]:
        return {
            "l1": l1.format(row["l1_mean"]),
            "l1_sd": _padded(l1.format(row["l1_sd"]), l1_widest),
            "kl": f"{1000.0 * row['kl_mean']:,.1f}",
            "kl_sd": _padded(f"{1000.0 * row['kl_sd']:,.1f}", kl_widest),
        }

    return errors


def _padded(number: str, widest: str) -> str:
    """Return a number with spaces before it for the digits and commas that the widest number has more."""
    missing = widest[: len(widest) - len(number)]
    return "".join("\N{PUNCTUATION SPACE}" if sign == "," else "\N{FIGURE SPACE}" for sign in missing) + number


def _accuracy(row: dict[str, Any] | None) -> dict[str, str] | None:
    if row is None:
        return None
    change = f"{-100.0 * row['loss_mean']:+.2f}".replace("-", "−")
    return {
        "mean": f"{100.0 * row['accuracy_mean']:.2f}",
        "sd": "" if row["accuracy_sd"] is None else f"{100.0 * row['accuracy_sd']:.2f}",
        # Neither +0.00 nor -0.00.
        "change": "0.00" if change[1:] == "0.00" else change,
    }
