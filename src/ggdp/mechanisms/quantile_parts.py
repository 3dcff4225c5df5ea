"""Parts of the values of many cells, and the candidates for a quantile of each part.

==========  ======================================================================================================
N           the last public step; values are steps 0, 1, ..., N
S           positions of a step: position p is in step p // S, and E rows of one step lie evenly on its S positions
part        the positions from lo to hi - 1 of a cell, and the rows on them, or the shares of rows
n           rows of the part, in units of 1/S row
B           rows of the part before a position, in units of 1/S row
q = a/b     the quantile that is looked for in the part
==========  ======================================================================================================

A whole step t has the error max(0, B(first of t) - q n, q n - B(after t)): 0 exactly for the steps with at most q n
rows below and at least q n rows at or below, which is the usual definition of a quantile. A position p has the error
|B(p) - q n|. Positions are for parts that are to be split: p splits the rows of its step as well, so
that ties do not push the quantiles of the two halves aside.

Claim. One row more, of which the share x lies in the part, moves no error by more than x max(q, 1 - q). Proof: it adds
x to n, and between 0 and x to B; so it moves B - q n by something between -q x and (1 - q) x; and the maximum of 0 and
several numbers, or an absolute value, moves no more than they do. One row of which the share y lies in the part that
replaces one of share x moves B - q n by at most max(q x + (1 - q) y, (1 - q) x + q y).

References
----------
Smith, STOC 2011; Kaplan, Schnapp and Stemmer, "Differentially Private Approximate Quantiles", ICML 2022.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from ggdp import _validate
from ggdp.errors import ArgumentError, ArgumentTypeError
from ggdp.sampling.runs import Runs, drawn_candidates

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    from ggdp.sampling.entropy import Source

# Errors then stay below 2^62 with b S of at most 2^26.
MOST_ROWS = 1 << 36


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CellValues:
    """The values of the cells of a table: which steps occur in each cell, and how often. Made by `CellValues.of`.

    Attributes
    ----------
    starts : array of int64
        The values of cell c are those from ``starts[c]`` to ``starts[c + 1] - 1``; a cell may have none.
    steps : array of int64
        Steps that occur, in increasing order within a cell.
    rows : array of int64
        How many rows have each of them.
    """

    starts: NDArray[np.int64]
    steps: NDArray[np.int64]
    rows: NDArray[np.int64]

    @classmethod
    def of(cls, cell: NDArray[np.int64], step: NDArray[np.int64], rows: NDArray[np.int64], *, cells: int) -> Self:
        """Return the values of `cells` cells, from flat arrays sorted by cell and step, without repetition.

        Raises
        ------
        ArgumentError
            If the arrays are not like that; the message has no value.

        Examples
        --------
        >>> values = CellValues.of(np.array([0, 0, 2]), np.array([3, 7, 5]), np.array([1, 10, 2]), cells=3)
        >>> values.starts.tolist()
        [0, 2, 2, 3]
        """
        count = _validate.integer(cells=cells, at_least=1)
        for name, array in (("cell", cell), ("step", step), ("rows", rows)):
            if not isinstance(array, np.ndarray) or array.dtype != np.int64 or array.shape != np.shape(cell):
                raise ArgumentTypeError(name, type(array).__name__, "must be a flat array of int64, as long as cell")
        rising = (np.diff(cell) > 0) | ((np.diff(cell) == 0) & (np.diff(step) > 0))
        inside = not cell.size or (cell[0] >= 0 and cell[-1] < count)
        if cell.ndim != 1 or not bool(rising.all()) or not inside:
            raise ArgumentError("cell", "these", "must be sorted by cell and step, each pair once, below `cells`")
        if cell.size and not (bool((step >= 0).all()) and bool((rows >= 1).all())):
            raise ArgumentError("step", "these", "steps must be at least 0 and rows at least 1")
        starts = np.searchsorted(cell, np.arange(count + 1))
        if float(rows.astype(np.float64).sum()) >= MOST_ROWS:
            raise ArgumentError("rows", "these", "must be fewer than 2^36 together")
        return cls(starts.astype(np.int64), step, rows)

    @property
    def cells(self) -> int:
        """How many cells there are."""
        return int(self.starts.size - 1)

    def slice(self, first: int, last: int) -> CellValues:
        """Return the values of the cells from `first` to `last` - 1."""
        inside = slice(int(self.starts[first]), int(self.starts[last]))
        return CellValues(self.starts[first : last + 1] - self.starts[first], self.steps[inside], self.rows[inside])


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Part:
    """A range of positions in each of some cells, and the steps that occur there.

    Attributes
    ----------
    low, high : array of int64
        The positions of cell c are those from ``low[c]`` to ``high[c] - 1``; there may be none.
    cell, step, rows : array of int64
        The steps that occur, sorted by cell and step: where, which, and how many rows have them in all.
    positions : int
        S, the positions of a step.
    """

    low: NDArray[np.int64]
    high: NDArray[np.int64]
    cell: NDArray[np.int64]
    step: NDArray[np.int64]
    rows: NDArray[np.int64]
    positions: int

    @classmethod
    def whole(cls, values: CellValues, steps: int, positions: int) -> Part:
        """Return all positions of all cells."""
        cells = values.cells
        cell = np.repeat(np.arange(cells), np.diff(values.starts))
        high = np.full(cells, (steps + 1) * positions)
        return cls(np.zeros(cells, dtype=np.int64), high, cell, values.steps, values.rows, positions)

    def split(self, at: NDArray[np.int64]) -> tuple[Part, Part]:
        """Return the parts before a position of each cell, and from it on."""
        first = self.step * self.positions
        before, after = first < at[self.cell], first + self.positions > at[self.cell]
        left = Part(self.low, at, self.cell[before], self.step[before], self.rows[before], self.positions)
        right = Part(at, self.high, self.cell[after], self.step[after], self.rows[after], self.positions)
        return left, right


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Masses:
    """Rows of a part in units of 1/S row: before and at each step that occurs, before the end of each cell."""

    before: NDArray[np.int64]
    at: NDArray[np.int64]
    total: NDArray[np.int64]

    @classmethod
    def of(cls, part: Part) -> _Masses:
        first = np.maximum(part.step * part.positions, part.low[part.cell])
        last = np.minimum((part.step + 1) * part.positions, part.high[part.cell])
        at = part.rows * np.maximum(last - first, 0)
        ends = np.concatenate(([0], np.cumsum(at)))
        bounds = np.searchsorted(part.cell, np.arange(part.low.size + 1))
        return cls(ends[:-1] - ends[bounds[:-1]][part.cell], at, np.diff(ends[bounds]))


def drawn_steps(
    part: Part,
    above: NDArray[np.int64],
    below: NDArray[np.int64],
    rate: Fraction,
    divisors: NDArray[np.int64],
    source: Source,
) -> NDArray[np.int64]:
    """Return a step of the part of each cell, near its quantile above/below, by the errors of whole steps.

    A step whose error is x rows has a weight of exp(-rate below x / divisor).
    """
    positions = part.positions
    masses = _Masses.of(part)
    target = above * masses.total
    far = below[part.cell] * masses.before - target[part.cell]
    errors = np.maximum(np.maximum(far, -far - below[part.cell] * masses.at), 0)
    # Where nothing is left of a part its end is the quantile.
    first = part.low // positions
    last = np.maximum((part.high - 1) // positions, first)
    slots, ends = _slots(part.cell, part.low.size)
    starts, gaps = _gaps(part.step, part.step + 1, first, last + 1, slots, ends)
    sizes = np.zeros((gaps.size, 2), dtype=np.int64)
    sizes[:, 0], sizes[slots, 1] = gaps, 1
    all_errors = np.zeros_like(sizes)
    all_errors[slots, 0], all_errors[slots, 1] = np.abs(far), errors
    all_errors[ends, 0] = np.abs((below - above) * masses.total)
    runs = _runs(sizes, all_errors, np.zeros_like(sizes), ends, rate, divisors * positions)
    chosen, place = drawn_candidates(runs, source)
    slot, kind = np.divmod(chosen, 2)
    return np.where(kind == 0, starts[slot] + place, starts[slot] + gaps[slot])


def drawn_positions(
    part: Part,
    above: NDArray[np.int64],
    below: NDArray[np.int64],
    rate: Fraction,
    divisors: NDArray[np.int64],
    source: Source,
) -> NDArray[np.int64]:
    """Return a position of the part of each cell, near its quantile above/below, by the errors of positions.

    A position whose error is x rows has a weight of exp(-rate below x / divisor).
    """
    masses = _Masses.of(part)
    target = above * masses.total
    first = np.maximum(part.step * part.positions, part.low[part.cell])
    last = np.minimum((part.step + 1) * part.positions, part.high[part.cell])
    slots, ends = _slots(part.cell, part.low.size)
    starts, gaps = _gaps(first, last, part.low, np.maximum(part.high, part.low + 1), slots, ends)
    # The first so many positions of a step have fewer than q n rows before them, and errors that fall.
    growth = below[part.cell] * part.rows
    needed = target[part.cell] - below[part.cell] * masses.before
    falling = np.clip(-(-needed // growth), 0, last - first)
    sizes = np.zeros((gaps.size, 3), dtype=np.int64)
    sizes[:, 0], sizes[slots, 1], sizes[slots, 2] = gaps, falling, last - first - falling
    errors, growths = np.zeros_like(sizes), np.zeros_like(sizes)
    errors[slots, 0], errors[ends, 0] = np.abs(needed), np.abs((below - above) * masses.total)
    errors[slots, 1], errors[slots, 2] = needed - growth * (falling - 1), growth * falling - needed
    growths[slots, 1] = growths[slots, 2] = growth
    runs = _runs(sizes, np.where(sizes > 0, errors, 0), growths, ends, rate, divisors * part.positions)
    chosen, place = drawn_candidates(runs, source)
    slot, kind = np.divmod(chosen, 3)
    after = starts[slot] + gaps[slot]
    middle = after + sizes[slot, 1]
    return np.choose(kind, [starts[slot] + place, middle - 1 - place, middle + place])


def _slots(cell: NDArray[np.int64], cells: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the slot of each step that occurs, and that of the end of each cell, in their order."""
    return np.arange(cell.size) + cell, np.searchsorted(cell, np.arange(cells), side="right") + np.arange(cells)


def _gaps(
    first: NDArray[np.int64],
    after: NDArray[np.int64],
    low: NDArray[np.int64],
    high: NDArray[np.int64],
    slots: NDArray[np.int64],
    ends: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where the gap before each slot starts, and how long it is; steps that occur are from first to after."""
    total = slots.size + ends.size
    starts, stops = np.empty(total, dtype=np.int64), np.empty(total, dtype=np.int64)
    stops[slots], stops[ends] = first, high
    starts[slots + 1] = after
    starts[np.append(0, ends[:-1] + 1)] = low
    return starts, stops - starts


def _runs(
    sizes: NDArray[np.int64],
    errors: NDArray[np.int64],
    growth: NDArray[np.int64],
    ends: NDArray[np.int64],
    rate: Fraction,
    divisors: NDArray[np.int64],
) -> Runs:
    """Return the runs of slots, several in each."""
    starts = np.append(0, ends + 1) * sizes.shape[1]
    return Runs(starts, sizes.reshape(-1), errors.reshape(-1), growth.reshape(-1), rate, divisors)
