"""Draw the figures of the documentation, and the picture of the README.

``python docs/draw_figures.py`` draws the README's picture to docs/_static/readme.svg, which is kept under version
control; the other figures are drawn when the documentation is built.
"""

from __future__ import annotations

import logging
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from matplotlib import rc_context

import ggdp
from ggdp.noise.minkowski_noise import spreads
from ggdp.plots import plot_plan
from ggdp.plots.budget_figures import plot_burn_down
from ggdp.plots.style import BLACK, BLUE, VERMILION, curve, label, new_figure, plain_ticks, show_legend
from ggdp.privacy.beliefs import belief
from ggdp.tables.table_noise import common_total_mechanism
from ggdp_reproduction import comparisons, figures

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Ledgers are made for figures; how their tables are made is no part of the output of a build.
logging.getLogger("alembic").setLevel(logging.WARNING)

DOCS = Path(__file__).parent
EXAMPLES = DOCS / "examples"


def posterior(prior: float, epsilon: float) -> float:
    """Return the largest belief after a release with pure DP."""
    return belief(ggdp.PureDP(epsilon), prior).highest


def plus_minus(epsilon: float, cells: int, neighbours: str = "add-remove") -> int:
    """Return the plus-minus of a count at 95 %, for pure DP and a person in so many cells."""
    counted = {"unit": "person", "max_cells": cells} if cells > 1 else {"unit": "row"}
    domain = {"cell": list(range(100))}
    return ggdp.plan_table("cell", ggdp.PureDP(epsilon), domain, neighbours=neighbours, **counted).half_width


def ten_cells() -> ggdp.Plan:
    """Return the plan for counts of people who are in at most ten cells."""
    return ggdp.plan(ggdp.ApproxDP(1.0, 1e-6), ggdp.Sensitivity.cells(10, 1), support="integer")


def draw_posterior() -> Figure:
    """Return what an attacker believes after a release, by epsilon."""
    figure, (axes,) = new_figure(4.6, 2.8)
    epsilons = np.linspace(0.01, 5.0, 101)
    for style, prior in enumerate((0.5, 0.1, 0.01)):
        beliefs = [100 * posterior(prior, epsilon) for epsilon in epsilons]
        curve(axes, epsilons, beliefs, style, f"{100 * prior:g} % before")
    axes.set_xlim(0, 5)
    axes.set_ylim(0, 100)
    label(axes, "epsilon", "largest belief after, in %")
    show_legend(axes, loc="lower right")
    return figure


def draw_plus_minus() -> Figure:
    """Return the plus-minus of a count by epsilon."""
    figure, (axes,) = new_figure(4.6, 2.8)
    epsilons = [0.05, 0.1, 0.2, 0.5, 1.0, 2.0]
    for style, cells in enumerate((10, 3, 1)):
        halves = [plus_minus(epsilon, cells) for epsilon in epsilons]
        curve(axes, epsilons, halves, style, f"{cells} cell{'s' if cells > 1 else ''} each", marker="o", markersize=3)
    axes.set_xscale("log")
    axes.set_yscale("log")
    plain_ticks(axes.xaxis, epsilons)
    plain_ticks(axes.yaxis, [1, 3, 10, 30, 100, 300])
    label(axes, "epsilon", "plus-minus of a count at 95 %")
    show_legend(axes)
    return figure


def draw_many_tables() -> Figure:
    """Return the standard deviation of a count by the number of tables with two cells, for each kind of noise."""
    figure, (axes,) = new_figure(4.6, 2.8)
    numbers = [1, 2, 3, 5, 10, 20, 50, 100]
    queries = [ggdp.Sensitivity.cells(number, 1) for number in numbers]
    laplace = [ggdp.calibrate(ggdp.PureDP(1.0), query, order=1, support="integer").std for query in queries]
    best = [ggdp.plan(ggdp.ApproxDP(1.0, 1e-6), query, support="integer").best.error for query in queries]
    # A table that may leave out somebody has two free cells, a complete one has one, beside the total.
    hidden, complete = ([spreads((free,) * number, "added", 1.0)[0] for number in numbers] for free in (2, 1))
    pairs = [ggdp.Sensitivity.groups([2] * number, complete=[True] * number) for number in numbers]
    total = [common_total_mechanism(ggdp.ApproxDP(1.0, 1e-6), query).std for query in pairs]
    found = (laplace, best, hidden, complete, total)
    drawn = ("drawn together", "drawn together, complete", "common total, complete, delta 1e-6")
    names = ("independent Laplace", "independent, delta 1e-6", *drawn)
    for style, (errors, name) in enumerate(zip(found, names, strict=True)):
        curve(axes, numbers, errors, style, name, marker="o", markersize=3)
    axes.set_xscale("log")
    axes.set_yscale("log")
    plain_ticks(axes.xaxis, numbers)
    plain_ticks(axes.yaxis, [1, 3, 10, 30, 100])
    label(axes, "tables with two cells", "standard deviation of a count")
    show_legend(axes)
    return figure


def page_figures() -> dict[str, Figure]:
    """Return the figures of the pages by their names."""
    orders = np.linspace(1.0, 10.0, 37)
    tails = comparisons.tail_probabilities(1.0, 0.05, np.linspace(0.0, 11.0, 331))
    scales = [comparisons.scales_by_order(orders, epsilon, 0.05) for epsilon in (0.5, 1.0, 2.0)]
    box = comparisons.scales_by_order([2, 3, 4, 5, 6], 1.0, 0.05, comparisons.PAPER_BOX)
    losses = comparisons.exponential_losses(np.geomspace(1.0, 10.0, 60), 1.0, bounds=(0.0, 10.0))
    # As the page's command releases it: from no seed, since what comes from a seed is called not private.
    means = ggdp.release_table(
        EXAMPLES / "incomes.csv",
        by="region",
        goal=ggdp.PureDP(1.0),
        unit="row",
        domain=EXAMPLES / "incomes.toml",
        statistics=[ggdp.Mean("income")],
    )
    smoking = ggdp.release_table(
        EXAMPLES / "workers.csv",
        by=["smoking", "systolic_bp"],
        goal=ggdp.PureDP(1.0),
        unit="row",
        domain=EXAMPLES / "workers.toml",
    )
    year = ggdp.Ledger.create(f"{tempfile.mkdtemp()}/people.ledger", ggdp.PureDP(3.0))
    for month in range(1, 13):
        year.charge(ggdp.PureDP(0.6 if month == 6 else 0.2, "add-remove"))
    return {
        "burn-down": plot_burn_down(year),
        "smoking": smoking.plot(),
        "posterior": draw_posterior(),
        "plus-minus": draw_plus_minus(),
        "many-tables": draw_many_tables(),
        "orders": plot_plan(ten_cells(), unit="persons"),
        "means": means.plot(),
        "densities": figures.plot_densities(),
        "tails": figures.plot_tails(tails),
        "tail-ratio": figures.plot_tail_ratio(),
        "same-tail": figures.plot_same_tail(),
        "dispersion": figures.plot_dispersion(),
        "gaussian-bounds": figures.plot_gaussian_bounds(),
        "scales": figures.plot_scales(scales),
        "scales-box": figures.plot_scales([box]),
        "exponential": figures.plot_exponential_loss(losses),
        "bounded": figures.plot_bounded_errors(comparisons.bounded_errors(2, 1.0, (0.0, 10.0))),
    }


def draw_pages(directory: Path) -> None:
    """Draw the figures of the pages into a directory."""
    directory.mkdir(exist_ok=True)
    # Neither dates nor random names: the same code gives the same files, but for the noise of the tables.
    with rc_context({"svg.hashsalt": "ggdp"}):
        for name, figure in page_figures().items():
            figure.savefig(directory / f"{name}.svg", metadata={"Date": None})


def draw_readme() -> Figure:
    """Return the README's picture: a table, the order of its noise, and a budget."""
    figure, (table, order, budget) = new_figure(9.6, 2.9, panels=3)
    _published_means(table)
    _error_by_order(order)
    _budget(budget)
    return figure


def _published_means(axes: Axes) -> None:
    release = ggdp.release_table(
        EXAMPLES / "incomes.csv",
        by="region",
        goal=ggdp.PureDP(1.0),
        unit="row",
        domain=EXAMPLES / "incomes.toml",
        statistics=[ggdp.Mean("income")],
    )
    rows = release.to_arrow().to_pylist()
    places = range(len(rows))
    means = np.array([row["mean_income"] or np.nan for row in rows]) / 1000
    ends = np.array([[row["mean_income_lower"], row["mean_income_upper"]] for row in rows]) / 1000
    axes.barh(places, means, color=BLUE, alpha=0.35, height=0.62)
    axes.hlines(places, ends[:, 0], ends[:, 1], color=BLUE, linewidth=2.2)
    axes.plot(means, places, "o", color=BLUE, markersize=4)
    axes.set_yticks(places, [f"{row['region']}\n{row['count']:,} people" for row in rows])
    axes.invert_yaxis()
    axes.set_xlim(left=0)
    label(axes, "mean income in thousands, with 95 % intervals", "", "Publish: means by region, epsilon = 1")
    axes.yaxis.grid(visible=False)


def _error_by_order(axes: Axes) -> None:
    plan = ggdp.plan(ggdp.ApproxDP(1.0, 1e-6), ggdp.Sensitivity.cells(1000, 1), measure="max")
    orders, errors = zip(*plan.curve, strict=True)
    axes.plot(orders, errors, color=BLUE, linewidth=1.3)
    for choice in (*plan.alternatives, plan.best):
        if choice.name not in ("laplace", "gaussian", "best"):
            continue
        best = choice.name == "best"
        axes.plot(choice.order, choice.error, "o", color=VERMILION if best else BLACK, markersize=5)
        name = f"best: order {choice.order:.3g}" if best else choice.name.capitalize()
        above = {"xytext": (0, -13), "ha": "center"} if best else {"xytext": (7, 3), "ha": "left"}
        axes.annotate(name, (choice.order, choice.error), textcoords="offset points", fontsize=7.5, **above)
    axes.set_xscale("log")
    plain_ticks(axes.xaxis, [1, 2, 4, 8])
    axes.set_xlim(0.93, 10)
    axes.set_ylim(0, 1.12 * max(choice.error for choice in plan.alternatives if choice.name == "laplace"))
    label(axes, "order of the noise", "largest error over 1,000 cells", "Plan: the noise with the least error")


def _budget(axes: Axes) -> None:
    ledger = ggdp.Ledger.create(f"{tempfile.mkdtemp()}/people.ledger", ggdp.PureDP(3.0))
    for epsilon in (0.5, 0.25, 0.5, 0.25, 1.0, 0.25):
        ledger.charge(ggdp.PureDP(epsilon, "add-remove"))
    left = ledger.burn_down()
    axes.step(range(len(left)), left, where="post", color=BLUE, linewidth=1.6)
    axes.fill_between(range(len(left)), left, step="post", color=BLUE, alpha=0.15)
    axes.plot(len(left) - 1, left[-1], "o", color=VERMILION, markersize=5)
    axes.annotate(
        f"{left[-1]:g} is left:\na release\nof 0.5 is\nrefused",
        (len(left) - 1, left[-1]),
        xytext=(7, -3),
        textcoords="offset points",
        ha="left",
        fontsize=7.5,
    )
    axes.set_xlim(0, len(left) + 1.4)
    axes.set_ylim(0, 3.15)
    label(axes, "releases", "epsilon left", "Budget: charged before a row is read")


if __name__ == "__main__":
    with rc_context({"svg.hashsalt": "ggdp", "savefig.facecolor": "white"}):
        draw_readme().savefig(DOCS / "_static" / "readme.svg", metadata={"Date": None})
