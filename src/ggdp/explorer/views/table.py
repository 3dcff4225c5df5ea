"""Table: what a release would do to a table of this shape, simulated, or of public data that are bundled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import frozen
from htmltools import Tag, TagList, tags
from shiny import Inputs, Outputs, Session, module, reactive, render, ui

from ggdp.errors import GgdpError
from ggdp.explorer import settings as fields
from ggdp.explorer.background import Background
from ggdp.explorer.equivalents import Equivalents, shown_equivalents
from ggdp.explorer.figures import shown
from ggdp.explorer.inputs import choices, group, panel, quantity, when
from ggdp.explorer.simulated_table import BUNDLED, MOST_ROWS, Simulation
from ggdp.explorer.table_form import (
    TableFields,
    columns_form,
    in_step,
    privacy_form,
    statistics_form,
    units_form,
)
from ggdp.explorer.table_results import TableResults, dots_results, of_bundled, table_results
from ggdp.explorer.text_tables import facts, headline
from ggdp.explorer.typed_table import in_words_of_the_page
from ggdp.explorer.view import View

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ggdp.explorer.typed_table import TypedTable
    from ggdp.explorer.view import Shared

__all__ = ["TABLE", "TableSettings"]

_DATA = {
    "simulated": "a simulated table",
    "czech": "Czech autoworkers, public",
    "mildew": "barley mildew, public",
}
# Rows that are simulated and counted in a moment.
_FEW = 20_000
_SPREADS = {"uneven": "a few large cells, many small ones", "even": "alike"}


@frozen(kw_only=True)
class TableSettings(TableFields):
    """A table, its goal, and what is simulated."""

    by: str = fields.text("ward, age")
    levels: str = fields.text("ward=births, eyes, surgery", longest=fields.LONG)
    bins: str = fields.text("age=0,18,65,inf", longest=fields.LONG)
    data: str = fields.choice("simulated", *BUNDLED)
    epsilon: float = fields.number(0.5, low=0.01, high=20.0)
    units: int = fields.integer(100, low=1, high=MOST_ROWS)
    rows: float = fields.number(1.0, low=1.0, high=50.0)
    spread: str = fields.choice("uneven", "even")
    dots: str = fields.choice("20", "50")
    column: str = fields.text("count")
    seed: int = fields.integer(1, low=0, high=10_000)

    @property
    def is_quick(self) -> bool:
        """Whether noise is found and the table drawn in a moment: pure DP, counts of rows, and few of them."""
        return self.notion == "pure" and not (self.statistics.strip() or self.unit.strip()) and self.units <= _FEW

    def asked(self) -> tuple[TypedTable, Simulation]:
        """Return the table and what is simulated, in the words of the page."""
        with in_words_of_the_page(self.unit or None):
            table = self.typed()
            table = table if self.data == "simulated" else of_bundled(table, self.data)
            rows = self.rows if self.unit.strip() else 1.0
            return table, Simulation(units=self.units, rows=rows, spread=self.spread, seed=self.seed)  # type: ignore[arg-type]


@module.ui
def table_ui(settings: TableSettings) -> Tag:
    """Return the inputs and the places for results."""
    return panel(
        [
            choices("data", "Show", _DATA, settings.data),
            group("Table", *columns_form(settings)),
            group(
                "Statistics",
                *statistics_form(settings),
                ui.input_select("column", "Numbers shown", [settings.column], selected=settings.column),
                opened=bool(settings.statistics),
            ),
            group("Units", *units_form(settings), opened=bool(settings.unit)),
            group("Privacy", *privacy_form(settings)),
            group(
                "Simulation",
                when(
                    "data",
                    ["simulated"],
                    quantity("units", "People", settings.units, low=1, high=MOST_ROWS, scale="log", whole=True),
                    quantity("rows", "Rows of each, on average", settings.rows, low=1.0, high=50.0,
                             hint="With a unit only."),
                    choices("spread", "Cells are", _SPREADS, settings.spread),
                ),
                choices("dots", "Dots for each cell", {"20": "20", "50": "50"}, settings.dots),
                quantity("seed", "Seed", settings.seed, low=0, high=10_000, whole=True,
                         hint="Another seed is another table, and other noise."),
            ),
        ],
        [
            tags.div(ui.output_ui("status"), role="status", aria_live="polite"),
            ui.output_ui("results"),
            ui.output_ui("downloads"),
            ui.output_ui("equivalents"),
        ],
    )  # fmt: skip


@module.server
def table_server(
    input: Inputs,  # noqa: A002 - as Shiny calls it
    output: Outputs,  # noqa: ARG001
    session: Session,
    shared: Shared,
) -> Callable[[], TableSettings | None]:
    """Show what a release would do to the table."""

    @reactive.calc
    def settings() -> TableSettings | None:
        try:
            return fields.from_inputs(TableSettings, input)
        except GgdpError:
            return None

    def asked() -> tuple[Any, ...]:
        with in_words_of_the_page():
            found = fields.from_inputs(TableSettings, input)
        return (found, *found.asked())

    def quick() -> tuple[Any, ...] | None:
        found, table, simulation = asked()
        return (table, found.data, simulation, found.column) if found.is_quick else None

    def slow() -> tuple[Any, ...] | None:
        found, table, simulation = asked()
        return None if found.is_quick else (table, found.data, simulation, found.column)

    def dotted() -> tuple[Any, ...] | None:
        found, table, simulation = asked()
        return None if found.statistics.strip() else (table, found.data, simulation, int(found.dots))

    at_once: Background[TableResults] = Background(shared.quick, table_results, quick, session)
    later: Background[TableResults] = Background(shared.long, table_results, slow, session)
    dots: Background[Any] = Background(shared.long, dots_results, dotted, session)

    def computed() -> Background[TableResults]:
        found = settings()
        return at_once if found is None or found.is_quick else later

    in_step(input, session, shared, TableSettings())

    @reactive.effect
    @reactive.event(input.data, ignore_init=True)
    def _bundled() -> None:
        found = settings()
        if found is None or found.data == "simulated":
            return
        table = of_bundled(found.typed(), found.data)
        for name in ("by", "levels", "bins", "statistics", "ranges", "unit"):
            session.send_input_message(name, {"value": getattr(table, name)})

    @reactive.effect
    def _columns() -> None:
        found = computed().result()
        if found is not None:
            with reactive.isolate():
                selected = input.column() if input.column() in found.columns else found.columns[0]
            ui.update_select("column", choices=list(found.columns), selected=selected)

    @render.ui
    def status() -> Tag:
        return computed().status()

    @render.ui
    def results() -> TagList | None:
        found = computed().result()
        if found is None:
            return None
        plus_minus = next((said for name, said in found.plan if name == "plus-minus"), "")
        return TagList(
            tags.p(*(f"{sentence} " for sentence in found.said), class_="origin"),
            *(tags.p(warning, class_="problem") for warning in found.warnings),
            tags.div(
                headline(*found.zero),
                headline(f"\N{PLUS-MINUS SIGN} {plus_minus.partition(' at')[0]}", "around a count, 95 times of 100"),
                class_="headlines",
            ),
            tags.div(shown(found.picture), ui.output_ui("dots_figure"), class_="pair"),
            facts(found.plan, "The plan: no data read, no budget spent"),
        )

    @render.ui
    def dots_figure() -> Tag | None:
        found = dots.result()
        return None if found is None else shown(found)

    @render.ui
    def downloads() -> Tag | None:
        found = computed().result()
        if found is None:
            return None
        links = [ui.download_link("csv", "Table (CSV)"), ui.download_link("svg", "Figure (SVG)")]
        if dots.result() is not None:
            links.append(ui.download_link("dots_svg", "Dots (SVG)"))
        return tags.div(*links, class_="downloads")

    @render.ui
    def equivalents() -> Tag | None:
        found = settings()
        if found is None:
            return None
        try:
            table, _ = found.asked()
            same = Equivalents(command=table.command("FILE", "--dry-run"), python=table.python("plan_table"))
        except GgdpError:
            return None
        return shown_equivalents(same)

    @render.download_link(filename="ggdp-table.csv", media_type="text/csv")
    def csv() -> Iterator[bytes]:
        yield computed().required().csv

    @render.download_link(filename="ggdp-table.svg", media_type="image/svg+xml")
    def svg() -> Iterator[bytes]:
        yield computed().required().picture.file()

    @render.download_link(filename="ggdp-dots.svg", media_type="image/svg+xml")
    def dots_svg() -> Iterator[bytes]:
        yield dots.required().file()

    return settings


TABLE = View(key="table", title="Table", settings=TableSettings, ui=table_ui, server=table_server)
