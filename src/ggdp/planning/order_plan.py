"""A plan: the best order for a query, and what the usual orders would cost.

Noise outside the family that keeps the same goal, to compare the best order with.

==================  ========================================================================================
staircase           density falling by e^-eps from step to step of width D, each step split at a share gamma:
                    pure eps-DP, and of least error of all such noise for one coordinate
truncated Laplace   density in proportion to e^(-eps |x| / D) up to A = (D/eps) log(1 + (e^eps - 1) / (2 delta)):
                    (eps, delta)-aDP and pDP, since only the last D of either side is out of the other's reach
==================  ========================================================================================

On the integers both are taken on the integers: the staircase with its split at a whole number, and the truncated
geometric law up to the least end whose last D masses add up to at most delta. These are errors to compare with, in
floats: ggdp does not draw this noise. For one moving coordinate only.

References
----------
Geng and Viswanath, "The Optimal Mechanism in Differential Privacy", ISIT 2014 (staircase; its Section V has the
integers); Geng, Ding, Guo and Kumar, "Tight Analysis of Privacy and Utility Tradeoff in Approximate Differential
Privacy", AISTATS 2020, Theorem 1 (truncated Laplace).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from ggdp.calibration import Calibration
    from ggdp.planning.measures import Measure
    from ggdp.privacy import Guarantee, Sensitivity


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


# Gains below this are not worth a line.
NOTEWORTHY = 1.0 - 1e-4
SHARES = np.linspace(0.0, 1.0, 201)[1:-1]
# A step of the staircase, or the whole of a truncated law, is looked at in so many parts.
PARTS = 200
NEGLIGIBLE = 45.0
MOST_POINTS = 4_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Outside:
    """A noise outside the family, its error, and how many times the best order's error that is."""

    name: str
    error: float
    gain: float

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values, fit for JSON."""
        return {"name": self.name, "error": self.error, "gain": self.gain}

    def __str__(self) -> str:
        return f"{self.name} {self.error:.4g} ({self.gain:.3f} times the best)"


@dataclass(frozen=True, slots=True)
class Law:
    """The law of |X|: pieces from one end to the next, each with a mass that is spread evenly, or at its end."""

    ends: NDArray[np.float64]
    masses: NDArray[np.float64]
    spread: bool

    def error(self, measure: Measure) -> float:
        """Return an error of the law."""
        masses = self.masses / self.masses.sum()
        first, last = (self.ends[:-1], self.ends[1:]) if self.spread else (self.ends, self.ends)
        if measure.name == "mean-abs":
            return float(np.sum(masses * (first + last)) / 2.0)
        if measure.name == "rmse":
            return math.sqrt(float(np.sum(masses * (first * first + first * last + last * last))) / 3.0)
        within = np.cumsum(masses)
        if measure.level is not None:
            place = min(int(np.searchsorted(within, measure.level * (1.0 - 1e-15))), masses.size - 1)
            part = (measure.level - within[place] + masses[place]) / masses[place] if self.spread else 1.0
            return float(first[place] + min(part, 1.0) * (last[place] - first[place]))
        cells = measure.cells or 1
        inside = np.concatenate(([0.0], np.minimum(within, 1.0)))
        with np.errstate(divide="ignore"):
            below = np.exp(cells * np.log(inside))
        # E max is the integral of 1 - F(t)^r; F is linear on a piece, or constant between integers.
        if self.spread:
            with np.errstate(invalid="ignore", divide="ignore"):
                mean = np.diff(inside * below) / ((cells + 1.0) * np.diff(inside))
            return float(np.sum((last - first) * (1.0 - np.where(np.isfinite(mean), mean, below[1:]))))
        return float(np.sum(np.diff(self.ends) * (1.0 - below[1:-1])))


def noise_outside(
    goal: Guarantee, sensitivity: Sensitivity, support: str, measure: Measure, best: float
) -> tuple[Outside, ...]:
    """Return noise outside the family that has a smaller error than the best order, the smallest first."""
    if sensitivity.moving != 1 or not best > 0.0:
        return ()
    found = []
    for name, laws in (("staircase", _staircases), ("truncated Laplace", _truncated)):
        # An error beyond all floats is not below the best.
        with np.errstate(over="ignore", invalid="ignore"):
            error = min((law.error(measure) for law in laws(goal, sensitivity.largest, support)), default=math.inf)
        if error < NOTEWORTHY * best:
            found.append(Outside(name=name, error=error, gain=error / best))
    return tuple(sorted(found, key=lambda one: one.error))


def _staircases(goal: Guarantee, D: float, support: str) -> Iterator[Law]:
    """Yield staircases with their steps split at many places."""
    eps = goal.epsilon
    steps = math.ceil(NEGLIGIBLE / eps) + 2
    if support == "integer":
        if steps * D > MOST_POINTS / 8:
            return
        k = np.arange(steps * int(D) + 1)
        for split in sorted({*np.linspace(1, D, num=int(min(D, 64))).astype(int).tolist()}):
            masses = np.exp(-eps * (k // int(D) + (k % int(D) >= split)))
            masses[1:] *= 2.0
            yield Law(k.astype(np.float64), masses, spread=False)
        return
    if steps > MOST_POINTS // PARTS:
        return
    level = np.exp(-eps * np.arange(steps + 1.0))
    for share in (*SHARES, math.exp(-eps / 2.0) / (1.0 + math.exp(-eps / 2.0))):
        ends = np.concatenate(([0.0], np.stack((np.arange(steps) + share, np.arange(steps) + 1.0), axis=1).reshape(-1)))
        heights = np.stack((level[:-1], level[1:]), axis=1).reshape(-1)
        masses = heights * np.diff(ends)
        # A share below the smallest float leaves no mass.
        if masses.sum() > 0.0:
            yield Law(D * ends, masses, spread=True)


def _truncated(goal: Guarantee, D: float, support: str) -> Iterator[Law]:
    """Yield the truncated law of a goal with a delta above 0 and below 1/2."""
    eps, delta = goal.epsilon, goal.delta
    if not 0.0 < delta < 0.5:
        return
    end = math.log1p(math.expm1(eps) / (2.0 * delta)) if eps < 700.0 else eps - math.log(2.0 * delta)
    if support == "integer":
        last = _last_integer(eps, delta, int(D))
        if last is None:
            return
        k = np.arange(last + 1)
        masses = np.exp(-eps * k / D)
        masses[1:] *= 2.0
        yield Law(k.astype(np.float64), masses, spread=False)
        return
    # In units of D / eps; fine pieces, on which the density is as good as linear in t.
    ends = np.linspace(0.0, end, PARTS * 50 + 1)
    yield Law(ends * D / eps, -np.diff(np.exp(-ends)), spread=True)


def _last_integer(eps: float, delta: float, D: int) -> int | None:
    """Return the least end of the truncated geometric law whose last D masses add up to at most delta."""
    if D * (NEGLIGIBLE - math.log(delta)) / eps > MOST_POINTS:
        return None
    k = np.arange(math.ceil(D * (NEGLIGIBLE - math.log(delta)) / eps) + D + 1)
    weights = np.exp(-eps * k / D)
    below = np.cumsum(weights)
    # P(K > N - D) for each end N, from D - 1 on (all masses above 0 only if N >= D).
    ends = np.arange(D, k.size)
    share = (below[ends] - below[ends - D]) / (2.0 * below[ends] - 1.0)
    passing = np.flatnonzero(share <= delta)
    return int(ends[passing[0]]) if passing.size else None
