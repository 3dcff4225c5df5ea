"""Numbers and texts as tables: HTML, and CSV files."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from htmltools import Tag, tags

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["csv_file", "facts", "headline", "text_table"]


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
