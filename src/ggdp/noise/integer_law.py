"""The generalized Gaussian distribution on the integers, and a certified search in its tails.

=======  =================================================================
K        noise with P(K = k) proportional to exp(-(|k| / b)^p)
p        order, at least 1
b        scale, above 0
Z        the normalizer, the sum of exp(-(|k| / b)^p) over all integers k
T(k)     P(K >= k), the tail, which falls strictly as k grows
q        the largest tail allowed
=======  =================================================================

The integers are the whole support of the distribution: it is not a rounded real-valued draw. Every number is computed
in ball arithmetic (`ggdp.proofs.tails`) and rounded once, so floats are good to a few ulps also in the far tail, and at
scales where no table of the distribution would fit in memory.

Thresholds and half-widths come from one search: the integer from which on a tail is small enough. Rounding: both T and
q are enclosed in balls, at growing precision until they are separated. Where no precision separates them the integer is
taken as failing, so that what is returned has surely passed.

References
----------
Liu, arXiv 1602.06028 v5, Def. GGD (the distribution on the reals); Canonne, Kamath and Steinke, "The Discrete Gaussian
for Differential Privacy", NeurIPS 2020 (order 2).
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from attrs import field, frozen
from flint import arb
from numpy.typing import ArrayLike

from ggdp._balls import BALLS, lower_float, upper_float, working_precision
from ggdp.errors import ArgumentError, ArgumentTypeError
from ggdp.noise.generalized_gaussian import checked_order, checked_scale, real_numbers
from ggdp.proofs.tails import log_tail_sum, normaliser, partial_sum, tail, tail_sum, weight

_PRECISIONS = (96, 192, 384, 768, 1536)
# Bits of a ball that make its middle a correctly rounded float but for rare ties.
_ENOUGH_BITS = 60

# A float for a number, an array of the same shape for an array.
FloatOrArray: TypeAlias = Any


def least_with_tail(order: float, scale: float, most: Callable[[], arb], *, at_least: int) -> int:
    """Return the least k >= at_least with P(K >= k) <= q, which `most` encloses; the next where no precision tells."""

    def passes(k: int) -> bool:
        return k >= at_least and _is_at_most_zero(lambda: tail(order, scale, k) - most(), otherwise=False)

    with BALLS, working_precision(_PRECISIONS[0]):
        # Beyond these the search goes on by doubling steps.
        q = min(max(float(most().mid()), 1e-300), 0.49)
    return least_passing(passes, max(math.floor(_upper_quantile(order, scale, q)), at_least))


def _upper_quantile(order: float, scale: float, q: float) -> float:
    """Return about the x with P(K > x) = q for continuous noise, q being at most 1/2."""
    if order == 1.0:
        # SciPy takes longer to load than all else that a small release needs.
        return scale * -math.log(2.0 * q)
    from scipy.special import gammainccinv

    return scale * math.pow(float(gammainccinv(1.0 / order, 2.0 * q)), 1.0 / order)


def _is_at_most_zero(value: Callable[[], arb], *, otherwise: bool) -> bool:
    """Return whether a value is at most 0, or what is to be said where no precision tells."""
    for bits in _PRECISIONS:
        with BALLS, working_precision(bits):
            ball = value()
        if ball > 0 or ball <= 0:
            return bool(ball <= 0)
    return otherwise


def least_passing(passes: Callable[[int], bool], guess: int) -> int:
    """Return the least integer that passes, by doubling steps and a bisection from a guess."""
    high, step = guess, 1
    while not passes(high):
        high, step = high + step, 2 * step
    low, step = high - 1, 1
    while passes(low):
        high, low, step = low, low - step, 2 * step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if passes(middle) else (middle, high)
    return high


@frozen(kw_only=True)
class IntegerGeneralizedGaussian:
    """The law P(K = k) proportional to exp(-(|k| / scale)^order) on all integers.

    Parameters
    ----------
    order : float
        Order p, at least 1: 1 is the discrete Laplace law, 2 the discrete Gaussian.
    scale : float
        Scale b, above 0. The standard deviation is `std`.

    Notes
    -----
    Probabilities are for an integer or an array of integers, quantiles for levels strictly between 0 and 1.

    Examples
    --------
    >>> law = IntegerGeneralizedGaussian(order=2, scale=3.0)
    >>> round(law.pmf(0), 12), round(law.std, 12), law.cdf(-1) + law.cdf(0)
    (0.188063194516, 2.12132034356, 1.0)
    >>> law.sf(120) < 1e-300, law.logsf(2999), law.logsf(2999) == law.logcdf(-3000)
    (True, -1000001.670..., True)
    >>> law.ppf(0.5), law.ppf([0.025, 0.975]), law.isf(1e-300)
    (0, array([-4,  4]), 78)
    """

    order: float = field(converter=checked_order)
    scale: float = field(converter=checked_scale)

    def pmf(self, k: ArrayLike) -> FloatOrArray:
        """Return P(K = k)."""
        return self._each(k, lambda points: [_nearest(self._mass(j)) for j in points], sign_matters=False)

    def logpmf(self, k: ArrayLike) -> FloatOrArray:
        """Return the logarithm of P(K = k)."""

        def logarithm(j: int) -> arb:
            return -((arb(abs(j)) / arb(self.scale)) ** arb(self.order)) - normaliser(self.order, self.scale).log()

        return self._each(k, lambda points: [_nearest(partial(logarithm, j)) for j in points], sign_matters=False)

    def cdf(self, k: ArrayLike) -> FloatOrArray:
        """Return P(K <= k)."""
        # By symmetry P(K <= k) = P(K >= -k), which keeps both far tails accurate.
        return self._each(k, lambda points: self._tails([-j for j in reversed(points)])[::-1])

    def sf(self, k: ArrayLike) -> FloatOrArray:
        """Return P(K > k), accurate in the far tail."""
        return self._each(k, lambda points: self._tails([j + 1 for j in points]))

    def logcdf(self, k: ArrayLike) -> FloatOrArray:
        """Return the logarithm of P(K <= k), far beyond where P itself is 0."""
        return self._each(k, lambda points: [self._log_tail(-j) for j in points])

    def logsf(self, k: ArrayLike) -> FloatOrArray:
        """Return the logarithm of P(K > k), far beyond where P itself is 0."""
        return self._each(k, lambda points: [self._log_tail(j + 1) for j in points])

    def isf(self, q: ArrayLike) -> FloatOrArray:
        """Return the least integer k with P(K > k) <= q, also for the smallest q, unlike ``ppf(1 - q)``."""
        return self._quantiles(q, lambda level, k: tail(self.order, self.scale, k + 1) - arb(level), sign=1)

    def ppf(self, q: ArrayLike) -> FloatOrArray:
        """Return the least integer k with P(K <= k) >= q."""
        return self._quantiles(q, lambda level, k: arb(level) - tail(self.order, self.scale, -k), sign=-1)

    def quantile(self, q: ArrayLike) -> FloatOrArray:
        """Return `ppf(q)`."""
        return self.ppf(q)

    @property
    def mean(self) -> float:
        """Mean, 0 by symmetry."""
        return 0.0

    @property
    def mean_abs(self) -> float:
        """Mean absolute value, E|K|."""
        return _nearest(lambda: self._moment(1))

    @property
    def variance(self) -> float:
        """Variance, E K^2."""
        return _nearest(lambda: self._moment(2))

    @property
    def std(self) -> float:
        """Standard deviation."""
        return _nearest(lambda: self._moment(2).sqrt())

    def tail_enclosure(self, k: int) -> tuple[float, float]:
        """Return two floats with T(k) = P(K >= k) between them, proved in ball arithmetic.

        Examples
        --------
        >>> lower, upper = IntegerGeneralizedGaussian(order=3, scale=10.0).tail_enclosure(40)
        >>> 0 < lower < upper < lower * (1 + 1e-15)
        True
        """
        k = _integer(k)
        return _between(lambda: tail(self.order, self.scale, k))

    def pmf_enclosure(self, k: int) -> tuple[float, float]:
        """Return two floats with P(K = k) between them, proved in ball arithmetic."""
        return _between(self._mass(_integer(k)))

    def _mass(self, k: int) -> Callable[[], arb]:
        return lambda: weight(self.order, self.scale, k) / normaliser(self.order, self.scale)

    def _moment(self, power: int) -> arb:
        return 2 * tail_sum(self.order, self.scale, 1, moment=power) / normaliser(self.order, self.scale)

    def _tails(self, points: list[int]) -> list[float]:
        """Return T at increasing points; neighbours share one tail and add the terms between."""

        def balls(points: list[int]) -> Iterator[arb]:
            p, b = self.order, self.scale
            Z = normaliser(p, b)
            total, last = arb(0), None
            # Upwards in |k|, tails would shrink by subtraction; downwards they grow by adding.
            for j in points:
                # Between neighbours that are no farther apart, adding terms is cheaper than a new tail.
                if last is None or last - j > 48:
                    total = tail_sum(p, b, j)
                else:
                    total += partial_sum(p, b, j, last - 1)
                last = j
                yield total / Z

        positive = [k for k in points if k >= 1]
        mirrored = [1 - k for k in points if k <= 0]
        with BALLS, working_precision(_PRECISIONS[0]):
            right = list(balls(positive[::-1]))[::-1]
            left = [1 - ball for ball in balls(mirrored)]
        return [
            float(ball)
            if ball.rel_accuracy_bits() >= _ENOUGH_BITS
            else _nearest(partial(tail, self.order, self.scale, k))
            for k, ball in zip(points, left + right, strict=True)
        ]

    def _log_tail(self, k: int) -> float:
        """Return log P(K >= k)."""

        def value() -> arb:
            if k >= 1:
                return log_tail_sum(self.order, self.scale, k) - normaliser(self.order, self.scale).log()
            return (-tail_sum(self.order, self.scale, 1 - k) / normaliser(self.order, self.scale)).log1p()

        return _nearest(value)

    def _quantiles(self, q: ArrayLike, excess: Callable[[float, int], arb], *, sign: int) -> FloatOrArray:
        """Return for each level the least k with an excess of 0, or not told from it; `sign` < 0 if it rises with q."""
        levels = real_numbers(q=q)
        if not np.all((levels > 0.0) & (levels < 1.0)):
            raise ArgumentError("q", q, "levels must be above 0 and below 1")

        def least(level: float) -> int:
            guess = _upper_quantile(self.order, self.scale, min(level, 1.0 - level))
            first = math.floor(math.copysign(guess, sign * (0.5 - level)))
            return least_passing(lambda k: _is_at_most_zero(lambda: excess(level, k), otherwise=True), first)

        unique, where = np.unique(levels, return_inverse=True)
        found = [least(level) for level in unique.tolist()]
        return np.array(found, dtype=np.int64)[where].reshape(levels.shape) if levels.ndim else found[0]

    def _each(
        self, k: ArrayLike, values: Callable[[list[int]], list[float]], *, sign_matters: bool = True
    ) -> FloatOrArray:
        """Apply `values` to the distinct integers of `k` in increasing order."""
        try:
            points = np.asarray(k)
        except ValueError:
            raise ArgumentTypeError("k", k, "must be an integer or an even array of integers") from None
        if points.size == 0:
            return np.zeros(points.shape)
        if points.dtype.kind not in "iu":
            # Whole numbers of any size, as Python's integers.
            whole = [int(x) if isinstance(x, float) and x.is_integer() else x for x in points.flat]
            points = np.array([_integer(x) for x in whole], dtype=object).reshape(points.shape)
        unique, where = np.unique(points if sign_matters else abs(points), return_inverse=True)
        result = np.array(values([int(j) for j in unique]))[where].reshape(points.shape)
        return result if points.ndim else float(result)


def _integer(k: object) -> int:
    """Return k if it is an integer."""
    if isinstance(k, bool) or not isinstance(k, numbers.Integral):
        refusal = ArgumentError if isinstance(k, numbers.Real) and not isinstance(k, bool) else ArgumentTypeError
        raise refusal("k", k, "must be an integer")
    return int(k)


def _sharp(value: Callable[[], arb]) -> arb:
    """Return the ball at the least precision that makes it narrow, or too small for a float to tell from 0."""
    for bits in _PRECISIONS:
        with BALLS, working_precision(bits):
            ball = value()
        if ball.rel_accuracy_bits() >= _ENOUGH_BITS or abs(ball) < math.ulp(0.0):
            break
    return ball


def _nearest(value: Callable[[], arb]) -> float:
    """Return the middle of a narrow ball as a float."""
    return float(_sharp(value).mid())


def _between(value: Callable[[], arb]) -> tuple[float, float]:
    """Return the ends of a narrow ball around a probability, as floats within [0, 1]."""
    ball = _sharp(value)
    return max(lower_float(ball), 0.0), min(upper_float(ball), 1.0)
