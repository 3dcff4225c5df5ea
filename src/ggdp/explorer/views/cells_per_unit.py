"""Cells per unit: noise against what is cut off, on the data. NOT private, for the steward alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import asdict, frozen
from htmltools import TagList, tags
from shiny import reactive, ui

from ggdp.explorer import settings as fields
from ggdp.explorer.equivalents import Equivalents
from ggdp.explorer.releasing import Asked
from ggdp.explorer.simulated_table import CheckResults, check_results
from ggdp.explorer.source_input import file_form, file_server, required_source
from ggdp.explorer.table_form import CountedFields, columns_form, in_step, unit_form
from ggdp.explorer.typed_table import LABELS, PageError, TypedTable
from ggdp.explorer.view import Download, View, group, quantity, svg_of
from ggdp.explorer.widgets import headline, text_table

if TYPE_CHECKING:
    from pathlib import Path

    from htmltools import TagChild

    from ggdp.explorer.uploads import Source
    from ggdp.explorer.view import Visit

_WARNING = (
    "For the steward alone: this looks at the data without noise. Do not publish it, do not show it to anybody who may "
    "not see the data, and choose no published number by it."
)
_HEADER = ("cells per unit", "noise, plus-minus", "cut off", "together", "kept", "units cut")


@frozen(kw_only=True)
class CellsPerUnitSettings(CountedFields):
    """The table, the column of units, and the epsilon of the release that is planned."""

    delimiter: str = fields.text()
    encoding: str = fields.text()
    lines: str = fields.choice("quoted", "strict")

    def typed(self, domain: Path | None) -> TypedTable:
        """Return the table, with the domain file of the command."""
        return TypedTable(**asdict(self), domain=str(domain or ""))


def _inputs(settings: CellsPerUnitSettings) -> list[TagChild]:
    return [
        *file_form(settings),
        group("Table", *columns_form(settings)),
        group("Units", unit_form(settings)),
        quantity(settings, "epsilon", LABELS["epsilon"], "Of the release that is planned."),
        ui.input_action_button("look", "Look at the data", class_="btn-primary"),
    ]


def _serve(visit: Visit[CellsPerUnitSettings]) -> None:
    file_server(visit.session, visit.shared)
    in_step(visit, CellsPerUnitSettings())
    kept: dict[str, Source] = {}

    @reactive.calc
    @reactive.event(visit.inputs.look)
    def arguments() -> tuple[Any, ...]:
        found, source = visit.checked(), required_source(visit.shared)
        if not found.unit.strip():
            raise PageError("Unit: name the column whose values are the people who are protected")
        table = found.typed(visit.shared.domain)
        table.checked()
        # Another upload must not free its memory before it is read.
        kept["asked"] = source
        return (Asked(table=table, path=str(source.data), name=source.name, click=visit.inputs.look()),)

    computed = visit.computed(check_results, arguments)
    visit.show_status(computed.status)
    visit.show("results", computed.result, _draw)

    def same(found: CellsPerUnitSettings) -> Equivalents | None:
        source, table = visit.shared.source(), found.typed(visit.shared.domain)
        name = "FILE" if source is None else source.typed
        if not found.by.strip():
            return None
        return Equivalents(command=table.command(name, name="check"), python=table.python("check_table", source=name))

    visit.offer(
        Download("Not private: numbers (CSV)", "not-private-cells-per-unit.csv", computed.result, _csv),
        Download("Not private: figure (SVG)", "not-private-cells-per-unit.svg", computed.result, svg_of),
    )
    visit.show_equivalents(same)


def _csv(found: CheckResults) -> bytes:
    rows = [f"# {found.notice}", ",".join(_HEADER)]
    rows += [",".join(cell.replace(",", "") for cell in row) for row in found.rows]
    return "".join(f"{row}\n" for row in rows).encode()


def _draw(found: CheckResults) -> TagList:
    return TagList(
        tags.div(
            headline(f"{found.recommended:,}", "cells per unit have the least noise and loss together"),
            class_="headlines",
        ),
        tags.div(found.picture.tag(), tags.div(*map(tags.p, found.said)), class_="pair"),
        text_table(_HEADER, found.rows, "NOT PRIVATE: what each number of cells per unit costs", numbers_from=0),
    )


CELLS_PER_UNIT = View(
    key="cells",
    title="Cells per unit",
    settings=CellsPerUnitSettings,
    inputs=_inputs,
    serve=_serve,
    notice=lambda: [tags.p(tags.strong("Not private. "), _WARNING, class_="warning")],
)
