"""The generalized Gaussian law kept in bounds [c0, c1], truncated or boundary-inflated, around a location inside them.

=======  =======================================================================
p, b     order, at least 1, and scale
s        location: the true value that noise was added to
l, u     distances s - c0 and c1 - s of the location to the bounds
S(z)     survival function of the standard law
I_j(t)   Integral_0^t y^(j-1) exp(-(y/b)^p) dy = (b^j / p) gamma(j/p, (t/b)^p)
=======  =======================================================================

Truncated: the density exp(-(|x - s| / b)^p) is cut to [c0, c1] and scaled up to mass 1. With Z = I_1(u) + I_1(l) the
error X - s has

- mean (the bias) (I_2(u) - I_2(l)) / Z,
- mean absolute value (I_2(u) + I_2(l)) / Z,
- mean square (I_3(u) + I_3(l)) / Z.

The variance is mean square less squared bias, which loses no more than two bits: on either side of s the density falls,
so the squared bias is at most 3/4 of the mean square (a falling density on [0, t] mixes uniform ones, of which that is
true, with equality).

Boundary-inflated: what falls below c0 is set to c0, what falls above c1 to c1, so the law has a density inside and an
atom at each bound, of S(l/b) and S(u/b). With N = 2 b Gamma(1 + 1/p) and H(t) = I_2(t) / N + t S(t/b) =
Integral_0^t S(y/b) dy the error X - s has

- mean (the bias) H(u) - H(l),
- mean absolute value H(u) + H(l),
- mean square (I_3(u) + I_3(l)) / N + u^2 S(u/b) + l^2 S(l/b).

The law has half of its mass on either side of s, so the squared bias is at most half of the mean square, and their
difference, the variance, loses no more than one bit.

Where the law is nearly uniform, (t/b)^p underflows and I_j(t) is t^j / j. Where both bounds are far in the tails, the
bias is a difference of what the integrals lack to their limits.

References
----------
Liu, "Generalized Gaussian Mechanism for Differential Privacy", arXiv 1602.06028 v5, Def. tGGM (in A(s, b, p) the power
and the half put back) and Def. bitGGM (in q_k the power put on the whole of (c1 - s) / b).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from attrs import field, frozen

from ggdp import _validate
from ggdp.errors import ArgumentError
from ggdp.noise.generalized_gaussian import (
    FLAT,
    Floats,
    GeneralizedGaussian,
    Values,
    checked_location,
    checked_order,
    checked_scale,
    distance,
    elementwise,
    inside,
    outside,
    scaled_power,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray


# Of order, scale and the distances to the lower and to the upper bound.
Formula: TypeAlias = "Callable[[float, float, Floats, Floats], ErrorMoments]"
# From this order on floats do not tell the law from the uniform one, and powers would leave them.
UNIFORM = 1e17
GRID = 65
ZOOMS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorMoments:
    """Moments of the error X - location, each an array over locations.

    Attributes
    ----------
    bias : ndarray
        Mean of the error.
    variance : ndarray
        Variance of X.
    mean_squared_error : ndarray
        Mean of the squared error: the variance and the squared bias.
    mean_abs_error : ndarray
        Mean of the absolute error.
    """

    bias: Floats
    variance: Floats
    mean_squared_error: Floats
    mean_abs_error: Floats

    @property
    def std(self) -> Floats:
        """Standard deviation of X."""
        return np.sqrt(self.variance)


@dataclass(frozen=True, slots=True, kw_only=True)
class LargestErrors:
    """The largest errors of a law on bounds, each over all locations inside them.

    They are found by a search on a grid that zooms in; the largest of each is taken at its own location.
    """

    bias: float  # largest absolute bias
    std: float  # largest standard deviation
    mean_squared_error: float  # largest mean squared error
    mean_abs_error: float  # largest mean absolute error

    @classmethod
    def of(cls, largest: Callable[[Callable[[ErrorMoments], Floats]], float]) -> LargestErrors:
        """Return the largest errors, from a function that returns the largest of one of them."""
        return cls(
            bias=largest(lambda moments: np.abs(moments.bias)),
            std=math.sqrt(largest(lambda moments: moments.variance)),
            mean_squared_error=largest(lambda moments: moments.mean_squared_error),
            mean_abs_error=largest(lambda moments: moments.mean_abs_error),
        )


def _checked(order: object, scale: object, bounds: tuple[float, float]) -> tuple[float, float, tuple[float, float]]:
    """Return order, scale and bounds of a law on bounds, checked."""
    p, b = _validate.order(order=order), _validate.positive(scale=scale)
    return p, b, within_floats(bounds)


def within_floats(bounds: tuple[float, float]) -> tuple[float, float]:
    """Return the bounds of a law, whose width must be a float."""
    low, high = _validate.interval(bounds=bounds)
    if not math.isfinite(high - low):
        raise ArgumentError("bounds", bounds, "are too far apart for 64-bit floats")
    return low, high


def inner(location: ArrayLike, bounds: tuple[float, float]) -> Floats:
    """Return the location, or an array of locations, checked to lie within the bounds."""
    s = np.asarray(location, dtype=np.float64)
    if not np.all((s >= bounds[0]) & (s <= bounds[1])):
        raise ArgumentError("location", location, f"must lie within the bounds {bounds!r}")
    return s


def partial_moment(p: float, b: float, t: Floats, j: int) -> Floats:
    """Return I_j(t)."""
    from scipy.special import gammainc

    a = j / p
    x = scaled_power(p, b, t)
    whole = np.float64(b) ** j * math.gamma(1.0 + a) / j
    return np.where(x < FLAT, t**j / j, whole * gammainc(a, x))


def partial_means(p: float, b: float, t: Floats) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Return I_2(t), what it lacks to I_2(infinity), and whether t is so far out that the lack is the better known."""
    from scipy.special import gammaincc

    x = scaled_power(p, b, t)
    whole = np.float64(b) ** 2 * math.gamma(1.0 + 2.0 / p) / 2.0
    return partial_moment(p, b, t, 2), whole * gammaincc(2.0 / p, x), x > 1.0


def _moments_at(formula: Formula, p: float, b: float, low: Floats, high: Floats) -> ErrorMoments:
    """Evaluate a formula in units near the smaller of scale and width, in which no power leaves the floats."""
    width = float(np.max(low + high, initial=0.0))
    # A power of two, so that the change of units rounds nothing.
    unit = math.ldexp(1.0, math.frexp(min(b, width))[1])
    with np.errstate(all="ignore"):
        square = np.float64(unit) ** 2
        scaled = formula(min(p, UNIFORM), b / unit, low / unit, high / unit)
        return ErrorMoments(
            bias=unit * scaled.bias,
            variance=square * scaled.variance,
            mean_squared_error=square * scaled.mean_squared_error,
            mean_abs_error=unit * scaled.mean_abs_error,
        )


def _over_locations(
    formula: Formula, order: float, scale: float, location: ArrayLike, bounds: tuple[float, float]
) -> ErrorMoments:
    """Return the moments at every location of an array, after a check of the arguments."""
    p, b, (c0, c1) = _checked(order, scale, bounds)
    s = inner(location, (c0, c1))
    return _moments_at(formula, p, b, s - c0, c1 - s)


@frozen(kw_only=True)
class BoundedLaw(ABC):
    """A law around a location, kept in bounds."""

    order: float = field(converter=checked_order)
    scale: float = field(converter=checked_scale)
    location: float = field(converter=checked_location)
    bounds: tuple[float, float] = field(converter=within_floats)

    def __attrs_post_init__(self) -> None:
        inner(self.location, self.bounds)

    @property
    def mean(self) -> float:
        """The mean."""
        return self.location + self.bias

    @property
    def bias(self) -> float:
        """The mean less the location."""
        return float(self._moments().bias)

    @property
    def variance(self) -> float:
        """The variance."""
        return float(self._moments().variance)

    @property
    def std(self) -> float:
        """The standard deviation."""
        return float(self._moments().std)

    @property
    def mean_squared_error(self) -> float:
        """The mean of the squared distance from the location."""
        return float(self._moments().mean_squared_error)

    @property
    def mean_abs_error(self) -> float:
        """The mean distance from the location."""
        return float(self._moments().mean_abs_error)

    @abstractmethod
    def _moments(self) -> ErrorMoments:
        """Return the moments of the error at the location."""


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
    return _over_locations(_truncated, order, scale, location, bounds)


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
    return _over_locations(_boundary_inflated, order, scale, location, bounds)


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


def largest_errors(order: float, scale: float, bounds: tuple[float, float], bounding: str) -> LargestErrors:
    """Return the largest of each error over the locations, by a search from the lower bound to the middle.

    The law at c0 + t mirrors the law at c1 - t, so half of the bounds is all.

    Examples
    --------
    >>> errors = largest_errors(2, 1e9, (0.0, 12.0), "boundary-inflated")
    >>> round(errors.std, 6), round(errors.mean_abs_error, 6)
    (6.0, 6.0)
    """
    formula = _truncated if bounding == "truncated" else _boundary_inflated
    p, b, (c0, c1) = _checked(order, scale, bounds)
    width = c1 - c0
    # What happens near a bound happens within a few scales of it, however wide the bounds are.
    near = np.minimum(np.linspace(0.0, 8.0 * b, GRID), width / 2.0)
    start = np.unique(np.concatenate([near, np.linspace(0.0, width / 2.0, GRID)]))

    def largest(error: Callable[[ErrorMoments], Floats]) -> float:
        points = start
        best = -math.inf
        for _ in range(ZOOMS):
            values = error(_moments_at(formula, p, b, points, width - points))
            best = max(best, float(np.max(values)))
            top = int(np.argmax(values))
            points = np.linspace(points[max(top - 1, 0)], points[min(top + 1, points.size - 1)], GRID)
        return best

    return LargestErrors.of(largest)
