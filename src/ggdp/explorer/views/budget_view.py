"""Budget: what was spent of a ledger, what further releases would leave, and what all of them cost together."""

from __future__ import annotations

import shlex
from collections import Counter
from typing import Any

from htmltools import TagChild, TagList, tags
from shiny import ui

from ggdp._records import frozen
from ggdp._rounding import rounded_text
from ggdp.explorer import settings as fields
from ggdp.explorer import view
from ggdp.explorer.releasing import balance_in_words, with_cap
from ggdp.explorer.typed_table import privacy_form
from ggdp.explorer.wording import in_explorer_words
from ggdp.privacy import Sensitivity

# Entries that are listed; the file has all.
_ENTRIES = 20


@frozen(kw_only=True)
class BudgetSettings(fields.HasGoal):
    """A release of a table of counts that is thought about."""

    max_cells: int = fields.number(1, low=1, high=1000, whole=True)
    epsilon: float = fields.number(0.1, low=0.001, high=20.0)
    notion: str = fields.choice("pure", "approximate")
    delta: float = fields.number(1e-8, low=1e-14, high=1e-2)
    analyst: str = fields.text()


def budget_results(url: str, settings: BudgetSettings, _: int = 0, *, progress: view.Progress) -> view.Results:
    """Return a ledger at a glance, and what tables of counts would leave of it; `_` counts how often it is read."""
    from ggdp.ledger import Ledger
    from ggdp.ledger.accounting import composition_of
    from ggdp.ledger.ledger import NOTE
    from ggdp.mechanisms import Mechanism
    from ggdp.planning import plan
    from ggdp.plots.budget_figures import plot_burn_down, plot_composition

    progress(0, 1)
    analyst = settings.analyst.strip()
    with in_explorer_words():
        ledger = Ledger(url)
        entries = ledger.entries()
        query = Sensitivity.histogram(ledger.neighbours, settings.max_cells)
        mechanism = Mechanism(plan(settings.goal, query, support="integer", progress=progress).calibration)
        capped = with_cap(ledger, analyst or None)
        what_if = ledger.what_if(mechanism, capped)
        remaining, spent = ledger.remaining(capped), ledger.spent(capped)
    burned = ", ".join(rounded_text(number) for number in ledger.burn_down()[-_ENTRIES:])
    description = f"What is left of the budget after each of {len(entries):,} entries: {burned}."
    if what_if.fitting:
        further = ", ".join(rounded_text(number) for number in what_if.left[:5])
        more = " and so on" if what_if.fitting > 5 else ""
        description += f" Dashed, what further releases would leave: {further}{more}."
    burn_down = plot_burn_down(ledger, what_if=what_if)
    figures = {"burn-down.svg": view.embed_figure(burn_down, "burn-down", "Burn-down of the budget", description)}
    shown_entries = tags.p("Nothing was released yet.")
    if entries:
        laws = {entry.request.law: entry.request for entry in entries}
        counts = Counter(entry.request.law for entry in entries)
        total = composition_of([(laws[law], count) for law, count in counts.items()])
        plain = f"epsilon = {rounded_text(total.basic.epsilon)} and delta = {rounded_text(total.basic.delta)}"
        together = f"all {len(entries):,} releases together, with each one alone and their plain sum, {plain}"
        said = f"Delta against epsilon of {together}. {NOTE}"
        curve = view.embed_figure(plot_composition(total), "composition", "Composition curve", said)
        figures["composition.svg"] = curve
        rows = []
        for entry in reversed(entries[-_ENTRIES:]):
            time, published = entry.time[:16].replace("T", " "), ", ".join(entry.files or ())
            rows.append((str(entry.number), time, entry.analyst or "", str(entry.guarantee), published))
        header = ("entry", "time (UTC)", "analyst", "guarantee", "published")
        shown_entries = view.text_table(header, rows, "The last entries", numbers_from=len(header))
    budget = ledger.analysts.get(analyst, ledger.budget)
    left, used = balance_in_words(remaining), balance_in_words(spent)
    headlines = [view.headline(left, "remain"), view.headline(used, "were used")]
    if remaining.epsilon is not None and spent.epsilon is not None and budget.epsilon is not None:
        parts = (remaining.epsilon, spent.epsilon, budget.epsilon)
        unspent, gone, whole = (rounded_text(float(part), 4) for part in parts)
        headlines = [view.headline(unspent, f"of epsilon = {whole} remains"), view.headline(gone, "was spent")]
    answer = f"It does not fit: {what_if.refusal}."
    if what_if.remaining is not None:
        number = f"{what_if.fitting:,}{' or more' if what_if.refusal is None else ''}"
        fit = "1 such release fits" if number == "1" else f"{number} such releases fit"
        answer = f"It would leave {balance_in_words(what_if.remaining)}. {fit}, one after another."
    glance = (
        ("protects", f"{ledger.unit}, {ledger.neighbours} neighbours"),
        ("accounting", ledger.accounting),
        ("budget", balance_in_words(ledger.budget)),
        ("spent", used),
        ("remaining", left),
        ("entries", f"{len(entries):,}"),
        ("head", ledger.head.hash),
    )
    top = tags.div(*headlines, class_="headlines")
    answered = tags.p(answer, class_="answer" if what_if.fitting else "problem")
    pair = tags.div(*(figure for figure, _ in figures.values()), class_="pair")
    html = TagList(top, answered, pair, view.facts(glance, "The ledger"), shown_entries)
    files = {name: svg for name, (_, svg) in figures.items()}
    return view.Results(html={"results": html}, files={"ledger.csv": ledger.export("csv").encode(), **files})


def _inputs(settings: BudgetSettings) -> list[TagChild]:
    cells = view.quantity(settings, "max_cells", "Cells per unit")
    analyst = view.text(settings, "analyst", "Analyst", "only if the ledger has caps")
    released = view.group("What if a table of counts were released?", *privacy_form(settings), cells, analyst)
    return [released, ui.input_action_button("again", "Read the ledger again")]


def _serve(visit: view.Visit[BudgetSettings]) -> None:
    ledger = visit.shared.ledger
    commands = "ggdp ledger init people.ledger --epsilon 2\nggdp explore --ledger people.ledger"
    said = tags.p("This page was started without a ledger, so there is no budget to show. Make one, and name it:")
    without_ledger = tags.div(said, tags.pre(tags.code(commands), tabindex="0"), class_="origin")

    def arguments() -> tuple[Any, ...] | None:
        # Read again after a release, or if somebody asks.
        times = visit.inputs.again() + visit.shared.charged()
        return None if ledger is None else (ledger, visit.require_settings(), times)

    computed = view.Background(visit, budget_results, arguments)
    visit.show("status", lambda: without_ledger if ledger is None else computed.status())
    visit.show_results(computed.result, "results")
    figures = {"Burn-down (SVG)": "burn-down.svg", "Composition curve (SVG)": "composition.svg"}
    visit.offer({"Entries (CSV)": "ledger.csv", **figures}, computed.result)
    visit.show_code(lambda found: _code(ledger or "people.ledger", found))


def _code(url: str, settings: BudgetSettings) -> tuple[str, str]:
    """Return the command and the code that show the same; passwords of the ledger are left out."""
    named, analyst = without_password(url), settings.analyst.strip()
    python = [
        "import ggdp",
        "",
        f"ledger = ggdp.Ledger({named!r})",
        "print(ledger.remaining())",
        f"goal = {fields.goal_code(settings.goal)}",
        f"moves = ggdp.Sensitivity.histogram(ledger.neighbours, max_cells={settings.max_cells})",
        'plan = ggdp.plan(goal, moves, support="integer")',
        f"print(ledger.what_if(ggdp.Mechanism(plan.calibration){f', {analyst!r}' if analyst else ''}))",
    ]
    return f"ggdp ledger show {shlex.quote(named)}", "\n".join(python)


def without_password(url: str) -> str:
    """Return the address of a ledger as it may be shown."""
    from sqlalchemy.engine import make_url
    from sqlalchemy.exc import ArgumentError

    try:
        return make_url(url).render_as_string(hide_password=True) if "://" in url else url
    except (ArgumentError, ValueError):
        return f"{url.partition('://')[0]}://..."


BUDGET = view.View("budget", "Budget", BudgetSettings, _inputs, _serve)
