"""The tables of the report: the paper's rows, ours beside them, and marks for what a reader must know."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from ggdp.paper.experiments.noisy_counts import ADJUSTMENT_LABELS
from ggdp.paper.experiments.sanitisers import ALL, sanitiser_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from ggdp.paper.experiments.count_runs import CountRun
    from ggdp.paper.experiments.noisy_counts import Adjustment
    from ggdp.paper.experiments.svm_runs import SvmRun

__all__ = ["count_table", "svm_table"]

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
OUTSIDE = '<sup class="mark" title="outside the domain of the classic formula">†</sup>'
TOTAL = '<sup class="mark" title="publishes the total under add/remove neighbours">‡</sup>'


def count_table(run: CountRun, name: str, caveat: str, prior: float) -> str:
    """Return the table of distances and divergences of one data set."""
    epsilons = sorted({row["epsilon"] for row in run.rows})
    deltas = sorted({row["delta"] for row in run.rows if row["delta"] is not None})
    present = {row["sanitiser"] for row in run.rows}
    chosen = [
        (one.key, adjustment)
        for one in ALL
        if one.key in present
        for adjustment in (PAPER_ROWS if one.group == "paper" else OUR_ROWS.get(one.key, ()))
    ]
    head = "".join(f'<th scope="col">δ = {delta:g}</th>' for delta in deltas)
    errors = _errors([row for row in run.rows if row["kl_mean"] is not None])
    body = "".join(_epsilon_group(run, epsilon, deltas, chosen, errors) for epsilon in epsilons)
    mark = f' <span class="mark">{escape(caveat[:1].upper() + caveat[1:])}.</span>' if caveat else ""
    return (
        f'<div class="wide" tabindex="0" role="group" aria-label="Table: {escape(name)}"><table>\n'
        f"<caption><span><strong>{escape(name)}:</strong> ℓ<sub>1</sub> distance from the original counts, mean ± "
        f"standard deviation over {run.rows[0]['repeats']:,} repeats, n = {run.n:,}, {run.cells:,} cells; below it "
        f"KL(original ‖ sanitised), in thousandths, with a Dirichlet prior of {prior:g} a cell (the other direction is "
        f"in counts.csv). Mechanisms without δ have the same numbers in every column. Shaded rows are not in the "
        f"paper.{mark}</span></caption>\n"
        f'<thead><tr><th scope="col">mechanism</th><th scope="col" class="words">adjustment</th>{head}</tr></thead>\n'
        f"{body}</table></div>\n"
        '<ul class="legend"><li><span class="mark">†</span> outside the domain of the classic formula (epsilon below '
        "1)</li>"
        '<li><span class="mark">‡</span> publishes n under add/remove neighbours: as the paper did, not what a release '
        "allows</li></ul>"
    )


def _epsilon_group(
    run: CountRun,
    epsilon: float,
    deltas: list[float],
    chosen: list[tuple[str, Adjustment]],
    errors: Callable[[dict[str, Any]], str],
) -> str:
    rows = []
    for key, adjustment in chosen:
        one = sanitiser_of(key)
        found = [run.row(key, epsilon, delta, adjustment) for delta in (deltas if one.uses_delta else [None])]
        marks = (OUTSIDE if any("outside the domain" in row["note"] for row in found) else "") + (
            TOTAL if adjustment != "clip-zero" and one.neighbours == "add-remove" else ""
        )
        # A mechanism without delta has the same numbers in every column.
        cells = "".join(f"<td>{errors(row)}</td>" for row in (found if one.uses_delta else found * len(deltas)))
        shade = ' class="ours"' if one.group == "ours" else ""
        rows.append(
            f'<tr{shade}><th scope="row">{escape(one.label)}{marks}</th><td '
            f'class="words">{ADJUSTMENT_LABELS[adjustment]}</td>'
            f"{cells}</tr>"
        )
    return (
        f'<tbody><tr><th scope="rowgroup" colspan="{2 + len(deltas)}">ε = {epsilon:g}</th></tr>\n'
        + "\n".join(rows)
        + "</tbody>\n"
    )


def _errors(rows: list[dict[str, Any]]) -> Callable[[dict[str, Any]], str]:
    """Return what writes distance and divergence of a row, so that the numbers of a column stand below each other."""
    # Distances in the tens of thousands say nothing after the point.
    l1 = "{:,.0f}" if max(row["l1_mean"] for row in rows) >= 10_000.0 else "{:,.1f}"
    l1_widest = max((l1.format(row["l1_sd"]) for row in rows), key=len)
    kl_widest = max((f"{1000.0 * row['kl_sd']:,.1f}" for row in rows), key=len)

    def errors(row: dict[str, Any]) -> str:
        distance = (
            f'{l1.format(row["l1_mean"])} <span class="sd">± {_padded(l1.format(row["l1_sd"]), l1_widest)}</span>'
        )
        spread = _padded(f"{1000.0 * row['kl_sd']:,.1f}", kl_widest)
        return f"{distance}<small>{1000.0 * row['kl_mean']:,.1f} ± {spread}</small>"

    return errors


def _padded(number: str, widest: str) -> str:
    """Return a number with spaces before it for the digits and commas that the widest number has more."""
    missing = widest[: len(widest) - len(number)]
    return "".join("\N{PUNCTUATION SPACE}" if sign == "," else "\N{FIGURE SPACE}" for sign in missing) + number


def svm_table(run: SvmRun, caveat: str) -> str:
    """Return the table of the classifier's accuracies."""
    summary = {(row["sanitiser"], row["epsilon"], row["delta"]): row for row in run.summary()}
    epsilons = sorted({epsilon for _, epsilon, _ in summary})
    deltas = sorted({delta for _, _, delta in summary if delta is not None})
    head = "".join(f'<th scope="col">δ = {delta:g}</th>' for delta in deltas)
    groups = []
    for epsilon in epsilons:
        rows = []
        for one in ALL:
            places = [(one.key, epsilon, delta) for delta in (deltas if one.uses_delta else [None])]
            if not any(place in summary for place in places):
                continue
            shown = places if one.uses_delta else places * len(deltas)
            cells = "".join(f"<td>{_accuracy(summary.get(place))}</td>" for place in shown)
            outside = any(
                "outside the domain" in (summary[place]["note"] or "") for place in places if place in summary
            )
            shade = ' class="ours"' if one.group == "ours" else ""
            rows.append(f'<tr{shade}><th scope="row">{escape(one.label)}{OUTSIDE if outside else ""}</th>{cells}</tr>')
        groups.append(
            f'<tbody><tr><th scope="rowgroup" colspan="{1 + len(deltas)}">ε = {epsilon:g}</th></tr>\n'
            + "\n".join(rows)
            + "</tbody>\n"
        )
    return (
        '<div class="wide" tabindex="0" role="group" aria-label="Table: accuracy of the classifier"><table>\n'
        f"<caption><span><strong>Accuracy on {run.test:,} test rows</strong> of support vector machines trained on "
        f"{run.train:,} rows, in per cent; below it the change from the {100.0 * run.original_accuracy:.2f} % of the "
        "original counts, in percentage points. The cells alone, with equal weights, give "
        f"{100.0 * run.support_accuracy:.2f} %. Mechanisms without δ have the same numbers in every column. "
        f'<span class="mark">{escape(caveat[:1].upper() + caveat[1:])}.</span></span></caption>\n'
        f'<thead><tr><th scope="col">mechanism</th>{head}</tr></thead>\n{"".join(groups)}</table></div>'
    )


def _accuracy(row: dict[str, Any] | None) -> str:
    if row is None:
        return "–"
    spread = "" if row["accuracy_sd"] is None else f' <span class="sd">± {100.0 * row["accuracy_sd"]:.2f}</span>'
    change = f"{-100.0 * row['loss_mean']:+.2f}".replace("-", "−")
    # Neither +0.00 nor -0.00.
    change = "0.00" if change[1:] == "0.00" else change
    return f"{100.0 * row['accuracy_mean']:.2f}{spread}<small>{change}</small>"
