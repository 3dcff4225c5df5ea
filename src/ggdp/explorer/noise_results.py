"""What the view of noise shows: laws of noise for a goal and a query, and their errors by order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen

from ggdp._rounding import rounded_text, rounded_up_text
from ggdp.calibration import Calibration, calibrate
from ggdp.errors import GgdpError
from ggdp.explorer import settings as fields
from ggdp.explorer.equivalents import Equivalents, command, written
from ggdp.explorer.figures import Picture, drawn
from ggdp.explorer.promise import PromiseSettings
from ggdp.explorer.text_tables import csv_file
from ggdp.planning import plan
from ggdp.planning.measures import Measure
from ggdp.plots.noise import LEVEL, plot_noise, plot_plan
from ggdp.privacy import Sensitivity

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["NoiseResults", "NoiseSettings", "PlanResults", "noise_equivalents", "noise_results", "plan_results"]

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
    """The noise of one order, beside the usual ones.

    Attributes
    ----------
    plus_minus : str
        The half-width that 95 of 100 draws keep.
    said : str
        What that means.
    beside : tuple of (name, order, scale, plus-minus)
        The noise of the order, Laplace and Gaussian; a dash where the goal does not exist for it.
    facts : tuple of (name, text)
        The certified scale and what is proved of it.
    picture : Picture
        The laws.
    csv : bytes
        The rows of `beside` with all digits.
    """

    plus_minus: str
    said: str
    beside: tuple[tuple[str, str, str, str], ...]
    facts: tuple[tuple[str, str], ...]
    picture: Picture
    csv: bytes


@frozen(kw_only=True)
class PlanResults:
    """The error of each order, and the order that the planner chooses."""

    best: float
    said: str
    rows: tuple[tuple[str, str, str, str], ...]
    picture: Picture
    csv: bytes


def noise_results(
    settings: NoiseSettings,
    progress: Callable[[int, int], None] | None = None,
) -> NoiseResults:
    """Return the noise that the settings ask for."""
    asked = settings.calibrated(settings.order)
    shown = [(_name(settings.order), asked)]
    rows, numbers = [_row(*shown[0])], [_exact("asked", asked)]
    for step, (order, name) in enumerate(USUAL.items()):
        if progress is not None:
            progress(step + 1, 1 + len(USUAL))
        if order == settings.order:
            continue
        try:
            found = settings.calibrated(order)
        except GgdpError:
            rows.append((name, written(order), "not possible", "not possible"))
            continue
        shown.append((name, found))
        rows.append(_row(name, found))
        numbers.append(_exact(name, found))
    half = PLUS_MINUS.of(asked.law)
    unit = UNIT[settings.support]
    figure = plot_noise([one.law for _, one in shown], [name for name, _ in shown], unit=unit)
    widths = ", ".join(f"{name} plus or minus {rounded_up_text(PLUS_MINUS.of(one.law))}" for name, one in shown)
    description = (
        f"How likely each amount of noise is. The shaded part holds 95 of 100 draws of the first curve. {widths}."
    )
    return NoiseResults(
        plus_minus=f"± {rounded_up_text(half)}",
        said=f"95 of 100 published numbers are within {rounded_up_text(half)} of the true ones; on average they are "
        f"{rounded_text(asked.mean_abs)} away.",
        beside=tuple(rows),
        facts=_facts(asked),
        picture=drawn(figure, "noise-laws", "The noise", description),
        csv=csv_file(("noise", "order", "scale", "plus_minus_95", "std", "mean_abs"), numbers),
    )


def plan_results(settings: NoiseSettings, progress: Callable[[int, int], None] | None = None) -> PlanResults:
    """Return the error of each order, and the planner's choice."""
    found = plan(
        settings.goal,
        settings.query,
        "quantile",
        level=LEVEL,
        support=settings.support,  # type: ignore[arg-type]
        progress=progress,
    )
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
        picture=drawn(figure, "noise-orders", "Error by order", description),
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


def _name(order: float) -> str:
    return USUAL.get(order, f"Order {rounded_text(order, 4)}")


def _row(name: str, found: Calibration) -> tuple[str, str, str, str]:
    width = rounded_up_text(PLUS_MINUS.of(found.law))
    return name, rounded_text(found.order, 4), rounded_text(found.scale, 6), f"± {width}"


def _exact(name: str, found: Calibration) -> tuple[str, ...]:
    numbers = (found.order, found.scale, PLUS_MINUS.of(found.law), found.std, found.mean_abs)
    return (name, *map(repr, numbers))


def _facts(found: Calibration) -> tuple[tuple[str, str], ...]:
    proof = found.certificate
    tight = "" if proof.tight is None else f"; a scale {1 - proof.tight:.0e} smaller is proved to fail"
    notes = (*found.notes, *filter(None, [found.caution]))
    return (
        ("Promise", str(found.guarantee)),
        ("Certified scale", repr(found.scale)),
        ("Standard deviation", rounded_text(found.std, 6)),
        ("Proof", f"{proof.quantity} is at most {rounded_up_text(proof.proved, 6)}{tight}"),
        ("Method", f"{proof.bound.statement}, in {proof.arithmetic} of {proof.precision} bits"),
        *(("Note", note) for note in notes),
    )
