"""Text in figures: measured widths, line breaks, titles, and fonts for every script."""

from __future__ import annotations

import textwrap
from functools import cache
from typing import TYPE_CHECKING

from ggdp.plots.style import SIZE, SMALL

if TYPE_CHECKING:
    from collections.abc import Iterable

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["LINE", "add_title", "in_fonts", "lines_of", "text_width", "wrap"]

# Inches of a line of labels, with the space between two lines.
LINE = 0.145
# Letters are fitted to whole dots, so that text is a few per cent wider in some resolutions.
_SLACK = 1.06
# Inches between the left edge of a figure and its title.
_INDENT = 0.06
# For characters that the usual font lacks, of those that are installed: most scripts, then symbols.
_FONTS = (
    "DejaVu Sans",
    "Noto Sans",
    "Noto Sans CJK SC",
    "Noto Sans CJK JP",
    "Noto Sans CJK KR",
    "Source Han Sans SC",
    "WenQuanYi Micro Hei",
    "PingFang SC",
    "Hiragino Sans",
    "Apple SD Gothic Neo",
    "Microsoft YaHei",
    "Yu Gothic",
    "Malgun Gothic",
    "Noto Sans Arabic",
    "Noto Sans Hebrew",
    "Noto Sans Devanagari",
    "Noto Sans Thai",
    "Arial Unicode MS",
    "Noto Emoji",
    "Noto Sans Symbols",
    "Segoe UI Symbol",
)


@cache
def _installed() -> tuple[str, ...]:
    """Return the fonts to fall back on; matplotlib warns about each one that is not installed."""
    from matplotlib.font_manager import fontManager

    present = set(fontManager.get_font_names())
    return tuple(name for name in _FONTS if name in present)


def _families() -> list[str]:
    import matplotlib as mpl

    return [*mpl.rcParams["font.family"], *_installed()]


def text_width(figure: Figure, texts: Iterable[str], size: float = SMALL) -> float:
    """Return the width of the widest text, in inches, on the safe side for any resolution that it is drawn in."""
    from matplotlib.text import Text

    widest = 0.0
    for text in set(texts):
        drawn = Text(0.0, 0.0, text, fontsize=size, fontfamily=_families(), parse_math=False, figure=figure)
        widest = max(widest, drawn.get_window_extent().width / figure.dpi)
    return _SLACK * widest


def wrap(figure: Figure, text: str, inches: float, size: float = SIZE) -> str:
    """Return text in as many lines as it needs to be no wider than `inches`; its own line ends are kept."""
    return "\n".join(_wrapped(figure, line, inches, size) for line in text.split("\n"))


def _wrapped(figure: Figure, line: str, inches: float, size: float) -> str:
    # From the most letters that could fit, in letters of a third of the size, down to one.
    most = min(len(line), int(inches * 72.0 / (0.33 * size)))
    for letters in range(most, 0, -1):
        found = textwrap.fill(line, letters)
        if text_width(figure, [found], size) <= inches:
            return found
    return line


def lines_of(text: str) -> int:
    """Return the number of lines of a text."""
    return text.count("\n") + 1


def add_title(figure: Figure, title: str) -> None:
    """Put a title at the left edge of a figure, in lines as wide as the figure, and make the figure higher for it."""
    width, height = figure.get_size_inches()
    text = wrap(figure, title, width - 2 * _INDENT)
    figure.set_size_inches(width, height + LINE * lines_of(text))
    figure.suptitle(text, x=_INDENT / width, ha="left", fontsize=SIZE, linespacing=1.3)


def in_fonts(figure: Figure, said: Iterable[str] | None = None) -> Figure:
    """Return the figure, with fonts for characters that the usual one lacks, and no text read as a formula.

    If `said` has all texts of others in the figure, and they are plain letters, nothing needs to be done: to look for
    each text in each font takes longer than to draw it.
    """
    from matplotlib.text import Text

    if said is not None and all(text.isascii() and "$" not in text for text in said):
        return figure
    families = _families()
    axes: Axes
    for axes in figure.axes:
        # Some ticks come into being only when they are drawn.
        axes.tick_params(labelfontfamily=families)
    for text in figure.findobj(Text):
        text.set_fontfamily(families)
        text.set_parse_math(False)
    return figure
