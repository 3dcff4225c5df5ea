"""The least error over orders: a grid over all of them, then the promising valleys, narrowed step by step.

On the reals the error has one broad valley in log p, or sometimes, mostly for probabilistic DP, one at either end. On
the integers it has more, and it jumps: the scale of an order sits at a breakpoint that the next order may not share. So
nothing here rests on smoothness, only on looking closely enough; the best of all orders that were tried is returned.

The measure may be a whole number (a quantile on the integers), shared by many orders: a trial carries a second number
that decides between equals.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from ggdp.proofs.noise_law import NoiseLaw

LOWEST_ORDER, HIGHEST_ORDER = 1.0, 50.0
# Laplace and Gaussian noise: preferred where they are as good as any other.
USUAL = (1.0, 2.0)
# An order that is usual or has fewer digits is preferred if its error is larger by no more than this.
PLAIN = 1e-5
# Errors up to this many times the least are near it.
NEAR = 1.5
DIGITS = range(2, 7)


class Trial(NamedTuple):
    """A law that was tried: an order with the scale found for it, its error, and what decides between equal errors."""

    law: NoiseLaw
    error: float
    tie: float = 0.0

    @property
    def rank(self) -> tuple[float, float]:
        """What trials are compared by; the smaller is the better."""
        return self.error, self.tie

    def is_as_good_as(self, other: Trial) -> bool:
        """Return whether this trial is no worse than another, but for a share of `PLAIN`."""
        return self.error <= other.error * (1.0 + PLAIN) and self.tie <= other.tie * (1.0 + PLAIN)


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolution:
    """How closely the orders are searched.

    Attributes
    ----------
    points : int
        Orders on the first grid, evenly spaced in log p.
    finer : int
        Into how many parts an interval of it is split if an end has an error near the least.
    valleys : int
        How many of the lowest valleys are then narrowed.
    splits : int
        Into how many parts each half of a valley is split at a time.
    width : float
        Width of a valley, in log p, at which to stop.
    """

    points: int
    finer: int
    valleys: int
    splits: int
    width: float

    @property
    def expected(self) -> int:
        """About how many orders will be tried."""
        spacing = 2.0 * math.log(HIGHEST_ORDER / LOWEST_ORDER) / (self.points - 1) / self.finer
        rounds = max(math.ceil(math.log(spacing / self.width, self.splits)), 0)
        near = (self.points - 1) * (self.finer - 1) // 2
        return self.points + near + self.valleys * rounds * 2 * (self.splits - 1) + 2


def least_error(
    trial: Callable[[float], Trial],
    resolution: Resolution,
    known: list[Trial],
    progress: Callable[[int, int], None] | None = None,
) -> tuple[Trial, list[Trial]]:
    """Return the best trial and all of them in order, those `known` beforehand (the usual orders) among them.

    Examples
    --------
    >>> from ggdp.proofs.noise_law import NoiseLaw
    >>> def bowl(order):
    ...     return Trial(NoiseLaw(order=order, scale=1.0), 2.0 + math.log(order / 3.0) ** 2)
    >>> resolution = Resolution(points=9, finer=1, valleys=1, splits=2, width=0.01)
    >>> best, tried = least_error(bowl, resolution, [bowl(1.0), bowl(2.0)])
    >>> best.law.order, len(tried) < 40
    (3.0, True)
    """
    tried = {one.law.order: one for one in known}

    def at(log_order: float) -> Trial:
        order = min(max(math.exp(log_order), LOWEST_ORDER), HIGHEST_ORDER)
        return tried_at(round(order, 9))

    def tried_at(order: float) -> Trial:
        if order not in tried:
            tried[order] = trial(order)
            if progress is not None:
                progress(len(tried), resolution.expected)
        return tried[order]

    top = math.log(HIGHEST_ORDER / LOWEST_ORDER)
    places = [math.log(LOWEST_ORDER) + top * i / (resolution.points - 1) for i in range(resolution.points)]
    grid = [at(place) for place in places]
    if resolution.finer > 1:
        enough = NEAR * min(one.error for one in tried.values())
        for i in range(resolution.points - 1):
            if min(grid[i].error, grid[i + 1].error) <= enough:
                part = (places[i + 1] - places[i]) / resolution.finer
                places += [places[i] + part * j for j in range(1, resolution.finer)]
        places.sort()
        grid = [at(place) for place in places]
    for left, right in _valleys(places, grid)[: resolution.valleys]:
        _narrowed(at, left, right, resolution)
    best = min(tried.values(), key=lambda one: one.rank)
    return _plainest(tried_at, best), [tried[order] for order in sorted(tried)]


def _valleys(places: list[float], grid: list[Trial]) -> list[tuple[float, float]]:
    """Return the neighbourhoods of the local minima of a grid, the lowest first."""
    last = len(grid) - 1
    lowest = [
        i
        for i, one in enumerate(grid)
        if math.isfinite(one.error) and one.rank <= min(grid[max(i - 1, 0)].rank, grid[min(i + 1, last)].rank)
    ]
    lowest.sort(key=lambda i: grid[i].rank)
    return [(places[max(i - 1, 0)], places[min(i + 1, last)]) for i in lowest]


def _narrowed(at: Callable[[float], Trial], left: float, right: float, resolution: Resolution) -> None:
    """Look at ever finer divisions around the best place of a valley."""
    middle = 0.5 * (left + right)
    while right - left > resolution.width:
        places = [left + (middle - left) * i / resolution.splits for i in range(resolution.splits)]
        places += [middle + (right - middle) * i / resolution.splits for i in range(resolution.splits + 1)]
        best = min(range(len(places)), key=lambda i: at(places[i]).rank)
        middle = places[best]
        left, right = places[max(best - 1, 0)], places[min(best + 1, len(places) - 1)]


def _plainest(tried_at: Callable[[float], Trial], best: Trial) -> Trial:
    """Return the trial of a usual order, or of the order of the fewest digits, that is as good as the best."""
    for order in (*USUAL, *(float(f"{best.law.order:.{digits}g}") for digits in DIGITS)):
        if LOWEST_ORDER <= order <= HIGHEST_ORDER and tried_at(order).is_as_good_as(best):
            return tried_at(order)
    return best
