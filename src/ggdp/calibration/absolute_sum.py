"""The scale of the paper's bound for several coordinates: certified, and by the paper's own Monte Carlo.

References
----------
Liu, arXiv 1602.06028 v5, Cor. GGMpDP. `ggdp.loss.absolute_sum` has the claim and its proof.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ggdp import _validate
from ggdp._rounding import rounded_up
from ggdp.calibration.corner import bracket
from ggdp.calibration.search import passing_end
from ggdp.errors import SearchError
from ggdp.loss.absolute_sum import delta_of_absolute_sum
from ggdp.loss.absolute_sum_plan import estimate, plan
from ggdp.loss.corner_plan import checked_corner

if TYPE_CHECKING:
    from ggdp.loss.corner_plan import Corner
    from ggdp.loss.crossing import Floats

__all__ = ["MonteCarloScale", "scale_by_monte_carlo", "scale_for_absolute_sum"]

TOLERANCE = 2e-9
LOOSE_TOLERANCE = 1e-6
MANY = 8
PROBE = 1e-3
CORRECTIONS = 12
CONFIDENCE = 0.95
CHUNK = 1 << 20
BISECTIONS = 60


class MonteCarloScale(NamedTuple):
    """A scale from simulation, with a 95 % confidence interval from order statistics; it proves nothing."""

    estimate: float
    lower: float
    upper: float


def scale_for_absolute_sum(
    *,
    order: float,
    corner: Corner,
    epsilon: float,
    delta: float,
    support: str,
    joint: float | None = None,
) -> float:
    """Return a scale at which the paper's bound for the corner keeps (epsilon, delta)-pDP.

    Parameters
    ----------
    order : float
        Order of the noise, at least 1.
    corner : tuple of (size, count)
        Distinct sizes and how many coordinates move by at most each; integers where the support is integer.
    epsilon, delta : float
        The guarantee to keep, as pDP and so as aDP.
    support : {"real", "integer"}
        Where the noise lives.
    joint : float, optional
        A known bound of the l_p norm of the whole move, p being the order.

    Notes
    -----
    Rounding: the scale returned was itself proved to pass by `delta_of_absolute_sum`.

    Examples
    --------
    >>> corner = ((1.0, 1), (0.1, 1), (0.05, 1))
    >>> round(scale_for_absolute_sum(order=2, corner=corner, epsilon=1.0, delta=0.05, support="real"), 5)
    3.25827
    """
    if order == 1.0:
        return _pure_scale(corner, epsilon, joint)

    def excess(scale: float) -> float:
        chosen = plan(order=order, scale=scale, corner=corner, epsilon=epsilon, support=support, joint=joint)
        value = 1.0 if chosen is None else estimate(chosen, order=order, scale=scale, support=support)
        return math.log(max(value, 1e-300)) - math.log(delta)

    mean = order * sum(size * count for size, count in corner) / (math.gamma(1.0 / order) * epsilon)
    failing, passing, above, below = bracket(excess, mean)
    many = sum(count for _, count in corner) > MANY
    scale = passing_end(
        excess,
        failing=failing,
        passing=passing,
        tolerance=LOOSE_TOLERANCE if many else TOLERANCE,
        failing_excess=above,
        passing_excess=below,
    )
    # The proof adds what the estimate leaves out, so the scale is moved by what the proof is found to miss.
    slope = max((excess(scale) - excess(scale * (1.0 + PROBE))) / PROBE, 1.0)
    for _ in range(CORRECTIONS):
        upper = delta_of_absolute_sum(
            order=order, scale=scale, corner=corner, epsilon=epsilon, support=support, joint=joint
        ).upper
        if upper <= delta:
            return scale
        scale *= 1.0 + max(1.05 * math.log(upper / delta) / slope, 1e-9)
    message = f"no scale near {scale!r} could be certified for this corner at order {order!r}"
    raise SearchError(message)


def scale_by_monte_carlo(
    *,
    order: float,
    corner: Corner,
    epsilon: float,
    delta: float,
    draws: int,
    seed: int,
    joint: float | None = None,
) -> MonteCarloScale:
    """Estimate the scale of the paper's bound from simulated noise, as the paper does; never certified.

    Each draw of standard noise x has its own least scale, the root b of sum [(|x_k| + D_k/b)^p - |x_k|^p] = epsilon,
    and the bound asks for the 1 - delta quantile of that.

    Parameters
    ----------
    order : float
        Order of the noise, at least 1.
    corner : tuple of (size, count)
        Distinct sizes and how many coordinates move by at most each.
    epsilon, delta : float
        The guarantee to estimate for.
    draws, seed : int
        How many vectors of noise, and the seed that makes them.
    joint : float, optional
        A known bound of the l_p norm of the whole move.

    Examples
    --------
    >>> corner = ((1.0, 1), (0.1, 1), (0.05, 1))
    >>> found = scale_by_monte_carlo(order=2, corner=corner, epsilon=1.0, delta=0.05, draws=20_000, seed=1)
    >>> found.lower < 3.2583 < found.upper
    True
    """
    from scipy import special

    _validate.order(order=order)
    _validate.positive(epsilon=epsilon)
    _validate.positive(delta=_validate.probability(delta=delta))
    _validate.integer(draws=draws, at_least=1)
    checked_corner(corner, "real")
    generator = np.random.default_rng(seed)
    sizes = np.concatenate([np.full(count, float(size)) for size, count in corner])
    scales = []
    for start in range(0, draws, max(CHUNK // len(sizes), 1)):
        rows = min(max(CHUNK // len(sizes), 1), draws - start)
        noise = generator.gamma(1.0 / order, size=(rows, len(sizes))) ** (1.0 / order)
        scales.append(_least_scales(order, noise, sizes, epsilon, joint))
    ranked = np.sort(np.concatenate(scales))
    ranks = np.arange(draws + 1)
    # The number of draws at or below the quantile is binomial.
    below = special.bdtr(ranks, draws, 1.0 - delta)
    lower = int(np.searchsorted(below, (1.0 - CONFIDENCE) / 2.0, side="right"))
    upper = int(np.searchsorted(below, (1.0 + CONFIDENCE) / 2.0)) + 1
    return MonteCarloScale(
        estimate=float(ranked[min(math.ceil(draws * (1.0 - delta)), draws) - 1]),
        lower=float(ranked[lower - 1]) if lower >= 1 else 0.0,
        upper=float(ranked[upper - 1]) if upper <= draws else math.inf,
    )


def _least_scales(order: float, noise: Floats, sizes: Floats, epsilon: float, joint: float | None) -> Floats:
    """Solve the sum for the scale, draw by draw, by bisection on its logarithm."""
    own = float((sizes**order).sum())
    known = own if joint is None else min(joint**order, own)

    def total(scales: Floats) -> Floats:
        moved = (noise + sizes / scales[:, None]) ** order - noise**order
        return np.asarray(moved.sum(axis=1) + (known - own) / scales**order)

    low = np.full(len(noise), 0.5 * sizes.max() * epsilon ** (-1.0 / order))
    while (inside := total(low) < epsilon).any():
        low = np.where(inside, 0.5 * low, low)
    high = 2.0 * low
    while (inside := total(high) > epsilon).any():
        high = np.where(inside, 2.0 * high, high)
    for _ in range(BISECTIONS):
        middle = np.sqrt(low * high)
        above = total(middle) > epsilon
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return high


def _pure_scale(corner: Corner, epsilon: float, joint: float | None) -> float:
    """At p = 1 the loss is at most the l_1 norm over the scale: the least float with that at most epsilon."""
    norm = sum((count * Fraction(size) for size, count in corner), Fraction(0))
    if joint is not None:
        norm = min(norm, Fraction(joint))
    return rounded_up(norm / Fraction(epsilon), of="scale")
