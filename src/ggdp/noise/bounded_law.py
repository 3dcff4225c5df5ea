"""The generalized Gaussian law kept in bounds [c0, c1], truncated or boundary-inflated, on the reals and the integers.

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

Errors of bounded integer noise
-------------------------------

=======  =====================================================================
w        c1 - c0, the width of the bounds
f(k)     exp(-(k/b)^p), the weight of the noise k >= 0
T(k)     P(K >= k) of the unbounded law
H_j(n)   one side's sum up to n: of k^j f(k) over 1 <= k <= n if truncated
=======  =====================================================================

Truncated: E|X - s|^j = (H_j(l) + H_j(u)) / (1 + H_0(l) + H_0(u)), and the bias is (H_1(u) - H_1(l)) over the same.

Boundary-inflated: the error is min(K, u) above and min(-K, l) below, and E min(K+, n) = sum of T(k), E min(K+, n)^2 =
sum of (2k - 1) T(k), over 1 <= k <= n. So the same holds with these sums for H_1 and H_2, and 1 below the line.

Sums are tabulated up to where f is e^-200, or to w. Where that is too many, sums are integrals by the midpoint rule:
those of f to half a step beyond the bounds, those of T to the bounds. The scale is then above 10^4, or w 10^6 scales,
and the rule is good to 1e-9. All of these are floats: they describe and prove nothing.

References
----------
Liu, "Generalized Gaussian Mechanism for Differential Privacy", arXiv 1602.06028 v5, Def. tGGM (in A(s, b, p) the power
and the half put back) and Def. bitGGM (in q_k the power put on the whole of (c1 - s) / b).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np
from attrs import field, frozen
from numpy.typing import ArrayLike, NDArray

from ggdp import _validate
from ggdp.errors import ArgumentError
from ggdp.noise.entropy import Integers
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
from ggdp.noise.integer_law import IntegerGeneralizedGaussian

# Of order, scale and the distances to the lower and to the upper bound.
Formula: TypeAlias = Callable[[float, float, Floats, Floats], "ErrorMoments"]
# No table has more entries than this.
_MOST_ENTRIES = 1 << 21


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

    @classmethod
    def of(cls, *, bias: Floats, square: Floats, absolute: Floats) -> ErrorMoments:
        """Return the moments of an error, given its mean, mean square and mean absolute value."""
        variance = np.maximum(square - bias**2, 0.0)
        return cls(bias=bias, variance=variance, mean_squared_error=square, mean_abs_error=absolute)

    @property
    def std(self) -> Floats:
        """Standard deviation of X."""
        return np.sqrt(self.variance)


def zoom_in(
    error: Callable[[NDArray[Any]], Floats],
    points: NDArray[Any],
    between: Callable[[Any, Any], NDArray[Any]],
    zooms: int,
) -> float:
    """Return the largest value of a function, on a grid that zooms in: `between` two points is the next grid."""
    best = -math.inf
    for _ in range(zooms):
        values = error(points)
        top = int(np.argmax(values))
        best = max(best, float(values[top]))
        points = between(points[max(top - 1, 0)], points[min(top + 1, points.size - 1)])
    return best


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
        # From the order 1e17 on floats do not tell the law from the uniform one, and powers would leave them.
        found = formula(min(p, 1e17), b / unit, low / unit, high / unit)
        square = np.float64(unit) ** 2
        return ErrorMoments(
            bias=unit * found.bias,
            variance=square * found.variance,
            mean_squared_error=square * found.mean_squared_error,
            mean_abs_error=unit * found.mean_abs_error,
        )


def _over_locations(
    formula: Formula, order: float, scale: float, location: ArrayLike, bounds: tuple[float, float]
) -> ErrorMoments:
    """Return the moments at every location of an array, after a check of the arguments."""
    p, b, (c0, c1) = checked_order(order), checked_scale(scale), within_floats(bounds)
    s = inner(location, (c0, c1))
    return _moments_at(formula, p, b, s - c0, c1 - s)


@frozen(kw_only=True)
class BoundedLaw(ABC):
    """A law around a location, kept in bounds."""

    _formula: ClassVar[Formula]
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

    def pdf(self, x: Values) -> Values:
        """Return the density at x, 0 outside the bounds. Atoms at the bounds are not part of it."""
        return elementwise(lambda v: np.exp(self._log_density(v)), x)

    def logpdf(self, x: Values) -> Values:
        """Return the logarithm of the density at x."""
        return elementwise(self._log_density, x)

    @abstractmethod
    def _log_density(self, x: Floats) -> Floats: ...

    def _moments(self) -> ErrorMoments:
        return _over_locations(type(self)._formula, self.order, self.scale, self.location, self.bounds)


def _truncated_errors(p: float, b: float, low: Floats, high: Floats) -> ErrorMoments:
    """Return the moments for distances `low` and `high` to the bounds."""
    mass = partial_moment(p, b, low, 1) + partial_moment(p, b, high, 1)
    below, below_rest, below_far = partial_means(p, b, low)
    above, above_rest, above_far = partial_means(p, b, high)
    bias = np.where(below_far & above_far, below_rest - above_rest, above - below) / mass
    square = (partial_moment(p, b, low, 3) + partial_moment(p, b, high, 3)) / mass
    return ErrorMoments.of(bias=bias, square=square, absolute=(below + above) / mass)


def truncated_moments(order: float, scale: float, location: ArrayLike, bounds: tuple[float, float]) -> ErrorMoments:
    """Return the moments of the error of the truncated law at every location of an array.

    Examples
    --------
    >>> truncated_moments(2, 1e6, np.array([0.0, 5.0, 10.0]), (0.0, 10.0)).bias.round(6) + 0.0
    array([ 5.,  0., -5.])
    """
    return _over_locations(_truncated_errors, order, scale, location, bounds)


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
    >>> noisy.ppf(0.0), noisy.ppf(1.0), round(noisy.cdf(1.0), 9)
    (0.0, 10.0, 0.220833174)
    """

    _formula = _truncated_errors

    def cdf(self, x: Values) -> Values:
        """Return the probability of at most x."""
        return elementwise(lambda v: np.where(self._lower(v), self._beyond(v), 1.0 - self._beyond(v)), x)

    def sf(self, x: Values) -> Values:
        """Return the probability of more than x."""
        return elementwise(lambda v: np.where(self._lower(v), 1.0 - self._beyond(v), self._beyond(v)), x)

    def ppf(self, q: Values) -> Values:
        """Return the x with ``cdf(x) == q``, never outside the bounds; NaN for a q outside [0, 1]."""
        return elementwise(self._quantile, q)

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


def _boundary_inflated_errors(p: float, b: float, low: Floats, high: Floats) -> ErrorMoments:
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
    return ErrorMoments.of(bias=bias, square=square, absolute=below + above)


def boundary_inflated_moments(
    order: float, scale: float, location: ArrayLike, bounds: tuple[float, float]
) -> ErrorMoments:
    """Return the moments of the error of the boundary-inflated law at every location of an array.

    Examples
    --------
    >>> boundary_inflated_moments(2, 1e9, np.array([0.0, 5.0, 10.0]), (0.0, 10.0)).bias.round(6) + 0.0
    array([ 5.,  0., -5.])
    """
    return _over_locations(_boundary_inflated_errors, order, scale, location, bounds)


@frozen(kw_only=True)
class BoundaryInflatedGeneralizedGaussian(BoundedLaw):
    """The generalized Gaussian law clamped to bounds, with an atom at each of them.

    All methods take a number or an array and give a float or an array of the same shape. The integral of `pdf` is
    ``1 - lower_atom - upper_atom``.

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
    >>> noisy.cdf(-0.1), noisy.cdf(0.0), noisy.cdf(10.0), noisy.ppf(0.25), noisy.ppf(1.0)
    (0.0, 0.5, 1.0, 0.0, 10.0)
    """

    _formula = _boundary_inflated_errors

    @property
    def lower_atom(self) -> float:
        """The probability of exactly the lower bound."""
        return self._unclamped.cdf(self.bounds[0])

    @property
    def upper_atom(self) -> float:
        """The probability of exactly the upper bound."""
        return self._unclamped.sf(self.bounds[1])

    def cdf(self, x: Values) -> Values:
        """Return the probability of at most x: right-continuous, with jumps at the bounds, 1 from the upper on."""
        return elementwise(lambda v: self._clamp(v, 0.0, self._unclamped.cdf(v), 1.0), x)

    def sf(self, x: Values) -> Values:
        """Return the probability of more than x: 0 from the upper bound on."""
        return elementwise(lambda v: self._clamp(v, 1.0, self._unclamped.sf(v), 0.0), x)

    def ppf(self, q: Values) -> Values:
        """Return the least x within the bounds with ``cdf(x) >= q``; q must be within [0, 1]."""
        return elementwise(lambda v: np.clip(self._unclamped.ppf(v), *self.bounds), q)

    @property
    def _unclamped(self) -> GeneralizedGaussian:
        return GeneralizedGaussian(order=self.order, scale=self.scale, location=self.location)

    def _log_density(self, x: Floats) -> Floats:
        return np.where((x <= self.bounds[0]) | (x >= self.bounds[1]), -np.inf, self._unclamped.logpdf(x))

    def _clamp(self, x: Floats, below: float, between: Floats, above: float) -> Floats:
        return np.where(x < self.bounds[0], below, np.where(x >= self.bounds[1], above, between))


def largest_errors(
    order: float, scale: float, bounds: tuple[float, float], bounding: str, support: str = "real"
) -> tuple[float, float]:
    """Return the largest standard deviation over all locations in the bounds, and the largest mean absolute error."""
    if support == "integer":
        integer = BoundedIntegerErrors(order, scale, int(bounds[1]) - int(bounds[0]), bounding)

        def largest(error: Callable[[ErrorMoments], Floats]) -> float:
            return integer.largest(lambda below: error(integer.moments(below)))

    else:
        formula = _truncated_errors if bounding == "truncated" else _boundary_inflated_errors
        width = bounds[1] - bounds[0]
        # The law at c0 + t mirrors the law at c1 - t, so half of the bounds is all. What happens near a bound happens
        # within a few scales of it, however wide the bounds are.
        near = np.minimum(np.linspace(0.0, 8.0 * scale, 65), width / 2.0)
        start = np.unique(np.concatenate([near, np.linspace(0.0, width / 2.0, 65)]))

        def largest(error: Callable[[ErrorMoments], Floats]) -> float:
            def at(points: Floats) -> Floats:
                return error(_moments_at(formula, order, scale, points, width - points))

            return zoom_in(at, start, lambda low, high: np.linspace(low, high, 65), zooms=4)

    return math.sqrt(largest(lambda at: at.variance)), largest(lambda at: at.mean_abs_error)


def weights(order: float, scale: float, k: Floats) -> Floats:
    """Return f(k), good to 1e-13 down to e^-200."""
    with np.errstate(all="ignore"):
        return np.asarray(np.exp(-scaled_power(order, scale, k)))


def running_sums(terms: Floats) -> Floats:
    """Return 0 and the sums of the first 1, 2, ... terms, which must not be negative.

    Sums of blocks are added to sums inside the block, so that no number comes from more than 2 sqrt(n) + 2 additions,
    and its relative error is at most as many half ulps.
    """
    side = math.isqrt(max(terms.size - 1, 0)) + 1
    square = np.zeros(side * side)
    square[: terms.size] = terms
    inner = np.cumsum(square.reshape(side, side), axis=1)
    inner[1:] += np.cumsum(inner[:-1, -1])[:, np.newaxis]
    return np.concatenate(([0.0], inner.reshape(-1)[: terms.size]))


class BoundedIntegerErrors:
    """The errors of one bounded law, as functions of l, the distance of the true value to the lower bound."""

    def __init__(self, order: float, scale: float, width: int, bounding: str) -> None:
        self.order, self.scale, self.width = order, scale, width
        self._truncated = bounding == "truncated"
        self._law = IntegerGeneralizedGaussian(order=order, scale=scale)
        # Weights of integers beyond e^-200 are left out of a table.
        entries = min(width, scale * 200.0 ** (1.0 / order) + 2.0)
        self._tabulated = entries <= _MOST_ENTRIES
        if not self._tabulated:
            return
        # One side's sums at n = 0, 1, ..., and what H_1 lacks to its last value.
        k = np.arange(1.0, int(entries) + 1.0)
        f = weights(order, scale, k)
        if self._truncated:
            self._zeroth, terms, squares = running_sums(f), k * f, k**2 * f
        else:
            # From T(n) on by adding.
            inner = running_sums(np.concatenate(([1.0], f[:-1]))[::-1])[::-1]
            self._tails = np.asarray(self._law.sf(f.size - 1) + self._law.pmf(0) * inner)
            terms, squares = self._tails[1:], (2.0 * k - 1.0) * self._tails[1:]
        self._first, self._second = running_sums(terms), running_sums(squares)
        self._first_rest = running_sums(terms[::-1])[::-1]

    def moments(self, below: Integers) -> ErrorMoments:
        """Return the moments of the error at true values with this distance to the lower bound."""
        above = self.width - below
        if not self._tabulated:
            if self._truncated:
                return truncated_moments(self.order, self.scale, below, (-0.5, self.width + 0.5))
            return boundary_inflated_moments(self.order, self.scale, below, (0.0, float(self.width)))
        i, j = (np.minimum(distance, self._first.size - 1) for distance in (below, above))
        total = 1.0 + self._zeroth[i] + self._zeroth[j] if self._truncated else 1.0
        # Far out on both sides the bias is a difference of what the sums lack.
        far = np.minimum(below, above) > self.scale
        bias = np.where(far, self._first_rest[i] - self._first_rest[j], self._first[j] - self._first[i]) / total
        square = (self._second[i] + self._second[j]) / total
        return ErrorMoments.of(bias=bias, square=square, absolute=(self._first[i] + self._first[j]) / total)

    def mass(self, below: Integers, output: int) -> Floats:
        """Return P(X = c0 + output), for 0 <= output <= width, at true values with this distance to the lower bound."""
        weight = weights(self.order, self.scale, np.abs(output - below).astype(np.float64))
        if self._truncated:
            return np.asarray(weight / (self._side(below) + self._side(self.width - below) - 1.0))
        if output == 0:
            return self._tail(below)
        if output == self.width:
            return self._tail(self.width - below)
        return np.asarray(weight * self._law.pmf(0))

    def _side(self, distance: Integers) -> Floats:
        """Return 1 + H_0(distance) of truncated noise."""
        if self._tabulated:
            return np.asarray(1.0 + self._zeroth[np.minimum(distance, self._zeroth.size - 1)])
        with np.errstate(all="ignore"):
            return 0.5 + partial_moment(self.order, self.scale, np.asarray(distance + 0.5, dtype=np.float64), 1)

    def _tail(self, distance: Integers) -> Floats:
        """Return T(distance)."""
        if self._tabulated:
            return self._tails[np.minimum(distance, self._tails.size - 1)]
        middle = np.abs(np.asarray(distance, dtype=np.float64) - 0.5)
        tail = elementwise(lambda t: outside(self.order, self.scale, t) / 2.0, middle)
        return np.where(distance == 0, 1.0 - tail, tail)

    def largest(self, error: Callable[[Integers], Floats]) -> float:
        """Return the largest value of a function of l.

        With a table it is looked for everywhere, but where both distances are beyond the table all laws are the same.
        Without one, on a grid that zooms in, for each half of the bounds: what happens near a bound happens within a
        few scales of it.
        """
        w = self.width
        if self._tabulated:
            near = np.arange(min(w // 2, self._first.size) + 1, dtype=np.int64)
            return float(max(np.max(error(near)), np.max(error(w - near))))
        steps = np.linspace(0.0, 1.0, 129)
        reaches = (min(8.0 * self.scale, w / 2.0), w / 2.0)
        near = np.unique(np.concatenate([(reach * steps).astype(np.int64) for reach in reaches]))

        def between(low: np.int64, high: np.int64) -> Integers:
            return np.unique(low + ((high - low) * steps).astype(np.int64))

        return max(zoom_in(error, points, between, zooms=12) for points in (near, (w - near)[::-1]))
