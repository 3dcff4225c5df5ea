"""Inputs of the page: native controls, each with a label and a hint."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

from htmltools import Tag, TagChild, tags
from shiny import ui
from shiny.module import resolve_id

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["choices", "group", "panel", "quantity", "when"]

_POSITIONS = 400


def quantity(
    name: str,
    label: str,
    value: float,
    *,
    low: float,
    high: float,
    scale: Literal["linear", "log"] = "linear",
    whole: bool = False,
    hint: str = "",
) -> Tag:
    """Return a number with a slider beside it; the number is the value, the slider moves it between `low` and `high`.

    The slider stops at numbers of few digits; any number between the ends can be typed.
    """
    key = resolve_id(name)
    share = math.log(value / low) / math.log(high / low) if scale == "log" else (value - low) / (high - low)
    positions = int(high - low) if whole and scale == "linear" else _POSITIONS
    hinted = {"aria-describedby": f"{key}-hint"} if hint else {}
    return tags.div(
        tags.div(
            tags.label(label, for_=f"{key}-number"),
            tags.input(
                id=f"{key}-number",
                type="number",
                value=f"{value:.15g}",
                min=f"{low:g}",
                max=f"{high:g}",
                step="1" if whole else "any",
                **hinted,
            ),
            class_="quantity-line",
        ),
        tags.input(
            type="range",
            min="0",
            max=str(positions),
            value=str(round(positions * min(max(share, 0.0), 1.0))),
            **{"aria-label": f"{label}, slider", "aria-valuetext": f"{value:g}"},
        ),
        tags.p(hint, id=f"{key}-hint", class_="hint") if hint else None,
        id=key,
        class_="quantity",
        data_low=f"{low:g}",
        data_high=f"{high:g}",
        data_scale=scale,
        data_whole="yes" if whole else "no",
    )


def choices(name: str, label: str, among: Mapping[str, str], selected: str, hint: str = "") -> Tag:
    """Return radio buttons for a few words, each value with what it is called on the page."""
    return tags.div(
        ui.input_radio_buttons(name, label, dict(among), selected=selected),
        tags.p(hint, class_="hint") if hint else None,
        class_="choices",
    )


def when(name: str, values: Sequence[str], *inputs: TagChild) -> Tag:
    """Return inputs that are shown only while another input, of `choices`, has one of the values."""
    return tags.div(*inputs, data_when=resolve_id(name), data_values=" ".join(values))


def group(title: str, *inputs: TagChild, opened: bool = True) -> Tag:
    """Return inputs under a title, which can be folded."""
    return tags.details(tags.summary(title), *inputs, class_="group", open="open" if opened else None)


def panel(settings: list[TagChild], results: list[TagChild]) -> Tag:
    """Return the layout of a view: settings at the left, or above on a narrow screen, and results."""
    return tags.div(
        tags.form(*settings, class_="settings", aria_label="Settings"),
        tags.div(*results, class_="results"),
        class_="view",
    )
