"""What counts as the error of noise: four measures of a law, and noise outside the family to compare with.

==========  ================================================================================
mean-abs    E |X|
rmse        (E X^2)^(1/2), the standard deviation
quantile    the least t with P(|X| <= t) at least the level
max         E max |X_i| over r cells of independent noise: with F(t) = P(|X| <= t) the
            integral of 1 - F(t)^r over t >= 0, on the integers its sum over k >= 0
==========  ================================================================================

All are in the unit of the query. These are numbers to choose by, computed in floats and not simulated: on the reals
good to about 1e-12 of their value, on the integers too up to a scale of 2^15, and to about 1e-7 beyond.

Noise outside the family that keeps the same goal, to compare the best order with:

==================  ========================================================================================
staircase           density falling by e^-eps from step to step of width D, each step split at a share gamma:
                    pure eps-DP, and of least error of all such noise for one coordinate
truncated Laplace   density in proportion to e^(-eps |x| / D) up to A = (D/eps) log(1 + (e^eps - 1) / (2 delta)):
                    (eps, delta)-aDP and pDP, since only the last D of either side is out of the other's reach
==================  ========================================================================================

On the integers both are taken on the integers: the staircase with its split at a whole number, and the truncated
geometric law up to the least end whose last D masses add up to at most delta. ggdp does not draw this noise, and
compares with it for one moving coordinate only.

References
----------
Geng and Viswanath, "The Optimal Mechanism in Differential Privacy", ISIT 2014 (staircase; its Section V has the
integers); Geng, Ding, Guo and Kumar, "Tight Analysis of Privacy and Utility Tradeoff in Approximate Differential
Privacy", AISTATS 2020, Theorem 1 (truncated Laplace).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, TypeAlias, cast, get_args

import numpy as np
from numpy.typing import NDArray

from ggdp import _validate
from ggdp.errors import ArgumentError
from ggdp.noise.generalized_gaussian import GeneralizedGaussian, outside
from ggdp.noise.integer_law import IntegerGeneralizedGaussian
from ggdp.privacy import Guarantee, Sensitivity
from ggdp.proofs.noise_law import NoiseLaw

# t = exp(pi/2 sinh u): from t = 1e-19 to beyond where any float number of cells has a largest error.
LOWEST, HIGHEST = -4.1, 3.2
# Probabilities below e^-NEGLIGIBLE over the number of cells are left out of a sum.
NEGLIGIBLE = 45.0
# Above this scale a sum over the integers is the integral, up to about (p / b)^2 / 24 of its value.
WIDE = 2.0**15


def expected_maximum(order: float, scale: float, cells: int, support: str) -> float:
    """Return E max |X_i| over `cells` independent noises of an order and scale."""
    if support == "real" or scale > WIDE:
        return scale * _standard_maximum(order, cells)
    farthest = math.ceil(scale * (NEGLIGIBLE + math.log(cells)) ** (1.0 / order)) + 2
    with np.errstate(under="ignore"):
        weights = np.exp(-((np.arange(farthest) / scale) ** order))
    # Added up from the far end, where they are smallest: above[k] is the weight of all integers beyond k.
    above = np.cumsum(weights[:0:-1])[::-1]
    beyond = 2.0 * above / (weights[0] + 2.0 * above[0])
    return float(np.sum(-np.expm1(cells * np.log1p(-beyond))))


@lru_cache(maxsize=4096)
def _standard_maximum(order: float, cells: int) -> float:
    """Return the integral at scale 1 by the exp-sinh rule, with steps halved until two of them agree."""
    intervals, before = 256, math.nan
    while True:
        step = (HIGHEST - LOWEST) / intervals
        u = LOWEST + step * np.arange(intervals + 1)
        t = np.exp(0.5 * math.pi * np.sinh(u))
        with np.errstate(all="ignore"):
            exceeded = -np.expm1(cells * np.log1p(-outside(order, 1.0, t)))
        value = step * float(np.sum(exceeded * t * 0.5 * math.pi * np.cosh(u)))
        if abs(value - before) <= 1e-13 * value or intervals >= 1 << 18:
            return value
        intervals, before = 2 * intervals, value


MeasureName: TypeAlias = Literal["mean-abs", "rmse", "quantile", "max"]
MOST_CELLS = 10**18


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """A measure of error with the level or the number of cells that it needs; the others are None."""

    name: MeasureName
    level: float | None = None
    cells: int | None = None

    def of(self, law: NoiseLaw) -> float:
        """Return the error of a law."""
        if self.cells is not None:
            return expected_maximum(law.order, law.scale, self.cells, law.support)
        noise: GeneralizedGaussian | IntegerGeneralizedGaussian
        if law.support == "real":
            noise = GeneralizedGaussian(order=law.order, scale=law.scale)
            if self.level is not None:
                return noise.half_width(self.level)
        else:
            noise = IntegerGeneralizedGaussian(order=law.order, scale=law.scale)
            if self.level is not None:
                return float(noise.ppf((1.0 + self.level) / 2.0))
        return noise.mean_abs if self.name == "mean-abs" else noise.std

    def scales_around(self, error: float, law: NoiseLaw, halvings: int) -> tuple[float, float]:
        """Return about the largest scale of a law whose error is within one, from below and from above.

        On the integers the error grows with the scale too (so do all |K|, by their likelihood ratio), but not in
        proportion: the two are as near as so many halvings bring them. On the reals they are the same.
        """
        scale = error / self.of(NoiseLaw(order=law.order, scale=1.0))
        if law.support == "real":
            return scale, scale
        low, high = 0.0, 2.0 * scale + 1.0
        while self.of(law.with_scale(high)) <= error:
            low, high = high, 2.0 * high
        for _ in range(halvings):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if self.of(law.with_scale(middle)) <= error else (low, middle)
        return low, high

    def __str__(self) -> str:
        if self.level is not None:
            return f"{self.level:.12g} quantile of the absolute error"
        if self.cells is not None:
            return f"expected largest absolute error over {self.cells:,} cell{'s' if self.cells > 1 else ''}"
        return "mean absolute error" if self.name == "mean-abs" else "root mean square error"


def validate_measure(name: object, level: object, cells: object, sensitivity: Sensitivity) -> Measure:
    """Return the measure that the arguments ask for; `cells` goes without saying where the sensitivity knows it."""
    named = _validate.choice(among=get_args(MeasureName), measure=name)
    share = _validate.probability(level=level)
    if not 0.0 < share <= 1.0 - 1e-12:
        raise ArgumentError("level", level, "must be above 0 and at most 1 - 1e-12")
    if named != "max":
        if cells is not None:
            raise ArgumentError("cells", cells, "only measure = 'max' has cells; leave it out or ask for that measure")
        return Measure(name=cast("MeasureName", named), level=share if named == "quantile" else None)
    if cells is None:
        return Measure(name="max", cells=sensitivity.moving)
    r = _validate.integer(cells=cells, at_least=1)
    if not sensitivity.has_fixed_dimension and r < sensitivity.moving:
        raise ArgumentError("cells", r, f"must be at least {sensitivity.moving}, the number of cells that can move")
    if sensitivity.has_fixed_dimension and r != sensitivity.moving:
        raise ArgumentError("cells", r, f"the sensitivity is of a query with {sensitivity.moving} coordinates")
    if r > MOST_CELLS:
        raise ArgumentError("cells", r, f"must be at most {MOST_CELLS:g}")
    return Measure(name="max", cells=r)


SHARES = np.linspace(0.0, 1.0, 201)[1:-1]
# A step of the staircase, or the whole of a truncated law, is looked at in so many parts.
PARTS = 200
MOST_POINTS = 4_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Outside:
    """A noise outside the family, its error, and how many times the best order's error that is."""

    name: str
    error: float
    gain: float

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
        # Smaller gains are not worth a line.
        if error < (1.0 - 1e-4) * best:
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
    if support == "integer":
        if D * (NEGLIGIBLE - math.log(delta)) / eps > MOST_POINTS:
            return
        k = np.arange(math.ceil(D * (NEGLIGIBLE - math.log(delta)) / eps) + int(D) + 1)
        weights = np.exp(-eps * k / D)
        below = np.cumsum(weights)
        # P(K > N - D) for each end N from D on: only then are all masses above 0.
        lasts = np.arange(int(D), k.size)
        passing = lasts[(below[lasts] - below[lasts - int(D)]) / (2.0 * below[lasts] - 1.0) <= delta]
        if passing.size:
            masses = weights[: passing[0] + 1]
            masses[1:] *= 2.0
            yield Law(k[: passing[0] + 1].astype(np.float64), masses, spread=False)
        return
    end = math.log1p(math.expm1(eps) / (2.0 * delta)) if eps < 700.0 else eps - math.log(2.0 * delta)
    # In units of D / eps; fine pieces, on which the density is as good as linear in t.
    ends = np.linspace(0.0, end, PARTS * 50 + 1)
    yield Law(ends * D / eps, -np.diff(np.exp(-ends)), spread=True)
