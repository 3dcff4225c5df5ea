"""Noise: how much of it a goal takes, at which order, and what that means for a published number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from htmltools import Tag, tags
from shiny import Inputs, Outputs, Session, module, reactive, render, ui

from ggdp.errors import GgdpError
from ggdp.explorer import settings as fields
from ggdp.explorer.background import Background
from ggdp.explorer.equivalents import shown_equivalents
from ggdp.explorer.figures import shown
from ggdp.explorer.inputs import choices, group, panel, quantity, when
from ggdp.explorer.noise_results import NoiseSettings, noise_equivalents, noise_results, plan_results
from ggdp.explorer.text_tables import facts, headline, text_table
from ggdp.explorer.typed_table import message_of
from ggdp.explorer.view import Shared, View

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["NOISE"]

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


@module.ui
def noise_ui(settings: NoiseSettings) -> Tag:
    """Return the inputs and the places for results."""
    goal = [
        quantity(
            "epsilon",
            "Privacy loss (epsilon)",
            settings.epsilon,
            low=0.01,
            high=20.0,
            scale="log",
            hint="Smaller protects people more and adds more noise.",
        ),
        choices("notion", "What is promised", PROMISES, settings.notion),
        when(
            "notion",
            ("approximate", "probabilistic"),
            quantity(
                "delta",
                "Slack (delta)",
                settings.delta,
                low=1e-12,
                high=0.5,
                scale="log",
                hint="Keep it far below one in the number of people in the data.",
            ),
        ),
    ]
    query = [
        choices("neighbours", "What is protected", NEIGHBOURS, settings.neighbours),
        quantity(
            "max_cells",
            "Cells one person can be in",
            settings.max_cells,
            low=1,
            high=100,
            scale="log",
            whole=True,
            hint="1 if every person is counted once.",
        ),
        quantity(
            "sensitivity",
            "Most that one person changes a cell by",
            settings.sensitivity,
            low=1e-6,
            high=1e6,
            scale="log",
            hint="1 for counts of people.",
        ),
        choices("support", "Published numbers are", SUPPORTS, settings.support),
    ]
    order = [
        quantity(
            "order",
            "Shape (order)",
            settings.order,
            low=1.0,
            high=50.0,
            scale="log",
            hint="1 is Laplace noise, 2 is Gaussian; higher orders have shorter tails.",
        ),
        ui.input_action_button("use_best", "Use the planner's order", class_="quiet"),
    ]
    return panel(
        [group("Promise", *goal), group("Numbers", *query), group("Noise", *order)],
        [
            tags.div(ui.output_ui("status"), role="status", aria_live="polite"),
            ui.output_ui("summary"),
            tags.div(ui.output_ui("laws"), ui.output_ui("orders"), class_="pair"),
            ui.output_ui("details"),
            ui.output_ui("same"),
            tags.div(
                ui.download_link("noise_csv", "Noise (CSV)"),
                ui.download_link("orders_csv", "Error by order (CSV)"),
                ui.download_link("laws_svg", "The noise (SVG)"),
                ui.download_link("orders_svg", "Error by order (SVG)"),
                class_="downloads",
            ),
        ],
    )


@module.server
def noise_server(
    input: Inputs,  # noqa: A002 - as Shiny calls it
    output: Outputs,  # noqa: ARG001
    session: Session,
    shared: Shared,
) -> Callable[[], NoiseSettings | None]:
    """Show what the inputs ask for."""

    @reactive.calc
    def asked() -> NoiseSettings | str:
        try:
            found = fields.from_inputs(NoiseSettings, input)
        except GgdpError as wrong:
            return message_of(wrong)
        return found

    def settings() -> NoiseSettings | None:
        found = asked()
        return found if isinstance(found, NoiseSettings) else None

    @reactive.calc
    def without_order() -> NoiseSettings | None:
        from attrs import evolve

        found = settings()
        return None if found is None else evolve(found, order=2.0)

    def quick() -> tuple[Any, ...] | None:
        found = settings()
        return (found,) if found is not None and found.is_quick else None

    def slow() -> tuple[Any, ...] | None:
        found = settings()
        return (found,) if found is not None and not found.is_quick else None

    at_once = Background(shared.quick, noise_results, quick, session)
    later = Background(shared.long, noise_results, slow, session)
    # The plan does not depend on the order: a moved order searches for nothing.
    planned = Background(
        shared.long, plan_results, lambda: None if (found := without_order()) is None else (found,), session
    )

    def laws_now() -> Any:  # noqa: ANN401 - the results, or None
        return at_once.result() or later.result()

    @render.ui
    def status() -> Any:  # noqa: ANN401
        found = asked()
        if isinstance(found, str):
            return tags.p(found, class_="problem")
        return (at_once if found.is_quick else later).status()

    @render.ui
    def summary() -> Any:  # noqa: ANN401
        found = laws_now()
        if found is None:
            return None
        return tags.div(
            headline(found.plus_minus, found.said),
            text_table(
                ("Noise", "Order", "Scale", "95 of 100 within"),
                found.beside,
                "This noise beside the two that are usual",
            ),
        )

    @render.ui
    def laws() -> Any:  # noqa: ANN401
        found = laws_now()
        return None if found is None else tags.section(tags.h3(found.picture.title), shown(found.picture))

    @render.ui
    def orders() -> Any:  # noqa: ANN401
        found = planned.result()
        body = [] if found is None else [tags.p(found.said), shown(found.picture)]
        return tags.section(tags.h3("Error by order"), tags.div(planned.status(), role="status"), *body)

    @render.ui
    def details() -> Any:  # noqa: ANN401
        found = laws_now()
        return None if found is None else facts(found.facts, "What is proved of this noise")

    @render.ui
    def same() -> Any:  # noqa: ANN401
        found = settings()
        return None if found is None else shown_equivalents(noise_equivalents(found))

    @reactive.effect
    @reactive.event(input.use_best)
    def _use_best() -> None:
        found = planned.result()
        if found is not None:
            session.send_input_message("order", {"value": found.best})

    @render.download(filename="noise.csv")
    def noise_csv() -> Iterator[bytes]:
        yield b"" if (found := laws_now()) is None else found.csv

    @render.download(filename="error-by-order.csv")
    def orders_csv() -> Iterator[bytes]:
        yield b"" if (found := planned.result()) is None else found.csv

    @render.download(filename="noise.svg")
    def laws_svg() -> Iterator[bytes]:
        yield b"" if (found := laws_now()) is None else found.picture.file()

    @render.download(filename="error-by-order.svg")
    def orders_svg() -> Iterator[bytes]:
        yield b"" if (found := planned.result()) is None else found.picture.file()

    return settings


NOISE = View(key="noise", title="Noise", settings=NoiseSettings, ui=noise_ui, server=noise_server)
