"""Inputs of the page: native controls, each with a label and a hint."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import attrs
from htmltools import Tag, TagChild, tags
from shiny import ui
from shiny.module import resolve_id

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["choices", "group", "quantity", "text", "when"]

_POSITIONS = 400


def quantity(settings: object, name: str, label: str, hint: str = "") -> Tag:
    """Return a number of the settings with a slider beside it, between the ends that its field has.

    The number is the value, the slider moves it. It stops at numbers of few digits; any number between the ends can be
    typed.
    """
    key, value = resolve_id(name), getattr(settings, name)
    ends = attrs.fields_dict(type(settings))[name].metadata  # type: ignore[arg-type]
    low, high, is_log = ends["low"], ends["high"], ends["scale"] == "log"
    share = math.log(value / low) / math.log(high / low) if is_log else (value - low) / (high - low)
    positions = int(high - low) if ends["whole"] and not is_log else _POSITIONS
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
                step="1" if ends["whole"] else "any",
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
        data_scale=ends["scale"],
        data_whole="yes" if ends["whole"] else "no",
    )


def choices(settings: object, name: str, label: str, among: Mapping[str, str]) -> Tag:
    """Return radio buttons for a few words, each value with what it is called on the page."""
    return tags.div(
        ui.input_radio_buttons(name, label, dict(among), selected=getattr(settings, name)), class_="choices"
    )


def text(settings: object, name: str, label: str, placeholder: str, hint: str = "", *, lines: bool = False) -> Tag:
    """Return a text, of one line or of several, with a hint that is read with it."""
    value = getattr(settings, name)
    if lines:
        control = ui.input_text_area(name, label, value, rows=2, placeholder=placeholder, autoresize=True)
    else:
        control = ui.input_text(name, label, value, placeholder=placeholder, autocomplete="off")
    key = f"{resolve_id(name)}-hint"
    for child in control.children:
        if isinstance(child, Tag) and child.name in ("input", "textarea"):
            child.attrs |= {"spellcheck": "false", **({"aria-describedby": key} if hint else {})}
    return tags.div(control, tags.p(hint, id=key, class_="hint") if hint else None, class_="typed")


def when(name: str, values: Sequence[str], *inputs: TagChild) -> Tag:
    """Return inputs that are shown only while another input, of `choices`, has one of the values."""
    return tags.div(*inputs, data_when=resolve_id(name), data_values=" ".join(values))


def group(title: str, *inputs: TagChild, opened: bool = True) -> Tag:
    """Return inputs under a title, which can be folded."""
    return tags.details(tags.summary(title), *inputs, class_="group", open="open" if opened else None)
