"""What counts as the error of noise: four measures of a law, none of which looks at data.

==========  ==========================================================================
mean-abs    E |X|
rmse        (E X^2)^(1/2), the standard deviation
quantile    the least t with P(|X| <= t) at least the level
max         E max |X_i| over r cells, see `ggdp.planning.maximum`
==========  ==========================================================================

All are in the unit of the query.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from ggdp import _validate
from ggdp.errors import ArgumentError
from ggdp.noise.generalized_gaussian import GeneralizedGaussian
from ggdp.noise.integer_law import IntegerGeneralizedGaussian
from ggdp.planning.maximum import expected_maximum
from ggdp.proofs.noise_law import NoiseLaw

if TYPE_CHECKING:
    from ggdp.privacy import Sensitivity

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
    if sensitivity.kind == "cells" and r < sensitivity.moving:
        raise ArgumentError("cells", r, f"must be at least {sensitivity.moving}, the number of cells that can move")
    if sensitivity.kind != "cells" and r != sensitivity.moving:
        raise ArgumentError("cells", r, f"the sensitivity is of a query with {sensitivity.moving} coordinates")
    if r > MOST_CELLS:
        raise ArgumentError("cells", r, f"must be at most {MOST_CELLS:g}")
    return Measure(name="max", cells=r)


def _no_cells(cells: object) -> None:
    if cells is not None:
        raise ArgumentError("cells", cells, "only measure = 'max' has cells; leave it out or ask for that measure")
