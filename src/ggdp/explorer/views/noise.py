"""Noise, and what an attacker learns: how much noise a goal takes, and beliefs about one person around a release."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import evolve
from htmltools import Tag, TagList, tags
from shiny import reactive, render, ui

from ggdp.explorer import noise_results as results
from ggdp.explorer.view import Download, View, choices, csv_of, group, quantity, svg_of, when
from ggdp.explorer.widgets import facts, headline, text_table

if TYPE_CHECKING:
    from htmltools import TagChild

    from ggdp.explorer.settings import PromiseSettings
    from ggdp.explorer.view import Visit

NEIGHBOURS = {
    "add-remove": "Whether a person is in the data at all",
    "replace-one": "What a person's record says; how many there are is public",
}


def promise_form(settings: PromiseSettings, about_epsilon: str, about_delta: str = "") -> list[Tag]:
    """Return the inputs of a promise."""
    promises = {
        "approximate": "Epsilon, but for a small slack delta (approximate)",
        "pure": "Epsilon, always (pure)",
        "probabilistic": "Epsilon, with probability 1 − delta (probabilistic)",
    }
    delta = quantity(settings, "delta", "Slack (delta)", about_delta)
    return [
        quantity(settings, "epsilon", "Privacy loss (epsilon)", about_epsilon),
        choices(settings, "notion", "What is promised", promises),
        when("notion", ("approximate", "probabilistic"), delta),
    ]


def _noise_inputs(settings: results.NoiseSettings) -> list[TagChild]:
    promise = promise_form(
        settings,
        "Smaller protects people more and adds more noise.",
        "Keep it far below one in the number of people in the data.",
    )
    changed = "Most that one person changes a cell by"
    supports = {"integer": "Whole numbers, such as counts", "real": "Any number"}
    orders = "1 is Laplace noise, 2 is Gaussian; higher orders have shorter tails."
    return [
        group("Promise", *promise),
        group(
            "Numbers",
            choices(settings, "neighbours", "What is protected", NEIGHBOURS),
            quantity(settings, "max_cells", "Cells one person can be in", "1 if every person is counted once."),
            quantity(settings, "sensitivity", changed, "1 for counts of people."),
            choices(settings, "support", "Published numbers are", supports),
        ),
        group(
            "Noise",
            quantity(settings, "order", "Shape (order)", orders),
            ui.input_action_button("use_best", "Use the planner's order", class_="quiet"),
        ),
    ]


def _noise_places() -> list[TagChild]:
    pair = tags.div(ui.output_ui("laws"), ui.output_ui("orders"), class_="pair")
    return [ui.output_ui("summary"), pair, ui.output_ui("details"), ui.output_ui("downloads")]


def _serve_noise(visit: Visit[results.NoiseSettings]) -> None:
    made = visit.computed(results.noise_results, lambda: (visit.checked(),), visit.quick_or_long)
    # The plan does not depend on the order: a moved order searches for nothing.
    planned = visit.computed(
        results.plan_results, lambda: None if (found := visit.settings()) is None else (evolve(found, order=2.0),)
    )
    visit.show_status(made.status)

    def summary(found: results.NoiseResults) -> TagList:
        header, caption = ("Noise", "Order", "Scale", "95 of 100 within"), "This noise beside the two that are usual"
        return TagList(headline(found.plus_minus, found.said), text_table(header, found.beside, caption))

    visit.show("summary", made.result, summary)
    visit.show("laws", made.result, lambda found: tags.section(tags.h3(found.picture.title), found.picture.tag()))
    visit.show("details", made.result, lambda found: facts(found.facts, "What is proved of this noise"))

    @render.ui
    def orders() -> Tag:
        found = planned.result()
        body = [] if found is None else [tags.p(found.said), found.picture.tag()]
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
    visit.show_equivalents(results.noise_equivalents)


def _attacker_inputs(settings: results.AttackerSettings) -> list[TagChild]:
    promise = promise_form(settings, "Of all that is published about the same people, together.")
    believed = "How likely the attacker thinks it before anything is published."
    return [
        group("Promise", *promise, choices(settings, "neighbours", "What is protected", NEIGHBOURS)),
        group("Attacker", quantity(settings, "prior", "Believed before, in %", believed)),
    ]


def _serve_attacker(visit: Visit[results.AttackerSettings]) -> None:
    learned = visit.computed(results.attacker_results, lambda: (visit.checked(),), lambda: visit.shared.quick)
    visit.show_status(learned.status)

    def beliefs(found: results.AttackerResults) -> TagList:
        header = ("Before", "After, at least", "After, at most", "Best guess right")
        return TagList(
            headline(found.change, found.said),
            tags.p(found.exception, class_="lead") if found.exception else None,
            tags.div(
                tags.section(tags.h3(found.picture.title), found.picture.tag()),
                text_table(header, found.rows, "For other attackers", numbers_from=0),
                class_="pair",
            ),
            facts(found.facts, "What exactly is true"),
        )

    visit.show("results", learned.result, beliefs)
    visit.offer(
        Download("Beliefs (CSV)", "beliefs.csv", learned.result, csv_of),
        Download("Beliefs (SVG)", "beliefs.svg", learned.result, svg_of),
    )
    visit.show_equivalents(results.attacker_equivalents)


NOISE = View(
    key="noise",
    title="Noise",
    settings=results.NoiseSettings,
    inputs=_noise_inputs,
    serve=_serve_noise,
    results=_noise_places,
)
ATTACKER = View(
    key="attacker",
    title="What an attacker learns",
    settings=results.AttackerSettings,
    inputs=_attacker_inputs,
    serve=_serve_attacker,
)
