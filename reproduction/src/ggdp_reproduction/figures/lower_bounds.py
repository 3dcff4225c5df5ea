"""The paper's Fig. 2: the least scale by Cor. 7 over order, epsilon and delta."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ggdp.plots.style import BLACK, DOUBLE_WIDTH, LINES, SIZE, curve, label, new_figure, numeral
from ggdp_reproduction.figures.drawings import drawing, legend_above

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ggdp_reproduction.experiments.lower_bounds import LowerBounds
    from ggdp_reproduction.results import Drawing

__all__ = ["bounds_drawing", "plot_lower_bounds"]

MARKERS = ("o", "s", "^", "D")


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


def plot_lower_bounds(bounds: LowerBounds) -> Figure:
    r"""Return a figure of the scales over the order, a panel an epsilon, a line a delta.

    Examples
    --------
    >>> from ggdp_reproduction.experiments.lower_bounds import LowerBounds
    >>> row = {"order": 2, "epsilon": 1.0, "delta": 0.05, "convolution": 3.2583, "least_adp": 1.9, "monte_carlo": 3.26}
    >>> row |= {"monte_carlo_lower": 3.25, "monte_carlo_upper": 3.27}
    >>> figure = plot_lower_bounds(LowerBounds(draws=1000, rows=(row,)))
    >>> [axes.get_title(loc="left") for axes in figure.axes]
    ['$\\varepsilon$ = 1']
    """
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
                marker=MARKERS[number % len(MARKERS)],
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
