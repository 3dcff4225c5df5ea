"""Results of the noise and attacker views: noise distributions, error by order, and beliefs around a release."""

from __future__ import annotations

from dataclasses import astuple
from typing import TYPE_CHECKING, Any

from attrs import frozen

from ggdp._rounding import rounded_down_text, rounded_text, rounded_up_text
from ggdp.calibration import Calibration, calibrate
from ggdp.errors import GgdpError
from ggdp.explorer import settings as fields
from ggdp.explorer.equivalents import Equivalents, command, written
from ggdp.explorer.settings import PromiseSettings
from ggdp.explorer.widgets import Picture, csv_file
from ggdp.planning import plan
from ggdp.planning.measures import Measure
from ggdp.plots.noise import LEVEL, plot_beliefs, plot_noise, plot_plan
from ggdp.privacy import Sensitivity
from ggdp.privacy.beliefs import belief

if TYPE_CHECKING:
    from collections.abc import Callable


PLUS_MINUS = Measure(name="quantile", level=LEVEL)
UNIT = {"integer": "persons", "real": "unit of the query"}
# The usual orders, beside the one that is asked for.
USUAL = {1.0: "Laplace", 2.0: "Gaussian"}


@frozen(kw_only=True)
class NoiseSettings(PromiseSettings):
    """Goal, query and order."""

    max_cells: int = fields.integer(1, low=1, high=100)
    sensitivity: float = fields.number(1.0, low=1e-6, high=1e6)
    support: str = fields.choice("integer", "real")
    order: float = fields.number(2.0, low=1.0, high=50.0)

    @property
    def query(self) -> Sensitivity:
        """How far one person can move the query."""
        neighbours = "add-remove" if self.neighbours == "add-remove" else "replace-one"
        moving = Sensitivity.histogram(neighbours, self.max_cells).moving  # type: ignore[arg-type]
        return Sensitivity.cells(moving, self.sensitivity, neighbours=neighbours)  # type: ignore[arg-type]

    @property
    def is_quick(self) -> bool:
        """Whether a calibration takes a few milliseconds: one cell moves, so that no convolution is needed."""
        return self.query.moving == 1 or self.notion == "pure"

    def calibrated(self, order: float) -> Calibration:
        """Return the calibration at an order."""
        return calibrate(self.goal, self.query, order=order, support=self.support)  # type: ignore[arg-type]


@frozen(kw_only=True)
class NoiseResults:
    """The noise of one order, beside the usual ones."""

    plus_minus: str  # the half-width that 95 of 100 draws keep
    said: str  # what that means
    # The noise of the order, Laplace and Gaussian; a dash where the goal does not exist for it.
    beside: tuple[tuple[str, str, str, str], ...]
    facts: tuple[tuple[str, str], ...]  # the certified scale and what is proved of it
    picture: Picture  # the laws
    csv: bytes  # the rows of `beside` with all digits


@frozen(kw_only=True)
class PlanResults:
    """The error of each order, and the order that the planner chooses."""

    best: float
    said: str
    rows: tuple[tuple[str, str, str, str], ...]
    picture: Picture
    csv: bytes


def noise_results(settings: NoiseSettings, progress: Callable[[int, int], None] | None = None) -> NoiseResults:
    """Return the noise that the settings ask for."""
    asked = settings.calibrated(settings.order)
    shown, rows, numbers = {}, [], []
    for step, (order, name) in enumerate({settings.order: f"Order {rounded_text(settings.order, 4)}", **USUAL}.items()):
        if progress is not None:
            progress(step, 1 + len(USUAL))
        try:
            found = asked if order == settings.order else settings.calibrated(order)
        except GgdpError:
            rows.append((name, written(order), "not possible", "not possible"))
            continue
        shown[name], width = found.law, PLUS_MINUS.of(found.law)
        rows.append((name, rounded_text(order, 4), rounded_text(found.scale, 6), f"± {rounded_up_text(width)}"))
        exact = (found.order, found.scale, width, found.std, found.mean_abs)
        numbers.append(("asked" if found is asked else name, *map(repr, exact)))
    half = rounded_up_text(PLUS_MINUS.of(asked.law))
    figure = plot_noise(list(shown.values()), list(shown), unit=UNIT[settings.support])
    widths = ", ".join(f"{name} plus or minus {rounded_up_text(PLUS_MINUS.of(law))}" for name, law in shown.items())
    description = (
        f"How likely each amount of noise is. The shaded part holds 95 of 100 draws of the first curve. {widths}."
    )
    proof = asked.certificate
    tight = "" if proof.tight is None else f"; a scale {1 - proof.tight:.0e} smaller is proved to fail"
    return NoiseResults(
        plus_minus=f"± {half}",
        said=f"95 of 100 published numbers are within {half} of the true ones; on average they are "
        f"{rounded_text(asked.mean_abs)} away.",
        beside=tuple(rows),
        facts=(
            ("Promise", str(asked.guarantee)),
            ("Certified scale", repr(asked.scale)),
            ("Standard deviation", rounded_text(asked.std, 6)),
            ("Proof", f"{proof.quantity} is at most {rounded_up_text(proof.proved, 6)}{tight}"),
            ("Method", f"{proof.bound.statement}, in {proof.arithmetic} of {proof.precision} bits"),
            *(("Note", note) for note in (*asked.notes, asked.caution) if note),
        ),
        picture=Picture.of(figure, "noise-laws", "The noise", description),
        csv=csv_file(("noise", "order", "scale", "plus_minus_95", "std", "mean_abs"), numbers),
    )


def plan_results(settings: NoiseSettings, progress: Callable[[int, int], None] | None = None) -> PlanResults:
    """Return the error of each order, and the planner's choice."""
    support: Any = settings.support
    found = plan(settings.goal, settings.query, "quantile", level=LEVEL, support=support, progress=progress)
    best = found.best
    assert best.error is not None
    rows = []
    for choice in found.choices:
        name = {"best": "Planner's choice", "laplace": "Laplace", "gaussian": "Gaussian"}[choice.name]
        if choice.error is None or choice.scale is None:
            rows.append((name, rounded_text(choice.order, 4), "not possible", ""))
            continue
        gain = "" if choice.gain is None else rounded_text(choice.gain)
        rows.append((name, rounded_text(choice.order, 4), rounded_up_text(choice.error), gain))
    others = "; ".join(f"{name} {error}" for name, _, error, _ in rows[1:])
    figure = plot_plan(found, unit=UNIT[settings.support])
    figure.axes[0].set_title("", loc="left")
    description = (
        f"The plus-minus of each order of noise. The least, {rounded_up_text(best.error)}, is at order "
        f"{rounded_text(best.order, 4)}. {others}."
    )
    return PlanResults(
        best=best.order,
        said=f"The planner chooses order {rounded_text(best.order, 4)}: plus or minus {rounded_up_text(best.error)}.",
        rows=tuple(rows),
        picture=Picture.of(figure, "noise-orders", "Error by order", description),
        csv=csv_file(("order", "plus_minus_95"), [tuple(map(repr, point)) for point in found.curve]),
    )


def noise_equivalents(settings: NoiseSettings) -> Equivalents:
    """Return what gives the same scale and the same plan without the page."""
    flags = {
        **settings.goal_flags,
        "max_cells": settings.max_cells,
        "sensitivity": settings.sensitivity if settings.sensitivity != 1.0 else None,
        "neighbours": settings.neighbours if settings.neighbours != "add-remove" else None,
        "support": settings.support if settings.support != "real" else None,
    }
    neighbours = "" if settings.neighbours == "add-remove" else f', neighbours="{settings.neighbours}"'
    support = "" if settings.support == "real" else f', support="{settings.support}"'
    moving = settings.query.moving
    python = (
        "import ggdp\n\n"
        f"goal = {settings.goal_code}\n"
        f"query = ggdp.Sensitivity.cells({moving}, {written(settings.sensitivity)}{neighbours})\n"
        f"noise = ggdp.calibrate(goal, query, order={written(settings.order)}{support})\n"
        f'plan = ggdp.plan(goal, query, "quantile"{support})\n'
        "print(noise.scale, noise.std, plan.best.order)\n"
    )
    lines = (command("calibrate", order=settings.order, **flags), command("plan", **flags, measure="quantile"))
    return Equivalents(command="\n".join(lines), python=python)


@frozen(kw_only=True)
class AttackerSettings(PromiseSettings):
    """The promise of all that was published about the same people, and what an attacker believes before."""

    prior: float = fields.number(10.0, low=0.01, high=99.99, scale="linear")

    @property
    def priors(self) -> tuple[float, ...]:
        """The beliefs that are shown, rising."""
        return tuple(sorted({0.01, 0.1, 0.5, self.prior / 100.0}))


@frozen(kw_only=True)
class AttackerResults:
    """Beliefs before and after a release."""

    change: str  # the belief that was asked for, before and at most after
    said: str  # the same in a sentence
    exception: str  # what delta means; empty without one
    rows: tuple[tuple[str, str, str, str], ...]  # for each prior
    facts: tuple[tuple[str, str], ...]  # what exactly is true
    picture: Picture  # the beliefs
    csv: bytes  # the beliefs with all digits


def attacker_results(settings: AttackerSettings) -> AttackerResults:
    """Return what an attacker can learn."""
    goal = settings.goal
    found = [belief(goal, prior) for prior in settings.priors]
    asked = belief(goal, settings.prior / 100.0)
    before, after, least = _percent(asked.prior), _percent_up(asked.highest), _percent_down(asked.lowest)
    subject = (
        "a certain person is in the data" if settings.neighbours == "add-remove" else "a certain record is the true one"
    )
    exception = ""
    if goal.delta != 0.0:
        chance = f"{rounded_up_text(goal.delta)}, that is 1 in {rounded_text(1.0 / goal.delta)}"
        exception = (
            f"There is one exception, an event whose probability is at most delta ({chance}). In that event nothing is "
            "promised: think of it as this person's data being shown."
        )
    exact = {
        "pure": "The bounds hold for every output, and are attained by randomised response.",
        "probabilistic": "The belief is within the bounds but with probability at most delta, on either data.",
        "approximate": "What is published shows no more than a procedure that with probability delta tells the truth, "
        "and otherwise keeps the bounds. The attacker's own belief may be above them somewhat more often: above the "
        "bound for epsilon + s with probability at most delta / (1 − exp(−s)), for every s above 0.",
    }[goal.notion]
    guess = (
        f"Whoever guesses whether {subject}, is right with probability at most {_percent_up(asked.right)}; without the "
        f"release {_percent(max(asked.prior, 1.0 - asked.prior))}."
    )
    knows = "Knows all data but this person's, and how the numbers were made; computing power is not limited."
    rows = tuple(
        (_percent(one.prior), _percent_down(one.lowest), _percent_up(one.highest), _percent_up(one.right))
        for one in found
    )
    beliefs = " ".join(f"From {prior} to at most {highest}." for prior, _, highest, _ in rows)
    description = f"Beliefs after the release against beliefs before it. {beliefs}"
    return AttackerResults(
        change=f"{before} → {after}",
        said=f"Somebody who thinks it {before} likely that {subject} can come to think it at most {after} likely from "
        f"all that is published, and at least {least}. That is so whatever else they know.",
        exception=exception,
        rows=rows,
        facts=(("Best guess", guess), ("Exactly", exact), ("Attacker", knows)),
        picture=Picture.of(plot_beliefs(goal, settings.priors), "attacker-beliefs", "Before and after", description),
        csv=csv_file(
            ("prior", "lowest", "highest", "exception", "right"),
            ([repr(value) for value in astuple(one)] for one in found),
        ),
    )


def attacker_equivalents(settings: AttackerSettings) -> Equivalents:
    """Return what gives the same beliefs without the page."""
    priors = [written(prior) for prior in settings.priors]
    return Equivalents(
        command=command("belief", **settings.goal_flags, prior=",".join(priors)),
        python=(
            "import ggdp\nfrom ggdp.privacy.beliefs import belief\n\n"
            f"goal = {settings.goal_code}\n"
            f"for prior in ({', '.join(priors)}):\n"
            "    print(belief(goal, prior))\n"
        ),
    )


def _percent(share: float) -> str:
    return f"{rounded_text(100.0 * share)} %"


def _percent_up(share: float) -> str:
    return f"{rounded_up_text(100.0 * share)} %"


def _percent_down(share: float) -> str:
    return f"{rounded_down_text(100.0 * share)} %"
