"""Budget: what was spent of a ledger, what further releases would leave, and what all of them cost together."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from attrs import frozen
from htmltools import Tag, TagList, tags
from shiny import ui

from ggdp.explorer import settings as fields
from ggdp.explorer.budget_results import BudgetResults, budget_results
from ggdp.explorer.equivalents import Equivalents, goal_code
from ggdp.explorer.table_form import privacy_form
from ggdp.explorer.view import Download, View, csv_of, group, quantity, text
from ggdp.explorer.widgets import facts, headline, text_table

if TYPE_CHECKING:
    from htmltools import TagChild

    from ggdp.explorer.view import Visit

_HEADER = ("entry", "time (UTC)", "analyst", "guarantee", "published")


@frozen(kw_only=True)
class BudgetSettings:
    """A release of a table of counts that is thought about."""

    epsilon: float = fields.number(0.1, low=0.001, high=20.0)
    notion: str = fields.choice("pure", "approximate")
    delta: float = fields.number(1e-8, low=1e-14, high=1e-2)
    max_cells: int = fields.integer(1, low=1, high=1000)
    analyst: str = fields.text()


def _inputs(settings: BudgetSettings) -> list[TagChild]:
    return [
        group(
            "What if a table of counts were released?",
            *privacy_form(settings),
            quantity(settings, "max_cells", "Cells per unit"),
            text(settings, "analyst", "Analyst", "only if the ledger has caps"),
        ),
        ui.input_action_button("again", "Read the ledger again"),
    ]


def _serve(visit: Visit[BudgetSettings]) -> None:
    ledger = visit.shared.ledger

    def arguments() -> tuple[Any, ...] | None:
        # Read again after a release, or if somebody asks.
        times = visit.inputs.again() + visit.shared.charged()
        if ledger is None:
            return None
        found = visit.checked()
        delta = found.delta if found.notion == "approximate" else None
        return ledger, found.epsilon, delta, found.max_cells, found.analyst.strip() or None, times

    computed = visit.computed(budget_results, arguments)
    visit.show_status(lambda: _without_ledger() if ledger is None else computed.status())
    visit.show("results", computed.result, _draw)

    def composed() -> Any:  # noqa: ANN401 - the figure, if anything was released
        found = computed.result()
        return None if found is None or len(found.pictures) == 1 else found.pictures[1]

    visit.offer(
        Download("Entries (CSV)", "ledger.csv", computed.result, csv_of),
        Download("Burn-down (SVG)", "burn-down.svg", computed.result, lambda found: found.pictures[0].file()),
        Download("Composition curve (SVG)", "composition.svg", composed, lambda picture: picture.file()),
    )
    visit.show_equivalents(lambda found: _same(ledger or "people.ledger", found))


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
    named, analyst = without_password(url), settings.analyst.strip()
    python = [
        "import ggdp",
        "",
        f"ledger = ggdp.Ledger({named!r})",
        "print(ledger.remaining())",
        f"goal = {goal_code(settings.notion, settings.epsilon, settings.delta)}",
        f"moves = ggdp.Sensitivity.histogram(ledger.neighbours, max_cells={settings.max_cells})",
        'plan = ggdp.plan(goal, moves, support="integer")',
        f"print(ledger.what_if(ggdp.Mechanism(plan.calibration){f', {analyst!r}' if analyst else ''}))",
    ]
    return Equivalents(command=f"ggdp ledger show {shlex.quote(named)}", python="\n".join(python))


def without_password(url: str) -> str:
    """Return the address of a ledger as it may be shown."""
    from sqlalchemy.engine import make_url

    return make_url(url).render_as_string(hide_password=True) if "://" in url else url


def _draw(found: BudgetResults) -> TagList:
    return TagList(
        tags.div(*(headline(number, said) for number, said in found.headlines), class_="headlines"),
        tags.p(found.answer, class_="problem" if found.refused else "answer"),
        tags.div(*(picture.tag() for picture in found.pictures), class_="pair"),
        facts(found.ledger, "The ledger"),
        text_table(_HEADER, found.entries, "The last entries", numbers_from=len(_HEADER))
        if found.entries
        else tags.p("Nothing was released yet."),
    )


BUDGET = View(key="budget", title="Budget", settings=BudgetSettings, inputs=_inputs, serve=_serve)
