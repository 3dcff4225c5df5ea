"""Delta against epsilon for the total of several releases."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ggdp._rounding import rounded_up_text
from ggdp.composition import Composition
from ggdp.composition.total import TotalLoss
from ggdp.plots.style import BLUE, COLUMN_WIDTH, FAINT, SMALL, VERMILION, label, new_figure, required

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["plot_composition"]

# The smallest delta that is drawn, and how many points a curve has.
LEAST_DELTA = 1e-12
POINTS, PART_POINTS = 25, 13
# More parts than these are not told apart in the picture.
MOST_PARTS = 12


def plot_composition(composition: Composition) -> Figure:
    """Return a figure of delta against epsilon: both bounds of the total, the plain sum, and each part alone.

    Parameters
    ----------
    composition : Composition
        What `ggdp.compose` returned.

    Examples
    --------
    >>> import ggdp
    >>> total = ggdp.compose([(ggdp.PureDP(0.1), 12), ggdp.ApproxDP(0.5, 1e-7)])
    >>> plot_composition(total).axes[0].get_yscale()
    'log'
    """
    required(Composition, composition=composition)
    figure, (axes,) = new_figure(COLUMN_WIDTH, 3.3)
    basic = composition.basic
    epsilons, lower, upper = _curve(composition.total, 1.04 * basic.epsilon, POINTS)
    axes.fill_between(epsilons, lower, upper, color=BLUE, alpha=0.3, linewidth=0.0, zorder=2)
    axes.plot(epsilons, upper, color=BLUE, linewidth=1.6, zorder=3, label="all together, both bounds")
    numbers = f"({rounded_up_text(basic.epsilon)}, {rounded_up_text(basic.delta)})"
    axes.plot(
        [basic.epsilon] * 2,
        [max(basic.delta, LEAST_DELTA), upper[0]],
        color=VERMILION,
        linewidth=1.2,
        linestyle="--",
        marker="D",
        markevery=[0],
        markersize=4.5,
        clip_on=False,
        zorder=4,
        label=f"plain sum, {numbers}",
    )
    for number, losses in enumerate(list(dict.fromkeys(part.losses for part in composition.parts))[:MOST_PARTS]):
        x, _, y = _curve(TotalLoss.of(losses), 1.04 * basic.epsilon, PART_POINTS)
        axes.plot(x, y, color=FAINT, linewidth=1.0, zorder=1, label="each release alone" if number == 0 else "_")
    axes.set_yscale("log")
    axes.set_ylim(LEAST_DELTA, 1.6 * upper[0])
    axes.set_xlim(0.0, 1.04 * basic.epsilon)
    label(axes, x="epsilon", y="delta", title=_title(composition))
    figure.legend(loc="outside lower left", fontsize=SMALL, frameon=False, handlelength=2.4, ncols=2)
    return figure


def _curve(total: TotalLoss, end: float, points: int) -> tuple[list[float], list[float], list[float]]:
    """Return epsilons from 0 up to `end`, with both bounds of delta, as far as it is drawn."""
    epsilons, lower, upper = [], [], []
    for k in range(points):
        # Closer together at the left, where single releases are.
        epsilon = end * (k / (points - 1)) ** 1.5
        below, above = total.rough_delta(epsilon)
        epsilons.append(epsilon)
        lower.append(max(below, LEAST_DELTA**2))
        upper.append(max(above, LEAST_DELTA**2))
        if above < LEAST_DELTA:
            break
    return epsilons, lower, upper


def _title(composition: Composition) -> str:
    number = sum(part.count for part in composition.parts)
    return f"{number:,} {'release' if number == 1 else 'releases'} of the same people"
