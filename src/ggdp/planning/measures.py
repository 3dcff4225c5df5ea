"""What counts as the error of noise: four measures of a law, none of which looks at data.

==========  ==========================================================================
mean-abs    E |X|
rmse        (E X^2)^(1/2), the standard deviation
quantile    the least t with P(|X| <= t) at least the level
max         E max |X_i| over r cells, see `ggdp.planning.measures`
==========  ==========================================================================

All are in the unit of the query.

The expected largest error over many cells: E max |X_i| over r independent noises.

=======  =================================================================
p, b     order and scale of the noise
r        number of cells
F(t)     P(|X| <= t), so that E max = Integral of 1 - F(t)^r over t >= 0,
         and on the integers the sum of 1 - F(k)^r over k >= 0
=======  =================================================================

These are numbers to choose by, computed in floats and not simulated: on the reals good to about 1e-12 of their value,
on the integers too up to a scale of 2^15, and to about 1e-7 beyond.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from ggdp import _validate
from ggdp.errors import ArgumentError
from ggdp.noise.generalized_gaussian import GeneralizedGaussian, outside
from ggdp.noise.integer_law import IntegerGeneralizedGaussian
from ggdp.proofs.noise_law import NoiseLaw

if TYPE_CHECKING:
    from ggdp.privacy import Sensitivity


# t = exp(pi/2 sinh u): from t = 1e-19 to beyond where any float number of cells has a largest error.
LOWEST, HIGHEST = -4.1, 3.2
FIRST_INTERVALS = 256
MOST_INTERVALS = 1 << 18
AGREEMENT = 1e-13
# Probabilities below e^-NEGLIGIBLE over the number of cells are left out of a sum.
NEGLIGIBLE = 45.0
# Above this scale a sum over the integers is the integral, up to about (p / b)^2 / 24 of its value.
WIDE = 2.0**15


def expected_maximum(order: float, scale: float, cells: int, support: str) -> float:
    """Return E max |X_i| over `cells` independent noises of an order and scale.

    Examples
    --------
    >>> print(f"{expected_maximum(1.0, 2.0, 3, 'real'):.12f}")  # 2 (1 + 1/2 + 1/3)
    3.666666666667
    """
    if support == "real" or scale > WIDE:
        return scale * _standard_maximum(order, cells)
    return _integer_maximum(order, scale, cells)


@lru_cache(maxsize=4096)
def _standard_maximum(order: float, cells: int) -> float:
    """Return the integral at scale 1 by the exp-sinh rule, with steps halved until two of them agree."""
    intervals, before = FIRST_INTERVALS, math.nan
    while True:
        step = (HIGHEST - LOWEST) / intervals
        u = LOWEST + step * np.arange(intervals + 1)
        t = np.exp(0.5 * math.pi * np.sinh(u))
        with np.errstate(all="ignore"):
            exceeded = -np.expm1(cells * np.log1p(-outside(order, 1.0, t)))
        value = step * float(np.sum(exceeded * t * 0.5 * math.pi * np.cosh(u)))
        if abs(value - before) <= AGREEMENT * value or intervals >= MOST_INTERVALS:
            return value
        intervals, before = 2 * intervals, value


def _integer_maximum(order: float, scale: float, cells: int) -> float:
    """Return the sum of P(max > k) over k >= 0."""
    farthest = math.ceil(scale * (NEGLIGIBLE + math.log(cells)) ** (1.0 / order)) + 2
    with np.errstate(under="ignore"):
        weights = np.exp(-((np.arange(farthest) / scale) ** order))
    # Added up from the far end, where they are smallest: above[k] is the weight of all integers beyond k.
    above = np.cumsum(weights[:0:-1])[::-1]
    beyond = 2.0 * above / (weights[0] + 2.0 * above[0])
    return float(np.sum(-np.expm1(cells * np.log1p(-beyond))))


MeasureName: TypeAlias = Literal["mean-abs", "rmse", "quantile", "max"]
MEASURES = ("mean-abs", "rmse", "quantile", "max")
HIGHEST_LEVEL = 1.0 - 1e-12
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


def checked_measure(name: object, level: object, cells: object, sensitivity: Sensitivity) -> Measure:
    """Return the measure that the arguments ask for; `cells` goes without saying where the sensitivity knows it."""
    named = _validate.choice(among=MEASURES, measure=name)
    share = _validate.probability(level=level)
    if not 0.0 < share <= HIGHEST_LEVEL:
        raise ArgumentError("level", level, "must be above 0 and at most 1 - 1e-12")
    if named == "quantile":
        _no_cells(cells)
        return Measure(name="quantile", level=share)
    if named != "max":
        _no_cells(cells)
        return Measure(name="rmse" if named == "rmse" else "mean-abs")
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


def _no_cells(cells: object) -> None:
    if cells is not None:
        raise ArgumentError("cells", cells, "only measure = 'max' has cells; leave it out or ask for that measure")
