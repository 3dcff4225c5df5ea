"""A table before its release: what a release would do to one of this shape, and how many cells a unit should count in.

The view Table simulates a table of the shape, or takes public data that are bundled. The view Cells per unit weighs the
noise against what is cut off, on the data: it is NOT private, for the steward alone.
"""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from attrs import evolve
from htmltools import Tag, TagChild, TagList, tags
from shiny import reactive, ui

from ggdp._records import frozen
from ggdp._rounding import number_of, rounded_text
from ggdp.explorer import settings as fields
from ggdp.explorer import typed_table, view
from ggdp.explorer.releasing import Asked, read_safely
from ggdp.explorer.simulated_table import BUNDLED, ShownTable, Simulation, show_bundled_table, simulate_table
from ggdp.explorer.uploads import Source, file_form, require_source, serve_file_form
from ggdp.explorer.wording import LABELS, ExplorerError, in_explorer_words


@frozen(kw_only=True)
class TableSettings(Simulation, typed_table.TableFields):
    """A table, its goal, and what is simulated."""

    by: str = fields.text("ward, age", longest=fields.LONG)
    levels: str = fields.text("ward=births, eyes, surgery", longest=fields.LONG)
    bins: str = fields.text("age=0,18,65,inf", longest=fields.LONG)
    data: str = fields.choice("simulated", *BUNDLED)
    epsilon: float = fields.number(0.5, low=0.01, high=20.0)
    dots: str = fields.choice("20", "50")
    column: str = fields.text("count")

    @property
    def is_quick(self) -> bool:
        """Whether noise is found and the table drawn in a moment: pure DP, counts of rows, and few of them."""
        return self.notion == "pure" and not (self.statistics.strip() or self.unit.strip()) and self.units <= 20_000

    @property
    def table(self) -> typed_table.TypedTable:
        """The table, of the levels that bundled data have."""
        return self.typed_table() if self.data == "simulated" else bundled_inputs(self.typed_table(), self.data)


def bundled_inputs(table: typed_table.TypedTable, name: str) -> typed_table.TypedTable:
    """Return a table of a bundled data set, with the levels that it has; without columns, of its first two."""
    whole = BUNDLED[name]()
    names = [column.strip() for column in table.by.replace("\n", ",").split(",") if column.strip() in whole.columns]
    by = names or list(whole.columns[:2])
    levels = "\n".join(f"{column}={','.join(whole.levels(column))}" for column in by)
    nothing: dict[str, Any] = dict.fromkeys(("bins", "where", "statistics", "ranges", "digits", "unit"), "")
    return evolve(table, by=", ".join(by), levels=levels, max_cells=None, **nothing)


def table_results(settings: TableSettings, *, progress: view.Progress = lambda _, __: None) -> view.Results:
    """Return a simulated or public table, what a release would publish of it, and the numbers that can be shown."""
    import pyarrow as pa
    from pyarrow.csv import write_csv

    from ggdp.tables.table_plan import summary_rows

    shown = _release_shown(settings, progress)
    columns = tuple(shown.original)
    cells, share = len(shown.names), shown.including_zero
    zero = view.headline("no cell", "would be published")
    if cells:
        including = f"counts ({round(100 * share)} %) have an interval that includes 0"
        zero = view.headline(f"{round(share * cells):,} of {cells:,}", including)
    rows = shown.table.to_arrow()
    for name, numbers in shown.original.items():
        rows = rows.append_column(f"{shown.origin}_{name}", pa.array(numbers, mask=np.isnan(numbers)))
    csv = io.BytesIO()
    write_csv(rows, csv)
    plan = summary_rows(shown.release.plan)
    plus_minus = dict(plan).get("plus-minus", "").partition(" at")[0]
    around = view.headline(f"\N{PLUS-MINUS SIGN} {plus_minus}", "around a count, 95 times of 100")
    figure, svg = _draw_table(shown, settings.column if settings.column in columns else columns[0])
    # What the numbers are, in sentences.
    if settings.data != "simulated":
        said = [f"Public data: {BUNDLED[settings.data]().source}. The noise is drawn from seed {settings.seed}."]
    else:
        unit = settings.unit.strip()
        units = f"{settings.units:,} values of {unit}" if unit else f"{settings.units:,} rows"
        each = f", each with {rounded_text(settings.rows)} rows on average" if unit else ""
        even = settings.spread == "even"
        spread = "all cells equally likely" if even else "cells as likely as 1, 1/2, 1/3 and so on, in a random order"
        said = [f"Simulated, no data are read: {units}{each}, {spread}, from seed {settings.seed}."]
        if settings.where.strip():
            said.append("All of them meet the filter.")
        if settings.statistics.strip():
            said.append("Values are drawn from the beta(2, 5) law on their range: most of them in its lower half.")
        if any(domain.is_open for domain in shown.release.request.domains):
            said.append("Columns without declared levels have 20 simulated ones.")
    if shown.omitted:
        omitted = "cell that is not empty is" if shown.omitted == 1 else "cells that are not empty are"
        said.append(f"{shown.omitted:,} {omitted} left out: their noisy counts are below the threshold.")
    if shown.table.covers is not None:
        said.append(f"The intervals cover: {shown.table.covers}.")
    above = TagList(
        tags.p(*(f"{sentence} " for sentence in said), class_="origin"),
        *(tags.p(warning, class_="problem") for warning in shown.release.request.warnings),
        tags.div(zero, around, class_="headlines"),
    )
    plan_facts = view.facts(plan, "The plan: no data read, no budget spent")
    files = {"ggdp-table.csv": csv.getvalue(), "ggdp-table.svg": svg}
    return view.Results(html={"above": above, "figure": figure, "plan": plan_facts}, files=files, for_inputs=columns)


def dots_results(settings: TableSettings, *, progress: view.Progress = lambda _, __: None) -> view.Results | None:
    """Return the dots of a few cells, from the smallest count to the largest; None where counts come from sums."""
    from ggdp.plots.previews import count_dots, dots_in_words, plot_count_dots
    from ggdp.tables.table_manifest import counted_noun

    shown = _release_shown(settings, progress)
    plan = shown.release.plan
    if not shown.names or plan.statistics is not None:
        return None
    order = np.argsort(shown.original["count"], kind="stable")
    places = np.unique(np.linspace(0, order.size - 1, min(3, order.size)).round().astype(int))
    # One table of counts has independent noise.
    order_of, scale, dots = plan.laws[0].order, plan.mechanism.scale, int(settings.dots)
    cells = [
        count_dots(shown.names[place], int(shown.table.noisy_count[place]), order=order_of, scale=scale, dots=dots)
        for place in order[places].tolist()
    ]
    description = f"Quantile dot plots. {'; '.join(map(dots_in_words, cells))}."
    figure = plot_count_dots(cells, unit=counted_noun(plan.request))
    tag, svg = view.embed_figure(figure, "table-dots", "What noisy counts say of the true ones", description)
    return view.Results(html={"dots_figure": tag}, files={"ggdp-dots.svg": svg})


def _release_shown(settings: TableSettings, progress: view.Progress) -> ShownTable:
    """Return the table with what a release would publish of it; errors are in the words of the explorer."""
    progress(0, 3)
    if len(typed_table.lines_of(settings.by)) > 1:
        raise ExplorerError(f"{LABELS['by']}: one table at a time is simulated; keep one line")
    # What is simulated has no columns but those that are counted.
    plan = evolve(settings.table, where="").plan()
    progress(1, 3)
    with in_explorer_words():
        if settings.data == "simulated":
            shown = simulate_table(plan, settings)
        else:
            shown = show_bundled_table(plan, settings.data, settings.seed)
    progress(2, 3)
    return shown


def _draw_table(shown: ShownTable, column: str) -> tuple[Tag, bytes]:
    """Return the numbers of a column before noise, and those that would be published."""
    from ggdp.plots.previews import plot_original_and_noisy

    what = column.replace("_", " ", 1)
    noisy, lower, upper = shown.estimates(column)
    original = shown.original[column]
    figure = plot_original_and_noisy(shown.names, original, noisy, lower, upper, what=what, origin=shown.origin)
    known = np.isfinite(original) & np.isfinite(noisy)
    inside = int(((lower <= original) & (original <= upper))[known].sum())
    covering = f"{inside:,} of {int(known.sum()):,} intervals cover the {shown.origin} value"
    cells = number_of(len(shown.names), "cell")
    said = f"The {what} of {cells}, {shown.origin} and noisy, with 95% intervals; {covering}."
    if shown.table.covers is not None:
        said += " They are for what is counted: people in more cells than that are missing from some."
    if known.any():
        error = np.abs(noisy - original)[known]
        largest, median = (rounded_text(float(number)) for number in (error.max(), np.median(error)))
        said += f" The largest error is {largest}, the median {median}."
    return view.embed_figure(figure, "table-beside", f"{what[0].upper()}{what[1:]}, {shown.origin} and noisy", said)


def _table_inputs(settings: TableSettings) -> list[TagChild]:
    column = ui.input_select("column", "Numbers shown", [settings.column], selected=settings.column)
    people = view.quantity(settings, "units", "People")
    rows = view.quantity(settings, "rows", "Rows of each, on average", "With a unit only.")
    spreads = {"uneven": "a few large cells, many small ones", "even": "alike"}
    spread = view.choices(settings, "spread", "Cells are", spreads)
    dots = view.choices(settings, "dots", "Dots for each cell", {"20": "20", "50": "50"})
    seed = view.quantity(settings, "seed", "Seed", "Another seed is another table, and other noise.")
    data = {"simulated": "a simulated table", "czech": "Czech autoworkers, public", "mildew": "barley mildew, public"}
    return [
        view.choices(settings, "data", "Show", data),
        typed_table.columns_form(settings),
        typed_table.statistics_form(settings, column),
        typed_table.units_form(settings),
        view.group("Privacy", *typed_table.privacy_form(settings)),
        view.group("Simulation", view.when("data", ["simulated"], people, rows, spread), dots, seed),
    ]


def _serve_table(visit: view.Visit[TableSettings]) -> None:
    typed_table.share_inputs(visit, TableSettings())

    def dotted() -> tuple[Any, ...] | None:
        found = visit.require_settings()
        return None if found.statistics.strip() else (evolve(found, column="count"),)

    # The table does not depend on the number of dots, nor do the dots on the numbers shown in the table.
    computed = view.Background(
        visit, table_results, lambda: (evolve(visit.require_settings(), dots="20"),), visit.quick_or_long
    )
    dots = view.Background(visit, dots_results, dotted)
    visit.show("status", computed.status)

    @reactive.effect
    @reactive.event(visit.inputs.data, ignore_init=True)
    def _fill_in_bundled() -> None:
        found = visit.settings()
        if found is None or found.data == "simulated":
            return
        table = bundled_inputs(found.typed_table(), found.data)
        for name in ("by", "levels", "bins", "where", "statistics", "ranges", "digits", "unit"):
            visit.session.send_input_message(name, {"value": getattr(table, name)})

    @reactive.effect
    def _offer_columns() -> None:
        found = computed.result()
        if found is not None:
            with reactive.isolate():
                chosen = visit.inputs.column()
            columns = list(found.for_inputs)
            ui.update_select("column", choices=columns, selected=chosen if chosen in columns else columns[0])

    def results() -> TagList | None:
        found = computed.result()
        if found is None:
            return None
        pair = tags.div(found.html["figure"], ui.output_ui("dots_figure"), class_="pair")
        return TagList(found.html["above"], pair, found.html["plan"])

    visit.show("results", results)
    visit.show("unit_warning", lambda: typed_table.unit_warning(visit.settings()))
    visit.show_results(dots.result, "dots_figure")
    files = {"Table (CSV)": "ggdp-table.csv", "Figure (SVG)": "ggdp-table.svg", "Dots (SVG)": "ggdp-dots.svg"}
    visit.offer(files, computed.result, dots.result)
    visit.show_code(lambda found: (found.table.command("FILE", "--dry-run"), found.table.python("plan_table")))


TABLE = view.View("table", "Table", TableSettings, _table_inputs, _serve_table, lambda: [ui.output_ui("unit_warning")])


@frozen(kw_only=True)
class CellsPerUnitSettings(typed_table.FileFields, typed_table.CountedFields):
    """The table, the column of units, and the epsilon of the release that is planned."""


def check_results(asked: Asked, *, progress: view.Progress) -> view.Results:
    """Return what ``ggdp check`` finds of the cells of units. NOT private."""
    from ggdp.plots.previews import plot_cells_per_unit
    from ggdp.tables import check_table
    from ggdp.tables.source_check import NOTICE

    progress(0, 2)
    arguments = asked.table.check_arguments()
    with read_safely(asked):
        found = check_table(asked.path, **arguments)
    progress(1, 2)
    assert found.units is not None
    table = found.units.tables[0]
    options = {choice["max_cells"]: choice for choice in table["choices"]}
    best, nulls = table["recommended"], found.units.null_rows
    without = f"; {number_of(nulls, 'row')} without one {'is' if nulls == 1 else 'are'} not counted" if nulls else ""
    said = (
        f"{found.units.units:,} different values of {found.units.column} in {found.rows:,} rows{without}.",
        f"Half of them are in at most {number_of(table['quantiles']['0.5'], 'cell')}, 95 of 100 in at most "
        f"{table['quantiles']['0.95']:,}, all in at most {table['quantiles']['1']:,}.",
        f"Noise and what is cut off together are least at {best:,} cells per unit, where "
        f"{100 * options[best]['kept']:.3g} % of what there is to count is kept. A number that will be published "
        "should be chosen by what is known of such data, not by this look at them.",
    )
    title = "Noise against what is cut off, not private"
    description = "; ".join(
        f"{limit:,} cells: plus-minus {choice['plus_minus']:,}, {rounded_text(choice['cut'])} cut off"
        for limit, choice in options.items()
    )
    costs = {limit: (choice["plus_minus"], choice["cut"]) for limit, choice in options.items()}
    figure = plot_cells_per_unit(costs, best, setting="max_cells", unit=(asked.table.unit_name.strip() or "units"))
    tag, svg = view.embed_figure(figure, "max-cells", title, f"{title}: {description}.")
    header = ("cells per unit", "noise, plus-minus", "cut off", "together", "kept", "units cut")
    rows = []
    for limit, choice in options.items():
        noise, cut = choice["plus_minus"], choice["cut"]
        together, kept = rounded_text(noise + cut), f"{100 * choice['kept']:.4g} %"
        rows.append((f"{limit:,}", f"{noise:,}", rounded_text(cut), together, kept, f"{choice['units_cut']:,}"))
    least = view.headline(f"{best:,}", "cells per unit have the least noise and loss together")
    pair = tags.div(tag, tags.div(*map(tags.p, said)), class_="pair")
    costs_table = view.text_table(header, rows, "NOT PRIVATE: what each number of cells per unit costs", numbers_from=0)
    html = TagList(tags.div(least, class_="headlines"), pair, costs_table)
    csv = view.csv_file(header, ([cell.replace(",", "") for cell in row] for row in rows))
    files = {"cells-per-unit.csv": f"# {NOTICE}\n".encode() + csv, "cells-per-unit.svg": svg}
    return view.Results(html={"results": html}, files={f"not-private-{name}": file for name, file in files.items()})


def _check_inputs(settings: CellsPerUnitSettings) -> list[TagChild]:
    return [
        *file_form(settings),
        typed_table.columns_form(settings),
        view.group("Units", *typed_table.text_inputs(settings, "unit")),
        view.quantity(settings, "epsilon", LABELS["epsilon"], "Of the release that is planned."),
        ui.input_action_button("look", "Look at the data", class_="btn-primary"),
    ]


def _serve_check(visit: view.Visit[CellsPerUnitSettings]) -> None:
    shared = visit.shared
    serve_file_form(visit.session, shared)
    typed_table.share_inputs(visit, CellsPerUnitSettings())
    kept: dict[str, Source] = {}

    @reactive.calc
    @reactive.event(visit.inputs.look)
    def arguments() -> tuple[Any, ...]:
        found, source = visit.require_settings(), require_source(shared)
        if not found.unit.strip():
            raise ExplorerError("Unit: name the column whose values are the people who are protected")
        table = found.typed_table(shared.domain, shared.study())
        table.check_arguments()
        # Another upload must not free its memory before it is read.
        kept["asked"] = source
        return (Asked(table=table, path=str(source.path), name=source.name, click=visit.inputs.look()),)

    def code(found: CellsPerUnitSettings) -> tuple[str, str] | None:
        source, table = shared.source(), found.typed_table(shared.domain, shared.study())
        name = "FILE" if source is None else source.typed
        if not found.by.strip():
            return None
        return table.command(name, name="check"), table.python("check_table", source=name)

    computed = view.Background(visit, check_results, arguments)
    visit.show("status", computed.status)
    visit.show_results(computed.result, "results")
    visit.offer({"Not private: numbers (CSV)": ".csv", "Not private: figure (SVG)": ".svg"}, computed.result)
    visit.show_code(code)


def _warning() -> list[TagChild]:
    said = "For the steward alone: this looks at the data without noise. Do not publish it, do not show it to anybody "
    said += "who may not see the data, and choose no published number by it."
    return [tags.p(tags.strong("Not private. "), said, class_="warning")]


CELLS_PER_UNIT = view.View("cells", "Cells per unit", CellsPerUnitSettings, _check_inputs, _serve_check, _warning)
