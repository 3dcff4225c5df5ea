"""Budgets: delta against epsilon for the total of several releases, and what remains after each release."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ggdp._rounding import number_of, rounded_up_text
from ggdp.accounting import Composition
from ggdp.accounting.totals import TotalLoss
from ggdp.plots.style import BLUE, COLUMN_WIDTH, FAINT, SMALL, VERMILION, label, new_figure, require

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ggdp.ledger import Ledger
    from ggdp.ledger.ledger import WhatIf


# The smallest delta, and the most further releases that are drawn.
LEAST_DELTA, MOST_FURTHER = 1e-12, 12


def plot_composition(composition: Composition) -> Figure:
    """Return a figure of delta against epsilon: both bounds of the total, the plain sum, and each part alone."""
    require(Composition, composition=composition)
    figure, (axes,) = new_figure(COLUMN_WIDTH, 3.3)
    basic = composition.basic
    epsilons, lower, upper = _curve(composition.total, 1.04 * basic.epsilon, 25)
    axes.fill_between(epsilons, lower, upper, color=BLUE, alpha=0.3, linewidth=0.0, zorder=2)
    axes.plot(epsilons, upper, color=BLUE, linewidth=1.6, zorder=3, label="all together, both bounds")
    numbers = f"({rounded_up_text(basic.epsilon)}, {rounded_up_text(basic.delta)})"
    least = max(basic.delta, LEAST_DELTA)
    (plain,) = axes.plot([basic.epsilon] * 2, [least, upper[0]], color=VERMILION, linewidth=1.2, linestyle="--")
    plain.set(marker="D", markevery=[0], markersize=4.5, clip_on=False, zorder=4, label=f"plain sum, {numbers}")
    # More than 12 parts cannot be distinguished in the picture.
    for number, losses in enumerate(list(dict.fromkeys(part.losses for part in composition.parts))[:12]):
        x, _, y = _curve(TotalLoss.of(losses), 1.04 * basic.epsilon, 13)
        axes.plot(x, y, color=FAINT, linewidth=1.0, zorder=1, label="each release alone" if number == 0 else "_")
    axes.set_yscale("log")
    axes.set_ylim(LEAST_DELTA, 1.6 * upper[0])
    axes.set_xlim(0.0, 1.04 * basic.epsilon)
    releases = number_of(sum(part.count for part in composition.parts), "release")
    label(axes, x="epsilon", y="delta", title=f"{releases} of the same people")
    figure.legend(loc="outside lower left", fontsize=SMALL, frameon=False, handlelength=2.4, ncols=2)
    return figure


def _curve(total: TotalLoss, end: float, points: int) -> tuple[list[float], list[float], list[float]]:
    """Return epsilons from 0 up to `end`, with both bounds of delta, as far as it is drawn."""
    found = []
    for k in range(points):
        # Closer together at the left, where single releases are.
        epsilon = end * (k / (points - 1)) ** 1.5
        below, above = total.delta(epsilon, refine=False)
        found.append((epsilon, max(below, LEAST_DELTA**2), max(above, LEAST_DELTA**2)))
        if above < LEAST_DELTA:
            break
    epsilons, lower, upper = map(list, zip(*found, strict=True))
    return epsilons, lower, upper


def plot_burn_down(ledger: Ledger, *, what_if: WhatIf | None = None) -> Figure:
    """Return a figure of the epsilon that is left after each entry; further releases are a dashed line.

    With accounting by Renyi divergences it is what the epsilon of the budget has above the least that would have
    allowed the releases; with reserved laws, the uses that are left.
    """
    left = ledger.burn_down()
    figure, (axes,) = new_figure(COLUMN_WIDTH, 2.4)
    from matplotlib.ticker import MaxNLocator

    axes.step(range(len(left)), left, where="post", color=BLUE, linewidth=1.3)
    axes.plot([len(left) - 1], [left[-1]], marker="o", markersize=4.0, color=BLUE)
    axes.axhline(0.0, color=FAINT, linewidth=0.8)
    further = [] if what_if is None else [left[-1], *what_if.left[:MOST_FURTHER]]
    if len(further) > 1:
        places = range(len(left) - 1, len(left) - 1 + len(further))
        axes.step(places, further, where="post", color=VERMILION, linewidth=1.3, linestyle=(0, (3, 1.5)), zorder=1.5)
        (marks,) = axes.plot(places[1:], further[1:], "o", color=VERMILION, label="what if")
        marks.set(markersize=3.5, markerfacecolor="none")
        axes.legend(fontsize=SMALL, frameon=False, loc="upper right")
    # The last mark is drawn whole.
    axes.set_xlim(0, 1.02 * max(len(left) - 2 + max(len(further), 1), 1))
    axes.set_ylim(bottom=0.0)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    kept = "uses left" if ledger.accounting == "reserved" else "epsilon left"
    label(axes, "entries", kept, f"Budget ({ledger.unit}): {ledger.budget}")
    return figure
