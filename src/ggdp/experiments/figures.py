"""The figures of the paper's Sections 2 and 3, each with the numbers it is drawn from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ggdp import comparisons, plots
from ggdp.experiments.results import Drawing
from ggdp.experiments.svg import inline_svg
from ggdp.plots.style import BLACK, DOUBLE_WIDTH, LINES, SIZE, SMALL, curve, label, new_figure, numeral

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from matplotlib.figure import Figure

    from ggdp.experiments.bounds import LowerBounds
    from ggdp.experiments.results import Row

__all__ = ["bounds_drawing", "drawing", "plot_lower_bounds", "theory_drawings"]

MARKERS = ("o", "s", "^", "D")


def drawing(
    key: str, figure: Figure, *, title: str, caption: str, place: str, rows: list[Row] | None = None
) -> Drawing:
    """Return a figure of the report; what it shows is also what a reader who cannot see it is told."""
    return Drawing(
        key=key,
        title=title,
        caption=caption,
        place=place,
        svg=inline_svg(figure, key, title, caption),
        rows=rows or [],
    )


def theory_drawings(progress: Callable[[int, int], None] | None = None) -> list[Drawing]:
    """Return the figures that need no experiment: the paper's Figs. 1, 3, 4 and 5, and three more.

    Examples
    --------
    >>> [found.key for found in theory_drawings()][:3]
    ['densities', 'bounded', 'exponential']
    """
    made = (_densities, _bounded, _exponential, _gaussian_bounds, _tail_ratio, _same_tail, _dispersion)
    found = []
    for make in made:
        found.append(make())
        if progress is not None:
            progress(len(found), len(made))
    return found


def _densities() -> Drawing:
    families = comparisons.paper_densities()
    rows: list[Row] = [
        {"shared": family.shared, "order": float(order), "scale": float(scale), "x": float(x), "density": float(y)}
        for family in families
        for order, scale, line in zip(family.orders, family.scales, family.densities, strict=True)
        for x, y in zip(family.x, line, strict=True)
    ]
    return drawing(
        "densities",
        plots.plot_densities(families),
        title="Densities of the generalized Gaussian family",
        caption="At the same scale, the square root of 2 (left), and at the same variance, 1 (right). The higher the "
        "order, the flatter the top and the shorter the tails.",
        place="The paper's Fig. 1",
        rows=rows,
    )


def _bounded() -> Drawing:
    found = comparisons.bounded_errors(2, 1.0, (0.0, 10.0))
    rows: list[Row] = [
        {"law": name, "order": 2.0, "scale": errors.scale, "value": float(s), "bias": float(bias), "std": float(std)}
        for name, errors in (("truncated", found.truncated), ("boundary-inflated", found.boundary_inflated))
        for s, bias, std in zip(found.location, errors.bias, errors.std, strict=True)
    ]
    return drawing(
        "bounded",
        plots.plot_bounded_errors(found),
        title="Noise kept in bounds: truncated against boundary inflated",
        caption="Order 2 on [0, 10] at epsilon = 1, each at its least scale for pure DP. Neither is better at every "
        "true value.",
        place="Beside the paper's Defs. 5 and 6",
        rows=rows,
    )


def _exponential() -> Drawing:
    found = comparisons.exponential_losses(np.geomspace(1.0, 10.0, 60), 1.0, bounds=(0.0, 10.0))
    rows: list[Row] = [
        {"order": float(p), "utility_sensitivity": float(u), "scale": float(b), "loss": float(loss)}
        for p, u, b, loss in zip(found.orders, found.utility_sensitivity, found.scale, found.loss, strict=True)
    ]
    return drawing(
        "exponential",
        plots.plot_exponential_loss(found),
        title="What the Exponential mechanism really costs",
        caption="The true loss of the Exponential mechanism with the utility -|s* - s|^p on [0, 10], with its exact "
        f"sensitivity: at most {float(found.loss.max()):.2f} where the nominal epsilon is 1, and below one half from "
        f"order {float(found.orders[np.argmax(found.below_half)]):.2f} on.",
        place="Beside the paper's Section 2.7 and Cor. 12",
        rows=rows,
    )


def _gaussian_bounds() -> Drawing:
    deltas = np.geomspace(1e-8, 0.499, 61)
    found = [comparisons.gaussian_bounds(epsilon, deltas) for epsilon in (0.1, 0.5, 0.9)]
    rows: list[Row] = [
        {
            "epsilon": float(one.epsilon[place]),
            "delta": float(one.delta[place]),
            "lemma_10": float(one.paper[place]),
            "tight_pdp": float(one.tight_pdp[place]),
            "classic_adp": float(one.classic[place]),
            "tight_adp": float(one.analytic[place]),
        }
        for one in found
        for place in range(deltas.size)
    ]
    return drawing(
        "gaussian-bounds",
        plots.plot_gaussian_bounds(found),
        title="Bounds on the standard deviation of Gaussian noise",
        caption="Four bounds at epsilon = 0.5 (left); the ratio of the paper's pDP bound to the classic aDP bound, "
        "which is always below 1 (middle); the same ratio of the least values, which is always above 1 (right).",
        place="The paper's Fig. 3 (middle), with the least values beside it",
        rows=rows,
    )


def _tail_ratio() -> Drawing:
    found = comparisons.paper_tails()
    rows: list[Row] = [
        {
            "epsilon": float(one.epsilon),
            "delta": float(one.delta),
            "t": float(one.t[place]),
            "log_laplace": float(one.log_laplace[place]),
            "log_gaussian": float(one.log_gaussian[place]),
            "log_ratio": float(one.log_ratio[place]),
        }
        for one in found
        for place in range(one.t.size)
    ]
    return drawing(
        "tail-ratio",
        plots.plot_tail_ratio(found),
        title="Ratio of the tail probabilities, Laplace to Gaussian",
        caption="From 1 at t = 0 every ratio falls, turns, and exceeds 1 in the end: then Laplace noise strays more "
        "often. Grey where both tails are below 1e-4.",
        place="The paper's Fig. 4",
        rows=rows,
    )


def _same_tail() -> Drawing:
    found = comparisons.paper_same_tails()
    rows: list[Row] = [
        {
            "epsilon_1": float(one.epsilon),
            "delta": float(one.delta),
            "t": float(one.t[place]),
            "log_tail": float(one.log_tail[place]),
            "ratio": float(one.ratio[place]),
        }
        for one in found
        for place in range(one.t.size)
    ]
    return drawing(
        "same-tail",
        plots.plot_same_tail(found),
        title="Privacy cost of the same tail, Gaussian to Laplace",
        caption="The epsilon at which Gaussian noise (Lemma 10) exceeds t as often as Laplace noise, over that of the "
        "Laplace noise. It is smaller at a larger delta. Grey where the tail is below 1e-4.",
        place="The paper's Fig. 5",
        rows=rows,
    )


def _dispersion() -> Drawing:
    epsilons = np.linspace(0.02, 5.0, 250)
    edges = {name: comparisons.delta_of_equal_variance(epsilons, name) for name in ("paper", "tight-pdp", "analytic")}
    rows: list[Row] = [
        {"epsilon": float(epsilons[place]), **{name: float(edge[place]) for name, edge in edges.items()}}
        for place in range(epsilons.size)
    ]
    return drawing(
        "dispersion",
        plots.plot_dispersion(),
        title="Which noise varies more, Gaussian or Laplace",
        caption="The ratio of variances with the Gaussian noise of Lemma 10 (left), and the delta below which "
        "Gaussian noise varies more than Laplace noise, by three calibrations (right). Lemma 11's 0.157 is marked.",
        place="Beside the paper's Lemma 11",
        rows=rows,
    )


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
    >>> from ggdp.experiments.bounds import LowerBounds
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
    legend_above(figure, list(_named(panels[-1])))
    figure.supxlabel("order of the noise", fontsize=SIZE)
    return figure


def _named(axes: object) -> Iterator[tuple[object, str]]:
    lines, names = axes.get_legend_handles_labels()  # type: ignore[attr-defined]
    yield from zip(lines, names, strict=True)


def legend_above(figure: Figure, entries: list[tuple[object, str]], columns: int = 6) -> None:
    """Show one legend for all panels, above them, where nothing can be in its way."""
    lines, names = zip(*entries, strict=True)
    figure.legend(
        lines,
        names,
        loc="outside upper center",
        ncols=min(columns, len(names)),
        fontsize=SMALL,
        frameon=False,
        handlelength=2.4,
    )
