"""Errors of bounded integer noise, at a true value s in {c0, ..., c1} and in the worst case over s.

=======  =====================================================================
w        c1 - c0, the width of the bounds
l, u     s - c0 and c1 - s, the distances of the true value to the bounds
f(k)     exp(-(k/b)^p), the weight of the noise k >= 0
T(k)     P(K >= k) of the unbounded law
H_j(n)   one side's sum up to n: of k^j f(k) over 1 <= k <= n if truncated
=======  =====================================================================

Truncated: E|X - s|^j = (H_j(l) + H_j(u)) / (1 + H_0(l) + H_0(u)), and the bias is (H_1(u) - H_1(l)) over the same.

Boundary-inflated: the error is min(K, u) above and min(-K, l) below, and E min(K+, n) = sum of T(k), E min(K+, n)^2 =
sum of (2k - 1) T(k), over 1 <= k <= n. So the same holds with these sums for H_1 and H_2, and 1 below the line.

Sums are tabulated up to where f is e^-200, or to w. Where that is too many, sums are integrals by the midpoint rule:
those of f to half a step beyond the bounds, those of T to the bounds. The scale is then above 10^4, or w 10^6 scales,
and the rule is good to 1e-9. These are floats: they describe and prove nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ggdp.noise.bounded_law import ErrorMoments, LargestErrors, partial_moment
from ggdp.noise.generalized_gaussian import Floats, elementwise, outside, scaled_power

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from ggdp.noise.integer_law import IntegerGeneralizedGaussian


# Weights beyond e^-_DEPTH are left out of a table, and no table has more entries than this.
_DEPTH = 200.0
_MOST_ENTRIES = 1 << 21
_POINTS, _ZOOMS = 129, 12


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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sums:
    """One side's sums at n = 0, 1, ..., and what H_1 lacks to its last value; `zeroth` is 0 if boundary-inflated."""

    zeroth: Floats
    first: Floats
    first_rest: Floats
    second: Floats
    tails: Floats


class BoundedIntegerErrors:
    """The errors of one bounded law, as functions of l, the distance of the true value to the lower bound.

    Parameters
    ----------
    order, scale : float
        Order, at least 1, and scale of the noise.
    width : int
        Width of the bounds.
    bounding : {"truncated", "boundary-inflated"}
        What keeps the output in the bounds.
    """

    __slots__ = ("_sums", "_truncated", "order", "scale", "width")

    def __init__(self, order: float, scale: float, width: int, bounding: str) -> None:
        self.order, self.scale, self.width = order, scale, width
        self._truncated = bounding == "truncated"
        entries = min(width, scale * _DEPTH ** (1.0 / order) + 2.0)
        self._sums = self._tabulated(int(entries)) if entries <= _MOST_ENTRIES else None

    def _tabulated(self, entries: int) -> _Sums:
        k = np.arange(1.0, entries + 1.0)
        f = weights(self.order, self.scale, k)
        if self._truncated:
            tails, zeroth = np.zeros(1), running_sums(f)
            terms, squares = k * f, k**2 * f
        else:
            tails, zeroth = self._tails(f), np.zeros(entries + 1)
            terms, squares = tails[1:], (2.0 * k - 1.0) * tails[1:]
        return _Sums(
            zeroth=zeroth,
            first=running_sums(terms),
            first_rest=running_sums(terms[::-1])[::-1],
            second=running_sums(squares),
            tails=tails,
        )

    def _tails(self, f: Floats) -> Floats:
        """Return T(0), ..., T(n), from T(n) on by adding."""
        law = self._law()
        last = law.sf(f.size - 1)
        inner = running_sums(np.concatenate(([1.0], f[:-1]))[::-1])[::-1]
        return np.asarray(last + law.pmf(0) * inner)

    def moments(self, below: NDArray[np.int64]) -> ErrorMoments:
        """Return the moments of the error at true values with this distance to the lower bound."""
        if self._sums is None:
            return self._smooth(below)
        sums, above = self._sums, self.width - below
        i, j = (np.minimum(distance, sums.first.size - 1) for distance in (below, above))
        total = 1.0 + sums.zeroth[i] + sums.zeroth[j]
        # Far out on both sides the bias is a difference of what the sums lack.
        far = np.minimum(below, above) > self.scale
        bias = np.where(far, sums.first_rest[i] - sums.first_rest[j], sums.first[j] - sums.first[i]) / total
        square = (sums.second[i] + sums.second[j]) / total
        return ErrorMoments(
            bias=bias,
            variance=np.maximum(square - bias**2, 0.0),
            mean_squared_error=square,
            mean_abs_error=(sums.first[i] + sums.first[j]) / total,
        )

    def _smooth(self, below: NDArray[np.int64]) -> ErrorMoments:
        from ggdp.noise.bounded_law import boundary_inflated_moments, truncated_moments

        if self._truncated:
            return truncated_moments(self.order, self.scale, below, (-0.5, self.width + 0.5))
        return boundary_inflated_moments(self.order, self.scale, below, (0.0, float(self.width)))

    def mass(self, below: NDArray[np.int64], output: int) -> Floats:
        """Return P(X = c0 + output), for 0 <= output <= width, at true values with this distance to the lower bound."""
        weight = weights(self.order, self.scale, np.abs(output - below).astype(np.float64))
        if self._truncated:
            return np.asarray(weight / (self._side(below) + self._side(self.width - below) - 1.0))
        if output == 0:
            return self._tail(below)
        if output == self.width:
            return self._tail(self.width - below)
        return np.asarray(weight * self._law().pmf(0))

    def _side(self, distance: NDArray[np.int64]) -> Floats:
        """Return 1 + H_0(distance) of truncated noise."""
        if self._sums is not None:
            return np.asarray(1.0 + self._sums.zeroth[np.minimum(distance, self._sums.zeroth.size - 1)])
        with np.errstate(all="ignore"):
            return 0.5 + partial_moment(self.order, self.scale, np.asarray(distance + 0.5, dtype=np.float64), 1)

    def _tail(self, distance: NDArray[np.int64]) -> Floats:
        """Return T(distance)."""
        if self._sums is not None:
            return self._sums.tails[np.minimum(distance, self._sums.tails.size - 1)]
        middle = np.abs(np.asarray(distance, dtype=np.float64) - 0.5)
        tail = elementwise(lambda t: outside(self.order, self.scale, t) / 2.0, middle)
        return np.where(distance == 0, 1.0 - tail, tail)

    def _law(self) -> IntegerGeneralizedGaussian:
        from ggdp.noise.integer_law import IntegerGeneralizedGaussian

        return IntegerGeneralizedGaussian(order=self.order, scale=self.scale)

    def largest(self, error: Callable[[NDArray[np.int64]], Floats]) -> float:
        """Return the largest value of a function of l.

        With a table it is looked for everywhere, but where both distances are beyond the table all laws are the same.
        Without one, on a grid that zooms in, for each half of the bounds: what happens near a bound happens within a
        few scales of it.
        """
        w = self.width
        if self._sums is not None:
            near = np.arange(min(w // 2, self._sums.first.size) + 1, dtype=np.int64)
            return float(max(np.max(error(near)), np.max(error(w - near))))
        steps = np.linspace(0.0, 1.0, _POINTS)
        reaches = (min(8.0 * self.scale, w / 2.0), w / 2.0)
        near = np.unique(np.concatenate([(reach * steps).astype(np.int64) for reach in reaches]))
        best = -math.inf
        for points in (near, (w - near)[::-1]):
            for _ in range(_ZOOMS):
                values = error(points)
                top = int(np.argmax(values))
                best = max(best, float(values[top]))
                left, right = points[max(top - 1, 0)], points[min(top + 1, points.size - 1)]
                points = np.unique(left + ((right - left) * steps).astype(np.int64))
        return best


def largest_integer_errors(order: float, scale: float, bounds: tuple[float, float], bounding: str) -> LargestErrors:
    """Return the largest errors of bounded integer noise, each over all true values.

    Examples
    --------
    >>> worst = largest_integer_errors(1.0, 1e9, (0, 2), "truncated")  # nearly uniform on 0, 1, 2
    >>> round(worst.mean_abs_error, 6)
    1.0
    """
    width = int(bounds[1]) - int(bounds[0])
    errors = BoundedIntegerErrors(order, scale, width, bounding)
    return LargestErrors.of(lambda error: errors.largest(lambda below: error(errors.moments(below))))
