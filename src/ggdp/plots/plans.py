"""Error against order: what a plan chose between."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ggdp.errors import MissingExtraError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ggdp.planning import Plan

__all__ = ["plot_plan"]

# Okabe and Ito's colours, each with a marker of its own: told apart by everybody, in print too.
MARKS = {"laplace": ("s", "#E69F00"), "gaussian": ("^", "#009E73"), "best": ("o", "#D55E00")}
CURVE = "#0072B2"
# Errors beyond this many times the largest of the marked ones are left out of the picture.
HEADROOM = 1.6
# So few orders that each can be shown as a dot.
FEW = 40
COLUMN_WIDTH = 3.5
SIZE = 8.0


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
    try:
        from matplotlib.figure import Figure
        from matplotlib.ticker import FixedLocator, NullFormatter, ScalarFormatter
    except ImportError:
        message = "plots need matplotlib: pip install 'ggdp[plots]'"
        raise MissingExtraError(message) from None
    figure = Figure(figsize=(COLUMN_WIDTH, 2.7), layout="constrained")
    axes = figure.add_subplot()
    orders, errors = zip(*plan.curve, strict=True)
    # Order 1 and 2 have proofs of their own, which may put them off the curve of the others.
    dots = "." if len(orders) <= FEW else "none"
    axes.plot(orders, errors, color=CURVE, linewidth=1.3, marker=dots, markersize=3.0, zorder=2)
    marked = [(choice, choice.error) for choice in (*plan.alternatives, plan.best) if choice.error is not None]
    for choice, error in marked:
        shape, colour = MARKS[choice.name]
        name = {"laplace": "Laplace", "gaussian": "Gaussian", "best": "best"}[choice.name]
        label = f"{name}: {error:.4g} (order {choice.order:.3g})"
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
            label=label,
            zorder=4 if choice.name == "best" else 3,
        )
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(FixedLocator([1, 2, 5, 10, 20, 50]))
    axes.xaxis.set_major_formatter(ScalarFormatter())
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xlim(0.93, 54.0)
    least, top = min(error for _, error in marked), HEADROOM * max(error for _, error in marked)
    span = (min(top, 1.04 * max(errors)) - least) or 1.0
    axes.set_ylim(least - 0.12 * span, least + span)
    axes.set_xlabel("order of the noise", fontsize=SIZE)
    axes.set_ylabel(f"error ({unit})", fontsize=SIZE)
    title = str(plan.measure)
    axes.set_title(f"{title[0].upper()}{title[1:]}\n{plan.calibration.goal}", loc="left", fontsize=SIZE)
    axes.tick_params(labelsize=SIZE - 1.0)
    axes.spines[["top", "right"]].set_visible(False)
    axes.yaxis.grid(visible=True, color="0.9")
    axes.set_axisbelow(True)
    axes.legend(fontsize=SIZE - 1.0, frameon=False, loc="best", handletextpad=0.3)
    return figure
