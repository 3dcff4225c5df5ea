"""What an attacker learns: beliefs about one person, before and after a release."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from htmltools import Tag, tags
from shiny import Inputs, Outputs, Session, module, reactive, render, ui

from ggdp.errors import GgdpError
from ggdp.explorer import settings as fields
from ggdp.explorer.attacker_results import AttackerSettings, attacker_equivalents, attacker_results
from ggdp.explorer.background import Background
from ggdp.explorer.equivalents import shown_equivalents
from ggdp.explorer.figures import shown
from ggdp.explorer.inputs import choices, group, panel, quantity, when
from ggdp.explorer.text_tables import facts, headline, text_table
from ggdp.explorer.typed_table import message_of
from ggdp.explorer.view import Shared, View
from ggdp.explorer.views.noise import NEIGHBOURS, PROMISES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["ATTACKER"]


@module.ui
def attacker_ui(settings: AttackerSettings) -> Tag:
    """Return the inputs and the places for results."""
    promise = [
        quantity(
            "epsilon",
            "Privacy loss (epsilon)",
            settings.epsilon,
            low=0.01,
            high=20.0,
            scale="log",
            hint="Of all that is published about the same people, together.",
        ),
        choices("notion", "What is promised", PROMISES, settings.notion),
        when(
            "notion",
            ("approximate", "probabilistic"),
            quantity("delta", "Slack (delta)", settings.delta, low=1e-12, high=0.5, scale="log"),
        ),
        choices("neighbours", "What is protected", NEIGHBOURS, settings.neighbours),
    ]
    prior = quantity(
        "prior",
        "Believed before, in %",
        settings.prior,
        low=0.01,
        high=99.99,
        hint="How likely the attacker thinks it before anything is published.",
    )
    return panel(
        [group("Promise", *promise), group("Attacker", prior)],
        [
            tags.div(ui.output_ui("status"), role="status", aria_live="polite"),
            ui.output_ui("summary"),
            tags.div(ui.output_ui("figure"), ui.output_ui("beliefs"), class_="pair"),
            ui.output_ui("details"),
            ui.output_ui("same"),
            tags.div(
                ui.download_link("beliefs_csv", "Beliefs (CSV)"),
                ui.download_link("beliefs_svg", "Beliefs (SVG)"),
                class_="downloads",
            ),
        ],
    )


@module.server
def attacker_server(
    input: Inputs,  # noqa: A002 - as Shiny calls it
    output: Outputs,  # noqa: ARG001
    session: Session,
    shared: Shared,
) -> Callable[[], AttackerSettings | None]:
    """Show what the inputs ask for."""

    @reactive.calc
    def asked() -> AttackerSettings | str:
        try:
            return fields.from_inputs(AttackerSettings, input)
        except GgdpError as wrong:
            return message_of(wrong)

    def settings() -> AttackerSettings | None:
        found = asked()
        return found if isinstance(found, AttackerSettings) else None

    def arguments() -> tuple[Any, ...] | None:
        found = settings()
        return None if found is None else (found,)

    learned = Background(shared.quick, attacker_results, arguments, session)

    @render.ui
    def status() -> Any:  # noqa: ANN401
        found = asked()
        return tags.p(found, class_="problem") if isinstance(found, str) else learned.status()

    @render.ui
    def summary() -> Any:  # noqa: ANN401
        found = learned.result()
        if found is None:
            return None
        exception = tags.p(found.exception, class_="lead") if found.exception else None
        return tags.div(headline(found.change, found.said), exception)

    @render.ui
    def figure() -> Any:  # noqa: ANN401
        found = learned.result()
        return None if found is None else tags.section(tags.h3(found.picture.title), shown(found.picture))

    @render.ui
    def beliefs() -> Any:  # noqa: ANN401
        found = learned.result()
        header = ("Before", "After, at least", "After, at most", "Best guess right")
        return None if found is None else text_table(header, found.rows, "For other attackers", numbers_from=0)

    @render.ui
    def details() -> Any:  # noqa: ANN401
        found = learned.result()
        return None if found is None else facts(found.facts, "What exactly is true")

    @render.ui
    def same() -> Any:  # noqa: ANN401
        found = settings()
        return None if found is None else shown_equivalents(attacker_equivalents(found))

    @render.download(filename="beliefs.csv")
    def beliefs_csv() -> Iterator[bytes]:
        yield b"" if (found := learned.result()) is None else found.csv

    @render.download(filename="beliefs.svg")
    def beliefs_svg() -> Iterator[bytes]:
        yield b"" if (found := learned.result()) is None else found.picture.file()

    return settings


ATTACKER = View(
    key="attacker", title="What an attacker learns", settings=AttackerSettings, ui=attacker_ui, server=attacker_server
)
