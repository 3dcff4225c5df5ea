"""Pure DP: errors of truncated and boundary-inflated noise, costs of the Exponential mechanism, the plain distance.

=======  ===============================================================================================
s        the true value, within bounds of width w
bias     mean of the output less s
rmse     root of the mean squared error, sqrt(bias^2 + std^2)
u        the utility -|s* - s|^p of an output s*
Delta_u  its sensitivity: exactly w^p - (w - D)^p, or what the paper's Lemma 9 bounds it by
b        the scale (2 Delta_u / epsilon)^(1/p)
Z(s)     the normalizer, Integral exp(-(|x - s| / b)^p) dx over the bounds
r, x     number of coordinates, each of which one person changes by at most 1, and the noise on all of them
Delta_p  the l_p norm of the largest change, r^(1/p)
=======  ===============================================================================================

Neither of the two laws is uniformly better: which has the smaller error depends on s, which is private, so the choice
must be made from the whole curve or its largest value and never from the data. (At order 1 with bounds that are wide
compared with the noise the boundary-inflated law can be better at every s: it needs the smaller scale there,
D / epsilon.)

The loss of the Exponential mechanism is a change of weight, at most [w^p - (w - D)^p] / b^p (which is epsilon/2 with
the exact Delta_u), and a change of the normalizer, at most log Z(c0 + D) / Z(c0) or, where D is more than half the
width, the same with the middle instead of c0 + D: log Z is concave and symmetric, so that it rises the most from an
end. The two need not have the same sign where either is largest, so the true loss can be below that of the weights
alone.

With the plain distance ||s* - s||_p as utility, Delta_u is at most Delta_p by the triangle inequality. The density is
proportional to exp(-||x||_p / b), the K-norm mechanism's, and needs no bounds. Its normalizer is constant, so
b = Delta_p / epsilon keeps epsilon-DP; the 2 Delta_u / epsilon of the Exponential mechanism would spend half of it.
The norm ||x||_p has the Gamma law of shape r and scale b, and |x_k|^p / ||x||_p^p, independent of it, the Beta law of
1/p and (r - 1)/p. At p = infinity |x_k| is uniform up to a Gamma variable of shape r + 1.

References
----------
Liu, arXiv 1602.06028 v5, Defs. 5 and 6 (the scales here are not the paper's but the least: `ggdp.proofs.bounded`);
Section 2.7, Lemma 9 and Cor. 12 ("always less than the nominal budget"; "epsilon/2" when the normalizer is constant).
The remark on the plain distance is at the end of Section 2.7. Hardt and Talwar, STOC 2010 (K-norm mechanism).
log Z is concave as the convolution of two log-concave functions (Prekopa, 1973).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

import numpy as np

from ggdp import (
    ApproxDP,
    GeneralizedGaussian,
    MinkowskiMechanism,
    PureDP,
    SeededSource,
    Sensitivity,
    calibrate,
)
from ggdp.calibration import exponential_calibration, utility_sensitivity
from ggdp.errors import ArgumentError
from ggdp.noise import ErrorMoments, boundary_inflated_moments, truncated_moments
from ggdp_reproduction.checks import (
    LARGEST_ORDER,
    Floats,
    frozen,
    integer,
    interval,
    moderate,
    orders_of,
    positive,
    reals,
)
from ggdp_reproduction.checks import deltas as checked_deltas
from ggdp_reproduction.simulation import stream_seed

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from ggdp import Calibration

POINTS = 201
# Outside, the search for the least scale of order 2 takes from many seconds to forever.
EPSILONS = (1e-4, 1e6)
# Releases that the errors of the plain distance are estimated from.
DRAWS = 2000


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LocationErrors:
    """Errors of one bounded mechanism at every true value."""

    scale: float
    # Bias, standard deviation and root mean squared error at each true value.
    bias: Floats
    std: Floats
    rmse: Floats


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BoundedComparison:
    """Truncated against boundary-inflated noise of the same order and the same epsilon."""

    # Order of the noise, the epsilon that both keep, and how far one person can move the query.
    order: float
    epsilon: float
    sensitivity: float
    bounds: tuple[float, float]  # bounds of query and output
    location: Floats  # true values
    # Errors of either, at its least scale.
    truncated: LocationErrors
    boundary_inflated: LocationErrors

    @property
    def rmse_ratio(self) -> Floats:
        """Root mean squared error of truncated over that of boundary-inflated noise, at each true value."""
        return self.truncated.rmse / self.boundary_inflated.rmse


def bounded_errors(
    order: float,
    epsilon: float,
    bounds: tuple[float, float],
    sensitivity: float = 1.0,
    location: ArrayLike | None = None,
) -> BoundedComparison:
    """Return the errors of truncated and boundary-inflated noise, each at its least scale for epsilon-DP.

    Parameters
    ----------
    order : float
        Order of the noise, from 1 to 1e6.
    epsilon : float
        The epsilon that both keep, from 1e-4 to 1e6.
    bounds : (float, float)
        Bounds of query and output.
    sensitivity : float, default 1
        How far one person can move the query.
    location : array_like, optional
        Hypothetical true values within the bounds; 201 evenly spaced ones if not given. No error quotes them.

    Examples
    --------
    >>> found = bounded_errors(2, 1.0, (0.0, 10.0), location=[0.0, 5.0])
    >>> found.truncated.rmse.round(3), found.boundary_inflated.rmse.round(3)
    (array([2.753, 2.307]), array([2.279, 2.883]))
    """
    low, high = interval(bounds=bounds)
    s = np.linspace(low, high, POINTS) if location is None else _locations(location, low, high)
    goal, query = PureDP(moderate(*EPSILONS, epsilon=epsilon)), Sensitivity.disjoint(sensitivity)
    p = moderate(1.0, LARGEST_ORDER, order=order)
    cut = calibrate(goal, query, order=p, bounds=[(low, high)], bounding="truncated").scale
    clamped = calibrate(goal, query, order=p, bounds=[(low, high)], bounding="boundary-inflated").scale
    return BoundedComparison(
        order=p,
        epsilon=goal.epsilon,
        sensitivity=query.largest,
        bounds=(low, high),
        location=frozen(s),
        truncated=_errors(cut, truncated_moments(p, cut, s, (low, high))),
        boundary_inflated=_errors(clamped, boundary_inflated_moments(p, clamped, s, (low, high))),
    )


def _locations(location: ArrayLike, low: float, high: float) -> Floats:
    """Return true values within the bounds; a refusal shows their type alone, since they might be real ones."""
    try:
        s = reals(location=location)
    except ArgumentError as wrong:
        raise ArgumentError("location", type(location), wrong.expected) from None
    if np.any((s < low) | (s > high)):
        raise ArgumentError("location", type(location), f"must lie within the bounds {(low, high)!r}")
    return s


def _errors(scale: float, moments: ErrorMoments) -> LocationErrors:
    rmse = frozen(np.sqrt(moments.mean_squared_error))
    return LocationErrors(scale=scale, bias=frozen(moments.bias), std=frozen(moments.std), rmse=rmse)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ExponentialComparison:
    """The true loss of the Exponential mechanism over orders, and what it is made of."""

    # The nominal epsilon, and how far one person can move the query.
    epsilon: float
    sensitivity: float
    # Bounds of query and output; None without bounds, where the normalizer is constant.
    bounds: tuple[float, float] | None
    orders: Floats  # orders of the utility
    utility_sensitivity: Floats  # the Delta_u that the scale is made of
    scale: Floats  # scale of the noise
    loss: Floats  # the true loss, proved as an upper bound
    weight_loss: Floats  # what the weights alone contribute at most: epsilon/2 with the exact Delta_u
    normaliser_loss: Floats  # what the normalizer alone contributes at most; 0 where it is constant

    @property
    def below_nominal(self) -> NDArray[np.bool_]:
        """Whether the paper's first claim holds: a true loss below epsilon."""
        return self.loss < self.epsilon

    @property
    def below_half(self) -> NDArray[np.bool_]:
        """Whether the true loss is below epsilon/2, which the paper takes for the extreme."""
        return self.loss < self.epsilon / 2.0


def exponential_losses(
    orders: ArrayLike,
    epsilon: float,
    sensitivity: float = 1.0,
    bounds: tuple[float, float] | None = None,
    utility: Literal["exact", "lemma"] = "exact",
) -> ExponentialComparison:
    """Return the true loss of the Exponential mechanism with the utility -|s* - s|^p, for every order.

    Parameters
    ----------
    orders : array_like
        Orders p of the utility, from 1 to 1e6.
    epsilon : float
        The nominal epsilon.
    sensitivity : float, default 1
        How far one person can move the query.
    bounds : (float, float), optional
        Bounds of query and output; needed at every order above 1.
    utility : {"exact", "lemma"}, default "exact"
        The exact sensitivity of the utility, or the bound of the paper's Lemma 9.

    Examples
    --------
    >>> found = exponential_losses([1, 2, 3], 1.0, bounds=(0.0, 10.0))
    >>> found.loss.round(3), found.below_half
    (array([0.831, 0.345, 0.394]), array([False,  True,  True]))
    """
    checked = orders_of(orders=orders)
    goal, query = PureDP(positive(epsilon=epsilon)), Sensitivity.disjoint(sensitivity)
    pair = None if bounds is None else interval(bounds=bounds)
    pairs = None if pair is None else [pair]
    found = [exponential_calibration(goal, query, order=float(p), bounds=pairs, utility=utility) for p in checked]
    scales = np.array([calibration.scale for calibration in found], dtype=np.float64)
    size = query.largest
    if pair is None:
        sizes, weights, normalisers = np.full(checked.shape, size), size / scales, np.zeros(checked.shape)
    else:
        sizes = np.array([utility_sensitivity(float(p), query, [pair], utility=utility) for p in checked])
        parts = [_parts_of_loss(p, b, pair[1] - pair[0], size) for p, b in zip(checked, scales, strict=True)]
        weights, normalisers = np.array(parts, dtype=np.float64).reshape(-1, 2).T
    return ExponentialComparison(
        epsilon=goal.epsilon,
        sensitivity=size,
        bounds=pair,
        orders=frozen(checked),
        utility_sensitivity=frozen(sizes),
        scale=frozen(scales),
        loss=frozen([calibration.guarantee.epsilon for calibration in found]),
        weight_loss=frozen(weights),
        normaliser_loss=frozen(normalisers),
    )


def _parts_of_loss(p: float, b: float, width: float, size: float) -> tuple[float, float]:
    """Return the largest losses of the weights alone and of the normalizer alone."""
    from scipy.special import gammainc

    # (w/b)^p - ((w - D)/b)^p without cancellation.
    share = 1.0 if size >= width else -math.expm1(p * math.log1p(-size / width))
    near = min(size, width / 2.0)
    left, right, whole = gammainc(1.0 / p, (np.array([near, width - near, width]) / b) ** p)
    return float((width / b) ** p * share), math.log(left + right) - math.log(whole)


@dataclass(frozen=True, slots=True, kw_only=True)
class DistanceErrors:
    """Errors of one mechanism on several numbers, of which one person changes each by 1."""

    mechanism: str  # plain distance, GG, truncated GG or Exponential
    order: float
    width: float  # of the bounds of every number; infinite without bounds
    delta: float  # 0 for pure DP, and otherwise that of aDP
    loss: float  # the epsilon that is proved
    scale: float
    # Root mean squared and mean absolute error of a number; within bounds, of true values spread evenly over them.
    rmse: float
    mean_abs: float


def distance_errors(
    order: float,
    width: float = math.inf,
    *,
    epsilon: float = 1.0,
    deltas: ArrayLike = (1e-6, 0.01),
    dimension: int = 5,
) -> list[DistanceErrors]:
    """Return the errors of the mechanisms that release several numbers, of which one person changes each by 1.

    The plain distance as utility keeps pure DP. So do, within bounds, truncated noise of the least scale and the
    Exponential mechanism with the p-th power of the distance, whose proved loss is below its epsilon. Generalized
    Gaussian noise keeps aDP. What is released without bounds is clamped to them, which both goals survive. The errors
    of the plain distance within bounds are those of 2,000 seeded releases.

    Parameters
    ----------
    order : float
        Order p of the distance and of the noise, from 1 to 50; with infinity there is only the plain distance.
    width : float, optional
        Width of the bounds of every number; without, truncated noise and the Exponential mechanism do not exist.
    epsilon : float, default 1
        The epsilon of every mechanism, from 1e-4 to 1e6.
    deltas : array_like
        The deltas of generalized Gaussian noise.
    dimension : int, default 5
        How many numbers, at least 2.

    Examples
    --------
    >>> for found in distance_errors(2, 100.0):
    ...     print(f"{found.mechanism:15} delta {found.delta:5g}: {found.rmse:.1f}")
    plain distance  delta     0: 5.4
    GG              delta 1e-06: 9.0
    GG              delta  0.01: 4.1
    truncated GG    delta     0: 18.3
    Exponential     delta     0: 26.1
    """
    p = math.inf if order == math.inf else moderate(1.0, 50.0, order=order)
    w = math.inf if width == math.inf else positive(width=width)
    goal = PureDP(moderate(*EPSILONS, epsilon=epsilon))
    query = Sensitivity.box([1.0] * integer(dimension=dimension, at_least=2))
    s = w * (np.arange(POINTS) + 0.5) / POINTS if w < math.inf else np.array([math.inf])

    def errors(mechanism: str, delta: float, found: Calibration, rmse: float, mean_abs: float) -> DistanceErrors:
        return DistanceErrors(
            mechanism=mechanism,
            order=p,
            width=w,
            delta=delta,
            loss=found.guarantee.epsilon,
            scale=found.scale,
            rmse=rmse,
            mean_abs=mean_abs,
        )

    plain = _plain_distance(p, dimension, goal.epsilon)
    if w < math.inf:
        noise = distance_draws(p, dimension, goal.epsilon).ravel()
        clamped = [np.clip(noise, -at, w - at) for at in s]
        rmse = math.sqrt(np.mean([np.mean(error**2) for error in clamped]))
        mean_abs = float(np.mean([np.mean(np.abs(error)) for error in clamped]))
    else:
        rmse, mean_abs = plain.std, plain.scale * _mean_abs_of_distance(p, dimension)
    every = [errors("plain distance", 0.0, plain.calibration, rmse, mean_abs)]
    if p == math.inf:
        return every
    for delta in np.atleast_1d(checked_deltas(deltas=deltas)).tolist():
        found = calibrate(ApproxDP(goal.epsilon, delta), query, order=p)
        if w < math.inf:
            square = boundary_inflated_moments(p, found.scale, s, (0.0, w)).mean_squared_error
            rmse, mean_abs = math.sqrt(np.mean(square)), _mean_abs(p, found.scale, s, w, clamped=True)
        else:
            rmse, mean_abs = found.std, GeneralizedGaussian(order=p, scale=found.scale).mean_abs
        every.append(errors("GG", delta, found, rmse, mean_abs))
    if w < math.inf:
        bounds = [(0.0, w)] * dimension
        for name, found in (
            ("truncated GG", calibrate(goal, query, order=p, bounds=bounds, bounding="truncated")),
            ("Exponential", exponential_calibration(goal, query, order=p, bounds=bounds)),
        ):
            rmse = math.sqrt(np.mean(truncated_moments(p, found.scale, s, (0.0, w)).mean_squared_error))
            every.append(errors(name, 0.0, found, rmse, _mean_abs(p, found.scale, s, w, clamped=False)))
    return every


@lru_cache(maxsize=16)
def distance_draws(p: float, dimension: int = 5, epsilon: float = 1.0) -> Floats:
    """Return the errors of releases with the plain distance as utility: a row each, a column a number."""
    mechanism, zeros = _plain_distance(p, dimension, epsilon), np.zeros(dimension)
    rng = SeededSource(seed=stream_seed(0, "plain distance", float(p), dimension, epsilon))
    return frozen([mechanism.release(zeros, rng=rng).values for _ in range(DRAWS)])


def _plain_distance(p: float, dimension: int, epsilon: float) -> MinkowskiMechanism:
    """Return the mechanism with exp(-||x||_p / b), for numbers that change by 1 each."""
    largest = Sensitivity.box([1.0] * dimension).lp(p)
    return MinkowskiMechanism(PureDP(epsilon), Sensitivity.norm(p, largest, dimension=dimension))


def _mean_abs_of_distance(p: float, dimension: int) -> float:
    """Return the mean of |x_k| / b: of the norm, times that of |x_k| / ||x||_p."""
    from scipy.special import betaln

    if p == math.inf:
        return (dimension + 1) / 2
    rest = (dimension - 1) / p
    return dimension * math.exp(betaln(2.0 / p, rest) - betaln(1.0 / p, rest))


def _mean_abs(p: float, b: float, s: Floats, width: float, *, clamped: bool) -> float:
    """Return the mean absolute error of noise that is clamped to the bounds, or truncated, over true values."""
    from scipy.special import gammainc

    law, ends = GeneralizedGaussian(order=p, scale=b), np.stack([s, width - s])
    within, beyond = law.mean_abs / 2.0 * gammainc(2.0 / p, (ends / b) ** p), law.sf(ends)
    error = within.sum(axis=0)
    return float(np.mean(error + (ends * beyond).sum(axis=0) if clamped else error / (1.0 - beyond.sum(axis=0))))
