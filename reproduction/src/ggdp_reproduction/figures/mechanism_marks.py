"""How the figures of Section 4 draw a mechanism: its colour and mark, panels, means, and entries of the legend.

A filled mark is the paper's mechanism, a hollow one is ours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ggdp.plots.style import BLACK, BLUE, DOUBLE_WIDTH, GREEN, PURPLE, VERMILION, new_figure

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

__all__ = ["LOOKS", "draw_means", "legend_mark", "outside_domain", "panel_grid"]

# Colour, mark and whether the mark is filled: the paper's are.
LOOKS: dict[str, tuple[str, str, bool]] = {
    "laplace": (BLACK, "o", True),
    "gaussian-pdp": (BLUE, "s", True),
    "ggm3-pdp": (GREEN, "^", True),
    "gaussian-adp-classic": (VERMILION, "D", True),
    "tight-gaussian-pdp": (BLUE, "s", False),
    "analytic-gaussian": (VERMILION, "D", False),
    "tight-gg3-adp": (GREEN, "^", False),
    "integer-best": (PURPLE, "v", False),
}


def panel_grid(rows: int, columns: int, height: float, **options: Any) -> tuple[Figure, list[list[Axes]]]:  # noqa: ANN401
    """Return a figure of both columns' width with panels in rows."""
    figure, (only,) = new_figure(DOUBLE_WIDTH, height, 1)
    only.remove()
    return figure, [list(row) for row in figure.subplots(rows, columns, squeeze=False, **options)]


def draw_means(
    axes: Axes, x: NDArray[Any], rows: Sequence[dict[str, Any]], measure: str, look: tuple[str, str, bool]
) -> None:
    """Draw means with their standard deviations."""
    colour, shape, filled = look
    axes.errorbar(
        x,
        [row[f"{measure}_mean"] for row in rows],
        yerr=[row[f"{measure}_sd"] for row in rows],
        linestyle="none",
        marker=shape,
        markersize=3.4,
        markerfacecolor=colour if filled else "white",
        markeredgewidth=0.9,
        color=colour,
        elinewidth=0.8,
    )


def legend_mark(colour: str, shape: str, filled: bool) -> object:
    """Return the entry of a mechanism in a legend."""
    from matplotlib.lines import Line2D

    inside = colour if filled else "white"
    return Line2D([], [], linestyle="none", marker=shape, color=colour, markerfacecolor=inside, markersize=4.0)


def outside_domain(rows: Iterable[dict[str, Any]]) -> str:
    """Return a sentence on the epsilons at which the classic Gaussian scale is not proved, if there are any."""
    found = sorted({row["epsilon"] for row in rows if "outside the domain" in (row["note"] or "")})
    if not found:
        return ""
    where = " and ".join(f"{epsilon:g}" for epsilon in found)
    return f" The classic Gaussian aDP is proved for epsilon below 1 only, so it is outside its domain at {where}."
