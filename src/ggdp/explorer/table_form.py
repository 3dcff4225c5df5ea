"""Inputs of a table, which three views share: what is typed in one of them is there in the others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
from attrs import frozen
from shiny import reactive

from ggdp.explorer import settings as fields
from ggdp.explorer.typed_table import LABELS, TypedTable
from ggdp.explorer.view import choices, group, quantity, text, when
from ggdp.tables.statistics.statistic import STATISTICS

if TYPE_CHECKING:
    from htmltools import Tag

    from ggdp.explorer.view import Visit


@frozen(kw_only=True)
class CountedFields:
    """Columns to count by, the column of units, and an epsilon."""

    by: str = fields.text()
    levels: str = fields.text(longest=fields.LONG)
    bins: str = fields.text(longest=fields.LONG)
    labels: str = fields.text(longest=fields.LONG)
    other: str = fields.text(longest=fields.LONG)
    missing: str = fields.text(longest=fields.LONG)
    unit: str = fields.text()
    epsilon: float = fields.number(1.0, low=0.01, high=20.0)


@frozen(kw_only=True)
class TableFields(CountedFields):
    """A table as it is typed, and its goal."""

    statistics: str = fields.text(longest=fields.LONG)
    ranges: str = fields.text(longest=fields.LONG)
    unit_name: str = fields.text()
    max_cells: int = fields.integer(1, low=1, high=1000)
    notion: str = fields.choice("pure", "approximate")
    delta: float = fields.number(1e-6, low=1e-12, high=1e-2)

    def typed(self, **more: Any) -> TypedTable:  # noqa: ANN401 - fields of the table
        """Return the table; cells per unit count only where a column of units is named."""
        typed = {part.name: getattr(self, part.name) for part in attrs.fields(TableFields) if part.name != "notion"}
        typed["max_cells"] = self.max_cells if self.unit.strip() else None
        typed["delta"] = self.delta if self.notion == "approximate" else None
        return TypedTable(**typed | more)


def columns_form(settings: CountedFields) -> list[Tag]:
    """Return the inputs of the columns that are counted by."""
    levels, bins = "A line for each column: COL=V1,V2.", "A line for each column of numbers or dates."
    return [
        text(settings, "by", LABELS["by"], "ward, age", "Columns, separated by commas."),
        text(settings, "levels", LABELS["levels"], "ward=births, eyes", levels, lines=True),
        text(settings, "bins", LABELS["bins"], "age=0,18,65,inf", bins, lines=True),
        group(
            "Labels, other and missing values",
            text(settings, "labels", LABELS["labels"], "age=0-17,18-64,65+", "Names to publish.", lines=True),
            text(settings, "other", LABELS["other"], "ward=elsewhere", "A level for all others.", lines=True),
            text(settings, "missing", LABELS["missing"], "age=unknown", "A level for rows without one.", lines=True),
            opened=bool(settings.labels or settings.other or settings.missing),
        ),
    ]


def statistics_form(settings: TableFields) -> list[Tag]:
    """Return the inputs of statistics beside the counts."""
    plain = [f"{kind} COL" for kind in STATISTICS if kind != "quantile"]
    hint = f"Lines: {', '.join(plain)}, quantile COL=0.25,0.5."
    ranges = "Public range of each: COL=LOW:HIGH."
    return [
        text(settings, "statistics", LABELS["mean"], "mean income", hint, lines=True),
        text(settings, "ranges", LABELS["range"], "income=0:200000", ranges, lines=True),
    ]


def unit_form(settings: CountedFields) -> Tag:
    """Return the input of the column of units."""
    hint = "Column whose values are the people protected; without it each row is one."
    return text(settings, "unit", LABELS["unit"], "patient", hint)


def units_form(settings: TableFields) -> list[Tag]:
    """Return the inputs of units."""
    hint = "Most cells that one unit is counted in; the noise grows with it."
    return [
        unit_form(settings),
        quantity(settings, "max_cells", LABELS["max_cells"], hint),
        text(settings, "unit_name", LABELS["unit_name"], "patients", "In statements and figures."),
    ]


def privacy_form(settings: object) -> list[Tag]:
    """Return the inputs of a goal, pure or approximate DP."""
    return [
        quantity(settings, "epsilon", LABELS["epsilon"]),
        choices(settings, "notion", "Notion", {"pure": "pure", "approximate": "approximate, with a delta"}),
        when("notion", ["approximate"], quantity(settings, "delta", LABELS["delta"])),
    ]


def in_step(visit: Visit[Any], initial: CountedFields) -> None:
    """Keep the inputs of a view that are of a table equal to those changed in another view.

    What differs from the defaults in the view that is open goes to the others, from an address or by a change.
    """
    inputs, session, shared = visit.inputs, visit.session, visit.shared
    kept = [field.name for field in attrs.fields(TableFields) if hasattr(initial, field.name)]
    root = session.root_scope()

    @reactive.effect
    def _gives() -> None:
        typed = {name: inputs[name]() for name in kept}
        with reactive.isolate():
            before = {name: getattr(initial, name) for name in kept}
            if root.input.view() != str(session.ns) or any(value is None for value in typed.values()):
                return
            known = shared.typed()
            if typed != before | {name: known[name] for name in kept if name in known}:
                shared.typed.set({**known, **typed})

    @reactive.effect
    def _takes() -> None:
        typed = shared.typed()
        with reactive.isolate():
            if root.input.view() == str(session.ns):
                return
            for name in kept:
                if name in typed and typed[name] != inputs[name]():
                    session.send_input_message(name, {"value": typed[name]})
