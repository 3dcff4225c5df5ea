"""What intervals will look like, before any data are read: half-widths of statistics in cells of some sizes.

The half-width of a statistic is half the length of its interval in a cell of n units, all with a value, whose noise
happens to be 0; the largest over the means (and variances) that the cell may have. Those of counts and sums do not
depend on n. That of a mean falls as 1/n and is half the range where an interval would be the whole range; that of a
variance likewise.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Literal

import numpy as np

from ggdp.tables.statistics.estimates import count_weights, sum_weights
from ggdp.tables.statistics.means import mean_parts
from ggdp.tables.statistics.noisy_sums import TRIPLE, ColumnSums
from ggdp.tables.statistics.ranges import checked_range
from ggdp.tables.statistics.variances import variance_parts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ggdp.distributions.generalized_gaussian import Floats
    from ggdp.tables.statistics.weighted_noise import WeightedNoise

SIZES = (10, 100, 1_000, 10_000)

# Enough means, and variances for each, to find the largest half-width up to a few per cent.
_MEANS, _VARIANCES = 11, 5


def count_half_width(kinds: Sequence[tuple[int, int]], noise: WeightedNoise, level: float = 0.95) -> float:
    """Return the half-width of counts from columns of these units and numbers of coordinates.

    Examples
    --------
    >>> from ggdp.tables.statistics import WeightedNoise
    >>> round(count_half_width([(10_000, 3)], WeightedNoise(order=2, scale=10_000.0)), 2)
    2.4
    """
    return float(noise.half_widths(np.concatenate(count_weights(kinds)), level))


def sum_half_width(
    kinds: Sequence[tuple[int, int]], bounds: tuple[float, float], noise: WeightedNoise, level: float = 0.95
) -> float:
    """Return the half-width of sums of the first column, whose counts the others share.

    Examples
    --------
    >>> from ggdp.tables.statistics import WeightedNoise
    >>> round(sum_half_width([(10_000, 3)], (0.0, 100.0), WeightedNoise(order=2, scale=10_000.0)), 1)
    138.6
    """
    return float(noise.half_widths(np.concatenate(sum_weights(kinds, bounds)), level))


def single_sum_half_width(step: float, noise: WeightedNoise, level: float = 0.95) -> float:
    """Return the half-width of sums that have one noisy sum each, whose 1 is worth `step`.

    Examples
    --------
    >>> from ggdp.tables.statistics import WeightedNoise
    >>> round(single_sum_half_width(0.01, WeightedNoise(order=2, scale=10_000.0)), 1)
    138.6
    """
    return step * float(noise.half_widths([1.0], level))


def ratio_half_widths(
    statistic: Literal["mean", "variance"],
    kind: tuple[int, int],
    bounds: tuple[float, float],
    noise: WeightedNoise,
    level: float = 0.95,
    *,
    sizes: Sequence[int] = SIZES,
) -> list[float]:
    """Return the half-widths of means or variances in cells of these sizes, for a column of this unit and coordinates.

    Examples
    --------
    >>> from ggdp.tables.statistics import WeightedNoise
    >>> noise = WeightedNoise(order=2, scale=10_000.0)
    >>> [round(half, 3) for half in ratio_half_widths("mean", (10_000, 3), (0.0, 100.0), noise)]
    [11.717, 1.255, 0.126, 0.013]
    """
    return list(_ratio_half_widths(statistic, kind, checked_range(bounds), noise, level, tuple(sizes)))


@lru_cache(maxsize=64)
def _ratio_half_widths(
    statistic: Literal["mean", "variance"],
    kind: tuple[int, int],
    bounds: tuple[float, float],
    noise: WeightedNoise,
    level: float,
    sizes: tuple[int, ...],
) -> tuple[float, ...]:
    """Return the same; a plan is described several times."""
    (lo, hi), (unit, coordinates) = bounds, kind
    parts = _triples() if coordinates == TRIPLE else _pairs()
    sums = np.concatenate([np.zeros((len(parts), 1)), parts], axis=1)
    estimate, factor = (mean_parts, hi - lo) if statistic == "mean" else (variance_parts, (hi - lo) ** 2)
    column = ColumnSums(sums=np.multiply.outer(np.array(sizes, dtype=np.float64) * unit, sums), unit=unit)
    _, lower, upper = estimate(column, noise, level)
    return tuple(float(half) for half in 0.5 * factor * (upper - lower).max(axis=1))


def _pairs() -> Floats:
    """Return what units add to a pair on average, for means over the range."""
    mean = np.linspace(0.0, 1.0, _MEANS)
    return np.stack([1.0 - mean, mean], axis=1)


def _triples() -> Floats:
    """Return what units add to a triple on average, for means and variances that values in [0, 1] can have."""
    mean, share = (
        np.repeat(np.linspace(0.0, 1.0, _MEANS), _VARIANCES),
        np.tile(np.linspace(0.0, 1.0, _VARIANCES), _MEANS),
    )
    second = np.square(mean) + share * mean * (1.0 - mean)
    return np.stack([1.0 - 2.0 * mean + second, 2.0 * (mean - second), second], axis=1)
