"""Table: what a release would do to a table of this shape, simulated, or of public data that are bundled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import frozen
from htmltools import TagList, tags
from shiny import reactive, ui

from ggdp.explorer import settings as fields
from ggdp.explorer.equivalents import Equivalents
from ggdp.explorer.simulated_table import (
    BUNDLED,
    MOST_ROWS,
    Simulation,
    TableResults,
    dots_results,
    of_bundled,
    table_results,
)
from ggdp.explorer.table_form import TableFields, columns_form, in_step, privacy_form, statistics_form, units_form
from ggdp.explorer.typed_table import in_words_of_the_page
from ggdp.explorer.view import Download, View, choices, csv_of, group, quantity, svg_of, when
from ggdp.explorer.widgets import Picture, facts, headline

if TYPE_CHECKING:
    from htmltools import TagChild

    from ggdp.explorer.typed_table import TypedTable
    from ggdp.explorer.view import Visit

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
    rows: float = fields.number(1.0, low=1.0, high=50.0, scale="linear")
    spread: str = fields.choice("uneven", "even")
    dots: str = fields.choice("20", "50")
    column: str = fields.text("count")
    seed: int = fields.integer(1, low=0, high=10_000, scale="linear")

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


def _inputs(settings: TableSettings) -> list[TagChild]:
    return [
        choices(settings, "data", "Show", _DATA),
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
                quantity(settings, "units", "People"),
                quantity(settings, "rows", "Rows of each, on average", "With a unit only."),
                choices(settings, "spread", "Cells are", _SPREADS),
            ),
            choices(settings, "dots", "Dots for each cell", {"20": "20", "50": "50"}),
            quantity(settings, "seed", "Seed", "Another seed is another table, and other noise."),
        ),
    ]


def _serve(visit: Visit[TableSettings]) -> None:
    in_step(visit, TableSettings())

    def simulated() -> tuple[Any, ...]:
        found = visit.checked()
        table, simulation = found.asked()
        return table, found.data, simulation, found.column

    def dotted() -> tuple[Any, ...] | None:
        found = visit.checked()
        table, simulation = found.asked()
        return None if found.statistics.strip() else (table, found.data, simulation, int(found.dots))

    computed = visit.computed(table_results, simulated, visit.quick_or_long)
    dots = visit.computed(dots_results, dotted)
    visit.show_status(computed.status)

    @reactive.effect
    @reactive.event(visit.inputs.data, ignore_init=True)
    def _bundled() -> None:
        found = visit.settings()
        if found is None or found.data == "simulated":
            return
        table = of_bundled(found.typed(), found.data)
        for name in ("by", "levels", "bins", "statistics", "ranges", "unit"):
            visit.session.send_input_message(name, {"value": getattr(table, name)})

    @reactive.effect
    def _columns() -> None:
        found = computed.result()
        if found is not None:
            with reactive.isolate():
                chosen = visit.inputs.column()
            selected = chosen if chosen in found.columns else found.columns[0]
            ui.update_select("column", choices=list(found.columns), selected=selected)

    visit.show("results", computed.result, _draw)
    visit.show("dots_figure", dots.result, Picture.tag)

    visit.offer(
        Download("Table (CSV)", "ggdp-table.csv", computed.result, csv_of),
        Download("Figure (SVG)", "ggdp-table.svg", computed.result, svg_of),
        Download("Dots (SVG)", "ggdp-dots.svg", dots.result, lambda picture: picture.file()),
    )
    visit.show_equivalents(_same)


def _same(settings: TableSettings) -> Equivalents:
    table, _ = settings.asked()
    return Equivalents(command=table.command("FILE", "--dry-run"), python=table.python("plan_table"))


def _draw(found: TableResults) -> TagList:
    plus_minus = next((said for name, said in found.plan if name == "plus-minus"), "")
    return TagList(
        tags.p(*(f"{sentence} " for sentence in found.said), class_="origin"),
        *(tags.p(warning, class_="problem") for warning in found.warnings),
        tags.div(
            headline(*found.zero),
            headline(f"\N{PLUS-MINUS SIGN} {plus_minus.partition(' at')[0]}", "around a count, 95 times of 100"),
            class_="headlines",
        ),
        tags.div(found.picture.tag(), ui.output_ui("dots_figure"), class_="pair"),
        facts(found.plan, "The plan: no data read, no budget spent"),
    )


TABLE = View(key="table", title="Table", settings=TableSettings, inputs=_inputs, serve=_serve)
