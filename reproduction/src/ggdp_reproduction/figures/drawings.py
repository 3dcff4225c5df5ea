"""What all figures of the report share: their record, rows of numbers, and one legend for several panels."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ggdp.plots.inline_svg import inline_svg
from ggdp.plots.style import SMALL
from ggdp_reproduction.results import Drawing

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike

    from ggdp_reproduction.results import Row


def drawing(
    key: str, figure: Figure, *, title: str, caption: str, place: str, rows: list[Row] | None = None
) -> Drawing:
    """Return a figure of the report; screen readers read its title and caption."""
    svg = inline_svg(figure, key, title, caption)
    return Drawing(key=key, title=title, caption=caption, place=place, svg=svg, rows=rows or [])


def rows_of(**columns: ArrayLike) -> list[Row]:
    """Return columns, broadcast against each other, as rows of plain numbers and strings."""
    flat = [array.ravel().tolist() for array in np.broadcast_arrays(*columns.values())]
    return [dict(zip(columns, values, strict=True)) for values in zip(*flat, strict=True)]


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
