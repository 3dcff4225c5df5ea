"""Noise of different orders: densities of the same scale or variance, and the scale that each order needs for a goal.

========  ==========================================================================================
p         order of the noise
b         its scale; the standard deviation is b sqrt(Gamma(3/p) / Gamma(1/p))
D_k       how far coordinate k can move
paper     one coordinate moves: Cor. 8, solved; several: Cor. 7, with Lemma 2 for Delta_p; both for pDP
pdp       the least scale for pDP, where it is known: one coordinate moves, or p = 2
adp       the least scale for aDP
========  ==========================================================================================

At the same scale the law becomes less spread as p rises, towards the uniform law on [-b, b]. At the same variance the
Laplace law puts the most probability near 0 and the most far out. Scales of different orders are not comparable as they
stand, since b does not measure spread: hence the standard deviations.

Where one coordinate moves, or p = 2, the least scales are certified by `ggdp.calibrate` and the paper's is its closed
form. Where several move, delta is a convolution in floats, and nothing is proved: scales are good to about 1e-6
(`ggdp.planning.estimate_scale`). `scale_by_monte_carlo` is how the paper finds the same scale.

References
----------
Liu, arXiv 1602.06028 v5, Section 2.3 and Fig. 1 (scale sqrt 2 on its left, variance 1 on its right); Cor. 7 (Cor.
GGMpDP of its source), Cor. 8 and Fig. 2 (D = (1, 0.1, 0.05), by Monte Carlo).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np

from ggdp import ApproxDP, GeneralizedGaussian, ProbabilisticDP, Sensitivity, calibrate
from ggdp.calibration import disjoint_scale
from ggdp.errors import ArgumentError
from ggdp.planning import estimate_scale
from ggdp_reproduction.checks import Floats, deltas, frozen, integer, orders_of, positive, positives, reals

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

Shared: TypeAlias = Literal["scale", "variance"]

PAPER_ORDERS = (1.0, 2.0, 3.0, 5.0, 10.0)
POINTS, REACH = 801, 4.0
# What the paper's Fig. 2 is drawn for.
PAPER_BOX = (1.0, 0.1, 0.05)
# Beyond it the convolutions of several coordinates leave the floats.
LARGEST_OF_SEVERAL = 50.0
# Of scales by Monte Carlo: the level of their intervals, numbers drawn at once, and halvings of a bracket.
CONFIDENCE, CHUNK, BISECTIONS = 0.95, 1 << 20, 60


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DensityFamily:
    """Densities of several orders over the same points."""

    # Order and scale of each law.
    orders: Floats
    scales: Floats
    x: Floats  # the points, one-dimensional
    densities: Floats  # one row an order, one column a point
    shared: Shared  # what the laws share
    value: float  # how large that is


def densities_at_scale(orders: ArrayLike, x: ArrayLike, scale: float = 1.0) -> DensityFamily:
    """Return the densities of several orders, from 1 to 1e6, at the same scale, around 0.

    Examples
    --------
    >>> densities_at_scale([1, 2], 0.0).densities.round(6)
    array([[0.5    ],
           [0.56419]])
    """
    return _family(orders, x, "scale", positive(scale=scale))


def densities_at_variance(orders: ArrayLike, x: ArrayLike, variance: float = 1.0) -> DensityFamily:
    """Return the densities of several orders, from 1 to 1e6, at the same variance, around 0.

    Examples
    --------
    >>> densities_at_variance([1, 2], 0.0).densities.round(6)
    array([[0.707107],
           [0.398942]])
    """
    return _family(orders, x, "variance", positive(variance=variance))


def paper_densities() -> tuple[DensityFamily, DensityFamily]:
    """Return the two families of the paper's Fig. 1, at orders 1, 2, 3, 5 and 10.

    Examples
    --------
    >>> [(family.shared, round(family.value, 3)) for family in paper_densities()]
    [('scale', 1.414), ('variance', 1.0)]
    """
    x = np.linspace(-REACH, REACH, POINTS)
    return densities_at_scale(PAPER_ORDERS, x, math.sqrt(2.0)), densities_at_variance(PAPER_ORDERS, x, 1.0)


def _family(orders: ArrayLike, x: ArrayLike, shared: Shared, value: float) -> DensityFamily:
    checked, points = orders_of(orders=orders), np.atleast_1d(reals(x=x)).ravel()
    scales = [
        value if shared == "scale" else math.sqrt(value) / GeneralizedGaussian(order=p, scale=1.0).std
        for p in map(float, checked)
    ]
    laws = [GeneralizedGaussian(order=float(p), scale=scale) for p, scale in zip(checked, scales, strict=True)]
    densities = np.array([law.pdf(points) for law in laws], dtype=np.float64)
    return DensityFamily(
        orders=frozen(checked),
        scales=frozen(scales),
        x=frozen(points),
        densities=frozen(densities.reshape(checked.size, points.size)),
        shared=shared,
        value=value,
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScaleComparison:
    """Scales of several orders for one goal."""

    epsilon: float
    delta: float
    sensitivities: tuple[float, ...]  # how far each coordinate can move; all can move at once
    orders: Floats  # orders of the noise
    paper: Floats  # the paper's scale, for pDP
    # The least scale for pDP, NaN where it is not known, and for aDP.
    pdp: Floats
    adp: Floats

    def std(self, scales: Floats) -> Floats:
        """Return the standard deviations that go with scales of these orders."""
        unit = [GeneralizedGaussian(order=float(p), scale=1.0).std for p in self.orders]
        return scales * np.array(unit, dtype=np.float64)


def scales_by_order(
    orders: ArrayLike, epsilon: float, delta: float, sensitivities: ArrayLike = (1.0,)
) -> ScaleComparison:
    """Return the paper's scale and the least scales for pDP and aDP, for every order.

    Parameters
    ----------
    orders : array_like
        Orders from 1 to 1e6, or to 50 where several coordinates move.
    epsilon, delta : float
        The goal, delta strictly between 0 and 1.
    sensitivities : sequence of float, default (1,)
        Largest change of each coordinate. One coordinate takes milliseconds an order, several a second or two.

    Examples
    --------
    >>> found = scales_by_order([1, 1.5, 3], 0.5, 0.01)
    >>> found.paper.round(4), found.pdp.round(4), found.adp.round(4)
    (array([ 2.    ,  4.7758, 12.5086]), array([ 2.    ,  4.6888, 11.9133]), array([1.9227, 3.2014, 6.5099]))
    """
    checked = orders_of(orders=orders)
    eps, slack = positive(epsilon=epsilon), float(deltas(delta=delta))
    given = positives(sensitivities=sensitivities)
    if given.ndim != 1 or not given.size:
        raise ArgumentError("sensitivities", sensitivities, "must be a sequence of at least one number")
    query = Sensitivity.disjoint(float(given[0])) if given.size == 1 else Sensitivity.box(given.tolist())
    if query.moving > 1 and np.any(checked > LARGEST_OF_SEVERAL):
        expected = f"must be at most {LARGEST_OF_SEVERAL:g} where several coordinates move"
        raise ArgumentError("orders", float(checked.max()), expected)
    pdp_goal, adp_goal = ProbabilisticDP(eps, slack), ApproxDP(eps, slack)

    def scales(p: float) -> tuple[float, float, float]:
        if p == 1.0:
            paper = query.lp(1) / eps
        else:
            alone = query.moving == 1
            paper = disjoint_scale(p, query.largest, eps, slack) if alone else estimate_scale(pdp_goal, query, order=p)
        if query.moving == 1 or p == 2.0:
            return paper, calibrate(pdp_goal, query, order=p).scale, calibrate(adp_goal, query, order=p).scale
        return paper, math.nan, estimate_scale(adp_goal, query, order=p)

    paper, pdp, adp = np.array([scales(float(p)) for p in checked], dtype=np.float64).reshape(checked.size, 3).T
    return ScaleComparison(
        epsilon=eps,
        delta=slack,
        sensitivities=tuple(given.tolist()),
        orders=frozen(checked),
        paper=frozen(paper),
        pdp=frozen(pdp),
        adp=frozen(adp),
    )


class MonteCarloScale(NamedTuple):
    """A scale from simulation, with a 95% confidence interval from order statistics; it proves nothing."""

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
    and the bound asks for the 1 - delta quantile of that. Claim and proof: `ggdp.proofs.several_coordinates`.

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
    own = float((sizes**order).sum())
    known = own if joint is None else min(joint**order, own)
    scales = []
    for start in range(0, draws, max(CHUNK // len(sizes), 1)):
        rows = min(max(CHUNK // len(sizes), 1), draws - start)
        noise = generator.gamma(1.0 / order, size=(rows, len(sizes))) ** (1.0 / order)
        scales.append(_least_scales(order, noise, sizes, epsilon, known - own))
    ranked = np.sort(np.concatenate(scales))
    # The number of draws at or below the quantile is binomial.
    below = special.bdtr(np.arange(draws + 1), draws, 1.0 - delta)
    lower = int(np.searchsorted(below, (1.0 - CONFIDENCE) / 2.0, side="right"))
    upper = int(np.searchsorted(below, (1.0 + CONFIDENCE) / 2.0)) + 1
    return MonteCarloScale(
        estimate=float(ranked[min(math.ceil(draws * (1.0 - delta)), draws) - 1]),
        lower=float(ranked[lower - 1]) if lower >= 1 else 0.0,
        upper=float(ranked[upper - 1]) if upper <= draws else math.inf,
    )


def _least_scales(order: float, noise: Floats, sizes: Floats, epsilon: float, less: float) -> Floats:
    """Solve the sum for the scale, draw by draw, by bisection on its logarithm; a joint norm takes `less` off."""

    def total(scales: Floats) -> Floats:
        moved = (noise + sizes / scales[:, None]) ** order - noise**order
        return np.asarray(moved.sum(axis=1) + less / scales**order)

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
