"""The generalized Gaussian law truncated to bounds.

The density exp(-(|x - s| / b)^p) is cut to [c0, c1] and scaled up to mass 1, for a location s inside the bounds.

=======  =======================================================================
p        order, at least 1
b        scale
s        location: the true value that noise was added to
l, u     distances s - c0 and c1 - s to the bounds
I_j(t)   Integral_0^t y^(j-1) exp(-(y/b)^p) dy = (b^j / p) gamma(j/p, (t/b)^p)
=======  =======================================================================

With Z = I_1(u) + I_1(l) the error X - s has

- mean (the bias) (I_2(u) - I_2(l)) / Z,
- mean absolute value (I_2(u) + I_2(l)) / Z,
- mean square (I_3(u) + I_3(l)) / Z.

Where the law is nearly uniform, (t/b)^p underflows and I_j(t) is t^j / j. Where both bounds are far in the tails, the
bias is a difference of what the integrals lack to their limits. The variance is mean square less squared bias, which
loses no more than two bits: on either side of s the density falls, so the squared bias is at most 3/4 of the mean
square (a falling density on [0, t] mixes uniform ones, of which that is true, with equality).

References
----------
Liu, "Generalized Gaussian Mechanism for Differential Privacy", arXiv 1602.06028 v5, Def. tGGM (in A(s, b, p)
the power and the half put back).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from attrs import frozen

from ggdp.distributions.bounded_moments import (
    BoundedLaw,
    ErrorMoments,
    WorstCase,
    largest_errors,
    over_locations,
    partial_means,
    partial_moment,
)
from ggdp.distributions.generalized_gaussian import Floats, Values, distance, elementwise, inside, outside, scaled_power

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def _truncated(p: float, b: float, low: Floats, high: Floats) -> ErrorMoments:
    """Return the moments for distances `low` and `high` to the bounds."""
    mass = partial_moment(p, b, low, 1) + partial_moment(p, b, high, 1)
    below, below_rest, below_far = partial_means(p, b, low)
    above, above_rest, above_far = partial_means(p, b, high)
    bias = np.where(below_far & above_far, below_rest - above_rest, above - below) / mass
    square = (partial_moment(p, b, low, 3) + partial_moment(p, b, high, 3)) / mass
    return ErrorMoments(
        bias=bias, variance=square - bias**2, mean_squared_error=square, mean_abs_error=(below + above) / mass
    )


def truncated_moments(order: float, scale: float, location: ArrayLike, bounds: tuple[float, float]) -> ErrorMoments:
    """Return the moments of the error of the truncated law at every location of an array.

    Examples
    --------
    >>> truncated_moments(2, 1e6, np.array([0.0, 5.0, 10.0]), (0.0, 10.0)).bias.round(6) + 0.0
    array([ 5.,  0., -5.])
    """
    return over_locations(_truncated, order, scale, location, bounds)


def worst_case(order: float, scale: float, bounds: tuple[float, float]) -> WorstCase:
    """Return the largest errors of the truncated law over all locations within the bounds.

    Examples
    --------
    >>> errors = worst_case(2, 1e6, (0.0, 12.0))
    >>> round(errors.std**2, 6), round(errors.mean_abs_error, 6)
    (12.0, 6.0)
    """
    return largest_errors(_truncated, order, scale, bounds)


@frozen(kw_only=True)
class TruncatedGeneralizedGaussian(BoundedLaw):
    """The generalized Gaussian law conditioned on falling within bounds.

    All methods take a number or an array and give a float or an array of the same shape.

    Parameters
    ----------
    order : float
        Order p, at least 1.
    scale : float
        Scale b of the law before it is cut.
    location : float
        Mode of the law, within the bounds.
    bounds : (float, float)
        Lower and upper bound c0 < c1.

    References
    ----------
    Liu, arXiv 1602.06028 v5, Eqn tGGD (with the sign of the exponent corrected).

    Examples
    --------
    >>> noisy = TruncatedGeneralizedGaussian(order=2, scale=3.9, location=1.0, bounds=(0.0, 10.0))
    >>> round(noisy.mean, 9), round(noisy.bias, 9), round(noisy.std, 9)
    (2.598755714, 1.598755714, 1.834858321)
    >>> noisy.ppf(0.0), noisy.ppf(1.0)
    (0.0, 10.0)
    """

    def pdf(self, x: Values) -> Values:
        """Return the density at x, 0 outside the bounds."""
        return elementwise(lambda v: np.exp(self._log_density(v)), x)

    def logpdf(self, x: Values) -> Values:
        """Return the logarithm of the density at x."""
        return elementwise(self._log_density, x)

    def cdf(self, x: Values) -> Values:
        """Return the probability of at most x.

        Examples
        --------
        >>> TruncatedGeneralizedGaussian(order=3, scale=1.0, location=5.0, bounds=(0.0, 10.0)).cdf(5.0)
        0.5
        """
        return elementwise(lambda v: np.where(self._lower(v), self._beyond(v), 1.0 - self._beyond(v)), x)

    def sf(self, x: Values) -> Values:
        """Return the probability of more than x."""
        return elementwise(lambda v: np.where(self._lower(v), 1.0 - self._beyond(v), self._beyond(v)), x)

    def ppf(self, q: Values) -> Values:
        """Return the x with ``cdf(x) == q``, never outside the bounds; NaN for a q outside [0, 1]."""
        return elementwise(self._quantile, q)

    def _moments(self) -> ErrorMoments:
        return truncated_moments(self.order, self.scale, self.location, self.bounds)

    def _reach(self) -> Floats:
        """Return the distances from the location to the lower and to the upper bound."""
        return np.array([self.location - self.bounds[0], self.bounds[1] - self.location])

    def _log_density(self, x: Floats) -> Floats:
        mass = np.sum(partial_moment(self.order, self.scale, self._reach(), 1))
        power = scaled_power(self.order, self.scale, np.abs(x - self.location))
        return np.where((x < self.bounds[0]) | (x > self.bounds[1]), -np.inf, -power - np.log(mass))

    def _lower(self, x: Floats) -> NDArray[np.bool_]:
        """Return whether x is on the lower side, where the lower bound is even if it is the location."""
        return (x < self.location) | (x <= self.bounds[0])

    def _beyond(self, x: Floats) -> Floats:
        """Return the probability between x and the bound that lies on its side of the location."""
        p, b, t = self.order, self.scale, np.abs(x - self.location)
        within = inside(p, b, self._reach())
        side = np.where(self._lower(x), 0, 1)
        near, far = within[side] - inside(p, b, t), outside(p, b, t) - outside(p, b, self._reach())[side]
        share = np.where(inside(p, b, t) < 0.5, near, far) / np.sum(within)
        return np.where((x <= self.bounds[0]) | (x >= self.bounds[1]), 0.0, np.clip(share, 0.0, 1.0))

    def _quantile(self, q: Floats) -> Floats:
        p, b = self.order, self.scale
        within, beyond = inside(p, b, self._reach()), outside(p, b, self._reach())
        mass = np.sum(within)
        left = q * mass < within[0]
        side = np.where(left, 0, 1)
        cut = np.where(left, q, 1.0 - q) * mass
        t = b * distance(p, np.clip(within[side] - cut, 0.0, 1.0), np.clip(beyond[side] + cut, 0.0, 1.0))
        x = np.clip(np.where(left, self.location - t, self.location + t), *self.bounds)
        x = np.where(q == 0.0, self.bounds[0], np.where(q == 1.0, self.bounds[1], x))
        return np.where((q >= 0.0) & (q <= 1.0), x, np.nan)
