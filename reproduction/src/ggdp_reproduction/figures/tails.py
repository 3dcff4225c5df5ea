"""Tails of Laplace and Gaussian noise: their probabilities, their ratio, and the epsilon of the same tail."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ggdp.errors import ArgumentError
from ggdp.plots.style import (
    BLACK,
    COLUMN_WIDTH,
    DOUBLE_WIDTH,
    FAINT,
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
from ggdp_reproduction.comparisons import SameTail, TailComparison, paper_same_tails, paper_tails, tail_turn
from ggdp_reproduction.figures.drawings import legend_above

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["plot_same_tail", "plot_tail_ratio", "plot_tails"]

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


def plot_tails(comparison: TailComparison) -> Figure:
    """Return a figure of both tail probabilities and of their ratio, its minimum and its crossing of 1 marked.

    Parameters
    ----------
    comparison : TailComparison
        What `ggdp_reproduction.comparisons.tail_probabilities` returned for one goal and an array of noise sizes.

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

    A curve is grey where both tails are below 1e-4, as in the paper.

    Parameters
    ----------
    comparisons : TailComparison or sequence of them, optional
        What `ggdp_reproduction.comparisons.tail_probabilities` returned, one goal each.

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

    A curve is grey where the tail is below 1e-4, as in the paper.

    Parameters
    ----------
    comparisons : SameTail or sequence of them, optional
        What `ggdp_reproduction.comparisons.epsilon_of_same_tail` returned, one goal each.

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
