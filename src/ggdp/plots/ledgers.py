"""What remains of a budget after each release."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ggdp.plots.style import BLUE, COLUMN_WIDTH, FAINT, SMALL, VERMILION, label, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ggdp.ledger import Ledger
    from ggdp.ledger.readable_ledger import WhatIf

__all__ = ["plot_burn_down"]

MOST_FURTHER = 12


def plot_burn_down(ledger: Ledger, *, what_if: WhatIf | None = None) -> Figure:
    """Return a figure, as wide as a column of print, of the epsilon that is left after each entry.

    With accounting by Renyi divergences it is what the epsilon of the budget has above the least that would have
    allowed the releases; with reserved laws, the uses that are left.

    Parameters
    ----------
    ledger : Ledger
        The ledger.
    what_if : WhatIf, optional
        Further releases, drawn as a dashed line: what `ReadableLedger.what_if` returned. At most 12 of them.

    Examples
    --------
    >>> import ggdp, tempfile
    >>> ledger = ggdp.Ledger.create(tempfile.mkdtemp() + "/people.ledger", ggdp.PureDP(1.0))
    >>> entry = ledger.charge(ggdp.PureDP(0.25, "add-remove"))
    >>> plot_burn_down(ledger).axes[0].get_ylabel()
    'epsilon left'
    """
    left = ledger.burn_down()
    figure, (axes,) = new_figure(COLUMN_WIDTH, 2.4)
    from matplotlib.ticker import MaxNLocator

    reserved = ledger.accounting == "reserved"
    axes.step(range(len(left)), left, where="post", color=BLUE, linewidth=1.3)
    axes.plot([len(left) - 1], [left[-1]], marker="o", markersize=4.0, color=BLUE)
    axes.axhline(0.0, color=FAINT, linewidth=0.8)
    further = [] if what_if is None else [left[-1], *what_if.left[:MOST_FURTHER]]
    if len(further) > 1:
        places = range(len(left) - 1, len(left) - 1 + len(further))
        axes.step(places, further, where="post", color=VERMILION, linewidth=1.3, linestyle=(0, (3, 1.5)), zorder=1.5)
        axes.plot(
            places[1:], further[1:], "o", markersize=3.5, markerfacecolor="none", color=VERMILION, label="what if"
        )
        axes.legend(fontsize=SMALL, frameon=False, loc="upper right")
    # The last mark is drawn whole.
    axes.set_xlim(0, 1.02 * max(len(left) - 2 + max(len(further), 1), 1))
    axes.set_ylim(bottom=0.0)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    label(axes, "entries", "uses left" if reserved else "epsilon left", f"Budget ({ledger.unit}): {ledger.budget}")
    return figure
