"""A plan: the best order for a query, and what the usual orders would cost."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ggdp.calibration import Calibration
    from ggdp.planning.measures import Measure
    from ggdp.planning.noise_outside_family import Outside


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """An order with its certified scale and its error, in the unit of the query.

    Attributes
    ----------
    name : str
        "best", "laplace" or "gaussian".
    order : float
        Order of the noise.
    scale, error : float, optional
        Its scale and error; None where the goal does not exist, or is not proved, for this order.
    gain : float, optional
        How many times the best choice's error this one has; None if that is 0.
    """

    name: str
    order: float
    scale: float | None
    error: float | None
    gain: float | None

    def to_dict(self) -> dict[str, Any]:
        """Return the choice as plain values, fit for JSON."""
        return {
            "name": self.name,
            "order": self.order,
            "scale": self.scale,
            "error": self.error,
            "gain": self.gain,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The order that a query is best served by. Nothing in it comes from data.

    Attributes
    ----------
    best : Choice
        The best order found, its scale and its error.
    alternatives : tuple of Choice
        The usual orders: "laplace" (order 1) and "gaussian" (order 2, for approximate DP the analytic Gaussian).
    calibration : Calibration
        The best scale with its proof, ready for `ggdp.Mechanism`.
    measure : Measure
        What was minimised.
    curve : tuple of (order, error)
        All orders that were tried, in increasing order. But for those of `best` and `alternatives` their scales were
        not proved.
    notes : tuple of str
        What a reader should know, such as how closely the orders were searched.
    releases : int
        For how many equal releases the noise was planned: all of them together keep the goal.
    each : Calibration
        What one of the releases keeps by itself, ready for `ggdp.Mechanism`; the same as `calibration` where there is
        one. Of several releases `calibration` is about all of them together.
    outside : tuple of Outside
        Noise outside the family with a smaller error, for one moving coordinate; ggdp does not draw it.

    Examples
    --------
    >>> import ggdp
    >>> plan = ggdp.plan(ggdp.ApproxDP(1.0, 0.05), ggdp.Sensitivity.histogram())
    >>> print(f"{plan.best.order:.2f} {plan.best.error:.3f}")
    1.27 1.198
    >>> ggdp.Mechanism(plan.calibration).calibration.order == plan.best.order
    True
    """

    best: Choice
    alternatives: tuple[Choice, ...]
    calibration: Calibration
    measure: Measure
    curve: tuple[tuple[float, float], ...] = field(repr=False)
    notes: tuple[str, ...] = ()
    outside: tuple[Outside, ...] = ()
    releases: int = 1
    each: Calibration

    @property
    def choices(self) -> tuple[Choice, ...]:
        """The best choice and the alternatives."""
        return (self.best, *self.alternatives)

    def __repr__(self) -> str:
        calibration = self.calibration
        lines = [
            f"Plan for {calibration.goal.under(calibration.sensitivity.neighbours)}",
            f"  query: {self.each.sensitivity}, noise on the {calibration.support}s",
            f"  error: {self.measure}",
        ]
        for choice in self.choices:
            if choice.scale is None:
                lines.append(f"  {choice.name:<9} order {choice.order:<8.6g} not available")
                continue
            gain = "" if choice is self.best or choice.gain is None else f"  ({choice.gain:.4g} times the best)"
            lines.append(
                f"  {choice.name:<9} order {choice.order:<8.6g} scale {choice.scale:<12.7g} "
                f"error {choice.error:.7g}{gain}"
            )
        if self.releases > 1:
            lines.insert(2, f"  releases: {self.releases:,} together keep the goal; each alone {self.each.guarantee}")
        lines += [f"  outside the family: {other}" for other in self.outside]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as plain values, fit for JSON."""
        return {
            "best": self.best.to_dict(),
            "alternatives": [choice.to_dict() for choice in self.alternatives],
            "outside": [other.to_dict() for other in self.outside],
            "measure": self.measure.name,
            "level": self.measure.level,
            "cells": self.measure.cells,
            "support": self.calibration.support,
            "sensitivity": str(self.calibration.sensitivity),
            "goal": self.calibration.goal.under(self.calibration.sensitivity.neighbours).to_dict(),
            "releases": self.releases,
            "calibration": self.calibration.to_dict(),
            "each": self.each.to_dict(),
            "curve": [list(point) for point in self.curve],
            "notes": list(self.notes),
        }
