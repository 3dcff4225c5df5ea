"""Pure DP within bounds: errors of truncated and boundary-inflated noise, and what the Exponential mechanism costs.

=======  ===============================================================================================
s        the true value, within bounds of width w
bias     mean of the output less s
rmse     root of the mean squared error, sqrt(bias^2 + std^2)
u        the utility -|s* - s|^p of an output s*
Delta_u  its sensitivity: exactly w^p - (w - D)^p, or what the paper's Lemma 9 bounds it by
b        the scale (2 Delta_u / epsilon)^(1/p)
Z(s)     the normalizer, Integral exp(-(|x - s| / b)^p) dx over the bounds
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

References
----------
Liu, arXiv 1602.06028 v5, Defs. 5 and 6 (the scales here are not the paper's but the least: `ggdp.proofs.bounded`);
Section 2.7, Lemma 9 and Cor. 12 ("always less than the nominal budget"; "epsilon/2" when the normalizer is constant).
log Z is concave as the convolution of two log-concave functions (Prekopa, 1973).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from ggdp import PureDP, Sensitivity, calibrate
from ggdp.calibration import exponential_calibration, utility_sensitivity
from ggdp.errors import ArgumentError
from ggdp.noise import ErrorMoments, boundary_inflated_moments, truncated_moments
from ggdp_reproduction.checks import LARGEST_ORDER, Floats, frozen, interval, moderate, orders_of, positive, reals

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

POINTS = 201
# Outside, the search for the least scale of order 2 takes from many seconds to forever.
EPSILONS = (1e-4, 1e6)


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
