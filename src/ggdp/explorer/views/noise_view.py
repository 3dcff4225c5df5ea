"""Noise, and what an attacker learns: how much noise a goal takes, and beliefs about one person around a release."""

from __future__ import annotations

from dataclasses import astuple
from typing import Literal

from attrs import evolve
from htmltools import Tag, TagChild, TagList, tags
from shiny import reactive, render, ui

from ggdp._records import frozen
from ggdp._rounding import rounded_down_text, rounded_text, rounded_up_text
from ggdp.calibration import Calibration, calibrate
from ggdp.errors import GgdpError
from ggdp.explorer import settings as fields
from ggdp.explorer import view
from ggdp.explorer.settings import HasGoal, command_line, goal_code, value_text
from ggdp.planning import plan
from ggdp.plots.noise_figures import LEVEL, PLUS_MINUS, plot_beliefs, plot_noise, plot_plan
from ggdp.privacy import Sensitivity
from ggdp.privacy.beliefs import Belief, belief

UNIT = {"integer": "persons", "real": "unit of the query"}
# The usual orders, beside the one that is asked for.
USUAL = {1.0: "Laplace", 2.0: "Gaussian"}
NEIGHBOURS = {
    "add-remove": "Whether a person is in the data at all",
    "replace-one": "What a person's record says; how many there are is public",
}


@frozen(kw_only=True)
class PromiseSettings(HasGoal):
    """A promise to the people in the data."""

    epsilon: float = fields.number(1.0, low=0.01, high=20.0)
    notion: str = fields.choice("approximate", "pure", "probabilistic")
    delta: float = fields.number(1e-6, low=1e-12, high=0.5)
    neighbours: Literal["add-remove", "replace-one"] = fields.choice("add-remove", "replace-one")


def promise_form(settings: PromiseSettings, about_epsilon: str, about_delta: str = "") -> list[Tag]:
    """Return the inputs of a promise."""
    promises = {
        "approximate": "Epsilon, but for a small slack delta (approximate)",
        "pure": "Epsilon, always (pure)",
        "probabilistic": "Epsilon, with probability 1 − delta (probabilistic)",
    }
    delta = view.quantity(settings, "delta", "Slack (delta)", about_delta)
    return [
        view.quantity(settings, "epsilon", "Privacy loss (epsilon)", about_epsilon),
        view.choices(settings, "notion", "What is promised", promises),
        view.when("notion", ("approximate", "probabilistic"), delta),
    ]


@frozen(kw_only=True)
class NoiseSettings(PromiseSettings):
    """Goal, query and order."""

    # Each order is searched for anew: more cells would take too long.
    max_cells: int = fields.number(1, low=1, high=100, whole=True)
    sensitivity: float = fields.number(1.0, low=1e-6, high=1e6)
    support: Literal["integer", "real"] = fields.choice("integer", "real")
    order: float = fields.number(2.0, low=1.0, high=50.0)

    @property
    def query(self) -> Sensitivity:
        """How far one person can move the query."""
        moving = Sensitivity.histogram(self.neighbours, self.max_cells).moving
        return Sensitivity.cells(moving, self.sensitivity, neighbours=self.neighbours)

    @property
    def is_quick(self) -> bool:
        """Whether a calibration takes a few milliseconds: one cell moves, so that no convolution is needed."""
        return self.query.moving == 1 or self.notion == "pure"

    def calibrate(self, order: float) -> Calibration:
        """Return the calibration at an order."""
        return calibrate(self.goal, self.query, order=order, support=self.support)


def noise_results(settings: NoiseSettings, progress: view.Progress = lambda _, __: None) -> view.Results:
    """Return the noise that the settings ask for, beside the usual ones."""
    asked = settings.calibrate(settings.order)
    shown, rows, numbers = {}, [], []
    for step, (order, name) in enumerate({settings.order: f"Order {rounded_text(settings.order, 4)}", **USUAL}.items()):
        progress(step, 1 + len(USUAL))
        try:
            found = asked if order == settings.order else settings.calibrate(order)
        except GgdpError:
            rows.append((name, value_text(order), "not possible", "not possible"))
            continue
        shown[name], width = found.law, PLUS_MINUS.of(found.law)
        rows.append((name, rounded_text(order, 4), rounded_text(found.scale, 6), f"± {rounded_up_text(width)}"))
        digits = map(repr, (found.order, found.scale, width, found.std, found.mean_abs))
        numbers.append(("asked" if found is asked else name, *digits))
    half = rounded_up_text(PLUS_MINUS.of(asked.law))
    figure = plot_noise(list(shown.values()), list(shown), unit=UNIT[settings.support])
    widths = ", ".join(f"{name} plus or minus {rounded_up_text(PLUS_MINUS.of(law))}" for name, law in shown.items())
    shaded = "The shaded part holds 95 of 100 draws of the first curve."
    description = f"How likely each amount of noise is. {shaded} {widths}."
    proof = asked.certificate
    tight = "" if proof.tight is None else f"; a scale {1 - proof.tight:.0e} smaller is proved to fail"
    average = f"on average they are {rounded_text(asked.mean_abs)} away"
    said = f"95 of 100 published numbers are within {half} of the true ones; {average}."
    proved = (
        ("Promise", str(asked.guarantee)),
        ("Certified scale", repr(asked.scale)),
        ("Standard deviation", rounded_text(asked.std, 6)),
        ("Proof", f"{proof.bound.quantity} is at most {rounded_up_text(proof.proved, 6)}{tight}"),
        ("Method", f"{proof.bound.statement}, in {proof.arithmetic} of {proof.precision} bits"),
        *(("Note", note) for note in (*asked.notes, asked.caution) if note),
    )
    law_figure, svg = view.embed_figure(figure, "noise-laws", "The noise", description)
    header, caption = ("Noise", "Order", "Scale", "95 of 100 within"), "This noise beside the two that are usual"
    exact = view.csv_file(("noise", "order", "scale", "plus_minus_95", "std", "mean_abs"), numbers)
    summary = TagList(view.headline(f"± {half}", said), view.text_table(header, rows, caption))
    laws, details = tags.section(tags.h3("The noise"), law_figure), view.facts(proved, "What is proved of this noise")
    html: dict[str, Tag | TagList] = {"summary": summary, "laws": laws, "details": details}
    return view.Results(html=html, files={"noise.csv": exact, "noise.svg": svg})


def plan_results(settings: NoiseSettings, progress: view.Progress | None = None) -> view.Results:
    """Return the error of each order, and the planner's choice, for the input of the order."""
    found = plan(settings.goal, settings.query, "quantile", level=LEVEL, support=settings.support, progress=progress)
    best = found.best
    assert best.error is not None
    others = "; ".join(
        f"{choice.name.title()} {'not possible' if choice.error is None else rounded_up_text(choice.error)}"
        for choice in found.alternatives
    )
    order, error = rounded_text(best.order, 4), rounded_up_text(best.error)
    figure = plot_plan(found, unit=UNIT[settings.support])
    figure.axes[0].set_title("", loc="left")
    description = f"The plus-minus of each order of noise. The least, {error}, is at order {order}. {others}."
    curve_figure, svg = view.embed_figure(figure, "noise-orders", "Error by order", description)
    said = tags.p(f"The planner chooses order {order}: plus or minus {error}.")
    curve = view.csv_file(("order", "plus_minus_95"), [tuple(map(repr, point)) for point in found.curve])
    files = {"error-by-order.csv": curve, "error-by-order.svg": svg}
    return view.Results(html={"orders": TagList(said, curve_figure)}, files=files, for_inputs=best.order)


def noise_code(settings: NoiseSettings) -> tuple[str, str]:
    """Return the commands and the code that give the same scale and the same plan."""
    usual = {"sensitivity": 1.0, "neighbours": "add-remove", "support": "real"}
    chosen = {name: value for name, first in usual.items() if (value := getattr(settings, name)) != first}
    flags = {**settings.goal_flags, "max_cells": settings.max_cells, **chosen}
    neighbours, support = (f', {name}="{chosen[name]}"' if name in chosen else "" for name in ("neighbours", "support"))
    python = (
        "import ggdp\n\n"
        f"goal = {goal_code(settings.goal)}\n"
        f"query = ggdp.Sensitivity.cells({settings.query.moving}, {value_text(settings.sensitivity)}{neighbours})\n"
        f"noise = ggdp.calibrate(goal, query, order={value_text(settings.order)}{support})\n"
        f'plan = ggdp.plan(goal, query, "quantile"{support})\n'
        "print(noise.scale, noise.std, plan.best.order)\n"
    )
    calibrated = command_line("calibrate", order=settings.order, **flags)
    return f"{calibrated}\n{command_line('plan', **flags, measure='quantile')}", python


def _noise_inputs(settings: NoiseSettings) -> list[TagChild]:
    about_delta = "Keep it far below one in the number of people in the data."
    promise = promise_form(settings, "Smaller protects people more and adds more noise.", about_delta)
    neighbours = view.choices(settings, "neighbours", "What is protected", NEIGHBOURS)
    cells = view.quantity(settings, "max_cells", "Cells one person can be in", "1 if every person is counted once.")
    most = view.quantity(settings, "sensitivity", "Most that one person changes a cell by", "1 for counts of people.")
    supports = {"integer": "Whole numbers, such as counts", "real": "Any number"}
    support = view.choices(settings, "support", "Published numbers are", supports)
    orders = "1 is Laplace noise, 2 is Gaussian; higher orders have shorter tails."
    order = view.quantity(settings, "order", "Shape (order)", orders)
    best = ui.input_action_button("use_best", "Use the planner's order", class_="quiet")
    numbers = view.group("Numbers", neighbours, cells, most, support)
    return [view.group("Promise", *promise), numbers, view.group("Noise", order, best)]


def _serve_noise(visit: view.Visit[NoiseSettings]) -> None:
    noise = view.Background(visit, noise_results, lambda: (visit.require_settings(),), visit.quick_or_long)
    # The plan does not depend on the order: a moved order searches for nothing.
    planned = view.Background(
        visit, plan_results, lambda: None if (found := visit.settings()) is None else (evolve(found, order=2.0),)
    )
    visit.show("status", noise.status)
    visit.show_results(noise.result, "summary", "laws", "details")

    @render.ui
    def orders() -> Tag:
        found = planned.result()
        figure = None if found is None else found.html["orders"]
        return tags.section(tags.h3("Error by order"), tags.div(planned.status(), role="status"), figure)

    @reactive.effect
    @reactive.event(visit.inputs.use_best)
    def _use_best() -> None:
        found = planned.result()
        if found is not None:
            visit.session.send_input_message("order", {"value": found.for_inputs})

    tables = {"Noise (CSV)": "noise.csv", "Error by order (CSV)": "error-by-order.csv"}
    figures = {"The noise (SVG)": "noise.svg", "Error by order (SVG)": "error-by-order.svg"}
    visit.offer(tables | figures, noise.result, planned.result)
    visit.show_code(noise_code)


def _noise_places() -> list[TagChild]:
    pair = tags.div(ui.output_ui("laws"), ui.output_ui("orders"), class_="pair")
    return [ui.output_ui("summary"), pair, ui.output_ui("details"), ui.output_ui("downloads")]


NOISE = view.View("noise", "Noise", NoiseSettings, _noise_inputs, _serve_noise, results=_noise_places)


@frozen(kw_only=True)
class AttackerSettings(PromiseSettings):
    """The promise of all that was published about the same people, and what an attacker believes before."""

    prior: float = fields.number(10.0, low=0.01, high=99.99, scale="linear")

    @property
    def priors(self) -> tuple[float, ...]:
        """The beliefs that are shown, rising."""
        return tuple(sorted({0.01, 0.1, 0.5, self.prior / 100.0}))


def attacker_results(settings: AttackerSettings) -> view.Results:
    """Return what an attacker can learn."""
    goal = settings.goal
    asked = belief(goal, settings.prior / 100.0)
    before, least, after, right = _in_percent(asked)
    subjects = {"add-remove": "a certain person is in the data", "replace-one": "a certain record is the true one"}
    subject = subjects[settings.neighbours]
    exception = ""
    if goal.delta != 0.0:
        chance = f"{rounded_up_text(goal.delta)}, that is 1 in {rounded_text(1.0 / goal.delta)}"
        then = "In that event nothing is promised: think of it as this person's data being shown."
        exception = f"There is one exception, an event whose probability is at most delta ({chance}). {then}"
    exact = {
        "pure": "The bounds hold for every output, and are attained by randomised response.",
        "probabilistic": "The belief is within the bounds but with probability at most delta, on either data.",
        "approximate": "What is published shows no more than a procedure that with probability delta tells the truth, "
        "and otherwise keeps the bounds. The attacker's own belief may be above them somewhat more often: above the "
        "bound for epsilon + s with probability at most delta / (1 − exp(−s)), for every s above 0.",
    }[goal.notion]
    without = f"without the release {rounded_text(100.0 * max(asked.prior, 1.0 - asked.prior))} %"
    guess = f"Whoever guesses whether {subject}, is right with probability at most {right}; {without}."
    knows = "Knows all data but this person's, and how the numbers were made; computing power is not limited."
    found = [belief(goal, prior) for prior in settings.priors]
    rows = [_in_percent(one) for one in found]
    beliefs = " ".join(f"From {prior} to at most {highest}." for prior, _, highest, _ in rows)
    description = f"Beliefs after the release against beliefs before it. {beliefs}"
    title = "Before and after"
    figure, svg = view.embed_figure(plot_beliefs(goal, settings.priors), "attacker-beliefs", title, description)
    can = f"can come to think it at most {after} likely from all that is published, and at least {least}"
    said = f"Somebody who thinks it {before} likely that {subject} {can}. That is so whatever else they know."
    header = ("Before", "After, at least", "After, at most", "Best guess right")
    others = view.text_table(header, rows, "For other attackers", numbers_from=0)
    html = TagList(
        view.headline(f"{before} → {after}", said),
        tags.p(exception, class_="lead") if exception else None,
        tags.div(tags.section(tags.h3(title), figure), others, class_="pair"),
        view.facts((("Best guess", guess), ("Exactly", exact), ("Attacker", knows)), "What exactly is true"),
    )
    numbers = (list(map(repr, astuple(one))) for one in found)
    csv = view.csv_file(("prior", "lowest", "highest", "exception", "right"), numbers)
    return view.Results(html={"results": html}, files={"beliefs.csv": csv, "beliefs.svg": svg})


def _in_percent(found: Belief) -> list[str]:
    """Return a belief before a release, the least and the highest one after it, and how often a guess is right."""
    outwards = (rounded_text, rounded_down_text, rounded_up_text, rounded_up_text)
    shares = (found.prior, found.lowest, found.highest, found.right)
    return [f"{rounded(100.0 * share)} %" for rounded, share in zip(outwards, shares, strict=True)]


def attacker_code(settings: AttackerSettings) -> tuple[str, str]:
    """Return the command and the code that give the same beliefs."""
    priors = [value_text(prior) for prior in settings.priors]
    python = (
        "import ggdp\nfrom ggdp.privacy.beliefs import belief\n\n"
        f"goal = {goal_code(settings.goal)}\n"
        f"for prior in ({', '.join(priors)}):\n"
        "    print(belief(goal, prior))\n"
    )
    return command_line("belief", **settings.goal_flags, prior=",".join(priors)), python


def _attacker_inputs(settings: AttackerSettings) -> list[TagChild]:
    promise = promise_form(settings, "Of all that is published about the same people, together.")
    believed = "How likely the attacker thinks it before anything is published."
    return [
        view.group("Promise", *promise, view.choices(settings, "neighbours", "What is protected", NEIGHBOURS)),
        view.group("Attacker", view.quantity(settings, "prior", "Believed before, in %", believed)),
    ]


def _serve_attacker(visit: view.Visit[AttackerSettings]) -> None:
    learned = view.Background(visit, attacker_results, lambda: (visit.require_settings(),), lambda: visit.shared.quick)
    visit.show("status", learned.status)
    visit.show_results(learned.result, "results")
    visit.offer({"Beliefs (CSV)": "beliefs.csv", "Beliefs (SVG)": "beliefs.svg"}, learned.result)
    visit.show_code(attacker_code)


ATTACKER = view.View("attacker", "What an attacker learns", AttackerSettings, _attacker_inputs, _serve_attacker)
