"""Error against order, for the orders that a plan tried."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ggdp._rounding import rounded_text
from ggdp.planning import Plan
from ggdp.plots.style import (
    BLUE,
    COLUMN_WIDTH,
    GREEN,
    ORANGE,
    VERMILION,
    label,
    new_figure,
    plain_ticks,
    required,
    show_legend,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["plot_plan"]

# Each colour with a marker of its own, for those who cannot tell the colours and for print in grey.
MARKS = {"laplace": ("s", ORANGE), "gaussian": ("^", GREEN), "best": ("o", VERMILION)}
# Errors beyond this many times the largest of the marked ones are left out of the picture.
HEADROOM = 1.6
# So few orders that each can be shown as a dot.
FEW = 40


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
    required(Plan, plan=plan)
    required(str, unit=unit)
    figure, (axes,) = new_figure(COLUMN_WIDTH, 2.7)
    orders, errors = zip(*plan.curve, strict=True)
    # Order 1 and 2 have proofs of their own, which may put them off the curve of the others.
    dots = "." if len(orders) <= FEW else "none"
    axes.plot(orders, errors, color=BLUE, linewidth=1.3, marker=dots, markersize=3.0, zorder=2)
    marked = [(choice, choice.error) for choice in (*plan.alternatives, plan.best) if choice.error is not None]
    for choice, error in marked:
        shape, colour = MARKS[choice.name]
        name = {"laplace": "Laplace", "gaussian": "Gaussian", "best": "best"}[choice.name]
        caption = f"{name}: {rounded_text(error, 4)} (order {rounded_text(choice.order)})"
        # Where the best is one of the usual orders, both marks stay in sight.
        size, inside = (8.5, "none") if choice.name == "best" else (5.5, colour)
        axes.plot(
            [choice.order],
            [error],
            linestyle="none",
            marker=shape,
            markersize=size,
            markerfacecolor=inside,
            markeredgecolor=colour,
            markeredgewidth=1.4,
            label=caption,
            zorder=4 if choice.name == "best" else 3,
        )
    axes.set_xscale("log")
    plain_ticks(axes.xaxis, [1, 2, 5, 10, 20, 50])
    axes.set_xlim(0.93, 54.0)
    least, top = min(error for _, error in marked), HEADROOM * max(error for _, error in marked)
    span = (min(top, 1.04 * max(errors)) - least) or 1.0
    axes.set_ylim(least - 0.12 * span, least + span)
    title = str(plan.measure)
    label(axes, "order of the noise", f"error ({unit})", f"{title[0].upper()}{title[1:]}\n{plan.calibration.goal}")
    show_legend(axes, loc="best", handletextpad=0.3, handlelength=1.2)
    return figure
