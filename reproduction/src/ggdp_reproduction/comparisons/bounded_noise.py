"""Errors of truncated against boundary-inflated noise over the true value, each at its least scale for pure DP.

=======  ====================================================================
s        the true value, within the bounds
bias     mean of the output less s
std      standard deviation of the output
rmse     root of the mean squared error, sqrt(bias^2 + std^2)
=======  ====================================================================

In general neither law is uniformly better: which has the smaller error depends on s, which is private, so the choice
must be made from the whole curve or its largest value and never from the data. (At order 1 with bounds that are wide
beside the noise the boundary-inflated law can be better at every s: it needs the smaller scale there, D / epsilon.)

References
----------
Liu, arXiv 1602.06028 v5, Defs. 5 and 6. The scales are not the paper's but the least: `ggdp.proofs.bounded`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ggdp import PureDP, Sensitivity, calibrate
from ggdp.errors import ArgumentError
from ggdp.noise import ErrorMoments, boundary_inflated_moments, truncated_moments
from ggdp_reproduction.checks import LARGEST_ORDER, Floats, frozen, interval, moderate, reals

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["BoundedComparison", "LocationErrors", "bounded_errors"]

POINTS = 201
# Outside, the search for the least scale of order 2 takes from many seconds to forever.
EPSILONS = (1e-4, 1e6)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LocationErrors:
    """Errors of one bounded mechanism at every true value.

    Attributes
    ----------
    scale : float
        Its scale.
    bias, std, rmse : ndarray
        Bias, standard deviation and root mean squared error at each true value.
    """

    scale: float
    bias: Floats
    std: Floats
    rmse: Floats


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BoundedComparison:
    """Truncated against boundary-inflated noise of the same order and the same epsilon.

    Attributes
    ----------
    order, epsilon, sensitivity : float
        Order of the noise, the epsilon that both keep, and how far one person can move the query.
    bounds : (float, float)
        Bounds of query and output.
    location : ndarray
        True values.
    truncated, boundary_inflated : LocationErrors
        Errors of either, at its least scale.
    """

    order: float
    epsilon: float
    sensitivity: float
    bounds: tuple[float, float]
    location: Floats
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
    return LocationErrors(
        scale=scale,
        bias=frozen(moments.bias),
        std=frozen(moments.std),
        rmse=frozen(np.sqrt(moments.mean_squared_error)),
    )
