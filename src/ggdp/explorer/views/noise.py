"""Noise: how much of it a goal takes, at which order, and what that means for a published number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import frozen
from htmltools import Tag, tags
from shiny import Inputs, Outputs, Session, module, reactive, render, ui

from ggdp.errors import GgdpError
from ggdp.explorer import settings as fields
from ggdp.explorer.inputs import choices, panel, quantity
from ggdp.explorer.view import Shared, View

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["NOISE", "NoiseSettings"]


@frozen(kw_only=True)
class NoiseSettings:
    """Goal, query and order."""

    epsilon: float = fields.number(1.0, low=0.01, high=20.0)
    notion: str = fields.choice("approximate", "pure", "probabilistic")
    delta: float = fields.number(1e-6, low=1e-12, high=0.5)
    max_cells: int = fields.integer(1, low=1, high=100)


@module.ui
def noise_ui(settings: NoiseSettings) -> Tag:
    """Return the inputs and the places for results."""
    return panel(
        [
            quantity("epsilon", "Epsilon", settings.epsilon, low=0.01, high=20.0, scale="log"),
            choices(
                "notion",
                "Notion",
                {"approximate": "approximate", "pure": "pure", "probabilistic": "probabilistic"},
                settings.notion,
            ),
            quantity("delta", "Delta", settings.delta, low=1e-12, high=0.5, scale="log"),
            quantity("max_cells", "Cells that one person can be in", settings.max_cells, low=1, high=100, whole=True),
        ],
        [ui.output_ui("summary")],
    )


@module.server
def noise_server(
    input: Inputs,  # noqa: A002 - as Shiny calls it
    output: Outputs,  # noqa: ARG001
    session: Session,  # noqa: ARG001
    shared: Shared,  # noqa: ARG001
) -> Callable[[], NoiseSettings | None]:
    """Show what the inputs ask for."""

    @reactive.calc
    def settings() -> NoiseSettings | None:
        try:
            return fields.from_inputs(NoiseSettings, input)
        except GgdpError:
            return None

    @render.ui
    def summary() -> Any:  # noqa: ANN401
        return tags.p(str(settings()))

    return settings


NOISE = View(key="noise", title="Noise", settings=NoiseSettings, ui=noise_ui, server=noise_server)
