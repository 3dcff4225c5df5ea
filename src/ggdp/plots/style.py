"""Style of all figures: print sizes, colour-blind-safe colours, and line patterns that work in greyscale.

And the checks of what is to be drawn, which show the type of what they refuse and never its value.

==========  =====================================================================
widths      a column of print, 3.5 in, and both columns, 7.2 in
sizes       8 pt for labels, 7 pt for ticks and legends
lines       Okabe and Ito's colours, each with a pattern of its own
==========  =====================================================================

References
----------
Okabe and Ito, "Color Universal Design", 2008.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from ggdp.errors import ArgumentError, MissingExtraError, install_hint

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

__all__ = [
    "BLACK",
    "BLUE",
    "COLUMN_WIDTH",
    "DOUBLE_WIDTH",
    "FAINT",
    "GREEN",
    "GRID",
    "LINES",
    "ORANGE",
    "SIZE",
    "SKY",
    "SMALL",
    "VERMILION",
    "curve",
    "items",
    "label",
    "level",
    "new_figure",
    "numeral",
    "one_or_more",
    "plain_ticks",
    "required",
    "show_legend",
]

_T = TypeVar("_T")

COLUMN_WIDTH, DOUBLE_WIDTH = 3.5, 7.2
SIZE, SMALL = 8.0, 7.0
BLUE, VERMILION, GREEN, ORANGE, PURPLE = "#0072B2", "#D55E00", "#009E73", "#E69F00", "#CC79A7"
SKY, BLACK, FAINT = "#56B4E9", "#000000", "0.72"
GRID = "0.9"
# A colour and a pattern for the first curve, the second, and so on.
LINES: tuple[dict[str, Any], ...] = (
    {"color": BLUE, "linestyle": "-"},
    {"color": VERMILION, "linestyle": (0, (5, 1.6))},
    {"color": GREEN, "linestyle": (0, (5, 1.5, 1, 1.5))},
    {"color": PURPLE, "linestyle": (0, (1.2, 1.2))},
    {"color": BLACK, "linestyle": (0, (3, 1, 1, 1, 1, 1))},
    {"color": ORANGE, "linestyle": (0, (8, 2))},
)


def required(kind: type[_T], **named: object) -> _T:
    """Return the one argument if it has the type; the error shows only its type, since it may be data."""
    ((name, value),) = named.items()
    if not isinstance(value, kind):
        raise ArgumentError(name, type(value), f"must be of type {kind.__name__}")
    return value


def items(kind: type[_T], **named: object) -> list[_T]:
    """Return the one argument, a sequence of items of a kind, as a list; text does not count as a sequence."""
    ((name, value),) = named.items()
    message = f"must be a sequence of items of type {kind.__name__}"
    if isinstance(value, str):
        raise ArgumentError(name, str, message)
    try:
        found: list[Any] = list(value)  # type: ignore[call-overload]  # what cannot be listed is refused
    except TypeError:
        raise ArgumentError(name, type(value), message) from None
    for item in found:
        if not isinstance(item, kind):
            raise ArgumentError(name, type(item), message)
    return found


def one_or_more(kind: type[_T], **named: object) -> list[_T]:
    """Return the one argument, an item of a kind or a sequence of at least one, as a list."""
    ((name, value),) = named.items()
    found = [value] if isinstance(value, kind) else items(kind, **named)
    if not found:
        raise ArgumentError(name, type(value), "must not be empty")
    return found


def new_figure(width: float, height: float, panels: int = 1, **options: Any) -> tuple[Figure, list[Axes]]:  # noqa: ANN401
    """Return an empty figure in inches with panels side by side; it needs no display, and no state is shared."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        message = f"plots need matplotlib: {install_hint('plots')}"
        raise MissingExtraError(message) from None
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
