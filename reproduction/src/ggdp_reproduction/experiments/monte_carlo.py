"""The scale of the paper's bound for several coordinates, estimated from simulated noise as the paper does.

References
----------
Liu, arXiv 1602.06028 v5, Cor. GGMpDP. `ggdp.proofs.several_coordinates` has the claim and its proof.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ggdp_reproduction.checks import deltas, integer, orders_of, positive

if TYPE_CHECKING:
    from ggdp_reproduction.checks import Floats

CONFIDENCE = 0.95
CHUNK = 1 << 20
BISECTIONS = 60


class MonteCarloScale(NamedTuple):
    """A scale from simulation, with a 95 % confidence interval from order statistics; it proves nothing."""

    estimate: float
    lower: float
    upper: float


def scale_by_monte_carlo(
    *,
    order: float,
    corner: tuple[tuple[float, int], ...],
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

    orders_of(order=order)
    positive(epsilon=epsilon)
    deltas(delta=delta)
    integer(draws=draws, at_least=1)
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
