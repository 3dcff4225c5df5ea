"""Figures on the page: the pictures of `ggdp.plots`, in the page's colours and with a description in words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from attrs import frozen
from htmltools import HTML, Tag, tags

from ggdp.paper.figures.inline_svg import inline_svg

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Picture", "drawn", "shown"]

_THEMED = re.compile(r"var\(--[a-z]+, (#[0-9a-f]{6})\)")


@frozen(kw_only=True)
class Picture:
    """A figure as SVG for the page, with its title and what it shows in words."""

    title: str
    description: str
    svg: str

    def file(self) -> bytes:
        """Return the figure as a file of its own, in the colours of print."""
        plain = _THEMED.sub(r"\1", self.svg)
        plain = plain.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)
        return ('<?xml version="1.0" encoding="utf-8"?>\n' + plain + "\n").encode()


def drawn(figure: Figure, key: str, title: str, description: str) -> Picture:
    """Return a figure for the page; its key is unique there."""
    return Picture(title=title, description=description, svg=inline_svg(figure, key, title, description))


def shown(picture: Picture) -> Tag:
    """Return a figure with its description, which everybody can read."""
    return tags.figure(HTML(picture.svg), tags.figcaption(picture.description), class_="figure")
