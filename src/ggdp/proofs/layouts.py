"""The grids and windows of proofs by convolution, chosen by a search and part of the certificate.

A layout decides how tight a proof is, never whether it holds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Self

from ggdp import _validate
from ggdp.errors import ArgumentError

# Limits on the work that a certificate from elsewhere can ask for.
MOST_POINTS = 1 << 20
MOST_KNOTS = 1 << 18
MOST_HALVINGS = 64
MOST_TOP, MOST_LOW = 2**62, 2**40
# More coordinates would take longer than a minute to convolve.
MOST_MOVING = 1_000_000
MOST_TILTED = 1e6
# Outside of the inner part of a grid the distance of knots doubles after so many.
DOUBLED = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """Grid indices top - points + 1 to top, kept in a circular convolution; `tilt` serves the Chernoff bound above."""

    top: int
    points: int
    tilt: float

    def __post_init__(self) -> None:
        _validate.integer(top=self.top, at_least=-MOST_TOP, at_most=MOST_TOP)
        _validate.integer(points=self.points, at_least=1, at_most=MOST_POINTS)
        _validate.positive(tilt=self.tilt)


@dataclass(frozen=True, slots=True, kw_only=True)
class LossLayout:
    """The grid on which one loss is discretized."""

    step: float  # step of the grid
    # First and last knot, in steps.
    low: int
    high: int
    # Where most of the mass is, and every knot is in use; farther out their distance doubles again and again.
    inner_low: int
    inner_high: int

    def __post_init__(self) -> None:
        _validate.positive(step=self.step)
        for name in ("low", "high", "inner_low", "inner_high"):
            _validate.integer(**{name: getattr(self, name)}, at_least=-MOST_KNOTS, at_most=MOST_KNOTS)
        if not self.low <= self.inner_low < self.inner_high <= self.high:
            raise ArgumentError("low", self.low, "`low`, `inner_low`, `inner_high` and `high` must rise")

    def knots(self) -> list[int]:
        """Return the indices of the knots in use, from low to high."""
        below, above = _outwards(-self.inner_low, -self.low), _outwards(self.inner_high, self.high)
        return [*(-index for index in reversed(below)), *range(self.inner_low, self.inner_high + 1), *above]


def _outwards(start: int, end: int) -> list[int]:
    """Return indices from `start`, which is left out, to `end`, at distances that double every few."""
    gap, found = 1, list[int]()
    while start < end:
        if len(found) % DOUBLED == DOUBLED - 1:
            gap *= 2
        start = min(start + gap, end)
        found.append(start)
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class CornerLayout:
    """How several losses, as those of a corner, are discretized and added, see `ggdp.proofs.loss_distribution`."""

    # A grid for each loss (each size of the corner), in their order. One step is a power of two times the other.
    sizes: tuple[LossLayout, ...]
    tilt: float  # the tilt of the weights
    tail: float  # the logarithm of a mass that may be cut off at a time
    points: int  # the largest number of knots of a sum: where there are more, every second one is dropped

    @property
    def step(self) -> float:
        """The smallest step of its grids."""
        return min(size.step for size in self.sizes)

    def __post_init__(self) -> None:
        for size in _validate.non_empty(sizes=self.sizes):
            if not isinstance(size, LossLayout):
                raise ArgumentError("sizes", self.sizes, "must be layouts of losses")
        mantissas, halvings = zip(*(math.frexp(size.step) for size in self.sizes), strict=True)
        if len(set(mantissas)) > 1 or max(halvings) - min(halvings) > MOST_HALVINGS:
            raise ArgumentError("sizes", self.sizes, f"steps must differ by powers of two up to 2^{MOST_HALVINGS}")
        if _validate.finite(tilt=self.tilt) < 0.0:
            raise ArgumentError("tilt", self.tilt, "must be at least 0")
        if not self.tilt * max(size.step * max(-size.low, size.high) for size in self.sizes) <= MOST_TILTED:
            raise ArgumentError("tilt", self.tilt, f"times the largest loss it must be at most {MOST_TILTED:g}")
        _validate.finite(tail=self.tail)
        _validate.integer(points=self.points, at_least=2, at_most=MOST_POINTS)

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> Self:
        """Return the layout that `dataclasses.asdict` wrote."""
        return cls(**{**record, "sizes": tuple(LossLayout(**size) for size in record["sizes"])})


@dataclass(frozen=True, slots=True, kw_only=True)
class SumLayout:
    """The grid on which the sum of many losses is discretized at once, see `ggdp.accounting.fourier_totals`."""

    step: float  # step of the grid
    # First knot, in steps, and number of knots.
    low: int
    points: int
    tilt: float  # the tilt of the weights
    frequencies: int  # how many frequencies above 0 are used
    # Up to which frequency the transform of one loss alone is computed, and which one it is.
    further: int
    followed: int
    # Tilts for the bounds of what is below and above the grid: at most 0, and at least the tilt.
    below: float
    above: float
    # For each loss the distance from the tilt at which its fourth moment is bounded; the tilt plus and minus this
    # distance must be floats.
    widths: tuple[float, ...]

    def __post_init__(self) -> None:
        _validate.positive(step=self.step)
        _validate.positive(tilt=self.tilt)
        _validate.integer(low=self.low, at_least=-MOST_LOW, at_most=MOST_LOW)
        for name in ("points", "frequencies", "further"):
            _validate.integer(**{name: getattr(self, name)}, at_least=1, at_most=MOST_POINTS)
        if self.further < self.frequencies:
            raise ArgumentError("further", self.further, f"must be at least frequencies = {self.frequencies}")
        if not _validate.integer(at_least=0, followed=self.followed) < len(self.widths):
            raise ArgumentError("followed", self.followed, f"must be below the number of losses {len(self.widths)}")
        if not _validate.finite(below=self.below) <= 0.0:
            raise ArgumentError("below", self.below, "must be at most 0")
        if not _validate.finite(above=self.above) >= self.tilt:
            raise ArgumentError("above", self.above, f"must be at least the tilt {self.tilt!r}")
        for width in _validate.non_empty(widths=self.widths):
            _validate.positive(widths=width)


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherLayout:
    """Coordinates of one size that are discretized on the grid, on the knots 0 to `high`."""

    size: float
    count: int
    high: int

    def __post_init__(self) -> None:
        _validate.positive(size=self.size)
        _validate.integer(count=self.count, at_least=1, at_most=MOST_MOVING)
        _validate.integer(high=self.high, at_least=1, at_most=MOST_KNOTS)


@dataclass(frozen=True, slots=True, kw_only=True)
class AbsoluteSumLayout:
    """The grid of the paper's sum."""

    step: float  # step of the grid
    others: tuple[OtherLayout, ...]  # all coordinates but one of the largest size, which stays continuous
    refined: bool  # whether the shares of the first cells are computed rather than taken as one half
    # Over how many cells phi is replaced by a chord, and how many cells below t it is followed.
    chord: int
    depth: int
    window: Window  # the window of the sum

    def __post_init__(self) -> None:
        _validate.positive(step=self.step)
        for other in self.others:
            if not isinstance(other, OtherLayout):
                raise ArgumentError("others", self.others, "must be layouts of coordinates")
        if not isinstance(self.refined, bool):
            raise ArgumentError("refined", self.refined, "must be true or false")
        for name in ("chord", "depth"):
            _validate.integer(**{name: getattr(self, name)}, at_least=0, at_most=MOST_KNOTS)
        if not isinstance(self.window, Window):
            raise ArgumentError("window", self.window, "must be a window")
        # Twice as many as any search chooses: a forged certificate takes no longer to refute.
        _validate.integer(points=self.window.points, at_least=1, at_most=MOST_KNOTS)

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> Self:
        """Return the layout that `dataclasses.asdict` wrote."""
        others = tuple(OtherLayout(**other) for other in record["others"])
        return cls(**{**record, "others": others, "window": Window(**record["window"])})
