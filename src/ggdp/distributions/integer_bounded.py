"""How far bounded integer noise strays: the largest error over all true values in {c0, ..., c1}.

=======  ==================================================================
l, u     s - c0 and c1 - s, the room below and above the true value s
H_j(n)   sum of k^j exp(-(k/b)^p) over 1 <= k <= n
T(k)     P(K >= k) of the unbounded law
=======  ==================================================================

Truncated: E|X - s|^j = (H_j(l) + H_j(u)) / (1 + H_0(l) + H_0(u)). Boundary-inflated: the inside terms H_j(l - 1) and
H_j(u - 1), divided by Z, and l^j T(l) + u^j T(u) from the two atoms. These are floats: they describe and prove nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ggdp.distributions.bounded_moments import WorstCase

if TYPE_CHECKING:
    from ggdp.distributions.generalized_gaussian import Floats

__all__ = ["worst_case"]

# Beyond it the sums over all true values would not fit; the law is then as smooth as its real counterpart.
_WIDEST = 4_000_000


def worst_case(order: float, scale: float, bounds: tuple[float, float], bounding: str) -> WorstCase:
    """Return the largest errors of bounded integer noise, each over all true values.

    Examples
    --------
    >>> worst = worst_case(1.0, 1e9, (0, 2), "truncated")  # nearly uniform on 0, 1, 2
    >>> round(worst.mean_abs_error, 6)
    1.0
    """
    width = int(bounds[1]) - int(bounds[0])
    if width > _WIDEST:
        return _smooth(order, scale, bounds, bounding)
    k = np.arange(width + 1, dtype=np.float64)
    with np.errstate(over="ignore"):
        weights = np.exp(-((k / scale) ** order))
    weights[0] = 0.0
    sums = [np.cumsum(k**j * weights) for j in range(3)]
    if bounding == "truncated":
        zeroth, first, second = sums
        total = 1.0 + zeroth + zeroth[::-1]
        mean, absolute, square = (
            (first[::-1] - first) / total,
            (first[::-1] + first) / total,
            (second + second[::-1]) / total,
        )
    else:
        absolute, square, one_side = _boundary_inflated(order, scale, k, sums)
        mean = one_side[::-1] - one_side
    deviation = np.sqrt(np.maximum(square - mean**2, 0.0))
    return WorstCase(
        bias=float(np.abs(mean).max()),
        std=float(deviation.max()),
        mean_squared_error=float(square.max()),
        mean_abs_error=float(absolute.max()),
    )


def _boundary_inflated(order: float, scale: float, k: Floats, sums: list[Floats]) -> tuple[Floats, Floats, Floats]:
    from ggdp.distributions.integer import IntegerGeneralizedGaussian

    law = IntegerGeneralizedGaussian(order=order, scale=scale)
    Z = 1.0 / law.pmf(0)
    # T(k) = T(0) - (1 + H_0(k - 1)) / Z, with the far tail set to 0 where it is lost in rounding.
    inside = [np.concatenate(([0.0], moments[:-1])) / Z for moments in sums]
    tails = np.maximum(law.sf(-1) - np.where(k > 0, 1.0 / Z + inside[0], 0.0), 0.0)
    one_side = inside[1] + k * tails
    absolute = one_side + one_side[::-1]
    squares = inside[2] + k**2 * tails
    return absolute, squares + squares[::-1], one_side


def _smooth(order: float, scale: float, bounds: tuple[float, float], bounding: str) -> WorstCase:
    from ggdp.distributions import boundary_inflated, truncated

    worst: WorstCase = (truncated if bounding == "truncated" else boundary_inflated).worst_case(order, scale, bounds)
    return worst
