"""Noise against what is cut off, for each number of cells that a unit may be counted in. NOT private."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ggdp.plots.intervals import with_minus
from ggdp.plots.style import BLACK, BLUE, COLUMN_WIDTH, GREEN, SMALL, VERMILION, label, new_figure
from ggdp.plots.text import add_title, in_fonts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.figure import Figure

__all__ = ["plot_max_cells"]

_TITLE = "NOT PRIVATE: for the steward alone"


def plot_max_cells(table: Mapping[str, Any], *, unit: str = "units") -> Figure:
    """Return a figure of what each `max_cells` costs: the plus-minus of a count, and what is cut from it on average.

    Parameters
    ----------
    table : mapping
        One of `TableCheck.units.tables`, made by `ggdp.check_table`.
    unit : str, default "units"
        What is counted.

    Examples
    --------
    >>> import ggdp, pyarrow
    >>> visits = pyarrow.table({"person": [1, 1, 2, 3], "ward": ["a", "b", "a", "c"]})
    >>> found = ggdp.check_table(visits, by="ward", domain={"ward": ["a", "b", "c"]}, unit="person")
    >>> plot_max_cells(found.units.tables[0], unit="persons").axes[0].get_ylabel()
    'persons in a cell'
    """
    choices = table["choices"]
    limits = [choice["max_cells"] for choice in choices]
    noise = [choice["plus_minus"] for choice in choices]
    cut = [choice["cut"] for choice in choices]
    both = [first + second for first, second in zip(noise, cut, strict=True)]
    figure, (axes,) = new_figure(COLUMN_WIDTH, 2.8)
    # Places rather than a logarithmic axis: the candidates are 1, 2, 3, 5, 10, ..., which is nearly the same.
    places = list(range(len(limits)))
    axes.plot(places, both, color=BLACK, linewidth=1.6, marker="o", markersize=3.5, label="together", zorder=3)
    axes.plot(places, noise, color=BLUE, linewidth=1.3, marker="s", markersize=3.5, label="noise: plus-minus at 95%")
    axes.plot(
        places, cut, color=VERMILION, linewidth=1.3, linestyle=(0, (5, 1.6)), marker="^", markersize=4.0,
        label="cut off, on average",
    )  # fmt: skip
    best = limits.index(table["recommended"])
    axes.plot(
        [best], [both[best]], "o", markersize=10.0, markerfacecolor="none", markeredgecolor=GREEN, markeredgewidth=1.6,
        linestyle="none", label=f"least of both together: {limits[best]:,}", zorder=4,
    )  # fmt: skip
    axes.set_ylim(bottom=0.0)
    axes.set_xticks(places, [f"{limit:,}" for limit in limits], fontsize=SMALL)
    label(axes, x="cells per unit (max_cells)", y=f"{unit} in a cell")
    axes.yaxis.set_major_formatter(lambda tick, _: with_minus(f"{tick:,.6g}"))
    figure.legend(loc="outside lower left", fontsize=SMALL, frameon=False, ncols=2, handlelength=2.2)
    add_title(figure, _TITLE)
    return in_fonts(figure)
