"""Scale and standard deviation over the order of the noise, by the paper's bound and the least."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ggdp.plots.style import BLACK, DOUBLE_WIDTH, LINES, curve, label, new_figure, numeral, show_legend
from ggdp_reproduction.checks import one_or_more
from ggdp_reproduction.comparisons import ScaleComparison

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

__all__ = ["plot_scales"]

BOUNDS = {"paper": "paper, pDP", "pdp": "least, pDP", "adp": "least, aDP"}
# A marker for each goal, and on how many points of a curve at most.
MARKERS = ("o", "s", "^", "D", "v", "P")
MARKED = 8


def plot_scales(comparisons: ScaleComparison | Sequence[ScaleComparison]) -> Figure:
    """Return a figure of scales (left) and standard deviations (right) over the order of the noise.

    A goal is a colour and a marker, a bound is a pattern.

    Parameters
    ----------
    comparisons : ScaleComparison or sequence of them
        What `ggdp_reproduction.comparisons.scales_by_order` returned, one goal each.

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
        for number, bound in enumerate(BOUNDS):
            scales = getattr(found, bound)
            look["markerfacecolor"] = "white" if bound == "pdp" else look["color"]
            curve(left, found.orders, scales, number, **look)
            curve(right, found.orders, found.std(scales), number, **look)
        name = f"$\\varepsilon$ = {numeral(found.epsilon)}, $\\delta$ = {numeral(found.delta)}"
        left.plot([], [], **look, linestyle="none", label=name)
    for number, name in enumerate(BOUNDS.values()):
        curve(right, [], [], number, name, color=BLACK)
    label(left, "order of the noise", "scale $b$ (units of the query)")
    label(right, "order of the noise", "standard deviation (units of the query)")
    for axes in (left, right):
        axes.set_ylim(bottom=0.0)
        axes.margins(x=0.02)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        show_legend(axes, loc="upper left")
    return figure
