"""The figures of the paper's Sections 2 and 3 that need no experiment, each with the numbers it is drawn from."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from ggdp.errors import ArgumentError
from ggdp.plots.style import (
    BLACK,
    COLUMN_WIDTH,
    DOUBLE_WIDTH,
    FAINT,
    LINES,
    SIZE,
    SMALL,
    curve,
    label,
    level,
    new_figure,
    numeral,
    plain_ticks,
    show_legend,
)
from ggdp_reproduction.checks import one_or_more
from ggdp_reproduction.comparisons import (
    LEMMA_DELTA,
    BoundedComparison,
    DensityFamily,
    DistanceErrors,
    ExponentialComparison,
    GaussianBounds,
    SameTail,
    ScaleComparison,
    TailComparison,
    bounded_errors,
    delta_of_equal_variance,
    distance_errors,
    exponential_losses,
    gaussian_bounds,
    paper_densities,
    paper_same_tails,
    paper_tails,
    tail_turn,
    variance_ratio,
)
from ggdp_reproduction.figures.drawings import drawing, legend_above, rows_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ggdp_reproduction.comparisons.gaussian import Gaussian
    from ggdp_reproduction.experiments.lower_bounds import LowerBounds
    from ggdp_reproduction.results import Drawing, Row

LAWS = {1.0: " (Laplace)", 2.0: " (Gaussian)"}
TAIL_RATIO = "tail, Laplace : Gaussian"
NOISE_SIZE = "noise size $t$ (units of the sensitivity)"
LOWEST_TAIL = 1e-6
HIGHEST_RATIO = 10.0
# Below it the axis of a ratio has powers of ten for ticks.
LOWEST_PLAIN = 0.01
GAUSSIANS = {
    "paper": "Gaussian of Lemma 10",
    "tight-pdp": "Gaussian, least for pDP",
    "classic": "Gaussian, classic",
    "analytic": "Gaussian, least for aDP",
}
EQUAL_VARIANCES: dict[Gaussian, str] = {
    "paper": "Gaussian of Lemma 10",
    "tight-pdp": "least for pDP",
    "analytic": "least for aDP",
}
SIGMAS = {"classic": "classic, aDP", "paper": "Lemma 10, pDP", "tight_pdp": "least, pDP", "analytic": "least, aDP"}
# What is in the figure of the plain distance: its name, mechanism and delta, and whether its order is infinite.
_DISTANCES = (
    ("plain distance, order $p$: 1-DP", "plain distance", 0.0, False),
    ("plain distance, order $\\infty$: 1-DP", "plain distance", 0.0, True),
    ("GG: $(1, 10^{-6})$-aDP", "GG", 1e-6, False),
    ("GG: (1, 0.01)-aDP", "GG", 0.01, False),
    ("truncated GG: 1-DP", "truncated GG", 0.0, False),
    ("Exponential, $p$-th power: 1-DP", "Exponential", 0.0, False),
)
SCALES = {"paper": "paper, pDP", "pdp": "least, pDP", "adp": "least, aDP"}
# A marker for each goal, and on how many points of a curve at most.
MARKERS, MARKED = ("o", "s", "^", "D", "v", "P"), 8
POINTS = 241
# Of these sections, without Fig. 2.
FIGURES = 8


def plot_densities(families: DensityFamily | Sequence[DensityFamily] | None = None) -> Figure:
    """Return a figure of the densities of families (`densities_at_scale` and its like); by default the paper's Fig. 1.

    Examples
    --------
    >>> [axes.get_title(loc="left") for axes in plot_densities().axes]
    ['Same scale, 1.414', 'Same variance, 1']
    """
    drawn = one_or_more(DensityFamily, families=paper_densities() if families is None else families)
    figure, panels = new_figure(DOUBLE_WIDTH, 2.6, len(drawn))
    for axes, family in zip(panels, drawn, strict=True):
        for number, (order, density) in enumerate(zip(family.orders, family.densities, strict=True)):
            curve(axes, family.x, density, number, f"order {order:g}{LAWS.get(float(order), '')}")
        label(
            axes,
            "noise (units of the query)",
            "density (per unit of the query)",
            f"Same {family.shared}, {family.value:.4g}",
        )
        axes.set_ylim(bottom=0.0)
        axes.margins(x=0.0)
    show_legend(panels[-1], loc="upper right")
    return figure


def plot_lower_bounds(bounds: LowerBounds) -> Figure:
    r"""Return a figure of the scales over the order, a panel an epsilon, a line a delta."""
    epsilons, deltas = bounds.values("epsilon"), bounds.values("delta")
    figure, panels = new_figure(DOUBLE_WIDTH, 2.8, len(epsilons))
    for axes, epsilon in zip(panels, epsilons, strict=True):
        for number, delta in enumerate(deltas):
            rows = [row for row in bounds.rows if (row["epsilon"], row["delta"]) == (epsilon, delta)]
            x = [row["order"] for row in rows]
            curve(axes, x, [row["least_adp"] for row in rows], number, color="0.72", linewidth=0.9)
            curve(axes, x, [row["convolution"] for row in rows], number, f"$\\delta$ = {numeral(delta)}")
            axes.errorbar(
                x,
                [row["monte_carlo"] for row in rows],
                yerr=[
                    [row["monte_carlo"] - row["monte_carlo_lower"] for row in rows],
                    [row["monte_carlo_upper"] - row["monte_carlo"] for row in rows],
                ],
                linestyle="none",
                marker=MARKERS[number % 4],
                markersize=3.4,
                color=LINES[number]["color"],
                elinewidth=0.9,
                capsize=2.0,
            )
        label(axes, title=f"$\\varepsilon$ = {numeral(epsilon)}")
        axes.set_xticks(bounds.values("order"))
        axes.set_ylim(bottom=0.0)
    panels[0].set_ylabel("scale $b$ (units of the query)", fontsize=SIZE)
    curve(panels[-1], [], [], 0, "least, aDP", color="0.72", linewidth=0.9)
    panels[-1].plot([], [], linestyle="none", marker="o", markersize=3.4, color=BLACK, label="Monte Carlo")
    legend_above(figure, list(zip(*panels[-1].get_legend_handles_labels(), strict=True)))
    figure.supxlabel("order of the noise", fontsize=SIZE)
    return figure


def plot_bounded_errors(comparison: BoundedComparison) -> Figure:
    """Return a figure of the errors of truncated and boundary-inflated noise over the true value (`bounded_errors`).

    Examples
    --------
    >>> from ggdp_reproduction.comparisons import bounded_errors
    >>> figure = plot_bounded_errors(bounded_errors(2, 1.0, (0.0, 10.0)))
    >>> [axes.get_title(loc="left") for axes in figure.axes]
    ['Bias', 'Standard deviation', 'Root mean squared error']
    """
    one_or_more(BoundedComparison, comparison=comparison)
    figure, panels = new_figure(DOUBLE_WIDTH, 2.4, 3)
    titles = {"bias": "Bias", "std": "Standard deviation", "rmse": "Root mean squared error"}
    for axes, (field, title) in zip(panels, titles.items(), strict=True):
        curve(axes, comparison.location, getattr(comparison.truncated, field), 0, "truncated")
        curve(axes, comparison.location, getattr(comparison.boundary_inflated, field), 1, "boundary-inflated")
        label(axes, "true value (unit of the query)", "", title)
        axes.margins(x=0.0)
    level(panels[0], 0.0)
    for axes in panels[1:]:
        axes.set_ylim(bottom=0.0)
    panels[0].set_ylabel("error (unit of the query)")
    show_legend(panels[1], loc="lower center")
    return figure


def plot_exponential_loss(comparison: ExponentialComparison) -> Figure:
    """Return a figure, one column wide, of the true loss and its two parts (`exponential_losses`).

    Examples
    --------
    >>> import numpy as np
    >>> from ggdp_reproduction.comparisons import exponential_losses
    >>> figure = plot_exponential_loss(exponential_losses(np.linspace(1, 8, 15), 1.0, bounds=(0.0, 10.0)))
    >>> figure.axes[0].get_xlabel()
    'order of the utility'
    """
    one_or_more(ExponentialComparison, comparison=comparison)
    figure, (axes,) = new_figure(COLUMN_WIDTH, 2.6)
    curve(axes, comparison.orders, comparison.loss, 0, "true loss", linewidth=1.7)
    curve(axes, comparison.orders, comparison.weight_loss, 1, "weights alone, at most")
    curve(axes, comparison.orders, comparison.normaliser_loss, 2, "normaliser alone, at most")
    axes.axhline(comparison.epsilon, color=BLACK, linewidth=0.8)
    axes.annotate(
        "nominal $\\varepsilon$",
        (1.0, comparison.epsilon),
        xycoords=("axes fraction", "data"),
        textcoords="offset points",
        xytext=(0, -3),
        ha="right",
        va="top",
        fontsize=SMALL,
    )
    title = "without bounds" if comparison.bounds is None else "on [{:g}, {:g}]".format(*comparison.bounds)
    label(
        axes,
        "order of the utility",
        "privacy loss (nats)",
        f"Exponential mechanism {title}, sensitivity {comparison.sensitivity:g}",
    )
    axes.set_ylim(0.0, 1.05 * comparison.epsilon)
    axes.margins(x=0.0)
    show_legend(axes, loc="center right", bbox_to_anchor=(1.0, 0.72))
    return figure


def plot_plain_distance(errors: Sequence[DistanceErrors]) -> Figure:
    r"""Return a figure of the errors with the plain distance as utility and with others (`distance_errors`).

    Errors without bounds are drawn over the order, those within bounds over their width.

    Examples
    --------
    >>> from ggdp_reproduction.comparisons import distance_errors
    >>> without = [one for order in (1, 2, 3) for one in distance_errors(order)]
    >>> figure = plot_plain_distance([*without, *distance_errors(2, 10.0), *distance_errors(2, 100.0)])
    >>> [axes.get_title(loc="left") for axes in figure.axes]
    ['Without bounds', 'Within bounds, $p$ = 2']
    """
    drawn = one_or_more(DistanceErrors, errors=errors)
    figure, (left, right) = new_figure(DOUBLE_WIDTH, 3.0, 2)
    for number, (name, mechanism, delta, highest) in enumerate(_DISTANCES):
        every = [one for one in drawn if (one.mechanism, one.delta) == (mechanism, delta)]
        every = [one for one in every if (one.order == math.inf) == highest]
        free = [one for one in every if one.width == math.inf]
        within = [one for one in every if one.width < math.inf]
        if highest and free:
            left.axhline(free[0].rmse, linewidth=1.3, **LINES[number])
        else:
            curve(left, [one.order for one in free], [one.rmse for one in free], number)
        curve(right, [one.width for one in within], [one.rmse for one in within], number, name)
    bounded = [one for one in drawn if one.width < math.inf]
    if bounded:
        ends = np.array([min(one.width for one in bounded), max(one.width for one in bounded)])
        # Over true values spread evenly over the bounds.
        right.plot(ends, ends / math.sqrt(12.0), color=FAINT, linewidth=1.1, zorder=1.5)
        place = min(ends[1], 200.0) * np.array([1.0, 1.0 / math.sqrt(12.0)])
        near: dict[str, Any] = {"textcoords": "offset points", "xytext": (-5, 1), "ha": "right", "fontsize": SMALL}
        right.annotate("middle of the bounds", place, **near)
    label(left, "order $p$", "root mean squared error", "Without bounds")
    orders = {one.order for one in bounded} - {math.inf}
    title = f"Within bounds, $p$ = {numeral(min(orders))}" if orders else "Within bounds"
    label(right, "width of the bounds (units of the query)", "root mean squared error", title)
    for axes in (left, right):
        axes.set_yscale("log")
        axes.margins(x=0.0)
    plain_ticks(left.yaxis, [1, 2, 3, 4, 5, 7, 10, 15, 20, 25, 50])
    plain_ticks(right.yaxis, [0.5, 1, 2, 5, 10, 20, 50, 100])
    right.set_ylim(top=1.4 * max((one.rmse for one in bounded), default=1.0))
    right.set_xscale("log")
    plain_ticks(right.xaxis, [1, 10, 100, 1000])
    legend_above(figure, list(zip(*right.get_legend_handles_labels(), strict=True)), columns=3)
    return figure


def plot_gaussian_bounds(bounds: GaussianBounds | Sequence[GaussianBounds] | None = None) -> Figure:
    r"""Return a figure of the four bounds, of pDP : aDP by the formulas (the paper's Fig. 3), and by the least scales.

    Each of `bounds` is a curve, from `gaussian_bounds` of one epsilon and an array of deltas; the middle one's four
    bounds are drawn. By default epsilon is 0.1, 0.5 and 0.9.

    Examples
    --------
    >>> [axes.get_title(loc="left") for axes in plot_gaussian_bounds().axes]
    ['Bounds at $\\varepsilon$ = 0.5', 'Formulas, pDP : aDP', 'Least, pDP : aDP']
    """
    if bounds is None:
        deltas = np.geomspace(1e-8, 0.5, 61)
        bounds = [gaussian_bounds(epsilon, deltas) for epsilon in (0.1, 0.5, 0.9)]
    drawn = one_or_more(GaussianBounds, bounds=bounds)
    if any(np.unique(found.epsilon).size != 1 or found.delta.ndim != 1 for found in drawn):
        shapes = ", ".join(str(found.delta.shape) for found in drawn)
        raise ArgumentError("bounds", shapes, "a curve needs one epsilon and a one-dimensional array of delta")
    figure, (left, middle, right) = new_figure(DOUBLE_WIDTH, 2.6, 3)
    full = drawn[len(drawn) // 2]
    for number, (field, name) in enumerate(SIGMAS.items()):
        curve(left, full.delta, getattr(full, field), number, name)
    for number, found in enumerate(drawn):
        name = f"$\\varepsilon$ = {found.epsilon.flat[0]:g}"
        curve(middle, found.delta, found.paper_to_classic, number, name)
        curve(right, found.delta, found.tight_pdp_to_analytic, number, name)
    label(left, y="std (units of sensitivity)", title=f"Bounds at $\\varepsilon$ = {full.epsilon.flat[0]:g}")
    label(middle, y="ratio of standard deviations", title="Formulas, pDP : aDP")
    label(right, y="ratio of standard deviations", title="Least, pDP : aDP")
    for axes in (left, middle, right):
        axes.set_xscale("log")
        axes.margins(x=0.0)
        show_legend(axes, loc="upper left" if axes is right else "lower left")
    left.set_ylim(bottom=0.0)
    middle.set_ylim(0.0, 1.05)
    right.set_yscale("log")
    plain_ticks(right.yaxis, [1, 1.5, 2, 3, 5, 10])
    for axes in (middle, right):
        level(axes, 1.0)
    figure.supxlabel("$\\delta$", fontsize=SIZE)
    return figure


def plot_scales(comparisons: ScaleComparison | Sequence[ScaleComparison]) -> Figure:
    """Return a figure of scales (left) and standard deviations (right) over the order of the noise (`scales_by_order`).

    A goal is a colour and a marker, a bound is a pattern.

    Examples
    --------
    >>> from ggdp_reproduction.comparisons import scales_by_order
    >>> figure = plot_scales([scales_by_order([1, 2, 3, 4], 1.0, 0.05)])
    >>> [axes.get_ylabel() for axes in figure.axes]
    ['scale $b$ (units of the query)', 'standard deviation (units of the query)']
    """
    drawn = one_or_more(ScaleComparison, comparisons=comparisons)
    figure, (left, right) = new_figure(DOUBLE_WIDTH, 2.9, 2)
    from matplotlib.ticker import MaxNLocator

    for goal, found in enumerate(drawn):
        look: dict[str, Any] = {
            "color": LINES[goal % len(LINES)]["color"],
            "marker": MARKERS[goal % len(MARKERS)],
            "markersize": 3.0,
            "markevery": max(found.orders.size // MARKED, 1),
        }
        for number, bound in enumerate(SCALES):
            scales = getattr(found, bound)
            look["markerfacecolor"] = "white" if bound == "pdp" else look["color"]
            curve(left, found.orders, scales, number, **look)
            curve(right, found.orders, found.std(scales), number, **look)
        name = f"$\\varepsilon$ = {numeral(found.epsilon)}, $\\delta$ = {numeral(found.delta)}"
        left.plot([], [], **look, linestyle="none", label=name)
    for number, name in enumerate(SCALES.values()):
        curve(right, [], [], number, name, color=BLACK)
    label(left, "order of the noise", "scale $b$ (units of the query)")
    label(right, "order of the noise", "standard deviation (units of the query)")
    for axes in (left, right):
        axes.set_ylim(bottom=0.0)
        axes.margins(x=0.02)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        show_legend(axes, loc="upper left")
    return figure


def plot_tails(comparison: TailComparison) -> Figure:
    """Return a figure of both tail probabilities and of their ratio, its minimum and its crossing of 1 marked.

    `comparison` is what `tail_probabilities` returned for one goal and an array of noise sizes.

    Examples
    --------
    >>> import numpy as np
    >>> from ggdp_reproduction.comparisons import tail_probabilities
    >>> figure = plot_tails(tail_probabilities(1.0, 0.05, np.linspace(0.0, 12.0, 200)))
    >>> figure.axes[0].get_yscale()
    'log'
    """
    epsilon, delta = _one_goal(one_or_more(TailComparison, comparison=comparison)[0])
    figure, (left, right) = new_figure(DOUBLE_WIDTH, 2.6, 2)
    curve(left, comparison.t, comparison.laplace, 0, "Laplace")
    curve(left, comparison.t, comparison.gaussian, 1, GAUSSIANS[comparison.gaussian_kind])
    left.set_yscale("log")
    left.set_ylim(LOWEST_TAIL, 1.3)
    title = f"$\\varepsilon$ = {numeral(epsilon)}, $\\delta$ = {numeral(delta)}"
    label(left, NOISE_SIZE, "probability of noise beyond $\\pm t$", title)
    show_legend(left, loc="best")
    _greyed(right, comparison, 0)
    turn = tail_turn(epsilon, delta, comparison.gaussian_kind)
    least = float(turn.minimum)
    if least < 1.0:
        _marked(
            right,
            float(turn.t_minimum),
            least,
            f"least, {numeral(float(f'{least:.3g}'))}, at {float(turn.t_minimum):.3g}",
            (0, -11),
        )
        _marked(right, float(turn.t_crossing), 1.0, f"1 again at {float(turn.t_crossing):.3g}", (-34, 5))
    _ratio_axis(right, least)
    label(right, NOISE_SIZE, TAIL_RATIO, "Their ratio")
    for axes in (left, right):
        axes.margins(x=0.0)
    return figure


def plot_tail_ratio(comparisons: TailComparison | Sequence[TailComparison] | None = None) -> Figure:
    r"""Return a figure of the ratio of the tails, a panel an epsilon, a curve a delta; by default the paper's Fig. 4.

    The comparisons are those of `tail_probabilities`, one goal each. A curve is grey where both tails are below 1e-4,
    as in the paper.

    Examples
    --------
    >>> [axes.get_title(loc="left") for axes in plot_tail_ratio().axes]
    ['$\\varepsilon$ = 0.1', '$\\varepsilon$ = 1', '$\\varepsilon$ = 2']
    """
    drawn = one_or_more(TailComparison, comparisons=paper_tails() if comparisons is None else comparisons)
    figure = _by_epsilon(drawn, TAIL_RATIO)
    lowest = min(float(np.min(comparison.ratio)) for comparison in drawn)
    for axes in figure.axes:
        _ratio_axis(axes, lowest)
    return figure


def plot_same_tail(comparisons: SameTail | Sequence[SameTail] | None = None) -> Figure:
    """Return a figure of the epsilon at which Gaussian noise has Laplace noise's tail; by default the paper's Fig. 5.

    The comparisons are those of `epsilon_of_same_tail`, one goal each. A curve is grey where the tail is below 1e-4, as
    in the paper.

    Examples
    --------
    >>> len(plot_same_tail().axes)
    3
    """
    drawn = one_or_more(SameTail, comparisons=paper_same_tails() if comparisons is None else comparisons)
    figure = _by_epsilon(drawn, "$\\varepsilon$, Gaussian : Laplace")
    for axes in figure.axes:
        level(axes, 1.0)
        axes.set_ylim(bottom=0.0)
    return figure


def _one_goal(comparison: TailComparison | SameTail) -> tuple[float, float]:
    """Return epsilon and delta of a comparison of one goal over a line of noise sizes."""
    if comparison.epsilon.ndim or comparison.delta.ndim or comparison.t.ndim != 1 or not comparison.t.size:
        raise ArgumentError(
            "comparison",
            f"epsilon {comparison.epsilon.shape}, delta {comparison.delta.shape}, t {comparison.t.shape}",
            "a curve needs one epsilon, one delta and a one-dimensional array of at least one t",
        )
    return float(comparison.epsilon), float(comparison.delta)


def _by_epsilon(comparisons: Sequence[TailComparison | SameTail], ratio: str) -> Figure:
    """Return a figure of the ratios, by name, a panel an epsilon and a line a delta."""
    goals = [_one_goal(comparison) for comparison in comparisons]
    epsilons = sorted({epsilon for epsilon, _ in goals})
    deltas = sorted({delta for _, delta in goals})
    width = COLUMN_WIDTH if len(epsilons) == 1 else DOUBLE_WIDTH
    figure, panels = new_figure(width, 2.7, len(epsilons), sharey=True)
    for comparison, (epsilon, delta) in zip(comparisons, goals, strict=True):
        axes = panels[epsilons.index(epsilon)]
        _greyed(axes, comparison, deltas.index(delta), f"$\\delta$ = {numeral(delta)}")
    for axes, epsilon in zip(panels, epsilons, strict=True):
        label(axes, title=f"$\\varepsilon$ = {numeral(epsilon)}")
        axes.margins(x=0.0)
    panels[0].set_ylabel(ratio, fontsize=SIZE)
    if len(panels) == 1:
        panels[0].set_xlabel(NOISE_SIZE)
    else:
        figure.supxlabel(NOISE_SIZE, fontsize=SIZE)
    legend_above(figure, list(zip(*panels[0].get_legend_handles_labels(), strict=True)), columns=4)
    return figure


def _greyed(axes: Axes, comparison: TailComparison | SameTail, number: int, name: str = "_") -> None:
    """Draw a ratio, grey where the tails are too unlikely to matter."""
    likely = comparison.likely()
    # The tails only fall, so one point more joins the two parts.
    grey = ~likely | ~np.append(likely[1:], True)
    curve(axes, comparison.t, np.where(grey, comparison.ratio, np.nan), number, color=FAINT, linewidth=1.1)
    curve(axes, comparison.t, np.where(likely, comparison.ratio, np.nan), number, name)


def _ratio_axis(axes: Axes, lowest: float) -> None:
    """Lay out the axis of a ratio that goes below 1 and then beyond all bounds."""
    level(axes, 1.0)
    axes.set_yscale("log")
    if lowest > LOWEST_PLAIN:
        plain_ticks(axes.yaxis, [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10])
    # Room below the minimum for its name, an eighth of the height.
    axes.set_ylim(lowest * (lowest / HIGHEST_RATIO) ** 0.14, HIGHEST_RATIO)


def _marked(axes: Axes, t: float, ratio: float, name: str, shift: tuple[float, float]) -> None:
    """Mark a point of the ratio, with a name that is shifted away from the curve."""
    axes.plot([t], [ratio], marker="o", markersize=4.0, color=BLACK, linestyle="none", zorder=3)
    axes.annotate(name, (t, ratio), textcoords="offset points", xytext=shift, ha="center", fontsize=SMALL)


def plot_dispersion() -> Figure:
    r"""Return a figure of the ratio of variances, Gaussian to Laplace, and of the goals at which it is 1.

    Examples
    --------
    >>> [axes.get_ylabel() for axes in plot_dispersion().axes]
    ['variance, Gaussian : Laplace', '$\\delta$']
    """
    figure, (left, right) = new_figure(DOUBLE_WIDTH, 2.7, 2)
    delta = np.geomspace(1e-6, 0.5, POINTS)
    for number, epsilon in enumerate((0.1, 1.0, 2.0)):
        curve(left, delta, variance_ratio(epsilon, delta), number, f"$\\varepsilon$ = {epsilon:g}")
    level(left, 1.0)
    left.axvline(LEMMA_DELTA, color=BLACK, linewidth=0.8, linestyle=(0, (1, 2)))
    left.set_xscale("log")
    left.set_yscale("log")
    plain_ticks(left.yaxis, [0.2, 0.5, 1, 2, 5, 10, 20])
    label(left, "$\\delta$", "variance, Gaussian : Laplace", "Gaussian noise of Lemma 10")
    left.annotate(
        f"Lemma 11: {LEMMA_DELTA:.3f}",
        (LEMMA_DELTA, 0.98),
        xycoords=("data", "axes fraction"),
        textcoords="offset points",
        xytext=(-3, 0),
        ha="right",
        va="top",
        fontsize=SMALL,
    )
    show_legend(left, loc="lower left")
    left.margins(x=0.0)
    epsilon_axis = np.linspace(0.0, 5.0, POINTS)[1:]
    for number, (kind, name) in enumerate(EQUAL_VARIANCES.items()):
        edge = delta_of_equal_variance(epsilon_axis, kind)
        curve(right, epsilon_axis, edge, number, name)
    right.axhline(LEMMA_DELTA, color=BLACK, linewidth=0.8, linestyle=(0, (1, 2)))
    right.annotate(
        "Lemma 11", (4.95, LEMMA_DELTA), textcoords="offset points", xytext=(0, 2), ha="right", fontsize=SMALL
    )
    right.set_xlim(0.0, 5.0)
    right.set_ylim(0.0, 1.0)
    label(right, "$\\varepsilon$", "$\\delta$", "Below its line, Gaussian noise varies more than Laplace")
    show_legend(right, loc="upper left")
    return figure


def bounds_drawing(bounds: LowerBounds) -> Drawing:
    """Return the paper's Fig. 2, by both routes."""
    return drawing(
        "lower-bounds",
        plot_lower_bounds(bounds),
        title="Lower bound on the scale over order, epsilon and delta",
        caption="Cor. 7 with three coordinates that move by 1, 0.1 and 0.05 at once: by convolution (lines) and by "
        f"Monte Carlo with {bounds.draws:,} draws (marks with their intervals). Grey is the least scale for aDP.",
        place="The paper's Fig. 2",
        rows=list(bounds.rows),
    )


def theory_drawings(progress: Callable[[int, int], None] | None = None) -> list[Drawing]:
    """Return the paper's Figs. 1, 3, 4 and 5, and three more."""
    found = []
    for one in _drawn():
        found.append(one)
        if progress is not None:
            progress(len(found), FIGURES)
    return found


def _drawn() -> Iterator[Drawing]:
    families = paper_densities()
    rows = [
        row
        for one in families
        for order, scale, density in zip(one.orders, one.scales, one.densities, strict=True)
        for row in rows_of(shared=one.shared, order=order, scale=scale, x=one.x, density=density)
    ]
    yield drawing(
        "densities",
        plot_densities(families),
        title="Densities of the generalized Gaussian family",
        caption="At the same scale, the square root of 2 (left), and at the same variance, 1 (right). The higher the "
        "order, the flatter the top and the shorter the tails.",
        place="The paper's Fig. 1",
        rows=rows,
    )

    errors_of = bounded_errors(2, 1.0, (0.0, 10.0))
    rows = [
        row
        for name, errors in (("truncated", errors_of.truncated), ("boundary-inflated", errors_of.boundary_inflated))
        for row in rows_of(
            law=name, order=2.0, scale=errors.scale, value=errors_of.location, bias=errors.bias, std=errors.std
        )
    ]
    yield drawing(
        "bounded",
        plot_bounded_errors(errors_of),
        title="Noise kept in bounds: truncated against boundary inflated",
        caption="Order 2 on [0, 10] at epsilon = 1, each at its least scale for pure DP. Neither is better at every "
        "true value.",
        place="Beside the paper's Defs. 5 and 6",
        rows=rows,
    )

    losses = exponential_losses(np.geomspace(1.0, 10.0, 60), 1.0, bounds=(0.0, 10.0))
    yield drawing(
        "exponential",
        plot_exponential_loss(losses),
        title="What the Exponential mechanism really costs",
        caption="The true loss of the Exponential mechanism with the utility -|s* - s|^p on [0, 10], with its exact "
        f"sensitivity: at most {float(losses.loss.max()):.2f} where the nominal epsilon is 1, and below one half from "
        f"order {float(losses.orders[np.argmax(losses.below_half)]):.2f} on.",
        place="Beside the paper's Section 2.7 and Cor. 12",
        rows=rows_of(
            order=losses.orders, utility_sensitivity=losses.utility_sensitivity, scale=losses.scale, loss=losses.loss
        ),
    )

    free = [one for order in (1, 1.1, 1.25, 1.5, 2, 2.5, 3, 4, 5, 6, math.inf) for one in distance_errors(order)]
    widths = np.geomspace(1.0, 1000.0, 16)
    bounded = [one for order in (2, math.inf) for width in widths for one in distance_errors(order, float(width))]
    losses_of = [one.loss for one in bounded if one.mechanism == "Exponential"]
    yield drawing(
        "plain-distance",
        plot_plain_distance([*free, *bounded]),
        title="The plain Minkowski distance as utility",
        caption="Errors of 5 numbers, of which one person changes each by 1, at epsilon = 1. Without bounds (left) the "
        "plain distance keeps pure DP at every order, and generalized Gaussian (GG) noise only aDP. Within bounds "
        "(right) truncated noise and the Exponential mechanism with the p-th power of the distance keep pure DP, too, "
        f"the latter with a true loss of at most {max(losses_of):.2f}, and other noise is clamped to them. The errors "
        "of the plain distance within bounds are those of 2,000 releases. They stop growing with the width of the "
        "bounds; those of truncated noise and of the Exponential mechanism do not. Grey is the middle of "
        "the bounds, which uses no data.",
        place="Beside the end of the paper's Section 2.7",
        rows=[asdict(one) for one in (*free, *bounded)],
    )

    deltas = np.geomspace(1e-8, 0.499, 61)
    sigmas = [gaussian_bounds(epsilon, deltas) for epsilon in (0.1, 0.5, 0.9)]
    bounds = {"lemma_10": "paper", "tight_pdp": "tight_pdp", "classic_adp": "classic", "tight_adp": "analytic"}
    yield drawing(
        "gaussian-bounds",
        plot_gaussian_bounds(sigmas),
        title="Bounds on the standard deviation of Gaussian noise",
        caption="Four bounds at epsilon = 0.5 (left); the ratio of the paper's pDP bound to the classic aDP bound, "
        "which is always below 1 (middle); the same ratio of the least values, which is always above 1 (right).",
        place="The paper's Fig. 3 (middle), with the least values beside it",
        rows=_rows(sigmas, epsilon="epsilon", delta="delta", **bounds),
    )

    tails = paper_tails()
    columns = ("epsilon", "delta", "t", "log_laplace", "log_gaussian", "log_ratio")
    yield drawing(
        "tail-ratio",
        plot_tail_ratio(tails),
        title="Ratio of the tail probabilities, Laplace to Gaussian",
        caption="From 1 at t = 0 every ratio falls, turns, and exceeds 1 in the end: then Laplace noise exceeds t more "
        "often. Grey where both tails are below 1e-4.",
        place="The paper's Fig. 4",
        rows=_rows(tails, **{name: name for name in columns}),
    )

    same = paper_same_tails()
    yield drawing(
        "same-tail",
        plot_same_tail(same),
        title="Privacy cost of the same tail, Gaussian to Laplace",
        caption="The epsilon at which Gaussian noise (Lemma 10) exceeds t as often as Laplace noise, over that of the "
        "Laplace noise. It is smaller at a larger delta. Grey where the tail is below 1e-4.",
        place="The paper's Fig. 5",
        rows=_rows(same, epsilon_1="epsilon", delta="delta", t="t", log_tail="log_tail", ratio="ratio"),
    )

    epsilons = np.linspace(0.02, 5.0, 250)
    edges = {name: delta_of_equal_variance(epsilons, name) for name in ("paper", "tight-pdp", "analytic")}
    yield drawing(
        "dispersion",
        plot_dispersion(),
        title="Which noise varies more, Gaussian or Laplace",
        caption="The ratio of variances with the Gaussian noise of Lemma 10 (left), and the delta below which "
        "Gaussian noise varies more than Laplace noise, by three calibrations (right). Lemma 11's 0.157 is marked.",
        place="Beside the paper's Lemma 11",
        rows=rows_of(epsilon=epsilons, **edges),
    )


def _rows(found: Iterable[object], **fields: str) -> list[Row]:
    """Return fields of comparisons as rows, a column each; one comparison after the other."""
    return [row for one in found for row in rows_of(**{name: getattr(one, field) for name, field in fields.items()})]
