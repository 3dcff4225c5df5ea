"""The look of all figures: print sizes, color-blind-safe colors, line patterns that work in grayscale, and text.

A figure is as wide as one column of print or two. Lines have Okabe and Ito's colors, each with its own pattern. Names
of levels are one line each, short enough to read, and distinct; scripts that the usual font lacks have others. Checks
of what is drawn show the type of a refused argument and never its value.

References
----------
Okabe and Ito, "Color Universal Design", 2008.
"""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Iterable
from functools import cache
from os.path import commonprefix
from typing import TYPE_CHECKING, Any, TypeVar

from ggdp.errors import ArgumentError, MissingExtraError, install_hint

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

    from ggdp.domain.column import Level


_T = TypeVar("_T")

COLUMN_WIDTH, DOUBLE_WIDTH = 3.5, 7.2
SIZE, SMALL = 8.0, 7.0
BLUE, VERMILION, GREEN, ORANGE, PURPLE = "#0072B2", "#D55E00", "#009E73", "#E69F00", "#CC79A7"
SKY, BLACK, FAINT = "#56B4E9", "#000000", "0.72"
GRID = "0.9"
# A color and a pattern for the first curve, the second, and so on.
LINES: tuple[dict[str, Any], ...] = (
    {"color": BLUE, "linestyle": "-"},
    {"color": VERMILION, "linestyle": (0, (5, 1.6))},
    {"color": GREEN, "linestyle": (0, (5, 1.5, 1, 1.5))},
    {"color": PURPLE, "linestyle": (0, (1.2, 1.2))},
    {"color": BLACK, "linestyle": (0, (3, 1, 1, 1, 1, 1))},
    {"color": ORANGE, "linestyle": (0, (8, 2))},
)


def require(kind: type[_T], **named: object) -> _T:
    """Return the one argument if it has the type; the error shows only its type, since it may be data."""
    ((name, value),) = named.items()
    if not isinstance(value, kind):
        raise ArgumentError(name, type(value), f"must be of type {kind.__name__}")
    return value


def items(kind: type[_T], **named: object) -> list[_T]:
    """Return the one argument, a sequence of items of a kind, as a list; text does not count as a sequence."""
    ((name, value),) = named.items()
    message = f"must be a sequence of items of type {kind.__name__}"
    try:
        # Text is refused with what cannot be listed.
        found: list[Any] = list(None if isinstance(value, str) else value)  # type: ignore[call-overload]
    except TypeError:
        raise ArgumentError(name, type(value), message) from None
    for item in found:
        if not isinstance(item, kind):
            raise ArgumentError(name, type(item), message)
    return found


def new_figure(width: float, height: float, panels: int = 1, **options: Any) -> tuple[Figure, list[Axes]]:  # noqa: ANN401
    """Return an empty figure in inches with panels side by side; it needs no display, and no state is shared."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError(f"plots need matplotlib: {install_hint('plots')}") from None
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, list(figure.subplots(1, panels, squeeze=False, **options)[0]) if panels else []


def label(axes: Axes, x: str = "", y: str = "", title: str = "") -> None:
    """Label the axes of a panel and clear away what carries no information."""
    axes.set_xlabel(x, fontsize=SIZE)
    axes.set_ylabel(y, fontsize=SIZE)
    axes.set_title(title, loc="left", fontsize=SIZE)
    axes.tick_params(labelsize=SMALL, width=0.6, length=3.0)
    axes.tick_params(which="minor", width=0.4, length=1.8)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_linewidth(0.6)
    axes.yaxis.grid(visible=True, color=GRID, linewidth=0.6)
    axes.set_axisbelow(True)


def curve(axes: Axes, x: Any, y: Any, style: int, name: str = "_", **options: Any) -> None:  # noqa: ANN401
    """Draw a curve in the pattern of its number."""
    axes.plot(x, y, **{"linewidth": 1.3, "label": name, **LINES[style % len(LINES)], **options})


def level(axes: Axes, height: float) -> None:
    """Draw a thin horizontal line to compare with."""
    axes.axhline(height, color=BLACK, linewidth=0.6, zorder=1.5)


def numeral(value: float) -> str:
    """Return a number as it is printed: 0.05, but a power of ten where it is very small or large."""
    mantissa, _, exponent = f"{value:g}".partition("e")
    if not exponent:
        return mantissa
    power = f"10^{{{int(exponent)}}}"
    return f"${power}$" if mantissa == "1" else f"${mantissa} \\times {power}$"


def plain_ticks(axis: Axis, ticks: list[float]) -> None:
    """Put plain numbers at the given ticks of a logarithmic axis, and nothing between them."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    axis.set_major_locator(FixedLocator(ticks))
    axis.set_major_formatter(FuncFormatter(lambda tick, _: f"{tick:g}"))
    axis.set_minor_locator(NullLocator())


def show_legend(axes: Axes, **options: Any) -> None:  # noqa: ANN401
    """Show the legend of a panel, without a frame and with patterns long enough to be told apart."""
    axes.legend(**{"fontsize": SMALL, "frameon": False, "handlelength": 2.4, "handletextpad": 0.5, **options})


# Inches of a line of labels, with the space between two lines; and between the left edge of a figure and its title.
LINE, _INDENT = 0.145, 0.06


@cache
def _installed_fonts() -> tuple[str, ...]:
    """Return the installed fonts for characters that the usual one lacks; matplotlib warns about any other."""
    from matplotlib.font_manager import fontManager

    # Most scripts, then symbols.
    fonts = (
        "DejaVu Sans, Noto Sans, Noto Sans CJK SC, Noto Sans CJK JP, Noto Sans CJK KR, Source Han Sans SC, "
        "WenQuanYi Micro Hei, PingFang SC, Hiragino Sans, Apple SD Gothic Neo, Microsoft YaHei, Yu Gothic, "
        "Malgun Gothic, Noto Sans Arabic, Noto Sans Hebrew, Noto Sans Devanagari, Noto Sans Thai, Arial Unicode MS, "
        "Noto Emoji, Noto Sans Symbols, Segoe UI Symbol"
    )
    present = set(fontManager.get_font_names())
    return tuple(name for name in fonts.split(", ") if name in present)


def _families() -> list[str]:
    from matplotlib import rcParams

    return [*rcParams["font.family"], *_installed_fonts()]


def text_width(figure: Figure, texts: Iterable[str], size: float = SMALL) -> float:
    """Return the width of the widest text, in inches, on the safe side for any resolution that it is drawn in."""
    from matplotlib.text import Text

    style: Any = {"fontsize": size, "fontfamily": _families(), "parse_math": False, "figure": figure}
    widths = (Text(0.0, 0.0, text, **style).get_window_extent().width / figure.dpi for text in set(texts))
    # Letters are fitted to whole dots, so that text is a few per cent wider in some resolutions.
    return 1.06 * max(widths, default=0.0)


def wrap(figure: Figure, text: str, inches: float, size: float = SIZE) -> str:
    """Return text in as many lines as it needs to be no wider than `inches`; its own line ends are kept."""
    lines = text.split("\n")
    for place, line in enumerate(lines):
        # From the most letters that could fit, in letters of a third of the size, down to one.
        most = min(len(line), int(inches * 72.0 / (0.33 * size)))
        fillings = (textwrap.fill(line, letters) for letters in range(most, 0, -1))
        lines[place] = next((found for found in fillings if text_width(figure, [found], size) <= inches), line)
    return "\n".join(lines)


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
    for axes in figure.axes:
        # Some ticks come into being only when they are drawn.
        axes.tick_params(labelfontfamily=families)
    for text in figure.findobj(Text):
        text.set(fontfamily=families, parse_math=False)
    return figure


# Longer names are cut, in letters.
LONGEST = 36


def one_line(text: object, most: int = 2 * LONGEST) -> str:
    """Return text as one line without control characters, cut in the middle if it is longer than `most` letters."""
    return _shorten(_printable(text), most)


def in_words(names: Iterable[str]) -> str:
    """Return names as a list in a sentence: a, b and c."""
    *first, last = (one_line(name) for name in names)
    return f"{', '.join(first)} and {last}" if first else last


def level_names(levels: Iterable[Level]) -> dict[Level, str]:
    """Return the name of each level; names that would be cut to the same text start where they differ."""
    lines = {level: _printable(str(level).lower() if isinstance(level, bool) else level) for level in levels}
    alike: dict[str, set[str]] = {}
    for line in lines.values():
        alike.setdefault(_shorten(line, LONGEST), set()).add(line)
    found = {}
    for level, line in lines.items():
        group = alike[_shorten(line, LONGEST)]
        # A few of the letters that they share, to recognize them by.
        start = max(len(commonprefix(list(group))) - 6, 0) if len(group) > 1 else 0  # noqa: RUF071 - of letters
        found[level] = _shorten("\N{HORIZONTAL ELLIPSIS}" + line[start:] if start else line, LONGEST)
    return found


def _printable(text: object) -> str:
    return "".join(sign if sign.isprintable() else "\N{MIDDLE DOT}" for sign in str(text))


def _shorten(line: str, most: int) -> str:
    """Return a line without its middle if it is too long: names that begin alike often differ at their ends."""
    # East Asian characters are as wide as two letters.
    letters = sum(2 if unicodedata.east_asian_width(sign) in "WF" else 1 for sign in line)
    if letters <= most:
        return line
    kept = most * len(line) // letters - 1
    return line[: kept - kept // 2] + "\N{HORIZONTAL ELLIPSIS}" + line[-(kept // 2) :]
