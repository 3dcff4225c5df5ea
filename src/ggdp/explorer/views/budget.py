"""Budget: what was spent of a ledger, what further releases would leave, and what all of them cost together."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from attrs import frozen
from htmltools import Tag, TagList, tags
from shiny import Inputs, Outputs, Session, module, reactive, render, ui

from ggdp.errors import GgdpError
from ggdp.explorer import settings as fields
from ggdp.explorer.background import Background
from ggdp.explorer.budget_results import BudgetResults, budget_results
from ggdp.explorer.equivalents import Equivalents, shown_equivalents, written
from ggdp.explorer.figures import shown
from ggdp.explorer.inputs import choices, group, panel, quantity, when
from ggdp.explorer.text_tables import facts, headline, text_table
from ggdp.explorer.typed_table import in_words_of_the_page
from ggdp.explorer.view import View

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ggdp.explorer.view import Shared

__all__ = ["BUDGET", "BudgetSettings", "without_password"]

_NOTIONS = {"pure": "pure", "approximate": "approximate, with a delta"}
_HEADER = ("entry", "time (UTC)", "analyst", "guarantee", "published")


@frozen(kw_only=True)
class BudgetSettings:
    """A release of a table of counts that is thought about."""

    epsilon: float = fields.number(0.1, low=0.001, high=20.0)
    notion: str = fields.choice("pure", "approximate")
    delta: float = fields.number(1e-8, low=1e-14, high=1e-2)
    max_cells: int = fields.integer(1, low=1, high=1000)
    analyst: str = fields.text()

    @property
    def asked_delta(self) -> float | None:
        """The delta; None of a pure release."""
        return self.delta if self.notion == "approximate" else None


@module.ui
def budget_ui(settings: BudgetSettings) -> Tag:
    """Return the inputs and the places for results."""
    return panel(
        [
            group("What if a table of counts were released?",
            quantity("epsilon", "Epsilon", settings.epsilon, low=0.001, high=20.0, scale="log"),
            choices("notion", "Notion", _NOTIONS, settings.notion),
            when("notion", ["approximate"],
                 quantity("delta", "Delta", settings.delta, low=1e-14, high=1e-2, scale="log")),
            quantity("max_cells", "Cells per unit", settings.max_cells, low=1, high=1000, scale="log", whole=True),
            ui.input_text("analyst", "Analyst", settings.analyst, placeholder="only if the ledger has caps")),
            ui.input_action_button("again", "Read the ledger again"),
        ],
        [
            tags.div(ui.output_ui("status"), role="status", aria_live="polite"),
            ui.output_ui("results"),
            ui.output_ui("downloads"),
            ui.output_ui("equivalents"),
        ],
    )  # fmt: skip


@module.server
def budget_server(
    input: Inputs,  # noqa: A002 - as Shiny calls it
    output: Outputs,  # noqa: ARG001
    session: Session,
    shared: Shared,
) -> Callable[[], BudgetSettings | None]:
    """Show the ledger of the command."""

    @reactive.calc
    def settings() -> BudgetSettings | None:
        try:
            return fields.from_inputs(BudgetSettings, input)
        except GgdpError:
            return None

    def arguments() -> tuple[Any, ...] | None:
        # Read again after a release, or if somebody asks.
        times = input.again() + shared.charged()
        if shared.ledger is None:
            return None
        with in_words_of_the_page():
            found = fields.from_inputs(BudgetSettings, input)
        return shared.ledger, found.epsilon, found.asked_delta, found.max_cells, found.analyst.strip() or None, times

    computed: Background[BudgetResults] = Background(shared.long, budget_results, arguments, session)

    @render.ui
    def status() -> Tag:
        return _without_ledger() if shared.ledger is None else computed.status()

    @render.ui
    def results() -> TagList | None:
        found = computed.result()
        if found is None:
            return None
        return TagList(
            tags.div(*(headline(number, said) for number, said in found.headlines), class_="headlines"),
            tags.p(found.answer, class_="problem" if found.refused else "answer"),
            tags.div(*map(shown, found.pictures), class_="pair"),
            facts(found.ledger, "The ledger"),
            text_table(_HEADER, found.entries, "The last entries", numbers_from=len(_HEADER))
            if found.entries
            else tags.p("Nothing was released yet."),
        )

    @render.ui
    def downloads() -> Tag | None:
        found = computed.result()
        if found is None:
            return None
        buttons = [ui.download_link("csv", "Entries (CSV)"), ui.download_link("svg", "Burn-down (SVG)")]
        if len(found.pictures) > 1:
            buttons.append(ui.download_link("composition_svg", "Composition curve (SVG)"))
        return tags.div(*buttons, class_="downloads")

    @render.ui
    def equivalents() -> Tag | None:
        found = settings()
        return None if found is None else shown_equivalents(_same(shared.ledger or "people.ledger", found))

    @render.download_link(filename="ledger.csv", media_type="text/csv")
    def csv() -> Iterator[bytes]:
        yield computed.required().csv

    @render.download_link(filename="burn-down.svg", media_type="image/svg+xml")
    def svg() -> Iterator[bytes]:
        yield computed.required().pictures[0].file()

    @render.download_link(filename="composition.svg", media_type="image/svg+xml")
    def composition_svg() -> Iterator[bytes]:
        yield computed.required().pictures[-1].file()

    return settings


def _without_ledger() -> Tag:
    return tags.div(
        tags.p("This page was started without a ledger, so there is no budget to show. Make one, and name it:"),
        tags.pre(
            tags.code("ggdp ledger init people.ledger --epsilon 2\nggdp explore --ledger people.ledger"), tabindex="0"
        ),
        class_="origin",
    )


def _same(url: str, settings: BudgetSettings) -> Equivalents:
    """Return the command and the code that show the same; passwords of the ledger are left out."""
    named = without_password(url)
    epsilon = written(settings.epsilon)
    goal = f"ggdp.PureDP({epsilon})"
    if settings.asked_delta is not None:
        goal = f"ggdp.ApproxDP({epsilon}, {written(settings.asked_delta)})"
    analyst = f", {settings.analyst.strip()!r}" if settings.analyst.strip() else ""
    python = [
        "import ggdp",
        "",
        f"ledger = ggdp.Ledger({named!r})",
        "print(ledger.remaining())",
        f"moves = ggdp.Sensitivity.histogram(ledger.neighbours, max_cells={settings.max_cells})",
        f'plan = ggdp.plan({goal}, moves, support="integer")',
        f"print(ledger.what_if(ggdp.Mechanism(plan.calibration){analyst}))",
    ]
    return Equivalents(command=f"ggdp ledger show {shlex.quote(named)}", python="\n".join(python))


def without_password(url: str) -> str:
    """Return the address of a ledger as it may be shown."""
    from sqlalchemy.engine import make_url

    return make_url(url).render_as_string(hide_password=True) if "://" in url else url


BUDGET = View(key="budget", title="Budget", settings=BudgetSettings, ui=budget_ui, server=budget_server)
