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
from ggdp.distributions.generalized_gaussian import GeneralizedGaussian
from ggdp.distributions.integer import IntegerGeneralizedGaussian
from ggdp.errors import ArgumentError
from ggdp.planning.maximum import expected_maximum

if TYPE_CHECKING:
    from ggdp.privacy import Sensitivity

__all__ = ["MEASURES", "Measure", "MeasureName", "checked_measure"]

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

    def of(self, order: float, scale: float, support: str) -> float:
        """Return the error of noise of an order and scale."""
        if self.cells is not None:
            return expected_maximum(order, scale, self.cells, support)
        law: GeneralizedGaussian | IntegerGeneralizedGaussian
        if support == "real":
            law = GeneralizedGaussian(order=order, scale=scale)
            if self.level is not None:
                return law.half_width(self.level)
        else:
            law = IntegerGeneralizedGaussian(order=order, scale=scale)
            if self.level is not None:
                return float(law.ppf((1.0 + self.level) / 2.0))
        return law.mean_abs if self.name == "mean-abs" else law.std

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
