"""Intervals of quantiles cover as often as they say in cells of any size, and those without critical values do not."""

from fractions import Fraction
from typing import NamedTuple

import numpy as np
from scipy.stats import binom
from tests.mechanisms.quantile_laws import values_of
from tests.statistical.budget import compares

from ggdp.mechanisms import quantile_intervals
from ggdp.mechanisms.quantiles import QuantilePlan

STEPS = 1000
CELLS = 1500
MISSES = 0.05


class Cell(NamedTuple):
    label: str
    rows: tuple[int, ...]


CASES = [
    Cell("empty", ()),
    Cell("one", (400,)),
    Cell("five", (3, 3, 500, 501, 990)),
    Cell("ties", (0,) * 30 + tuple(range(100, 800, 10))),
    Cell("many", tuple(range(0, 1000, 2))),
]


def misses(case, size):
    """How many of so many intervals of the first quartile do not hold all first quartiles of the cell."""
    plan = QuantilePlan(fractions=[Fraction(1, 4), Fraction(3, 4)], steps=STEPS, epsilon=1.0)
    draws = plan.draw(values_of(*[case.rows] * size))
    rank = len(case.rows) / 4
    steps = np.arange(STEPS + 1)
    ordered = np.sort(np.array(case.rows, dtype=np.int64))
    possible = steps[(np.searchsorted(ordered, steps) <= rank) & (rank <= np.searchsorted(ordered, steps, "right"))]
    return int(((draws.lower[:, 0] > possible[0]) | (draws.upper[:, 0] < possible[-1])).sum())


@compares("intervals of quantiles", CASES, each=2, fast=CELLS)
def test_intervals_of_quantiles_cover_and_those_without_critical_values_do_not(case, size, allowance, monkeypatch):
    assert misses(case, size) <= binom.isf(allowance.level(), size, MISSES)
    # A test without noise to allow for is wrong half of the time; one in six is enough to be seen.
    monkeypatch.setattr(quantile_intervals, "critical_values", lambda _q, buckets, _scale: np.zeros(buckets - 1))
    found = misses(case, size)
    assert binom.cdf(binom.isf(1e-12, size, MISSES), size, 1 / 6) <= allowance.level()
    assert found > binom.isf(1e-12, size, MISSES)
