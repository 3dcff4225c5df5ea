"""Cells per unit: noise against what is cut off, on the data. NOT private, for the steward alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import asdict, frozen
from htmltools import Tag, TagList, tags
from shiny import Inputs, Outputs, Session, module, reactive, render, ui

from ggdp.errors import GgdpError
from ggdp.explorer import settings as fields
from ggdp.explorer.background import Background
from ggdp.explorer.equivalents import Equivalents, shown_equivalents
from ggdp.explorer.figures import shown
from ggdp.explorer.inputs import group, panel, quantity
from ggdp.explorer.releasing import Asked
from ggdp.explorer.source_input import file_input, file_server, format_form
from ggdp.explorer.table_form import TableFields, columns_form, in_step, units_form
from ggdp.explorer.table_results import CheckResults, check_results
from ggdp.explorer.text_tables import headline, text_table
from ggdp.explorer.typed_table import LABELS, PageError, TypedTable, in_words_of_the_page
from ggdp.explorer.view import View

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ggdp.explorer.uploads import Source
    from ggdp.explorer.view import Shared

__all__ = ["CELLS_PER_UNIT", "CellsPerUnitSettings"]

_WARNING = (
    "For the steward alone: this looks at the data without noise. Do not publish it, do not show it to anybody who may "
    "not see the data, and choose no published number by it."
)
_HEADER = ("cells per unit", "noise, plus-minus", "cut off", "together", "kept", "units cut")


@frozen(kw_only=True)
class CellsPerUnitSettings:
    """The table, the column of units, and the epsilon of the release that is planned."""

    by: str = fields.text()
    levels: str = fields.text(longest=fields.LONG)
    bins: str = fields.text(longest=fields.LONG)
    unit: str = fields.text()
    epsilon: float = fields.number(1.0, low=0.01, high=20.0)
    delimiter: str = fields.text()
    encoding: str = fields.text()

    def typed(self) -> TypedTable:
        """Return the table."""
        return TypedTable(**asdict(self))


@module.ui
def cells_ui(settings: CellsPerUnitSettings) -> Tag:
    """Return the inputs and the places for results."""
    table = TableFields(by=settings.by, levels=settings.levels, bins=settings.bins, unit=settings.unit)
    return panel(
        [
            file_input(),
            format_form(settings.delimiter, settings.encoding),
            group("Table", *columns_form(table)),
            group("Units", *units_form(table, limited=False)),
            quantity("epsilon", LABELS["--epsilon"], settings.epsilon, low=0.01, high=20.0, scale="log",
                     hint="Of the release that is planned."),
            ui.input_action_button("look", "Look at the data", class_="btn-primary"),
        ],
        [
            tags.p(tags.strong("Not private. "), _WARNING, class_="warning"),
            tags.div(ui.output_ui("status"), role="status", aria_live="polite"),
            ui.output_ui("results"),
            ui.output_ui("downloads"),
            ui.output_ui("equivalents"),
        ],
    )  # fmt: skip


@module.server
def cells_server(
    input: Inputs,  # noqa: A002 - as Shiny calls it
    output: Outputs,  # noqa: ARG001
    session: Session,
    shared: Shared,
) -> Callable[[], CellsPerUnitSettings | None]:
    """Show what each number of cells costs and cuts off."""
    file_server(session, shared)
    in_step(input, session, shared, TableFields(), "by", "levels", "bins", "unit", "epsilon")

    @reactive.calc
    def settings() -> CellsPerUnitSettings | None:
        try:
            return fields.from_inputs(CellsPerUnitSettings, input)
        except GgdpError:
            return None

    kept: dict[str, Source] = {}

    @reactive.calc
    @reactive.event(input.look)
    def arguments() -> tuple[Any, ...] | None:
        with in_words_of_the_page():
            found = fields.from_inputs(CellsPerUnitSettings, input)
        source = shared.source()
        if source is None:
            raise PageError("choose a file first, or start the page with one: ggdp explore FILE")
        if not found.unit.strip():
            raise PageError("Unit: name the column whose values are the people who are protected")
        table = found.typed()
        table.checked()
        # Another upload must not free its memory before it is read.
        kept["asked"] = source
        return (Asked(table=table, path=str(source.data), name=source.name, click=input.look()),)

    computed: Background[CheckResults] = Background(shared.long, check_results, arguments, session)

    @render.ui
    def status() -> Tag:
        return computed.status()

    @render.ui
    def results() -> TagList | None:
        found = computed.result()
        if found is None:
            return None
        return TagList(
            tags.div(
                headline(f"{found.recommended:,}", "cells per unit have the least noise and loss together"),
                class_="headlines",
            ),
            tags.div(shown(found.picture), tags.div(*map(tags.p, found.said)), class_="pair"),
            text_table(_HEADER, found.rows, "NOT PRIVATE: what each number of cells per unit costs", numbers_from=0),
        )

    @render.ui
    def downloads() -> Tag | None:
        if computed.result() is None:
            return None
        return tags.div(
            ui.download_link("csv", "Not private: numbers (CSV)"),
            ui.download_link("svg", "Not private: figure (SVG)"),
            class_="downloads",
        )

    @render.ui
    def equivalents() -> Tag | None:
        found, source = settings(), shared.source()
        if found is None or not found.by.strip():
            return None
        name, table = "FILE" if source is None else source.typed, found.typed()
        try:
            same = Equivalents(
                command=table.command(name, name="check"), python=table.python("check_table", source=name)
            )
        except GgdpError:
            return None
        return shown_equivalents(same)

    @render.download_link(filename="not-private-cells-per-unit.csv", media_type="text/csv")
    def csv() -> Iterator[str]:
        found = computed.required()
        yield f"# {found.notice}\n" + ",".join(_HEADER) + "\n"
        for row in found.rows:
            yield ",".join(cell.replace(",", "") for cell in row) + "\n"

    @render.download_link(filename="not-private-cells-per-unit.svg", media_type="image/svg+xml")
    def svg() -> Iterator[bytes]:
        yield computed.required().picture.file()

    return settings


CELLS_PER_UNIT = View(
    key="cells", title="Cells per unit", settings=CellsPerUnitSettings, ui=cells_ui, server=cells_server
)
