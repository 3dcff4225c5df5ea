"""Tables and figures of the explorer: HTML, CSV files, and the pictures of `ggdp.plots` with a description in words."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from attrs import frozen
from htmltools import HTML, Tag, tags

from ggdp.plots.inline_svg import inline_svg, svg_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from matplotlib.figure import Figure


def facts(rows: Sequence[tuple[str, str]], caption: str) -> Tag:
    """Return names with what is said of each."""
    body = [tags.tr(tags.th(name, scope="row"), tags.td(said)) for name, said in rows]
    return tags.div(tags.table(tags.caption(caption), tags.tbody(*body), class_="facts"), class_="wide", tabindex="0")


def text_table(header: Sequence[str], rows: Sequence[Sequence[str]], caption: str, *, numbers_from: int = 1) -> Tag:
    """Return rows under a header; columns from `numbers_from` on are numbers."""

    def place(column: int) -> str:
        return "number" if column >= numbers_from else ""

    head = tags.tr(*(tags.th(name, scope="col", class_=place(column)) for column, name in enumerate(header)))
    body = [tags.tr(*(tags.td(cell, class_=place(column)) for column, cell in enumerate(row))) for row in rows]
    table = tags.table(tags.caption(caption), tags.thead(head), tags.tbody(*body), class_="rows")
    return tags.div(table, class_="wide", tabindex="0", role="region", aria_label=caption)


def headline(number: str, said: str) -> Tag:
    """Return a number that stands out, above what it is."""
    return tags.div(tags.strong(number), tags.span(said), class_="headline")


def csv_file(header: Sequence[str], rows: Iterable[Sequence[str]]) -> bytes:
    """Return rows under a header as a CSV file."""
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows([header, *rows])
    return text.getvalue().encode()


@frozen(kw_only=True)
class Picture:
    """A figure as SVG for the page, with its title and what it shows in words."""

    title: str
    description: str
    svg: str

    @classmethod
    def of(cls, figure: Figure, key: str, title: str, description: str) -> Picture:
        """Return a figure for the page; its key is unique there."""
        return cls(title=title, description=description, svg=inline_svg(figure, key, title, description))

    def tag(self) -> Tag:
        """Return the figure with its description, which everybody can read."""
        return tags.figure(HTML(self.svg), tags.figcaption(self.description), class_="figure")

    def file(self) -> bytes:
        """Return the figure as a file of its own, in the colors of print."""
        return svg_file(self.svg)
