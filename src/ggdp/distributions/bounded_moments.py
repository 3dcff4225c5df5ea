"""What all laws on bounds share: their fields, the moments of their error, and the largest of them over the true value.

=======  =======================================================================
p, b     order, at least 1, and scale
l, u     distances s - c0 and c1 - s of the location s to the bounds
I_j(t)   Integral_0^t y^(j-1) exp(-(y/b)^p) dy = (b^j / p) gamma(j/p, (t/b)^p)
=======  =======================================================================

Where the law is nearly uniform, (t/b)^p underflows and I_j(t) is t^j / j. Where both bounds are far in the tails, the
bias is a difference of what the integrals lack to their limits.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from attrs import field, frozen

from ggdp import _validate
from ggdp.distributions import parameters
from ggdp.distributions.generalized_gaussian import FLAT, Floats, scaled_power
from ggdp.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    # Of order, scale and the distances to the lower and to the upper bound.
    Formula: TypeAlias = Callable[[float, float, Floats, Floats], "ErrorMoments"]

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
class WorstCase:
    """The largest errors of a law on bounds, each over all locations inside them.

    They are found by a search on a grid that zooms in; the largest of each is taken at its own location.

    Attributes
    ----------
    bias : float
        Largest absolute bias.
    std : float
        Largest standard deviation.
    mean_squared_error : float
        Largest mean squared error.
    mean_abs_error : float
        Largest mean absolute error.
    """

    bias: float
    std: float
    mean_squared_error: float
    mean_abs_error: float

    @classmethod
    def of(cls, largest: Callable[[Callable[[ErrorMoments], Floats]], float]) -> WorstCase:
        """Return the largest errors, from a function that returns the largest of one of them."""
        return cls(
            bias=largest(lambda moments: np.abs(moments.bias)),
            std=math.sqrt(largest(lambda moments: moments.variance)),
            mean_squared_error=largest(lambda moments: moments.mean_squared_error),
            mean_abs_error=largest(lambda moments: moments.mean_abs_error),
        )


def bounded_arguments(
    order: object, scale: object, bounds: tuple[float, float]
) -> tuple[float, float, tuple[float, float]]:
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


def moments_at(formula: Formula, p: float, b: float, low: Floats, high: Floats) -> ErrorMoments:
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


def over_locations(
    formula: Formula, order: float, scale: float, location: ArrayLike, bounds: tuple[float, float]
) -> ErrorMoments:
    """Return the moments at every location of an array, after a check of the arguments."""
    p, b, (c0, c1) = bounded_arguments(order, scale, bounds)
    s = inner(location, (c0, c1))
    return moments_at(formula, p, b, s - c0, c1 - s)


def largest_errors(formula: Formula, order: float, scale: float, bounds: tuple[float, float]) -> WorstCase:
    """Return the largest of each error over the locations, by a search from the lower bound to the middle.

    The law at c0 + t mirrors the law at c1 - t, so half of the bounds is all.
    """
    p, b, (c0, c1) = bounded_arguments(order, scale, bounds)
    width = c1 - c0
    # What happens near a bound happens within a few scales of it, however wide the bounds are.
    near = np.minimum(np.linspace(0.0, 8.0 * b, GRID), width / 2.0)
    start = np.unique(np.concatenate([near, np.linspace(0.0, width / 2.0, GRID)]))

    def largest(error: Callable[[ErrorMoments], Floats]) -> float:
        points = start
        best = -math.inf
        for _ in range(ZOOMS):
            values = error(moments_at(formula, p, b, points, width - points))
            best = max(best, float(np.max(values)))
            top = int(np.argmax(values))
            points = np.linspace(points[max(top - 1, 0)], points[min(top + 1, points.size - 1)], GRID)
        return best

    return WorstCase.of(largest)


@frozen(kw_only=True)
class BoundedLaw(ABC):
    """A law around a location, kept in bounds."""

    order: float = field(converter=parameters.order)
    scale: float = field(converter=parameters.scale)
    location: float = field(converter=parameters.location)
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
