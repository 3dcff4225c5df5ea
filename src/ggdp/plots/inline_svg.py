"""Figures as SVG that stands inside a page and takes its colors from the page's theme.

A color of `ggdp.plots.style` becomes a custom property of the page, with itself as the fallback: the same picture is
then right on a light and on a dark ground. Letters are drawn as outlines, so that no font is needed, and
every name inside a picture begins with the picture's own, so that many can stand in one page.
"""

from __future__ import annotations

import io
import re
from html import escape
from typing import TYPE_CHECKING

from ggdp.plots import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Each color of the figures with the property that a page can set.
COLOURS = {
    "--ink": style.BLACK, "--ground": "#ffffff", "--blue": style.BLUE, "--vermilion": style.VERMILION,
    "--green": style.GREEN, "--orange": style.ORANGE, "--purple": style.PURPLE, "--sky": style.SKY,
    "--faint": style.FAINT, "--grid": style.GRID,
}  # fmt: skip


def inline_svg(figure: Figure, key: str, title: str, description: str) -> str:
    """Return a figure as an ``<svg>`` element for a page; its key is unique there, its words are for screen readers.

    Examples
    --------
    >>> figure, (axes,) = style.new_figure(3.5, 2.6)
    >>> style.curve(axes, [0, 1], [0, 1], 0)
    >>> picture = inline_svg(figure, "line", "A line", "It rises.")
    >>> picture[:25], "var(--blue, #0072b2)" in picture
    ('<svg id="line-picture" cl', True)
    """
    from matplotlib import rc_context
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.colors import to_hex

    written = io.StringIO()
    for patch in (figure.patch, *(axes.patch for axes in figure.axes)):
        patch.set(facecolor="none", edgecolor="none")
    # Neither dates nor random names: the same code gives the same picture. `savefig` would draw everything twice.
    with rc_context({"svg.fonttype": "path", "svg.hashsalt": "ggdp", "svg.image_inline": True}):
        FigureCanvasSVG(figure).print_svg(written, metadata={"Date": None, "Creator": None})
    text = written.getvalue()
    width, height = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', text).groups()  # type: ignore[union-attr]
    body = text[text.index("<svg") :]
    body = body[body.index(">") + 1 : body.rindex("</svg>")]
    body = re.sub(r"<metadata>.*?</metadata>", "", body, flags=re.DOTALL)
    body = re.sub(r"<style.*?</style>|<!--.*?-->", "", body, flags=re.DOTALL)
    body = re.sub(r'<g id="(?:figure|axes|patch|line2d|text|matplotlib\.axis|xtick|ytick|legend)[^"]*">', "<g>", body)
    body = re.sub(r'\bid="([^"]+)"', rf'id="{key}-\1"', body)
    body = re.sub(r'(xlink:href="#|href="#|url\(#)([^")]+)', rf"\1{key}-\2", body).replace("xlink:href", "href")
    ours = {to_hex(color): f"var({name}, {to_hex(color)})" for name, color in COLOURS.items()}
    body = re.sub(r"#[0-9a-f]{6}\b", lambda found: ours.get(found[0], found[0]), body)
    # A hundredth of a point is finer than any printer; scales keep their digits.
    body = re.sub(r'\b(?:d|x|y)="[^"]*"', lambda found: re.sub(r"(\d+\.\d{2})\d+", r"\1", found[0]), body)
    body = re.sub(r"\s*\n\s*", "\n", body).strip()
    return (
        f'<svg id="{key}-picture" class="picture" viewBox="0 0 {width} {height}" role="img" '
        f'aria-labelledby="{key}-name {key}-words" style="--width: {float(width):g}px">'
        f'<title id="{key}-name">{escape(title)}</title><desc id="{key}-words">{escape(description)}</desc>'
        f"{body}</svg>"
    )


def svg_file(picture: str) -> bytes:
    """Return an inline picture as a file of its own, in the colors of print.

    Examples
    --------
    >>> svg_file('<svg id="a"><path fill="var(--blue, #0072b2)"/></svg>').splitlines()[1]
    b'<svg xmlns="http://www.w3.org/2000/svg" id="a"><path fill="#0072b2"/></svg>'
    """
    plain = re.sub(r"var\(--[a-z]+, (#[0-9a-f]{6})\)", r"\1", picture)
    alone = plain.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{alone}\n'.encode()
