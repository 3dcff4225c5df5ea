"""Figures of released tables, with the same bytes for the same table."""

from __future__ import annotations

import io
import os
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from ggdp.errors import ArgumentError, ArgumentTypeError
from ggdp.tables.writing import numbered, require_free

if TYPE_CHECKING:
    from ggdp.tables.release import TableRelease

_FORMATS = (".png", ".pdf", ".svg")
_DOTS_PER_INCH = 200
# Written into files of these formats unless it is taken out.
_DATES: dict[str, dict[str, None]] = {".pdf": {"CreationDate": None}, ".svg": {"Date": None}}


def picture_files(plot: str | os.PathLike[str] | None, tables: int) -> tuple[Path, ...]:
    """Return the files of the figures, one for each table; none if no figure is requested."""
    if plot is None:
        return ()
    if not isinstance(plot, str | os.PathLike) or not isinstance(os.fspath(plot), str):
        raise ArgumentTypeError("plot", type(plot).__name__, "must be the path of a file")
    if Path(plot).suffix.lower() not in _FORMATS:
        raise ArgumentError("plot", str(plot), "must end in " + ", ".join(_FORMATS))
    return numbered(Path(plot), tables)


def require_pictures(plot: Path | None, tables: int, *, overwrite: bool) -> None:
    """Raise if figures cannot be drawn or written. Called before any data are read."""
    if plot is None:
        return
    from ggdp.plots.style import new_figure

    new_figure(1.0, 1.0)  # says at once if the extra is missing
    require_free(picture_files(plot, tables), "plot", str(plot), overwrite=overwrite)


def picture(release: TableRelease, table: int, suffix: str) -> bytes:
    """Return a picture of a table."""
    import matplotlib as mpl

    from ggdp.plots.tables import plot_table

    drawn = io.BytesIO()
    with mpl.rc_context({"svg.hashsalt": "ggdp"}), warnings.catch_warnings():
        # A character that no installed font has is drawn as a box, which says it all.
        warnings.filterwarnings("ignore", r"Glyph \d+ .* missing from font", UserWarning)
        plot_table(release, table=table).savefig(
            drawn, format=suffix[1:], dpi=_DOTS_PER_INCH, metadata=_DATES.get(suffix)
        )
    return drawn.getvalue()
