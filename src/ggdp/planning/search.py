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

__all__ = ["HIGHEST_ORDER", "LOWEST_ORDER", "USUAL", "Effort", "Trial", "least_error"]

LOWEST_ORDER, HIGHEST_ORDER = 1.0, 50.0
# Laplace and Gaussian noise: preferred where they are as good as any other.
USUAL = (1.0, 2.0)
# An order that is usual or has fewer digits is preferred if its error is larger by no more than this.
PLAIN = 1e-5
# Errors up to this many times the least count as near it.
NEAR = 1.5
DIGITS = range(2, 7)


class Trial(NamedTuple):
    """An order that was tried: the scale found for it, its error, and what decides between equal errors."""

    order: float
    scale: float
    error: float
    tie: float = 0.0

    @property
    def rank(self) -> tuple[float, float]:
        """What trials are compared by; the smaller is the better."""
        return self.error, self.tie

    def is_as_good_as(self, other: Trial) -> bool:
        """Tell whether nothing that matters speaks against this trial."""
        return self.error <= other.error * (1.0 + PLAIN) and self.tie <= other.tie * (1.0 + PLAIN)


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """How closely to look.

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
    effort: Effort,
    known: list[Trial],
    progress: Callable[[int, int], None] | None = None,
) -> tuple[Trial, list[Trial]]:
    """Return the best trial and all of them in order, those `known` beforehand (the usual orders) among them.

    Examples
    --------
    >>> def bowl(order):
    ...     return Trial(order, 1.0, 2.0 + math.log(order / 3.0) ** 2)
    >>> effort = Effort(points=9, finer=1, valleys=1, splits=2, width=0.01)
    >>> best, tried = least_error(bowl, effort, [bowl(1.0), bowl(2.0)])
    >>> best.order, len(tried) < 40
    (3.0, True)
    """
    tried = {one.order: one for one in known}

    def at(log_order: float) -> Trial:
        order = min(max(math.exp(log_order), LOWEST_ORDER), HIGHEST_ORDER)
        return tried_at(round(order, 9))

    def tried_at(order: float) -> Trial:
        if order not in tried:
            tried[order] = trial(order)
            if progress is not None:
                progress(len(tried), effort.expected)
        return tried[order]

    top = math.log(HIGHEST_ORDER / LOWEST_ORDER)
    places = [math.log(LOWEST_ORDER) + top * i / (effort.points - 1) for i in range(effort.points)]
    grid = [at(place) for place in places]
    if effort.finer > 1:
        enough = NEAR * min(one.error for one in tried.values())
        for i in range(effort.points - 1):
            if min(grid[i].error, grid[i + 1].error) <= enough:
                part = (places[i + 1] - places[i]) / effort.finer
                places += [places[i] + part * j for j in range(1, effort.finer)]
        places.sort()
        grid = [at(place) for place in places]
    for left, right in _valleys(places, grid)[: effort.valleys]:
        _narrowed(at, left, right, effort)
    best = min(tried.values(), key=lambda one: one.rank)
    return _plainest(tried_at, best), sorted(tried.values())


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


def _narrowed(at: Callable[[float], Trial], left: float, right: float, effort: Effort) -> None:
    """Look at ever finer divisions around the best place of a valley."""
    middle = 0.5 * (left + right)
    while right - left > effort.width:
        places = [left + (middle - left) * i / effort.splits for i in range(effort.splits)]
        places += [middle + (right - middle) * i / effort.splits for i in range(effort.splits + 1)]
        best = min(range(len(places)), key=lambda i: at(places[i]).rank)
        middle = places[best]
        left, right = places[max(best - 1, 0)], places[min(best + 1, len(places) - 1)]


def _plainest(tried_at: Callable[[float], Trial], best: Trial) -> Trial:
    """Return the order of the fewest digits that is as good as the best, for all that matters."""
    for order in (*USUAL, *(float(f"{best.order:.{digits}g}") for digits in DIGITS)):
        if LOWEST_ORDER <= order <= HIGHEST_ORDER and tried_at(order).is_as_good_as(best):
            return tried_at(order)
    return best
