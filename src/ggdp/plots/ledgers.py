"""What remains of a budget after each release."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ggdp.plots.style import BLUE, COLUMN_WIDTH, FAINT, label, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ggdp.ledger import Ledger

__all__ = ["plot_burn_down"]


def plot_burn_down(ledger: Ledger) -> Figure:
    """Return a figure, as wide as a column of print, of the epsilon that is left after each entry.

    With accounting by Renyi divergences it is what the epsilon of the budget has above the least that would have
    allowed the releases; with reserved laws, the uses that are left.

    Parameters
    ----------
    ledger : Ledger
        The ledger.

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
    # The last mark is drawn whole.
    axes.set_xlim(0, 1.02 * max(len(left) - 1, 1))
    axes.set_ylim(bottom=0.0)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    whole = ledger.budget.to_dict()
    title = f"Budget of one {ledger.unit}: epsilon = {whole['epsilon']:g}, delta = {whole['delta']:g}"
    label(axes, "entries", "uses left" if reserved else "epsilon left", title)
    return figure
