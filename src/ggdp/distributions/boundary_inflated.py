"""The boundary-inflated generalized Gaussian law: noise around a location, clamped to bounds.

What falls below c0 is set to c0, what falls above c1 to c1, so the law has a density inside and an atom at each bound.

=======  =======================================================================
p        order, at least 1
b        scale
s        location: the true value that noise was added to
l, u     distances s - c0 and c1 - s to the bounds
S(z)     survival function of the standard law; the atoms are S(l/b) and S(u/b)
I_j(t)   Integral_0^t y^(j-1) exp(-(y/b)^p) dy, of `ggdp.distributions.truncated`
=======  =======================================================================

With N = 2 b Gamma(1 + 1/p) and H(t) = I_2(t) / N + t S(t/b) = Integral_0^t S(y/b) dy the error X - s has

- mean (the bias) H(u) - H(l),
- mean absolute value H(u) + H(l),
- mean square (I_3(u) + I_3(l)) / N + u^2 S(u/b) + l^2 S(l/b).

The law has half of its mass on either side of s, so the squared bias is at most half of the mean square, and their
difference, the variance, loses no more than one bit.

References
----------
Liu, "Generalized Gaussian Mechanism for Differential Privacy", arXiv 1602.06028 v5, Def. bitGGM (in q_k the power
put on the whole of (c1 - s) / b).
"""

from __future__ import annotations

import math
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
from ggdp.distributions.generalized_gaussian import Floats, GeneralizedGaussian, Values, elementwise, outside

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def _boundary_inflated(p: float, b: float, low: Floats, high: Floats) -> ErrorMoments:
    """Return the moments for distances `low` and `high` to the bounds."""
    norm = 2.0 * b * math.gamma(1.0 + 1.0 / p)
    low_atom, high_atom = outside(p, b, low) / 2.0, outside(p, b, high) / 2.0
    below, below_rest, below_far = partial_means(p, b, low)
    above, above_rest, above_far = partial_means(p, b, high)
    below, below_rest = below / norm + low * low_atom, below_rest / norm - low * low_atom
    above, above_rest = above / norm + high * high_atom, above_rest / norm - high * high_atom
    bias = np.where(below_far & above_far, below_rest - above_rest, above - below)
    within = (partial_moment(p, b, low, 3) + partial_moment(p, b, high, 3)) / norm
    square = within + low * (low * low_atom) + high * (high * high_atom)
    return ErrorMoments(bias=bias, variance=square - bias**2, mean_squared_error=square, mean_abs_error=below + above)


def boundary_inflated_moments(
    order: float, scale: float, location: ArrayLike, bounds: tuple[float, float]
) -> ErrorMoments:
    """Return the moments of the error of the boundary-inflated law at every location of an array.

    Examples
    --------
    >>> boundary_inflated_moments(2, 1e9, np.array([0.0, 5.0, 10.0]), (0.0, 10.0)).bias.round(6) + 0.0
    array([ 5.,  0., -5.])
    """
    return over_locations(_boundary_inflated, order, scale, location, bounds)


def worst_case(order: float, scale: float, bounds: tuple[float, float]) -> WorstCase:
    """Return the largest errors of the boundary-inflated law over all locations within the bounds.

    Examples
    --------
    >>> errors = worst_case(2, 1e9, (0.0, 12.0))
    >>> round(errors.std, 6), round(errors.mean_abs_error, 6)
    (6.0, 6.0)
    """
    return largest_errors(_boundary_inflated, order, scale, bounds)


@frozen(kw_only=True)
class BoundaryInflatedGeneralizedGaussian(BoundedLaw):
    """The generalized Gaussian law clamped to bounds, with an atom at each of them.

    All methods take a number or an array and give a float or an array of the same shape.

    Parameters
    ----------
    order : float
        Order p, at least 1.
    scale : float
        Scale b of the law before it is clamped.
    location : float
        Median of the law, within the bounds.
    bounds : (float, float)
        Lower and upper bound c0 < c1.

    References
    ----------
    Liu, arXiv 1602.06028 v5, Eqn thGGD (with the sign of the exponent corrected).

    Examples
    --------
    >>> noisy = BoundaryInflatedGeneralizedGaussian(order=1, scale=2.0, location=0.0, bounds=(0.0, 10.0))
    >>> noisy.lower_atom, round(noisy.upper_atom, 9), round(noisy.bias, 9)
    (0.5, 0.003368973, 0.993262053)
    >>> noisy.ppf(0.25), noisy.ppf(1.0)
    (0.0, 10.0)
    """

    @property
    def lower_atom(self) -> float:
        """The probability of exactly the lower bound."""
        return self._unclamped.cdf(self.bounds[0])

    @property
    def upper_atom(self) -> float:
        """The probability of exactly the upper bound."""
        return self._unclamped.sf(self.bounds[1])

    def pdf(self, x: Values) -> Values:
        """Return the density at x of the part between the bounds, 0 elsewhere; the atoms are not part of it.

        Its integral is ``1 - lower_atom - upper_atom``.
        """
        return elementwise(lambda v: np.where(self._strictly_inside(v), self._unclamped.pdf(v), 0.0), x)

    def logpdf(self, x: Values) -> Values:
        """Return the logarithm of `pdf`."""
        return elementwise(lambda v: np.where(self._strictly_inside(v), self._unclamped.logpdf(v), -np.inf), x)

    def cdf(self, x: Values) -> Values:
        """Return the probability of at most x: right-continuous, with jumps at the bounds, 1 from the upper on.

        Examples
        --------
        >>> noisy = BoundaryInflatedGeneralizedGaussian(order=1, scale=2.0, location=0.0, bounds=(0.0, 10.0))
        >>> noisy.cdf(-0.1), noisy.cdf(0.0), noisy.cdf(10.0)
        (0.0, 0.5, 1.0)
        """
        return elementwise(lambda v: self._clamped(v, 0.0, self._unclamped.cdf(v), 1.0), x)

    def sf(self, x: Values) -> Values:
        """Return the probability of more than x: 0 from the upper bound on."""
        return elementwise(lambda v: self._clamped(v, 1.0, self._unclamped.sf(v), 0.0), x)

    def ppf(self, q: Values) -> Values:
        """Return the least x within the bounds with ``cdf(x) >= q``; q must be within [0, 1]."""
        return elementwise(lambda v: np.clip(self._unclamped.ppf(v), *self.bounds), q)

    @property
    def _unclamped(self) -> GeneralizedGaussian:
        return GeneralizedGaussian(order=self.order, scale=self.scale, location=self.location)

    def _moments(self) -> ErrorMoments:
        return boundary_inflated_moments(self.order, self.scale, self.location, self.bounds)

    def _strictly_inside(self, x: Floats) -> NDArray[np.bool_]:
        return ~((x <= self.bounds[0]) | (x >= self.bounds[1]))

    def _clamped(self, x: Floats, below: float, between: Floats, above: float) -> Floats:
        return np.where(x < self.bounds[0], below, np.where(x >= self.bounds[1], above, between))
