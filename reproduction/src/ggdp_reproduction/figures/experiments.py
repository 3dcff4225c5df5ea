"""The figures of the paper's Section 4: sanitised against original counts, their errors, and the classifier's accuracy.

A colour is a mechanism or, in the plot of counts, a delta. A filled mark is the paper's, a hollow one is ours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ggdp.plots.style import (
    BLACK,
    BLUE,
    DOUBLE_WIDTH,
    GREEN,
    ORANGE,
    PURPLE,
    SIZE,
    SMALL,
    VERMILION,
    label,
    level,
    new_figure,
    numeral,
)
from ggdp_reproduction.experiments.counts import ADJUSTMENT_LABELS
from ggdp_reproduction.experiments.sanitisers import sanitiser_of
from ggdp_reproduction.figures.drawings import drawing, legend_above

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from ggdp_reproduction.experiments.classifier import SvmRun
    from ggdp_reproduction.experiments.counts import Adjustment, CountRun
    from ggdp_reproduction.results import Drawing

TITLES = {"mildew": "mildew", "czech": "Czech autoworkers", "adult": "adult"}
FIGURES = {"mildew": ("Fig. 6", "Fig. 7"), "czech": ("Fig. 8", "Fig. 9"), "adult": ("Fig. 10", "Fig. 11")}
SCATTERED = ("laplace", "gaussian-pdp", "ggm3-pdp", "gaussian-adp-classic", "analytic-gaussian", "integer-best")
SHADES = (BLUE, GREEN, ORANGE, VERMILION)
ADJUSTED: dict[Adjustment, tuple[str, str]] = {
    "clip-rescale": ("o", VERMILION),
    "project": ("D", BLUE),
    "clip-zero": ("^", GREEN),
}
SHORT = {
    "laplace": "Laplace",
    "gaussian-pdp": "Gaussian pDP",
    "ggm3-pdp": "GGM-3 pDP",
    "gaussian-adp-classic": "Gaussian aDP",
    "analytic-gaussian": "tight aDP",
    "integer-best": "best, integers",
}
MANY_CELLS, SHOWN_CELLS = 2000, 600
SMALLEST_SHOWN = 0.5
# Colour, mark and whether the mark is filled: the paper's are.
LOOKS: dict[str, tuple[str, str, bool]] = {
    "laplace": (BLACK, "o", True),
    "gaussian-pdp": (BLUE, "s", True),
    "ggm3-pdp": (GREEN, "^", True),
    "gaussian-adp-classic": (VERMILION, "D", True),
    "tight-gaussian-pdp": (BLUE, "s", False),
    "analytic-gaussian": (VERMILION, "D", False),
    "tight-gg3-adp": (GREEN, "^", False),
    "integer-best": (PURPLE, "v", False),
}
CONTROL = (0, (5, 1.5, 1, 1.5))


def count_drawings(run: CountRun, counts: NDArray[Any], prior: float, caveat: str = "") -> list[Drawing]:
    """Return the three figures of one data set; `prior` is that of the divergences."""
    name, mark = TITLES.get(run.dataset, run.dataset), f" {caveat[:1].upper()}{caveat[1:]}." if caveat else ""
    first, second = FIGURES.get(run.dataset, ("its figures", "its figures"))
    drawn = _shown(np.asarray(counts)).size
    sampled = f" {drawn:,} of {run.cells:,} cells are drawn." if drawn < run.cells else ""
    outside = outside_domain(run.rows)
    delta = _middle_delta(run)
    return [
        drawing(
            f"{run.dataset}-counts",
            plot_counts(run, counts),
            title=f"Sanitised against original counts: {name}",
            caption="One repeat, clipped and rescaled to n as the paper does; the nearer to the line, the better. "
            f"Both axes are square roots, so that small counts can be seen.{sampled}{outside}{mark}",
            place=f"The paper's {first}, with two of ours at the right",
            rows=_example_rows(run, counts, caveat),
        ),
        drawing(
            f"{run.dataset}-errors",
            plot_errors(run),
            title=f"Distance and divergence from the original counts: {name}",
            caption="Mean and standard deviation over the repeats, clipped and rescaled. The divergence is "
            f"KL(original || sanitised) with a Dirichlet prior of {prior:g} a cell. The grey band is Laplace noise, "
            f"which has no delta. Hollow marks are the least scales for the same goals.{outside}{mark}",
            place=f"The paper's {second}, with ours beside it",
        ),
        drawing(
            f"{run.dataset}-all",
            plot_all(run),
            title=f"All mechanisms and adjustments: {name}",
            caption=f"Mean and standard deviation of the distance at delta = {delta:g}. Rescaling and projecting "
            "publish the total, which fits replace-one neighbours only (the last two rows); clipping at 0 is open to "
            "all."
            f"{outside}{mark}",
            place="Beyond the paper",
        ),
    ]


def plot_counts(run: CountRun, counts: NDArray[Any]) -> Figure:
    """Return a figure of sanitised against original counts: rows by epsilon, columns by mechanism, colours by delta."""
    original = np.asarray(counts, dtype=np.float64)
    shown, epsilons = _shown(original), _shown_epsilons(run)
    columns = [key for key in SCATTERED if any(place[0] == key for place in run.examples)]
    deltas = _values(run, "delta")
    drawn = [float(values.max()) for (_, epsilon, _), values in run.examples.items() if epsilon in epsilons]
    top = max(float(original.max()), *drawn)
    figure, grid = panel_grid(len(epsilons), len(columns), 0.35 + 1.22 * len(epsilons), sharex=True, sharey=True)
    ends = np.array([0.0, 1.04 * top])
    for row, epsilon in zip(grid, epsilons, strict=True):
        for axes, key in zip(row, columns, strict=True):
            found = [delta for name, e, delta in run.examples if (name, e) == (key, epsilon)]
            label(axes)
            axes.set_xscale("function", functions=(_root, np.square))
            axes.set_yscale("function", functions=(_root, np.square))
            axes.set_xlim(0.0, ends[1])
            axes.set_ylim(0.0, ends[1])
            axes.plot(ends, ends, color=BLACK, linewidth=0.6, zorder=1)
            for delta in found:
                colour = BLACK if delta is None else SHADES[deltas.index(delta) % len(SHADES)]
                _dots(axes, original[shown], run.examples[key, epsilon, delta][shown], colour)
            _root_ticks(axes, ends[1])
            axes.yaxis.grid(visible=False)
        row[0].set_ylabel(f"$\\varepsilon$ = {numeral(epsilon)}", fontsize=SIZE)
    for axes, key in zip(grid[0], columns, strict=True):
        axes.set_title(SHORT[key], loc="left", fontsize=SMALL)
    figure.supxlabel("original count", fontsize=SIZE)
    figure.supylabel("sanitised count", fontsize=SIZE)
    entries = [(legend_mark(BLACK, "o", True), "no $\\delta$")]
    entries += [
        (legend_mark(SHADES[number % len(SHADES)], "o", True), f"$\\delta$ = {numeral(delta)}")
        for number, delta in enumerate(deltas)
    ]
    legend_above(figure, entries)
    return figure


def plot_errors(run: CountRun) -> Figure:
    """Return a figure of l_1 distance (top) and divergence (bottom) over delta, a panel an epsilon."""
    epsilons, deltas = _values(run, "epsilon"), _values(run, "delta")
    keys = [key for key in LOOKS if key != "laplace" and any(row["sanitiser"] == key for row in run.rows)]
    figure, grid = panel_grid(2, len(epsilons), 4.4, sharex=True)
    places = np.arange(len(deltas))
    for row, measure in zip(grid, ("l1", "kl"), strict=True):
        for axes, epsilon in zip(row, epsilons, strict=True):
            laplace = run.row("laplace", epsilon, None)
            mean, sd = laplace[f"{measure}_mean"], laplace[f"{measure}_sd"]
            axes.axhspan(mean - sd, mean + sd, color="0.72", alpha=0.45, linewidth=0)
            level(axes, mean)
            for number, key in enumerate(keys):
                rows = [run.row(key, epsilon, delta) for delta in deltas]
                shift = 0.72 * ((number + 0.5) / len(keys) - 0.5)
                draw_means(axes, places + shift, rows, measure, LOOKS[key])
            label(axes)
            axes.set_xlim(-0.5, len(deltas) - 0.5)
            axes.set_xticks(places, [f"{delta:g}" for delta in deltas])
            axes.set_ylim(bottom=0.0)
    for axes, epsilon in zip(grid[0], epsilons, strict=True):
        axes.set_title(f"$\\varepsilon$ = {numeral(epsilon)}", loc="left", fontsize=SIZE)
    grid[0][0].set_ylabel("$l_1$ distance (units of data)", fontsize=SIZE)
    grid[1][0].set_ylabel("KL divergence (nats)", fontsize=SIZE)
    figure.supxlabel("$\\delta$", fontsize=SIZE)
    entries = [(legend_mark(BLACK, "_", True), "Laplace")]
    entries += [(legend_mark(*LOOKS[key]), sanitiser_of(key).label) for key in keys]
    legend_above(figure, entries, columns=4)
    return figure


def plot_all(run: CountRun) -> Figure:
    """Return a figure of the l_1 distance of every mechanism by every adjustment, a panel an epsilon."""
    epsilons = _shown_epsilons(run)
    keys = list(dict.fromkeys(row["sanitiser"] for row in run.rows))
    delta = _middle_delta(run)
    figure, (row,) = panel_grid(1, len(epsilons), 0.9 + 0.27 * len(keys), sharey=True)
    for axes, epsilon in zip(row, epsilons, strict=True):
        for number, (adjustment, (shape, colour)) in enumerate(ADJUSTED.items()):
            rows = [run.row(key, epsilon, delta if sanitiser_of(key).uses_delta else None, adjustment) for key in keys]
            height = np.arange(len(keys)) + 0.24 * (number - 1)
            axes.errorbar(
                [found["l1_mean"] for found in rows],
                height,
                xerr=[found["l1_sd"] for found in rows],
                linestyle="none",
                marker=shape,
                markersize=3.2,
                color=colour,
                elinewidth=0.8,
            )
        label(axes, title=f"$\\varepsilon$ = {numeral(epsilon)}")
        axes.set_xlim(left=0.0)
        axes.yaxis.grid(visible=False)
        axes.xaxis.grid(visible=True, color="0.9", linewidth=0.6)
        axes.axhline(sum(sanitiser_of(key).group == "paper" for key in keys) - 0.5, color=BLACK, linewidth=0.6)
    row[0].set_yticks(np.arange(len(keys)), [sanitiser_of(key).label for key in keys], fontsize=SMALL)
    row[0].set_ylim(len(keys) - 0.4, -0.6)
    figure.supxlabel("$l_1$ distance (units of data)", fontsize=SIZE)
    entries = [
        (legend_mark(colour, shape, True), ADJUSTMENT_LABELS[name]) for name, (shape, colour) in ADJUSTED.items()
    ]
    legend_above(figure, entries)
    return figure


def svm_drawing(run: SvmRun, caveat: str) -> Drawing:
    """Return the figure of the classifier's accuracy."""
    return drawing(
        "adult-svm",
        plot_svm(run),
        title="Accuracy of the classifier on test data: adult",
        caption="Mean and standard deviation over the repeats of a radial support vector machine trained on the "
        "sanitised training data; the line is the one trained on the original, the grey band Laplace noise."
        f"{outside_domain(run.rows)} {caveat[:1].upper()}{caveat[1:]}.",
        place="The paper's Fig. 12",
    )


def plot_svm(run: SvmRun) -> Figure:
    """Return a figure of the accuracy over delta, a panel an epsilon."""
    epsilons = sorted({float(row["epsilon"]) for row in run.rows})
    deltas = sorted({float(row["delta"]) for row in run.rows if row["delta"] is not None})
    keys = [key for key in LOOKS if key != "laplace" and any(row["sanitiser"] == key for row in run.rows)]
    figure, (panels,) = panel_grid(1, len(epsilons), 2.8, sharey=True)

    summary = {(row["sanitiser"], row["epsilon"], row["delta"]): row for row in run.summary()}

    def accuracy(key: str, epsilon: float, delta: float | None) -> dict[str, float] | None:
        found = summary.get((key, epsilon, delta))
        percent = ("accuracy_mean", "accuracy_sd")
        return None if found is None else {name: 100.0 * (found[name] or 0.0) for name in percent}

    for axes, epsilon in zip(panels, epsilons, strict=True):
        laplace = accuracy("laplace", epsilon, None)
        if laplace is not None:
            mean, sd = laplace["accuracy_mean"], laplace["accuracy_sd"]
            axes.axhspan(mean - sd, mean + sd, color="0.72", alpha=0.45, linewidth=0)
            axes.axhline(mean, color=BLACK, linewidth=0.8, linestyle=(0, (2, 2)))
        axes.axhline(100.0 * run.original_accuracy, color=BLACK, linewidth=1.0)
        axes.axhline(100.0 * run.support_accuracy, color=ORANGE, linewidth=1.0, linestyle=CONTROL)
        for number, key in enumerate(keys):
            shift = 0.72 * ((number + 0.5) / len(keys) - 0.5)
            for place, delta in enumerate(deltas):
                found = accuracy(key, epsilon, delta)
                if found is not None:
                    draw_means(axes, np.array([place + shift]), [found], "accuracy", LOOKS[key])
        label(axes, title=f"$\\varepsilon$ = {numeral(epsilon)}")
        axes.set_xlim(-0.5, len(deltas) - 0.5)
        axes.set_xticks(np.arange(len(deltas)), [f"{delta:g}" for delta in deltas])
    panels[0].set_ylabel("accuracy on test data (%)", fontsize=SIZE)
    figure.supxlabel("$\\delta$", fontsize=SIZE)
    entries = [(_line(), "original"), (_line((0, (2, 2))), "Laplace"), (_line(CONTROL, ORANGE), "cells without counts")]
    entries += [(legend_mark(*LOOKS[key]), sanitiser_of(key).label) for key in keys]
    legend_above(figure, entries, columns=4)
    return figure


def panel_grid(rows: int, columns: int, height: float, **options: Any) -> tuple[Figure, list[list[Axes]]]:  # noqa: ANN401
    """Return a figure of both columns' width with panels in rows."""
    figure, (only,) = new_figure(DOUBLE_WIDTH, height, 1)
    only.remove()
    return figure, [list(row) for row in figure.subplots(rows, columns, squeeze=False, **options)]


def draw_means(
    axes: Axes, x: NDArray[Any], rows: Sequence[dict[str, Any]], measure: str, look: tuple[str, str, bool]
) -> None:
    """Draw means with their standard deviations."""
    colour, shape, filled = look
    axes.errorbar(
        x,
        [row[f"{measure}_mean"] for row in rows],
        yerr=[row[f"{measure}_sd"] for row in rows],
        linestyle="none",
        marker=shape,
        markersize=3.4,
        markerfacecolor=colour if filled else "white",
        markeredgewidth=0.9,
        color=colour,
        elinewidth=0.8,
    )


def legend_mark(colour: str, shape: str, filled: bool) -> object:
    """Return the entry of a mechanism in a legend."""
    from matplotlib.lines import Line2D

    inside = colour if filled else "white"
    return Line2D([], [], linestyle="none", marker=shape, color=colour, markerfacecolor=inside, markersize=4.0)


def outside_domain(rows: Iterable[dict[str, Any]]) -> str:
    """Return a sentence on the epsilons at which the classic Gaussian scale is not proved, if there are any."""
    found = sorted({row["epsilon"] for row in rows if "outside the domain" in (row["note"] or "")})
    if not found:
        return ""
    where = " and ".join(f"{epsilon:g}" for epsilon in found)
    return f" The classic Gaussian aDP is proved for epsilon below 1 only, so it is outside its domain at {where}."


def _line(pattern: Any = "-", colour: str = BLACK) -> object:  # noqa: ANN401
    from matplotlib.lines import Line2D

    return Line2D([], [], color=colour, linestyle=pattern, linewidth=1.0)


def _values(run: CountRun, name: str) -> list[float]:
    """Return the different epsilons or deltas of a run, rising."""
    return sorted({float(row[name]) for row in run.rows if row[name] is not None})


def _shown_epsilons(run: CountRun) -> list[float]:
    """Return the epsilons that have a panel: not the smallest, whose noise would hide the others, if there are more."""
    found = _values(run, "epsilon")
    return [epsilon for epsilon in found if epsilon >= SMALLEST_SHOWN] or found


def _shown(counts: NDArray[Any]) -> NDArray[np.int64]:
    """Return which cells are drawn: all, or some of many by rank, so that the few large ones are among them."""
    if counts.size <= MANY_CELLS:
        return np.arange(counts.size)
    ranked = np.argsort(counts, kind="stable")
    return ranked[np.unique(np.linspace(0, counts.size - 1, SHOWN_CELLS).round().astype(np.int64))]


def _middle_delta(run: CountRun) -> float:
    """Return the delta at which all mechanisms are compared: 0.05 where it was run."""
    return min(_values(run, "delta"), key=lambda delta: abs(delta - 0.05))


def _dots(axes: Axes, x: NDArray[np.float64], y: NDArray[np.float64], colour: str) -> None:
    """Draw dots as one path of very short lines with round ends: a picture of thousands of them stays small."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    top = np.sqrt(axes.get_xlim()[1])
    across, up = _root(x) / top, _root(y) / top
    points = np.column_stack([across - 0.001, up, across + 0.001, up]).reshape(-1, 2)
    path = Path(points, np.tile([Path.MOVETO, Path.LINETO], x.size))
    path.should_simplify = False
    look: dict[str, Any] = {"edgecolor": colour, "fill": False, "linewidth": 2.0, "capstyle": "round", "snap": False}
    axes.add_patch(PathPatch(path, transform=axes.transAxes, clip_on=False, zorder=2, **look))


def _root(x: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.sqrt(np.maximum(x, 0.0))


def _root_ticks(axes: Axes, top: float) -> None:
    """Put a few round numbers on axes of square roots."""
    from matplotlib.ticker import FixedLocator, NullLocator

    ticks = [0] + [tick for tick in (1, 4, 10, 25, 50, 100, 200, 400, 1000) if tick <= top]
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(FixedLocator(ticks[:1] + ticks[1:][-3:]))
        axis.set_minor_locator(NullLocator())


def _example_rows(run: CountRun, counts: NDArray[Any], caveat: str) -> list[dict[str, Any]]:
    """Return every cell of a small table in every setting, and of a large one the points that are drawn."""
    original = np.asarray(counts)
    shown, epsilons, whole = _shown(original), _shown_epsilons(run), original.size <= MANY_CELLS
    private = {"private": f"no: {caveat}"} if caveat else {}
    return [
        {
            "sanitiser": key,
            "epsilon": epsilon,
            "delta": delta,
            "cell": int(cell),
            "original": int(original[cell]),
            "sanitised": float(values[cell]),
            **private,
        }
        for (key, epsilon, delta), values in run.examples.items()
        if whole or (key in SCATTERED and epsilon in epsilons)
        for cell in shown
    ]
