"""Inputs of a table, which three views share: what is typed in one of them is there in the others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
from attrs import frozen
from htmltools import Tag, tags
from shiny import reactive, ui
from shiny.module import resolve_id

from ggdp.explorer import settings as fields
from ggdp.explorer.inputs import choices, quantity, when
from ggdp.explorer.typed_table import LABELS, TypedTable

if TYPE_CHECKING:
    from shiny import Inputs, Session

    from ggdp.explorer.view import Shared

__all__ = ["TableFields", "columns_form", "in_step", "privacy_form", "statistics_form", "units_form"]


@frozen(kw_only=True)
class TableFields:
    """A table as it is typed, and its goal."""

    by: str = fields.text()
    levels: str = fields.text(longest=fields.LONG)
    bins: str = fields.text(longest=fields.LONG)
    statistics: str = fields.text(longest=fields.LONG)
    ranges: str = fields.text(longest=fields.LONG)
    unit: str = fields.text()
    unit_name: str = fields.text()
    max_cells: int = fields.integer(1, low=1, high=1000)
    epsilon: float = fields.number(1.0, low=0.01, high=20.0)
    notion: str = fields.choice("pure", "approximate")
    delta: float = fields.number(1e-6, low=1e-12, high=1e-2)

    def typed(self, **more: Any) -> TypedTable:  # noqa: ANN401 - fields of the table
        """Return the table; cells per unit count only where a column of units is named."""
        has_unit = bool(self.unit.strip())
        return TypedTable(
            by=self.by,
            levels=self.levels,
            bins=self.bins,
            statistics=self.statistics,
            ranges=self.ranges,
            unit=self.unit,
            unit_name=self.unit_name,
            max_cells=self.max_cells if has_unit else None,
            epsilon=self.epsilon,
            delta=self.delta if self.notion == "approximate" else None,
            **more,
        )


def columns_form(settings: TableFields) -> list[Tag]:
    """Return the inputs of the columns that are counted by."""
    return [
        _text("by", LABELS["--by"], settings.by, "ward, age", "Columns, separated by commas."),
        _lines(
            "levels", LABELS["--levels"], settings.levels, "ward=births, eyes", "A line for each column: COL=V1,V2."
        ),
        _lines(
            "bins", LABELS["--bins"], settings.bins, "age=0,18,65,inf", "A line for each column of numbers or dates."
        ),
    ]


def statistics_form(settings: TableFields) -> list[Tag]:
    """Return the inputs of statistics beside the counts."""
    hint = "Lines: mean COL, sum COL, variance COL, quantile COL=0.25,0.5."
    return [
        _lines("statistics", LABELS["--mean"], settings.statistics, "mean income", hint),
        _lines("ranges", LABELS["--range"], settings.ranges, "income=0:200000", "Public range of each: COL=LOW:HIGH."),
    ]


def units_form(settings: TableFields, *, limited: bool = True) -> list[Tag]:
    """Return the inputs of units; with the number of cells that one is counted in, if it is `limited`."""
    hint = "Column whose values are the people protected; without it each row is one."
    found = [_text("unit", LABELS["--unit"], settings.unit, "patient", hint)]
    if limited:
        hint = "Most cells that one unit is counted in; the noise grows with it."
        most = {"low": 1, "high": 1000, "scale": "log", "whole": True}
        found += [
            quantity("max_cells", LABELS["--max-cells"], settings.max_cells, hint=hint, **most),  # type: ignore[arg-type]
            _text("unit_name", LABELS["--unit-name"], settings.unit_name, "patients", "In statements and figures."),
        ]
    return found


def privacy_form(settings: TableFields) -> list[Tag]:
    """Return the inputs of the goal."""
    among = {"pure": "pure", "approximate": "approximate, with a delta"}
    return [
        quantity("epsilon", LABELS["--epsilon"], settings.epsilon, low=0.01, high=20.0, scale="log"),
        choices("notion", "Notion", among, settings.notion),
        when(
            "notion",
            ["approximate"],
            quantity("delta", LABELS["--delta"], settings.delta, low=1e-12, high=1e-2, scale="log"),
        ),
    ]  # fmt: skip


def in_step(inputs: Inputs, session: Session, shared: Shared, initial: TableFields, *names: str) -> None:
    """Keep the inputs of a view, all of a table or those that are named, equal to those changed in another view.

    What differs from the defaults in the view that is open goes to the others, from an address or by a change.
    """
    kept = list(names) or [field.name for field in attrs.fields(TableFields)]
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


def _text(name: str, label: str, value: str, placeholder: str, hint: str) -> Tag:
    return _hinted(name, ui.input_text(name, label, value, placeholder=placeholder, autocomplete="off"), hint)


def _lines(name: str, label: str, value: str, placeholder: str, hint: str) -> Tag:
    return _hinted(name, ui.input_text_area(name, label, value, rows=2, placeholder=placeholder, autoresize=True), hint)


def _hinted(name: str, control: Tag, hint: str) -> Tag:
    """Return a control with a hint, which is read with it."""
    key = f"{resolve_id(name)}-hint"
    for child in control.children:
        if isinstance(child, Tag) and child.name in ("input", "textarea"):
            child.attrs["aria-describedby"] = key
            child.attrs["spellcheck"] = "false"
    return tags.div(control, tags.p(hint, id=key, class_="hint"), class_="typed")
