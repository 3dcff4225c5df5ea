"""Noise: how much of it a goal takes, at which order, and what that means for a published number."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import evolve
from htmltools import Tag, TagList, tags
from shiny import reactive, render, ui

from ggdp.explorer.noise_results import NoiseResults, NoiseSettings, noise_equivalents, noise_results, plan_results
from ggdp.explorer.view import Download, View, choices, csv_of, group, quantity, svg_of, when
from ggdp.explorer.widgets import facts, headline, shown, text_table

if TYPE_CHECKING:
    from htmltools import TagChild

    from ggdp.explorer.settings import PromiseSettings
    from ggdp.explorer.view import Visit

PROMISES = {
    "approximate": "Epsilon, but for a small slack delta (approximate)",
    "pure": "Epsilon, always (pure)",
    "probabilistic": "Epsilon, with probability 1 − delta (probabilistic)",
}
NEIGHBOURS = {
    "add-remove": "Whether a person is in the data at all",
    "replace-one": "What a person's record says; how many there are is public",
}
SUPPORTS = {"integer": "Whole numbers, such as counts", "real": "Any number"}
_HEADER = ("Noise", "Order", "Scale", "95 of 100 within")


def promise_form(settings: PromiseSettings, about_epsilon: str, about_delta: str = "") -> list[Tag]:
    """Return the inputs of a promise."""
    return [
        quantity(settings, "epsilon", "Privacy loss (epsilon)", about_epsilon),
        choices(settings, "notion", "What is promised", PROMISES),
        when(
            "notion",
            ("approximate", "probabilistic"),
            quantity(settings, "delta", "Slack (delta)", about_delta),
        ),
    ]


def _inputs(settings: NoiseSettings) -> list[TagChild]:
    promise = promise_form(
        settings,
        "Smaller protects people more and adds more noise.",
        "Keep it far below one in the number of people in the data.",
    )
    changed = "Most that one person changes a cell by"
    orders = "1 is Laplace noise, 2 is Gaussian; higher orders have shorter tails."
    return [
        group("Promise", *promise),
        group(
            "Numbers",
            choices(settings, "neighbours", "What is protected", NEIGHBOURS),
            quantity(settings, "max_cells", "Cells one person can be in", "1 if every person is counted once."),
            quantity(settings, "sensitivity", changed, "1 for counts of people."),
            choices(settings, "support", "Published numbers are", SUPPORTS),
        ),
        group(
            "Noise",
            quantity(settings, "order", "Shape (order)", orders),
            ui.input_action_button("use_best", "Use the planner's order", class_="quiet"),
        ),
    ]


def _results() -> list[TagChild]:
    laws, orders = ui.output_ui("laws"), ui.output_ui("orders")
    outputs = [ui.output_ui("summary"), tags.div(laws, orders, class_="pair"), ui.output_ui("details")]
    return [*outputs, ui.output_ui("downloads")]


def _serve(visit: Visit[NoiseSettings]) -> None:
    made = visit.computed(noise_results, lambda: (visit.checked(),), visit.quick_or_long)
    # The plan does not depend on the order: a moved order searches for nothing.
    planned = visit.computed(
        plan_results, lambda: None if (found := visit.settings()) is None else (evolve(found, order=2.0),)
    )
    visit.show_status(made.status)
    visit.show("summary", made.result, _summary)
    visit.show("laws", made.result, lambda found: tags.section(tags.h3(found.picture.title), shown(found.picture)))
    visit.show("details", made.result, lambda found: facts(found.facts, "What is proved of this noise"))

    @render.ui
    def orders() -> Tag:
        found = planned.result()
        body = [] if found is None else [tags.p(found.said), shown(found.picture)]
        return tags.section(tags.h3("Error by order"), tags.div(planned.status(), role="status"), *body)

    @reactive.effect
    @reactive.event(visit.inputs.use_best)
    def _use_best() -> None:
        found = planned.result()
        if found is not None:
            visit.session.send_input_message("order", {"value": found.best})

    visit.offer(
        Download("Noise (CSV)", "noise.csv", made.result, csv_of),
        Download("Error by order (CSV)", "error-by-order.csv", planned.result, csv_of),
        Download("The noise (SVG)", "noise.svg", made.result, svg_of),
        Download("Error by order (SVG)", "error-by-order.svg", planned.result, svg_of),
    )
    visit.show_equivalents(noise_equivalents)


def _summary(found: NoiseResults) -> TagList:
    beside = text_table(_HEADER, found.beside, "This noise beside the two that are usual")
    return TagList(headline(found.plus_minus, found.said), beside)


NOISE = View(key="noise", title="Noise", settings=NoiseSettings, inputs=_inputs, serve=_serve, results=_results)
