"""How far noise of a scale strays: standard deviation and mean absolute error.

Under bounding the error depends on the true value; what is reported is the largest over all true values in the bounds.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Spread", "spread"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """Standard deviation and mean absolute error."""

    std: float
    mean_abs: float


def spread(
    order: float,
    scale: float,
    support: str,
    bounding: str | None,
    bounds: tuple[tuple[float, float], ...] | None,
) -> Spread:
    """Return the spread of the noise, the largest over coordinates and true values where there are bounds."""
    if bounding is None or bounds is None:
        return _unbounded(order, scale, support)
    spreads = [_bounded(order, scale, support, bounding, pair) for pair in dict.fromkeys(bounds)]
    return Spread(std=max(one.std for one in spreads), mean_abs=max(one.mean_abs for one in spreads))


def _unbounded(order: float, scale: float, support: str) -> Spread:
    if support == "integer":
        from ggdp.distributions.integer import IntegerGeneralizedGaussian

        law = IntegerGeneralizedGaussian(order=order, scale=scale)
        return Spread(std=law.std, mean_abs=law.mean_abs)
    from ggdp.distributions.generalized_gaussian import GeneralizedGaussian

    real = GeneralizedGaussian(order=order, scale=scale)
    return Spread(std=real.std, mean_abs=real.mean_abs)


def _bounded(order: float, scale: float, support: str, bounding: str, bounds: tuple[float, float]) -> Spread:
    if support == "integer":
        from ggdp.distributions.integer_bounded import worst_case as integer_worst_case

        worst = integer_worst_case(order, scale, bounds, bounding)
    else:
        from ggdp.distributions import boundary_inflated, truncated

        worst = (truncated if bounding == "truncated" else boundary_inflated).worst_case(order, scale, bounds)
    return Spread(std=worst.std, mean_abs=worst.mean_abs_error)
