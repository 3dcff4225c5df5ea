"""Standard deviation and mean absolute error of a law of noise.

Under bounding the error depends on the true value; what is reported is the largest over all true values in the bounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ggdp.proofs.noise_law import NoiseLaw


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """Standard deviation and mean absolute error."""

    std: float
    mean_abs: float


def spread(law: NoiseLaw, bounds: tuple[tuple[float, float], ...] | None = None) -> Spread:
    """Return the spread of the noise, the largest over coordinates and true values where there are bounds."""
    if law.bounding is None or bounds is None:
        return _unbounded(law)
    spreads = [_bounded(law, law.bounding, pair) for pair in dict.fromkeys(bounds)]
    return Spread(std=max(one.std for one in spreads), mean_abs=max(one.mean_abs for one in spreads))


def _unbounded(law: NoiseLaw) -> Spread:
    if law.support == "integer":
        from ggdp.distributions.integer import IntegerGeneralizedGaussian

        integer = IntegerGeneralizedGaussian(order=law.order, scale=law.scale)
        return Spread(std=integer.std, mean_abs=integer.mean_abs)
    from ggdp.distributions.generalized_gaussian import GeneralizedGaussian

    real = GeneralizedGaussian(order=law.order, scale=law.scale)
    return Spread(std=real.std, mean_abs=real.mean_abs)


def _bounded(law: NoiseLaw, bounding: str, bounds: tuple[float, float]) -> Spread:
    if law.support == "integer":
        from ggdp.distributions.integer_bounded import worst_case as integer_worst_case

        worst = integer_worst_case(law.order, law.scale, bounds, bounding)
    else:
        from ggdp.distributions import boundary_inflated, truncated

        worst = (truncated if bounding == "truncated" else boundary_inflated).worst_case(law.order, law.scale, bounds)
    return Spread(std=worst.std, mean_abs=worst.mean_abs_error)
