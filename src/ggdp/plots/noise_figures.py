"""Noise distributions, their error by order, and what an attacker can come to believe."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ggdp._rounding import rounded_text
from ggdp.errors import ArgumentError
from ggdp.noise.generalized_gaussian import GeneralizedGaussian
from ggdp.noise.integer_law import IntegerGeneralizedGaussian
from ggdp.planning import Plan
from ggdp.planning.error_measures import Measure
from ggdp.plots import style
from ggdp.privacy.beliefs import belief
from ggdp.proofs.noise_law import NoiseLaw

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ggdp.privacy import Guarantee


LEVEL = 0.95
PLUS_MINUS = Measure(name="quantile", level=LEVEL)


def plot_noise(laws: Sequence[NoiseLaw], names: Sequence[str], *, unit: str = "unit of the query") -> Figure:
    """Return a figure, as wide as a column of print, of laws of noise; 95 of 100 draws of the first are in its shade.

    Parameters
    ----------
    laws : sequence of NoiseLaw
        The laws, on one support and without bounds, such as `Calibration.law`.
    names : sequence of str
        Their names, for the legend.
    unit : str, default "unit of the query"
        Unit of the noise, for the axis label.

    Examples
    --------
    >>> import ggdp
    >>> goal, query = ggdp.ApproxDP(1.0, 1e-6), ggdp.Sensitivity.histogram()
    >>> laws = [ggdp.calibrate(goal, query, order=order, support="integer").law for order in (2, 1)]
    >>> plot_noise(laws, ["Gaussian", "Laplace"], unit="persons").axes[0].get_xlabel()
    'noise (persons)'
    """
    drawn = style.items(NoiseLaw, laws=laws)
    if not drawn or len({law.support for law in drawn}) > 1 or any(law.bounding for law in drawn):
        raise ArgumentError("laws", len(drawn), "must be at least one law, all on one support and without bounds")
    integer = drawn[0].support == "integer"
    # As far as nearly all of the widest law goes, at 241 points at most.
    end = max(map(Measure(name="quantile", level=0.998).of, drawn))
    x = np.linspace(-end, end, 241)
    if integer:
        # A few numbers next to 0 even if noise is rare; of many numbers every second or third and so on, and always 0.
        end = max(end, 3.0)
        stride = int(2 * end) // 241 + 1 if 2 * end + 1 > 241 else 1
        most = int(end) // stride
        x = stride * np.arange(-most, most + 1, dtype=np.float64)
    # So few whole numbers that each is a step of its own.
    stepped: dict[str, Any] = {"drawstyle": "steps-mid"} if integer and len(x) <= 61 else {}
    figure, (axes,) = style.new_figure(style.COLUMN_WIDTH, 2.7)
    # The labels are known: to lay them out anew would take a third of the time, and a page draws this while it is used.
    figure.set_layout_engine("none")
    axes.set_position((0.16, 0.165, 0.82, 0.81))
    for number, (law, name) in enumerate(zip(drawn, names, strict=True)):
        style.curve(axes, x, _density(law, x), number, name, **stepped)
    inside = x[np.abs(x) <= PLUS_MINUS.of(drawn[0])]
    shade: dict[str, Any] = {"step": "mid"} if stepped else {}
    axes.fill_between(inside, _density(drawn[0], inside), color=style.BLUE, alpha=0.14, linewidth=0.0, **shade)
    axes.set_ylim(bottom=0.0)
    axes.margins(x=0.0)
    style.label(axes, f"noise ({unit})", "probability" if integer else f"density (per {unit})")
    style.show_legend(axes, loc="upper right")
    return figure


def _density(law: NoiseLaw, x: NDArray[np.float64]) -> NDArray[np.float64]:
    if law.support == "real":
        return np.asarray(GeneralizedGaussian(order=law.order, scale=law.scale).pdf(x))
    return np.asarray(IntegerGeneralizedGaussian(order=law.order, scale=law.scale).pmf(x.astype(np.int64)))


def plot_plan(plan: Plan, *, unit: str = "unit of the query") -> Figure:
    """Return a figure, as wide as a column of print, of the error of each order that a plan tried.

    Parameters
    ----------
    plan : Plan
        What `ggdp.plan` returned.
    unit : str, default "unit of the query"
        Unit of the error, for the axis label.

    Examples
    --------
    >>> import ggdp
    >>> plan = ggdp.plan(ggdp.ApproxDP(1.0, 0.05), ggdp.Sensitivity.histogram())
    >>> plot_plan(plan, unit="persons").axes[0].get_xscale()
    'log'
    """
    style.require(Plan, plan=plan)
    style.require(str, unit=unit)
    figure, (axes,) = style.new_figure(style.COLUMN_WIDTH, 2.7)
    orders, errors = zip(*plan.curve, strict=True)
    # Orders 1 and 2 have proofs of their own, which may put them off the curve of the others: a few orders are dots.
    dots = "." if len(orders) <= 40 else "none"
    axes.plot(orders, errors, color=style.BLUE, linewidth=1.3, marker=dots, markersize=3.0, zorder=2)
    marked = [(choice, choice.error) for choice in (*plan.alternatives, plan.best) if choice.error is not None]
    # Each color with a marker of its own, for readers who cannot distinguish the colors and for print in gray. Where
    # the best is one of the usual orders, both marks stay in sight.
    marks = {
        "laplace": ("Laplace", "s", style.ORANGE, style.ORANGE, 5.5, 3),
        "gaussian": ("Gaussian", "^", style.GREEN, style.GREEN, 5.5, 3),
        "minkowski": ("Minkowski", "D", style.BLACK, "none", 5.5, 3),
        "best": ("best", "o", style.VERMILION, "none", 8.5, 4),
    }
    for choice, error in marked:
        name, shape, color, inside, size, above = marks[choice.name]
        caption = f"{name}: {rounded_text(error, 4)} (order {rounded_text(choice.order)})"
        (mark,) = axes.plot([choice.order], [error], linestyle="none", marker=shape, markersize=size, label=caption)
        mark.set(markerfacecolor=inside, markeredgecolor=color, markeredgewidth=1.4, zorder=above)
    axes.set_xscale("log")
    style.plain_ticks(axes.xaxis, [1, 2, 5, 10, 20, 50])
    axes.set_xlim(0.93, 54.0)
    # Errors far beyond the marked ones are left out of the picture.
    least, top = min(error for _, error in marked), 1.6 * max(error for _, error in marked)
    span = (min(top, 1.04 * max(*errors, least)) - least) or 1.0
    axes.set_ylim(least - 0.12 * span, least + span)
    measure = str(plan.measure)
    title = f"{measure[0].upper()}{measure[1:]}\n{plan.calibration.goal}"
    style.label(axes, "order of the noise", f"error ({unit})", title)
    style.show_legend(axes, loc="best", handletextpad=0.3, handlelength=1.2)
    return figure


def plot_beliefs(guarantee: Guarantee, priors: Sequence[float] = (0.01, 0.1, 0.5)) -> Figure:
    """Return a figure, as wide as a column of print, of the beliefs after a release against those before it.

    Parameters
    ----------
    guarantee : PureDP, ProbabilisticDP or ApproxDP
        What the release keeps.
    priors : sequence of float, default (0.01, 0.1, 0.5)
        Beliefs that are marked.

    Examples
    --------
    >>> import ggdp
    >>> plot_beliefs(ggdp.PureDP(1.0)).axes[0].get_xlabel()
    'belief before the release (%)'
    """
    figure, (axes,) = style.new_figure(style.COLUMN_WIDTH, 3.1)
    # As in `plot_noise`: the labels are known.
    figure.set_layout_engine("none")
    axes.set_position((0.15, 0.145, 0.82, 0.83))
    # Closer together at the ends, where the curves bend.
    prior = 50.0 * (1.0 - np.cos(np.linspace(0.0, np.pi, 121)))
    fall = np.exp(-guarantee.epsilon)
    with np.errstate(divide="ignore", invalid="ignore"):
        highest = 100.0 * prior / (prior + (100.0 - prior) * fall)
        lowest = 100.0 * prior * fall / (prior * fall + (100.0 - prior))
    axes.fill_between(prior, lowest, highest, color=style.BLUE, alpha=0.14, linewidth=0.0)
    style.curve(axes, prior, highest, 0, "at most, after the release")
    style.curve(axes, prior, lowest, 2, "at least, after the release")
    axes.plot([0, 100], [0, 100], color=style.BLACK, linewidth=0.8, linestyle=(0, (2, 2)), label="nothing learned")
    highest_marked = [100.0 * belief(guarantee, one).highest for one in priors]
    before = [100.0 * one for one in priors]
    axes.plot(before, highest_marked, "o", markersize=5.0, color=style.VERMILION, clip_on=False, zorder=4)
    axes.set(xlim=(0.0, 100.0), ylim=(0.0, 100.0), aspect="equal")
    style.label(axes, "belief before the release (%)", "belief after it (%)")
    style.show_legend(axes, loc="lower right", handlelength=1.8)
    return figure
