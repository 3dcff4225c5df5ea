"""Where a proof by convolution lays its losses: grids and windows, chosen by a search and part of the certificate.

A layout decides how tight a proof is, never whether it holds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

from ggdp import _validate
from ggdp.errors import ArgumentError

__all__ = ["AbsoluteSumLayout", "CornerLayout", "LossLayout", "OtherLayout", "SizeLayout", "Window"]

# Limits on the work that a certificate from elsewhere can ask for.
MOST_POINTS = 1 << 20
MOST_KNOTS = 1 << 18
MOST_HALVINGS = 64
# Knots far from 0 lie apart by a 150th of their loss where a grid is sparse.
SPARSENESS = 150
# Outside of the inner part of a grid the distance of knots doubles after so many.
DOUBLED = 32


def _integer_up_to(most: int, **named: object) -> None:
    (name,) = named
    value = _validate.integer(at_least=-most, **named)
    if value > most:
        raise ArgumentError(name, value, f"must be at most {most:,}")


def _count(**named: object) -> None:
    _validate.integer(at_least=1, **named)


def _flag(**named: object) -> None:
    ((name, value),) = named.items()
    if not isinstance(value, bool):
        raise ArgumentError(name, value, "must be true or false")


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """Grid indices top - points + 1 to top, kept in a circular convolution; `tilt` serves the Chernoff bound above."""

    top: int
    points: int
    tilt: float

    def __post_init__(self) -> None:
        _integer_up_to(2**62, top=self.top)
        _count(points=self.points)
        _integer_up_to(MOST_POINTS, points=self.points)
        _validate.positive(tilt=self.tilt)

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> Self:
        """Return the window that `dataclasses.asdict` wrote."""
        return cls(**record)


@dataclass(frozen=True, slots=True, kw_only=True)
class LossLayout:
    """Where one loss is laid on a grid.

    Attributes
    ----------
    step : float
        Step of the grid.
    low, high : int
        First and last knot, in steps.
    inner_low, inner_high : int
        Where most of the mass is, and every knot is in use; farther out their distance doubles again and again.
    """

    step: float
    low: int
    high: int
    inner_low: int
    inner_high: int

    def __post_init__(self) -> None:
        _validate.positive(step=self.step)
        for name in ("low", "high", "inner_low", "inner_high"):
            _integer_up_to(MOST_KNOTS, **{name: getattr(self, name)})
        if not self.low <= self.inner_low < self.inner_high <= self.high:
            raise ArgumentError("low", self.low, "`low`, `inner_low`, `inner_high` and `high` must rise")

    def knots(self) -> list[int]:
        """Return the indices of the knots in use, from low to high."""
        above = _outwards(self.inner_high, self.high)
        below = _outwards(-self.inner_low, -self.low)
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
class SizeLayout:
    """How the coordinates of one size are laid on a grid.

    Attributes
    ----------
    size : float
        How far each of these coordinates moves.
    count, copies : int
        Blocks of `count` coordinates are added on the grid of this size, and `copies` such blocks on the common grid.
    halvings : int
        How often the common step is halved for the grid of this size.
    low, high : int
        First and last knot, in steps of this grid.
    sparse : bool
        Whether knots far from 0 lie apart by a 150th of the loss: nothing is lost where many coordinates add up.
    window : Window, optional
        The window of a block on the grid of this size; None where the coordinates are added on the common grid.
    """

    size: float
    count: int
    copies: int
    halvings: int
    low: int
    high: int
    sparse: bool
    window: Window | None

    def __post_init__(self) -> None:
        _validate.positive(size=self.size)
        _count(count=self.count)
        _count(copies=self.copies)
        _validate.integer(halvings=self.halvings, at_least=0)
        _integer_up_to(MOST_HALVINGS, halvings=self.halvings)
        _integer_up_to(MOST_KNOTS, low=self.low)
        _integer_up_to(MOST_KNOTS, high=self.high)
        if not self.low <= 0 <= self.high or self.low == self.high:
            raise ArgumentError("low", self.low, "must be at most 0, and `high` at least 0 and above it")
        _flag(sparse=self.sparse)
        if self.window is None and self.copies != 1:
            raise ArgumentError("copies", self.copies, "must be 1 without a window")
        if self.window is not None and not isinstance(self.window, Window):
            raise ArgumentError("window", self.window, "must be a window")

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> Self:
        """Return the layout that `dataclasses.asdict` wrote."""
        window = record["window"]
        return cls(**{**record, "window": None if window is None else Window.from_dict(window)})

    def knots(self) -> list[int]:
        """Return the indices of the knots in use, from low to high."""
        if not self.sparse:
            return list(range(self.low, self.high + 1))
        below, above = ([*_sparse(end)] for end in (-self.low, self.high))
        return [-index for index in reversed(below)] + [0] + above


def _sparse(end: int) -> list[int]:
    """Return indices from 1 to `end` that lie apart by one, or by a 150th of their distance from 0."""
    index, side = 0, []
    while index < end:
        index = min(index + max(index // SPARSENESS, 1), end)
        side.append(index)
    return side


@dataclass(frozen=True, slots=True, kw_only=True)
class CornerLayout:
    """The common grid of a corner: its step, a layout for each size, and the window of the sum."""

    step: float
    sizes: tuple[SizeLayout, ...]
    window: Window

    def __post_init__(self) -> None:
        _validate.positive(step=self.step)
        for size in _validate.non_empty(sizes=self.sizes):
            if not isinstance(size, SizeLayout):
                raise ArgumentError("sizes", self.sizes, "must be layouts of sizes")
        if not isinstance(self.window, Window):
            raise ArgumentError("window", self.window, "must be a window")

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> Self:
        """Return the layout that `dataclasses.asdict` wrote."""
        sizes = tuple(SizeLayout.from_dict(size) for size in record["sizes"])
        return cls(**{**record, "sizes": sizes, "window": Window.from_dict(record["window"])})


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherLayout:
    """Coordinates of one size that are laid on the grid, on the knots 0 to `high`."""

    size: float
    count: int
    high: int

    def __post_init__(self) -> None:
        _validate.positive(size=self.size)
        _count(count=self.count)
        _count(high=self.high)
        _integer_up_to(MOST_KNOTS, high=self.high)


@dataclass(frozen=True, slots=True, kw_only=True)
class AbsoluteSumLayout:
    """The grid of the paper's sum.

    Attributes
    ----------
    step : float
        Step of the grid.
    others : tuple of OtherLayout
        All coordinates but one of the largest size, which stays continuous.
    refined : bool
        Whether the shares of the first cells are computed rather than taken as one half.
    chord, depth : int
        Over how many cells phi is replaced by a chord, and how many cells below t it is followed.
    window : Window
        The window of the sum.
    """

    step: float
    others: tuple[OtherLayout, ...]
    refined: bool
    chord: int
    depth: int
    window: Window

    def __post_init__(self) -> None:
        _validate.positive(step=self.step)
        for other in self.others:
            if not isinstance(other, OtherLayout):
                raise ArgumentError("others", self.others, "must be layouts of coordinates")
        _flag(refined=self.refined)
        for name in ("chord", "depth"):
            _validate.integer(at_least=0, **{name: getattr(self, name)})
            _integer_up_to(MOST_KNOTS, **{name: getattr(self, name)})
        if not isinstance(self.window, Window):
            raise ArgumentError("window", self.window, "must be a window")

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> Self:
        """Return the layout that `dataclasses.asdict` wrote."""
        others = tuple(OtherLayout(**other) for other in record["others"])
        return cls(**{**record, "others": others, "window": Window.from_dict(record["window"])})
