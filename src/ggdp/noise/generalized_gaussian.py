"""The generalized Gaussian law on the reals, in floats and over arrays.

Density exp(-(|x - m| / b)^p) / (2 b Gamma(1 + 1/p)): Laplace at p = 1, Gaussian at p = 2 with standard deviation
b / sqrt(2), uniform on [m - b, m + b] in the limit.

=======  =================================================================
p        order, above 0
a        1 / p
b        scale, above 0
m        location
t        distance from the location, |x - m|
z        t / b
x        (t / b)^p inside the formulas of the incomplete gamma functions
P, Q     regularised lower and upper incomplete gamma functions P(a, x), Q(a, x):
         the probabilities of a distance of at most t, and of more than t
=======  =================================================================

These are numbers to report and to plot with, good to about 1e-12 of their value (the tests say where). No proof rests
on them: a scale is certified with `ggdp.proofs`.

References
----------
Liu, "Generalized Gaussian Mechanism for Differential Privacy", arXiv 1602.06028 v5, Eqn GGD (with the sign of the
exponent, and in the variance b^2 Gamma(3/p) / Gamma(1/p) the arguments of Gamma, corrected).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from numbers import Real
from typing import TypeAlias, TypeVar, cast

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from ggdp import _validate
from ggdp.errors import ArgumentError, ArgumentTypeError

Floats: TypeAlias = NDArray[np.float64]
Values = TypeVar("Values", float, Floats)

# Below this x, e^-x is 1 to the last digit, so P(a, x) is x^a / Gamma(1 + a) = z / Gamma(1 + a).
FLAT = 1e-17
# SciPy's incomplete gamma functions are not evaluated nearer to the ends of the floats than this, or x = 1e-290.
SMALLEST_TAIL = 1e-280


def real_numbers(**named: object) -> Floats:
    """Return the one argument, a number or an array of numbers, as an array of floats."""
    ((name, value),) = named.items()
    try:
        given = np.asarray(value)
        if given.dtype.kind in "biuf" or (given.dtype == object and all(isinstance(x, Real) for x in given.flat)):
            return given.astype(np.float64)
    except (TypeError, ValueError):
        # Uneven lists are not an array.
        pass
    except OverflowError:
        raise ArgumentError(name, value, "does not fit in a 64-bit float") from None
    raise ArgumentTypeError(name, value, "must be a number or an array of numbers")


def elementwise(formula: Callable[[Floats], Floats], values: Values) -> Values:
    """Apply `formula` to values as an array; a number gives a float. Infinities and NaN are answers, not warnings."""
    array = real_numbers(x=values)
    with np.errstate(all="ignore"):
        result = formula(np.atleast_1d(array)).reshape(array.shape)
    return cast("Values", result if array.ndim else float(result))


def levels(**named: Values) -> Values:
    """Return the one argument, a number or an array of numbers, if all of it is in [0, 1]."""
    ((name, value),) = named.items()
    array = real_numbers(**named)
    if not np.all((array >= 0.0) & (array <= 1.0)):
        raise ArgumentError(name, value, "must be at least 0 and at most 1")
    return value


def _exp(exponent: float) -> float:
    """Return e^exponent, infinite where that is above all floats."""
    return math.exp(exponent) if exponent < 709.0 else math.inf


def scaled_power(p: float, b: float, t: Floats) -> Floats:
    """Return (t / b)^p for t >= 0 to within an ulp or two, whatever the order.

    A plain quotient is off by half an ulp, which the power multiplies by p and the tail by (t / b)^p once more: at
    p = 1000 it would cost six digits of a tail of 1e-300. So the remainder of the division is put back (Dekker's
    product, on mantissas so that nothing overflows).
    """
    mantissa, exponent = np.frexp(t)
    b_mantissa, b_exponent = math.frexp(b)
    quotient = mantissa / b_mantissa
    high = 134217729.0 * quotient
    high = high - (high - quotient)
    low = quotient - high
    b_high = 134217729.0 * b_mantissa
    b_high = b_high - (b_high - b_mantissa)
    b_low = b_mantissa - b_high
    product = quotient * b_mantissa
    error = ((high * b_high - product) + high * b_low + low * b_high) + low * b_low
    remainder = ((mantissa - product) - error) / mantissa
    # The remainder means nothing where t is 0 or infinite.
    remainder = np.where(np.isfinite(remainder), remainder, 0.0)
    return np.asarray(np.ldexp(quotient, exponent - b_exponent) ** p * np.exp(p * remainder))


def inside(p: float, b: float, t: Floats) -> Floats:
    """Return the probability P(1/p, (t/b)^p) of a distance of at most t from the location."""
    from scipy.special import gammainc

    a = 1.0 / p
    x = scaled_power(p, b, t)
    return np.where(x < FLAT, t / b * math.exp(-math.lgamma(1.0 + a)), gammainc(a, x))


def outside(p: float, b: float, t: Floats) -> Floats:
    """Return the probability Q(1/p, (t/b)^p) of a distance of more than t from the location, down to the last float."""
    return _upper(p, scaled_power(p, b, t), t / b)


def _upper(p: float, x: Floats, z: Floats) -> Floats:
    """Return Q(1/p, x), where z = x^(1/p) is known even if x underflows."""
    from scipy.special import gammaincc

    a = 1.0 / p
    tail = np.where(x < 1e-290, 1.0 - z * math.exp(-math.lgamma(1.0 + a)), gammaincc(a, x))
    far = tail < SMALLEST_TAIL
    tail[far] = np.exp(_log_far_upper(a, x[far]))
    return tail


def _log_upper(p: float, x: Floats, z: Floats) -> Floats:
    """Return log Q(1/p, x), far beyond where Q itself is 0."""
    tail = _upper(p, x, z)
    logarithm = np.log(tail)
    far = tail < SMALLEST_TAIL
    logarithm[far] = _log_far_upper(1.0 / p, x[far])
    return logarithm


def _log_far_upper(a: float, x: Floats) -> Floats:
    """Return log Q(a, x) for an x far above a, from Legendre's continued fraction of Gamma(a, x) x^-a e^x."""
    fraction = np.zeros_like(x)
    # Enough terms wherever Q(a, x) is below SMALLEST_TAIL: no float z has such a tail unless a is at most about 110.
    for k in range(12, 0, -1):
        fraction = k * (a - k) / (x + (2 * k + 1.0 - a) + fraction)
    logarithm = a * np.log(x) - x - math.lgamma(a) - np.log(x + (1.0 - a) + fraction)
    return np.where(np.isposinf(x), -np.inf, logarithm)


def distance(p: float, within: Floats, beyond: Floats) -> Floats:
    """Return the z with P(1/p, z^p) = within and Q(1/p, z^p) = beyond.

    The two add up to 1; the smaller of them decides, so neither a level close to 1 nor a far tail loses digits. SciPy's
    inverse is the start, and Newton's method on log x polishes it.
    """
    from scipy.special import gammainc, gammainccinv, gammaincinv

    a = 1.0 / p
    far = beyond < within
    x = np.where(far, gammainccinv(a, np.maximum(beyond, SMALLEST_TAIL)), gammaincinv(a, within))
    log_beyond = np.log(beyond)
    for _ in range(4):
        log_slope = a * np.log(x) - x - math.lgamma(a)
        log_tail = _log_upper(p, x, x**a)
        step = np.where(
            far, (log_tail - log_beyond) * np.exp(log_tail - log_slope), (within - gammainc(a, x)) * np.exp(-log_slope)
        )
        x = x * np.exp(np.where(np.isfinite(step), np.clip(step, -1.0, 1.0), 0.0))
    flat = within * _exp(math.lgamma(1.0 + a))
    z = np.where(flat**p < FLAT, flat, x**a)
    return np.where(beyond == 0.0, np.inf, np.where(np.isnan(beyond) | np.isnan(within), np.nan, z))


def _any_order(order: float) -> float:
    return _validate.positive(order=order)


def checked_order(order: float) -> float:
    """Return the order of noise, which must be at least 1: the converter of a field named `order`."""
    return _validate.order(order=order)


def checked_scale(scale: float) -> float:
    """Return the scale of a law, which must be above 0: the converter of a field named `scale`."""
    return _validate.positive(scale=scale)


def checked_location(location: float) -> float:
    """Return the location of a law, which must be finite: the converter of a field named `location`."""
    return _validate.finite(location=location)


@frozen(kw_only=True)
class GeneralizedGaussian:
    """The generalized Gaussian law, density proportional to exp(-(|x - location| / scale)^order).

    All methods take a number or an array and give a float or an array of the same shape.

    Parameters
    ----------
    order : float
        Order p, any real above 0: 1 is Laplace, 2 is Gaussian.
    scale : float
        Scale b, above 0. It is not the standard deviation, which is `std`.
    location : float, default 0.0
        Centre of the law.

    Notes
    -----
    Tail probabilities are good to about 1e-12 of their value down to the smallest normal floats, and `logsf` and
    `logcdf` beyond. With a location other than 0 the subtraction rounds first, which costs up to
    order * (abs(x - location) / scale)^order / 2 ulps of a tail.

    References
    ----------
    Liu, arXiv 1602.06028 v5, Eqn GGD (with the sign of the exponent corrected).

    Examples
    --------
    >>> noise = GeneralizedGaussian(order=3, scale=2.0)
    >>> round(noise.std, 12), round(noise.mean_abs, 12)
    (1.221936453188, 1.010936176312)
    >>> noise.cdf(0.0), noise.isf(0.5), f"{noise.sf(17.0):.9g}"
    (0.5, 0.0, '5.01880444e-270')
    >>> laplace = GeneralizedGaussian(order=1, scale=0.5, location=7.0)
    >>> laplace.pdf(7.0), laplace.logpdf(107.0), laplace.logsf(5e5 + 7.0)
    (1.0, -200.0, -1000000.6931471806)
    >>> normal = GeneralizedGaussian(order=2, scale=2**0.5)
    >>> normal.ppf(np.array([0.0, 0.025, 0.5, 1.0])), round(normal.isf(1e-300), 12)
    (array([       -inf, -1.95996398,  0.        ,         inf]), 37.047096299361)
    >>> round(normal.half_width(0.95), 12)
    1.95996398454
    """

    order: float = field(converter=_any_order)
    scale: float = field(converter=checked_scale)
    location: float = field(default=0.0, converter=checked_location)

    def pdf(self, x: Values) -> Values:
        """Return the density at x."""
        return elementwise(lambda v: np.exp(self._log_density(v)), x)

    def logpdf(self, x: Values) -> Values:
        """Return the logarithm of the density at x."""
        return elementwise(self._log_density, x)

    def cdf(self, x: Values) -> Values:
        """Return the probability of at most x."""
        return elementwise(lambda v: self._tail(self.location - v), x)

    def sf(self, x: Values) -> Values:
        """Return the probability of more than x, with all its digits in the far tail."""
        return elementwise(lambda v: self._tail(v - self.location), x)

    def logcdf(self, x: Values) -> Values:
        """Return the logarithm of the probability of at most x, far beyond where the probability itself is 0."""
        return elementwise(lambda v: self._log_tail(self.location - v), x)

    def logsf(self, x: Values) -> Values:
        """Return the logarithm of the probability of more than x, far beyond where the probability itself is 0."""
        return elementwise(lambda v: self._log_tail(v - self.location), x)

    def ppf(self, q: Values) -> Values:
        """Return the x with ``cdf(x) == q``, for levels in [0, 1]."""
        return elementwise(lambda v: self.location - self._quantile(v), levels(q=q))

    def isf(self, q: Values) -> Values:
        """Return the x with ``sf(x) == q``, for levels in [0, 1]."""
        return elementwise(lambda v: self.location + self._quantile(v), levels(q=q))

    def half_width(self, level: Values) -> Values:
        """Return the half-width of the central interval that holds the law with probability `level`.

        It is the quantile of ``abs(X - location)``, for levels in [0, 1].
        """
        return elementwise(lambda v: self.scale * distance(self.order, v, 1.0 - v), levels(level=level))

    @property
    def mean(self) -> float:
        """The mean, which is the location."""
        return self.location

    @property
    def mean_abs(self) -> float:
        """The mean absolute deviation from the location, b Gamma(2/p) / Gamma(1/p)."""
        # In this order it overflows only where the result does.
        return self.scale * (self._gamma_ratio(2.0) / 2.0)

    @property
    def variance(self) -> float:
        """The variance, b^2 Gamma(3/p) / Gamma(1/p); infinite where that is above all floats."""
        return self.scale * self.scale * self._gamma_ratio(3.0) / 3.0

    @property
    def std(self) -> float:
        """The standard deviation."""
        return self.scale * math.sqrt(self._gamma_ratio(3.0) / 3.0)

    @property
    def entropy(self) -> float:
        """The differential entropy in nats, 1/p - log(p / (2 b Gamma(1/p)))."""
        a = 1.0 / self.order
        return a + math.log(2.0) + math.log(self.scale) + math.lgamma(1.0 + a)

    def _gamma_ratio(self, j: float) -> float:
        """Return Gamma(1 + j/p) / Gamma(1 + 1/p), infinite where that is above all floats."""
        above, below = 1.0 + j / self.order, 1.0 + 1.0 / self.order
        if above < 170.0:
            return math.gamma(above) / math.gamma(below)
        return _exp(math.lgamma(above) - math.lgamma(below))

    def _log_density(self, x: Floats) -> Floats:
        a = 1.0 / self.order
        power = scaled_power(self.order, self.scale, np.abs(x - self.location))
        return -power - (math.log(2.0) + math.log(self.scale) + math.lgamma(1.0 + a))

    def _tail(self, t: Floats) -> Floats:
        """Return the probability of more than t above the location."""
        half = outside(self.order, self.scale, np.abs(t)) / 2.0
        return np.where(t < 0.0, 1.0 - half, half)

    def _log_tail(self, t: Floats) -> Floats:
        """Return the logarithm of `_tail`."""
        away = np.abs(t)
        power = scaled_power(self.order, self.scale, away)
        log_half = _log_upper(self.order, power, away / self.scale) - math.log(2.0)
        return np.where(t < 0.0, np.log1p(-np.exp(log_half)), log_half)

    def _quantile(self, q: Floats) -> Floats:
        """Return the t that is exceeded, above the location, with probability q."""
        tail = np.minimum(q, 1.0 - q)
        return np.where(q < 0.5, 1.0, -1.0) * self.scale * distance(self.order, 1.0 - 2.0 * tail, 2.0 * tail)
