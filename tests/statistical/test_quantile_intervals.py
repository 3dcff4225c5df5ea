"""Intervals of quantiles cover as often as they say in cells of any size, and those without critical values do not.

Those of quantiles by halves too, and the position that splits a cell has its law to 2^-20 of a step.
"""

from fractions import Fraction
from typing import NamedTuple

import numpy as np
from scipy.stats import binom
from tests.mechanisms.quantile_laws import values_of
from tests.statistical.budget import compares
from tests.statistical.fit import kolmogorov_critical

from ggdp.mechanisms import quantiles
from ggdp.mechanisms.quantiles import CellValues, Node, Part, QuantilePlan, draw_positions
from ggdp.noise.entropy import SECURE

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
    monkeypatch.setattr(quantiles, "critical_values", lambda _q, buckets, _scale: np.zeros(buckets - 1))
    found = misses(case, size)
    assert binom.cdf(binom.isf(1e-12, size, MISSES), size, 1 / 6) <= allowance.level()
    assert found > binom.isf(1e-12, size, MISSES)


class Spread(NamedTuple):
    """Rows of a cell on at most a thousand steps of a wide range, and which quantile of them is looked at."""

    label: str
    rows: int
    kind: str
    place: int

    def values(self):
        """The steps that occur, and their rows: the quantiles of a distribution, rounded."""
        levels = (np.arange(min(self.rows, 1000)) + 0.5) / max(min(self.rows, 1000), 1)
        by_kind = {
            "uniform": levels * WIDE,
            "skewed": np.expm1(12.0 * levels) / np.expm1(12.0) * WIDE,
            "equal": 0.0 * levels + 54321,
            "ends": np.where(levels < 0.4, 0, WIDE),
        }
        steps, counts = np.unique(np.rint(by_kind[self.kind]).astype(np.int64), return_counts=True)
        return steps, counts * (max(self.rows, 1000) // 1000)


WIDE = 200_000
QUARTILES = (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4))
WIDER = [
    Spread("nobody", 0, "uniform", 1),
    Spread("one", 1, "uniform", 0),
    Spread("ten", 10, "uniform", 1),
    Spread("ten skewed", 10, "skewed", 2),
    Spread("ten equal", 10, "equal", 0),
    Spread("ten at the ends", 10, "ends", 1),
    Spread("thousand", 1000, "uniform", 1),
    Spread("thousand skewed", 1000, "skewed", 0),
    Spread("many", 100_000, "uniform", 0),
    Spread("many skewed", 100_000, "skewed", 2),
]


def misses_by_halves(case, size):
    """How many intervals of a quartile do not hold all quartiles of the cell, by the usual definition."""
    plan = QuantilePlan(fractions=QUARTILES, steps=WIDE, epsilon=1.0)
    assert plan.levels == 2
    steps, counts = case.values()
    cell = np.repeat(np.arange(size), steps.size)
    draws = plan.draw(CellValues.of(cell, np.tile(steps, size), np.tile(counts, size), cells=size))
    assert int(counts.sum()) == case.rows
    least, most = 0, WIDE
    if case.rows:
        upto = np.cumsum(counts)
        rank = QUARTILES[case.place] * case.rows
        # At least q n rows at or below it, and at most q n below it.
        least = steps[np.flatnonzero([Fraction(int(n)) >= rank for n in upto])[0]]
        most = steps[np.flatnonzero([Fraction(int(n)) <= rank for n in upto - counts])[-1]]
    lower, upper = draws.lower[:, case.place], draws.upper[:, case.place]
    return int(((lower > least) | (upper < most)).sum())


@compares("intervals of quantiles by halves", WIDER, each=2, fast=1500, exhaustive=12_000)
def test_intervals_of_quantiles_by_halves_cover_in_cells_of_any_size(case, size, allowance, monkeypatch):
    found = misses_by_halves(case, size)
    assert found <= binom.isf(allowance.level(), size, MISSES)
    # One in six is enough to be seen; the rarest, ten equal rows, is at 23%.
    monkeypatch.setattr(quantiles, "critical_values", lambda _q, buckets, _scale: np.zeros(buckets - 1))
    assert binom.cdf(binom.isf(1e-12, size, MISSES), size, 1 / 6) <= allowance.level()
    assert misses_by_halves(case, size) > binom.isf(1e-12, size, MISSES)


class Split(NamedTuple):
    label: str
    rows: tuple[int, ...]


POSITIONS = 1 << 20


@compares(
    "positions of quantiles",
    [Split("ties", (3, 8, 1, 8)), Split("equal", (0, 12, 0, 0)), Split("ends", (9, 1, 0, 8))],
    each=2,
    fast=4000,
    exhaustive=60_000,
)
def test_the_position_that_splits_a_cell_has_its_law_among_four_million(case, size, allowance):
    before = np.concatenate(([0], np.cumsum(np.repeat(np.array(case.rows), POSITIONS)))) / POSITIONS

    def below(rate):
        errors = rate * np.abs(before[:-1] - before[-1] / 2)
        weights = np.exp(errors.min() - errors)
        return np.concatenate(([0.0], np.cumsum(weights) / weights.sum()))

    rows = [step for step, count in enumerate(case.rows) for _ in range(count)]
    part = Part.whole(values_of(*[rows] * size), 3, POSITIONS)
    # Half of the rows, at a rate of 1 for each row: 1/2 times 2 for the denominator of the quantile.
    half = Node(index=0, above=1, below=2, divisor=1, epsilon=Fraction(1), left=None, right=None)
    drawn = np.sort(draw_positions(part, half, SECURE))

    def distance(law):
        after = np.arange(1, size + 1) / size
        return max((after - law[drawn]).max(), (law[drawn + 1] - (after - 1 / size)).max())

    level = allowance.level()
    critical = kolmogorov_critical(size, level)
    assert distance(below(1.0)) <= critical
    wrong, right = below(2.0), below(1.0)
    # Draws that are within the critical distance of their law are beyond it of another one twice as far away.
    assert np.abs(wrong - right).max() > 2 * kolmogorov_critical(size, allowance.level())
    assert distance(wrong) > critical
