"""Groups of sums that noise is added to: what a unit adds to the sums of a cell has an l_1 norm of one group's size.

=========  ==================================================================================================
a          value of a unit, in steps from the lower end of the range of its column: 0 to N, or none
W          size of a group, in steps of the grid that noise is added on; 2^20 of them are one unit
n, n_0     units of a cell with a value, and without one
s_1, s_2   sums of a and of a^2 over the units of a cell, exact integers
r          value of a unit in steps from 0, for sums; R is the largest |r|
=========  ==================================================================================================

========  ===========================================  ==============================================================
kind      a unit adds, in units of W                   sums
========  ===========================================  ==============================================================
count     1                                            W (n + n_0)
key       1                                            W (n + n_0), which decides whether its cell is published
sum       r / R, 0 without a value                     W (s_1 + n lo/g) / R
pair      1, 0, 0 without a value;                     W n_0; W (n - s_1 / N); W s_1 / N
          else 0, 1 - a/N, a/N
triple    1, 0, 0, 0 without a value;                  W n_0; W (n - 2 s_1/N + s_2/N^2); 2 W (s_1/N - s_2/N^2);
          else 0, (1 - a/N)^2, 2 (1 - a/N) a/N, a^2/N^2    W s_2 / N^2
========  ===========================================  ==============================================================

The sums of a pair give the number of units, and of those with a value, and the mean; those of a triple also the
variance. A pair is the partition of unity by Bernstein's polynomials of degree 1, a triple that of degree 2.

Claim (sensitivity). A unit that is added to a cell, or removed, moves the sums of a group by at most V steps in the l_1
norm, V being W + 2 for a triple and W otherwise. One that is replaced by another in the same cell moves those of a pair
or triple that rise, and those that fall, by at most V each, and a count or a sum by at most W. Proof. The sums are
rational numbers that are rounded down to steps; the second sum of a pair and the third of a triple is what is left of
W n, a whole number. Rounding down a number that rises by d raises it by at most ceil(d), and never lowers it. What a
unit adds is not negative and adds up to W. So of a pair one sum rises by h <= W if a unit comes, and the other by
W - h. Of a triple the sums that are rounded down rise by h <= W + 1 together, since they rise by at most W before
rounding, and the one that is left by W - h >= -1: that is W + 2 in all, W + 1 upwards and 1 downwards at most. If a
unit goes, the same is reversed. If one goes and another comes, no more than W + 2 (W for a pair) is moved upwards in
all, and as much downwards. A count moves by W or not at all. For a sum under replace-one R is at least the width of the
range, so that r / R moves by at most 1, and a number that moves by at most W steps moves by at most W after rounding
down. Sums beyond 2^53 steps are clamped to it, which lengthens no move; those of blocks, whose noise has one total,
wrap around at 64 bits instead, since a clamp could change the total of one block and not of another.

All of this is about one cell, whose N, R and lo are constants that the declaration fixes. So it holds where cells have
constants of their own, by level of another column: what a unit adds to a cell adds up to W whatever the N of that cell
is, since a is from 0 to N (`ggdp.sources.measures`). Ranges by level cost nothing.

Claim (price). The groups of sums that a unit moves, each by at most a size in the l_1 norm, are no easier to
detect than as many single coordinates that move by their sizes: `ggdp.proofs` proves noise for these
(`Sensitivity.cells`). Proof: an l_1 norm in several coordinates under noise of one scale is never easier to detect than
the same move of one (docs/explanation/theory/statistics.md), group by group.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

if TYPE_CHECKING:
    from ggdp.sources.measures import CellSums, Measure

# Rounding adds at most two of them to what a unit moves: a share of 2e-6.
STEPS_OF_A_UNIT = 1 << 20
# Larger sums are clamped to it, which moves no sum by more than it was moved: floats hold whole numbers up to it.
_LARGEST = 2**53
_ROUNDED = 2


@frozen(kw_only=True)
class SumGroup:
    """A group of sums."""

    kind: Literal["key", "count", "sum", "pair", "triple"]  # what a unit adds
    measure: Measure | None = None  # the value that is added up; None for a count of units
    size: int = STEPS_OF_A_UNIT  # W, in steps
    replaced: bool = False  # whether neighbours replace a unit, for a sum
    block: bool = False  # whether its noise has the same total as that of the other groups of a cell
    complete: bool = False  # whether every unit has a value, so that a block has no sum of those without one

    @property
    def sums(self) -> int:
        """Number of sums of a cell."""
        return {"pair": 3, "triple": 4}.get(self.kind, 1) - self.complete

    @property
    def counts_units(self) -> bool:
        """Whether sums of a cell add up to its number of units, times the size, and chose no cell by their noise."""
        return self.kind not in ("key", "sum")

    @property
    def most_moved(self) -> int:
        """Most that a unit moves the sums, in steps, in the l_1 norm."""
        return self.size + (_ROUNDED if self.kind == "triple" else 0)

    def largest(self, values: Any) -> Any:  # noqa: ANN401 - an integer, or one for each cell
        """Return R, the most steps that a unit moves a sum by; if it is replaced, not below the width of the range."""
        return np.maximum(values.furthest, values.steps, dtype=object) if self.replaced else values.furthest

    def steps(self, found: CellSums, values: Any = None) -> NDArray[np.int64]:  # noqa: ANN401
        """Return the sums of each cell, whose ranges are given, in steps: an array of a row for each sum."""
        w = self.size
        if self.measure is None or self.kind in ("key", "count"):
            exact = [w * found.units]
        elif self.kind == "sum":
            exact = [w * (found.first + values.offset * found.known) // self.largest(values)]
        else:
            n = values.steps
            missing, known = w * (found.units - found.known), w * found.known
            if self.kind == "pair":
                high = w * found.first // n
                exact = [missing, known - high, high]
            else:
                low = w * (n * n * found.known - 2 * n * found.first + found.second) // (n * n)
                high = w * found.second // (n * n)
                exact = [missing, low, known - low - high, high]
        if self.block:
            # Totals stay those of the units. What wraps around is a function of the exact noisy sums.
            limited = [(np.asarray(sums, dtype=object) + 2**63) % 2**64 - 2**63 for sums in exact[self.complete :]]
        else:
            limited = [np.clip(sums, -_LARGEST, _LARGEST) for sums in exact]
        return np.array(limited, dtype=np.int64).reshape(self.sums, -1)
