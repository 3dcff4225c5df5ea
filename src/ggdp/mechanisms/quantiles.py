"""Private quantiles of the values of many cells: the Exponential mechanism on public steps, with intervals.

============  =========================================================================================================
q_1 < ... q_m quantiles to release, decimals with at most six digits
N             the last public step; values are steps 0, 1, ..., N
n             rows of a cell
c(q)          most that one row moves the error of a candidate: max(q, 1 - q) for add-remove, 1 for replace-one
eps           what a cell may cost; a share of it is for the ends of intervals
============  =========================================================================================================

One quantile is a step t, drawn with a probability proportional to exp(-eps x_t / (2 c)), x_t the error of the step in
rows: by how many rows the number below t is too large, or that at or below t too
small. As eps grows it is a step with at most q n rows below it and at least q n at or below it: the usual definition.

Several are drawn in one of two ways, whichever has the smaller error for cells of 1,000 rows, by the request alone.
*Separately*: each with eps/m, and sorted. *By halves*: the middle quantile first, which splits the range, and the rows
with it; then the quantiles of both halves side by side, each from the rows of its half. A node that has h levels of
quantiles below and including it takes 1/h of what its path has left.

Claim (add-remove). A cell costs at most eps. Proof: an error of a node moves by at most c times the share of the row in
its part, so its loss is at most its epsilon times the share. The shares of the two halves of a part add up to that of
the part, so the losses of all nodes add up to an average, weighted by shares, of the sums of epsilons along the paths
from the first node down, none of which is above eps. Nodes depend on the outcomes of earlier ones, as adaptive
composition allows.

Claim (replace-one). A cell costs at most eps, for a row whose value changes within the cell. Proof: with the shares x
and y of the old and the new row, errors move by at most max(q x + (1 - q) y, (1 - q) x + q y). At the first node
x = y = 1, which makes 1. Below it, it is at most max(q, 1 - q) (x + y), and weights there have 2 max(q, 1 - q) for c,
so that a loss is at most epsilon (x + y)/2: the average of two averages over paths, as above. A row in another cell
is a row less in one and one more in the other, each of which costs at most eps: here c is at least max(q, 1 - q).

Claim (intervals). An interval holds all q-quantiles of its cell with a probability of at least 95 %, whatever the data
are. Its share of eps is spent on a noisy histogram around the values; the proof is in the last section.

Parts of the values of many cells, and the candidates for a quantile of each part
---------------------------------------------------------------------------------

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

Intervals of quantiles: a noisy histogram whose buckets grow with the distance from the released quantiles
----------------------------------------------------------------------------------------------------------

==========  ======================================================================================================
v           the released quantiles of a cell
x           a boundary: L(x) rows are below it
J           number of buckets; j of them are below a boundary
b           scale of the integer Laplace noise of a bucket: 1/eps' for add-remove, 2/eps' for replace-one
Z(x)        (1 - q) L(x) - q (n - L(x)), negative where fewer than q n rows are below x
z           the critical value of a boundary: its noisy Z is above the true one by more than z with at most 2.5 %
==========  ======================================================================================================

Boundaries are 1, 2, 4, ... steps away from each released quantile, on both sides, as far as the middle between two
of them. The buckets between them are a histogram on public boundaries: one row is in one bucket. The lower end starts
at the first step and moves to the next boundary as long as that one's noisy Z is below -z; the upper end comes from
the other side, as long as it is above z.

Claim. An interval holds all q-quantiles of its cell with a probability of at least 95 %, whatever the data are, and
whatever was released before. Proof: the lower end is wrong only if it reached a boundary x with L(x) >= q n, so only if
the noisy Z of the *first* such boundary was below -z. Which one that is does not depend on the noise of the histogram,
and its true Z is at least 0: the probability is at most 2.5 %. All quantiles are at least as large as a boundary with
L(x) < q n. The upper end is alike: at x with L(x) > q n all quantiles are at most x - 1. So no count is needed, and
nothing is lost by looking at many boundaries. It is conservative as far as boundaries are coarse (a factor of 2 in the
distance from the released quantile) and as Z is above 0 at the first boundary that is wrong.

Critical values. The noise of Z is (1 - q) A - q B, with A and B sums of j and J - j noises; their masses come from a
Fourier transform, cut where less than 1e-12 is left. For a scale b above 8 they come from that of 8: integer Laplace
noise is the difference of two exponentials rounded down, so it differs from real noise of the same scale by independent
numbers of mean 0 between -1 and 1, whose weighted sum is above r = sqrt(2 log(2000) sum of the squared weights) with a
probability of at most 0.05 % (Hoeffding); and real noise scales. So (b/8) (z + r) + r, with z the value for the scale 8
at 2.4 %, is wide enough: about a fifth wider than it need be.

References
----------
Smith, STOC 2011; Kaplan, Schnapp and Stemmer, "Differentially Private Approximate Quantiles", ICML 2022, Algorithm 1;
Drechsler, Globus-Harris, McMillan, Sarathy and Smith, "Nonparametric Differentially Private Confidence Intervals for
the Median", JSSAM 2022. Holohan et al., diffprivlib, issue 107, for what underflow does.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Self

import numpy as np
from attrs import field, frozen

from ggdp import _validate
from ggdp._rounding import rounded_up
from ggdp.accounting.noise_guarantees import calibration_of_law
from ggdp.errors import ArgumentError, ArgumentTypeError, CertificateError
from ggdp.mechanisms.certified_noise import CertifiedNoise
from ggdp.noise.entropy import checked_source
from ggdp.noise.selection import CandidateRuns, select_in_cells
from ggdp.privacy import Sensitivity
from ggdp.privacy.guarantees import Neighbours, validated_neighbours
from ggdp.proofs.losses import CountedLoss, ResponseLoss
from ggdp.proofs.noise_law import NoiseLaw

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ggdp.noise.entropy import Source


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
    chosen, place = select_in_cells(runs, source)
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
    chosen, place = select_in_cells(runs, source)
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
) -> CandidateRuns:
    """Return the runs of slots, several in each."""
    starts = np.append(0, ends + 1) * sizes.shape[1]
    return CandidateRuns(starts, sizes.reshape(-1), errors.reshape(-1), growth.reshape(-1), rate, divisors)


MISSES = 0.025
_LARGEST_SCALE = 8.0
_ROUNDING_MISSES = 0.0005
# Covers the roundings of floats, and what is cut off.
_SLACK = 1e-9
_HALVINGS = 10
_KEY = 33


def interval_ends(
    cells: CellValues,
    values: NDArray[np.int64],
    fractions: tuple[Fraction, ...],
    steps: int,
    noise: CertifiedNoise,
    source: Source,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the lower and upper ends of each cell and quantile, given the released values, by one noisy histogram."""
    bounds = boundaries(values, steps)
    counts = _histogram(cells, bounds, steps)
    counts += noise.sample(counts.size, source).reshape(counts.shape)
    below = np.cumsum(counts[:, :-1], axis=1).astype(np.float64)
    total = counts.sum(axis=1, keepdims=True).astype(np.float64)
    lower, upper = np.empty_like(values), np.empty_like(values)
    everywhere = np.pad(bounds, ((0, 0), (1, 1)), constant_values=((0, 0), (0, steps + 1)))
    for i, q in enumerate(fractions):
        balance = below - float(q) * total
        critical = critical_values(float(q), counts.shape[1], noise.calibration.law.scale)
        passed = np.logical_and.accumulate(balance < -critical, axis=1).sum(axis=1)
        lower[:, i] = np.take_along_axis(everywhere, passed[:, None], axis=1)[:, 0]
        passed = np.logical_and.accumulate((balance > critical)[:, ::-1], axis=1).sum(axis=1)
        last = everywhere.shape[1] - 1
        upper[:, i] = np.take_along_axis(everywhere, last - passed[:, None], axis=1)[:, 0] - 1
    return lower, upper


def boundaries(values: NDArray[np.int64], steps: int) -> NDArray[np.int64]:
    """Return the boundaries of each cell in increasing order, from 1 to `steps`; their number is public."""
    rungs = 1 << np.arange(max(steps.bit_length(), 1))
    middles = (values[:, 1:] + values[:, :-1] + 1) // 2
    first, last = np.zeros((values.shape[0], 1), dtype=np.int64), np.full((values.shape[0], 1), steps + 1)
    low = np.concatenate((first, middles), axis=1)
    high = np.concatenate((middles, last), axis=1)
    # From v down to v - 1, v - 3, ...: also v itself and v + 1, the two sides of the step that was released.
    down = np.maximum(values[:, :, None] + 1 - rungs[::-1], low[:, :, None])
    up = np.minimum(values[:, :, None] + rungs, high[:, :, None])
    found = np.concatenate((down, up), axis=2).reshape(values.shape[0], -1)
    bounded: NDArray[np.int64] = np.clip(found, 0, steps + 1)
    return bounded


def _histogram(cells: CellValues, bounds: NDArray[np.int64], steps: int) -> NDArray[np.int64]:
    """Return how many rows of each cell are between its boundaries."""
    cell = np.repeat(np.arange(cells.cells), np.diff(cells.starts))
    below = np.concatenate(([0], np.cumsum(cells.rows)))
    keys = (np.arange(cells.cells)[:, None] << _KEY) + np.pad(
        bounds, ((0, 0), (1, 1)), constant_values=((0, 0), (0, steps + 1))
    )
    return np.diff(below[np.searchsorted((cell << _KEY) + cells.steps, keys)], axis=1)


@lru_cache(maxsize=64)
def critical_values(q: float, buckets: int, scale: float) -> NDArray[np.float64]:
    """Return the critical value of each boundary between so many buckets."""
    fine, j = min(scale, _LARGEST_SCALE), np.arange(1, buckets)
    misses = MISSES if scale == fine else MISSES - 2.0 * _ROUNDING_MISSES
    found = np.array([_critical(q, below, buckets - below, fine, misses) for below in j.tolist()])
    if scale > fine:
        squares = (1.0 - q) ** 2 * j + q**2 * (buckets - j)
        rounding = np.sqrt(-2.0 * math.log(_ROUNDING_MISSES) * squares)
        found = scale / fine * (found + rounding) + rounding
    found.setflags(write=False)
    return found


def _critical(q: float, below: int, above: int, scale: float, misses: float) -> float:
    """Return z with P((1 - q) A - q B > z) of at most `misses`, not much above the least."""
    place, mass = _sum_of_noise(below, scale)
    other, chance = _sum_of_noise(above, scale)
    # P(B < x), by the number of places below x.
    cumulative = np.concatenate(([0.0], np.cumsum(chance)))
    ratio = math.exp(-1.0 / scale)
    deviation = math.sqrt(2.0 * ratio) / (1.0 - ratio) * math.hypot((1.0 - q) * below**0.5, q * above**0.5)
    low, high = 0.0, 4.0 * deviation
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        reach = np.ceil(((1.0 - q) * place - middle) / q).astype(np.int64) - other[0]
        missed = float(mass @ cumulative[np.clip(reach, 0, other.size)])
        low, high = (low, middle) if missed <= misses - _SLACK else (middle, high)
    return high * (1.0 + _SLACK)


@lru_cache(maxsize=512)
def _sum_of_noise(count: int, scale: float) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the places and masses of a sum of integer Laplace noises, but for 1e-12."""
    reach = 45.0 * scale + 10.0 * scale * math.sqrt(2.0 * count) + 50.0
    size = 1 << math.ceil(math.log2(2.0 * reach))
    ratio = math.exp(-1.0 / scale)
    angles = 2.0 * np.pi / size * np.arange(size // 2 + 1)
    transform = (1.0 - ratio) ** 2 / (1.0 - 2.0 * ratio * np.cos(angles) + ratio**2)
    masses = np.fft.fftshift(np.fft.irfft(transform**count, size))
    kept = np.flatnonzero(masses > 1e-16)
    inside = slice(int(kept[0]), int(kept[-1]) + 1)
    return np.arange(-size // 2, size // 2)[inside], np.maximum(masses[inside], 0.0)


MOST_STEPS = 1 << 31
# Fractions over one denominator, of at most six decimal digits.
MOST_DENOMINATOR = 10**6
_LEVEL = 0.95
_TYPICAL_ROWS = 1000
# b S is at most 2^26, and S at most 2^20.
_MOST_POSITIONS = 1 << 20
_MOST_PRODUCT = 1 << 26
# Values of cells that are worked on together: few enough for a core's own cache.
_BLOCK = 1 << 14


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class QuantileDraws:
    """Released quantiles of some cells, each an array with a row for each cell and a column for each quantile.

    Attributes
    ----------
    values : array of int64
        The released steps, not decreasing in a row.
    lower, upper : array of int64
        95 % intervals, in steps.
    known : array of bool
        Where an interval is less than the whole range. Elsewhere the cell may be empty for all that is known, and the
        value is as good as none.
    """

    values: NDArray[np.int64]
    lower: NDArray[np.int64]
    upper: NDArray[np.int64]
    known: NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Block:
    """Quantiles and ends of the cells that are worked on together."""

    values: NDArray[np.int64]
    lower: NDArray[np.int64]
    upper: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _Node:
    """A quantile of a part: the `index`-th one, `above`/`below` of the rows of the part, and what it may cost."""

    index: int
    above: int
    below: int
    epsilon: Fraction
    left: _Node | None
    right: _Node | None


def _decimals(fractions: object) -> tuple[Fraction, ...]:
    """Return quantiles as exact fractions of the decimals that were written."""
    if isinstance(fractions, str) or not isinstance(fractions, Iterable):
        raise ArgumentTypeError("fractions", fractions, "must be a list of numbers above 0 and below 1")
    found = tuple(_decimal(q) for q in fractions)
    if not found or any(not 0 < q < 1 for q in found) or any(a >= b for a, b in pairwise(found)):
        raise ArgumentError("fractions", fractions, "must be above 0 and below 1, each larger than the one before")
    if math.lcm(*(q.denominator for q in found)) > MOST_DENOMINATOR:
        raise ArgumentError("fractions", fractions, "must have at most six decimal digits")
    return found


def _decimal(q: object) -> Fraction:
    if isinstance(q, Fraction | Decimal):
        return Fraction(q)
    if isinstance(q, bool) or not isinstance(q, float | int | str | np.floating):
        raise ArgumentTypeError("fractions", q, "must be numbers above 0 and below 1")
    try:
        return Fraction(Decimal(q if isinstance(q, str) else repr(float(q))))
    except (InvalidOperation, ValueError, OverflowError):
        raise ArgumentError("fractions", q, "must be numbers above 0 and below 1") from None


def _last_step(steps: object) -> int:
    last = _validate.integer(steps=steps, at_least=1)
    if last > MOST_STEPS:
        raise ArgumentError("steps", steps, "must be at most 2^31; use a larger step")
    return last


def _positive(epsilon: object) -> float:
    return _validate.positive(epsilon=epsilon)


def _share(interval_share: object) -> Fraction:
    share = Fraction(_validate.probability(interval_share=interval_share))
    if share == 0:
        raise ArgumentError("interval_share", interval_share, "must be above 0: intervals are not free")
    return share


@frozen(kw_only=True)
class QuantilePlan:
    """Private quantiles of cells on public steps, planned from the request alone.

    Parameters
    ----------
    fractions : sequence of numbers
        The quantiles, above 0 and below 1 and increasing, with at most six decimal digits.
    steps : int
        The last step: values are 0, 1, ..., `steps`; from 1 to 2^31.
    epsilon : float
        What the quantiles and intervals of one cell may cost. A unit in at most M cells pays M times as much, and 2 M
        times under replace-one neighbours.
    neighbours : {"add-remove", "replace-one"}, default "add-remove"
        Whether one row of a cell is added or removed, or changes its value. A row that changes its cell is one removed
        and one added.
    interval_share : float, default 0.5
        The share of epsilon that is spent on the ends of intervals.

    Raises
    ------
    ArgumentError
        If an argument is wrong.

    Examples
    --------
    >>> plan = QuantilePlan(fractions=[0.25, 0.5, 0.75], steps=200_000, epsilon=1.0)
    >>> plan.levels, [round(error) for error in plan.rank_errors(1_000)]
    (2, [106, 86, 106])
    >>> incomes = CellValues.of(np.zeros(1000, np.int64), 30 * np.arange(1000), np.ones(1000, np.int64), cells=1)
    >>> draws = plan.draw(incomes)
    >>> draws.values.shape, bool((draws.lower <= draws.values).all())
    ((1, 3), True)
    """

    fractions: tuple[Fraction, ...] = field(converter=_decimals)
    steps: int = field(converter=_last_step)
    epsilon: float = field(converter=_positive)
    neighbours: Neighbours = field(default="add-remove", converter=validated_neighbours)
    interval_share: Fraction = field(default=Fraction(1, 2), converter=_share)
    _tree: _Node | None = field(init=False, repr=False, eq=False)

    @_tree.default
    def _better_way(self) -> _Node | None:
        """Return the first node of the way by halves, or None if quantiles are better drawn separately."""
        parts = [0, *self._numerators, self._denominator]
        tree = self._node(1, len(parts) - 1, parts, self._for_values)
        assert tree is not None
        apart, halves = self._apart_errors(), self._halves_errors(tree, _TYPICAL_ROWS)
        return tree if max(halves) < max(apart) else None

    @property
    def losses(self) -> tuple[CountedLoss, ...]:
        """Losses that dominate the quantiles of one cell in a composition."""
        return (CountedLoss(ResponseLoss(self.epsilon, 0.0), 1),)

    @property
    def levels(self) -> int:
        """How many epsilons the values are split into: levels by halves, or quantiles that are drawn separately."""
        return len(self.fractions) if self._tree is None else _height(len(self.fractions))

    def rank_errors(self, count: int) -> tuple[float, ...]:
        """Return the plus-minus of each quantile in ranks, at 95 %, for a cell of so many rows.

        For quantiles drawn separately it is a bound for every data set. By halves it adds up what the levels may do,
        with the logarithm of `count` for ties, and is as conservative.
        """
        rows = _validate.integer(count=count, at_least=0)
        errors = self._apart_errors() if self._tree is None else self._halves_errors(self._tree, rows)
        return tuple(min(error, float(rows)) for error in errors)

    def draw(self, cells: CellValues, source: Source | None = None) -> QuantileDraws:
        """Return private quantiles of all cells, with 95 % intervals.

        Parameters
        ----------
        cells : CellValues
            The values of all cells, also of those that have none.
        source : Source, optional
            Where the random bits come from; the operating system by default.
        """
        bits = checked_source(source)
        if not isinstance(cells, CellValues):
            raise ArgumentTypeError("cells", type(cells).__name__, "must be CellValues")
        if cells.steps.size and int(cells.steps.max()) > self.steps:
            raise ArgumentError("cells", "these", f"must have steps of at most {self.steps:,}")
        noise = self.interval_noise()
        parts = [self._draw(cells.slice(first, last), noise, bits) for first, last in _blocks(cells.starts)]
        names = ("values", "lower", "upper")
        values, lower, upper = (np.concatenate([getattr(part, name) for part in parts]) for name in names)
        return QuantileDraws(values, lower, upper, (lower > 0) | (upper < self.steps))

    def _draw(self, cells: CellValues, noise: CertifiedNoise, source: Source) -> _Block:
        values = np.empty((cells.cells, len(self.fractions)), dtype=np.int64)
        if self._tree is None:
            whole = Part.whole(cells, self.steps, 1)
            for node in self._apart():
                values[:, node.index] = self._of_node(node, whole, source, first=True)
            values.sort(axis=1)
        else:
            self._by_halves(self._tree, Part.whole(cells, self.steps, self._positions), values, source, first=True)
        lower, upper = interval_ends(cells, values, self.fractions, self.steps, noise, source)
        return _Block(values, np.minimum(lower, values), np.maximum(upper, values))

    def _by_halves(self, node: _Node, part: Part, values: NDArray[np.int64], source: Source, *, first: bool) -> None:
        """Draw the quantile of a node, and those of both halves after it."""
        if node.left is None and node.right is None:
            values[:, node.index] = self._of_node(node, part, source, first=first)
            return
        above, below = np.full(part.low.size, node.above), np.full(part.low.size, node.below)
        divisors = np.full(part.low.size, self._divisor(node, first=first))
        at = drawn_positions(part, above, below, node.epsilon / 2, divisors, source)
        values[:, node.index] = at // part.positions
        for child, half in zip((node.left, node.right), part.split(at), strict=True):
            if child is not None:
                self._by_halves(child, half, values, source, first=False)

    def _of_node(self, node: _Node, part: Part, source: Source, *, first: bool) -> NDArray[np.int64]:
        """Draw the quantile of a node among whole steps."""
        above, below = np.full(part.low.size, node.above), np.full(part.low.size, node.below)
        divisors = np.full(part.low.size, self._divisor(node, first=first))
        return drawn_steps(part, above, below, node.epsilon / 2, divisors, source)

    @property
    def interval_scale(self) -> float:
        """Scale of the integer Laplace noise of the histograms that intervals are from, rounded up."""
        rows = 1 if self.neighbours == "add-remove" else 2
        exact = rows / (Fraction(self.epsilon) * self.interval_share)
        nearest = float(exact)
        return nearest if nearest >= exact else math.nextafter(nearest, math.inf)

    def interval_noise(self) -> CertifiedNoise:
        """Return the noise of the histograms that intervals are from, if it is proved to cost no more than its share.

        Raises
        ------
        CertificateError
            If its scale is too small.
        """
        law = NoiseLaw(order=1.0, scale=self.interval_scale, support="integer")
        found = calibration_of_law(law, Sensitivity.histogram(neighbours=self.neighbours), delta=0.0)
        if found.guarantee.epsilon > rounded_up(Fraction(self.epsilon) * self.interval_share, of="epsilon"):
            raise CertificateError(f"noise of scale {law.scale!r} costs more than the intervals of quantiles may")
        return CertifiedNoise(found)

    @property
    def _for_values(self) -> Fraction:
        """What the values of a cell may cost."""
        return Fraction(self.epsilon) * (1 - self.interval_share)

    @property
    def _denominator(self) -> int:
        return math.lcm(*(q.denominator for q in self.fractions))

    @property
    def _numerators(self) -> list[int]:
        return [int(q * self._denominator) for q in self.fractions]

    @property
    def _positions(self) -> int:
        """S, the positions of a step."""
        return min(_MOST_POSITIONS, 1 << ((_MOST_PRODUCT // self._denominator).bit_length() - 1))

    def _node(self, first: int, last: int, parts: list[int], epsilon: Fraction) -> _Node | None:
        """Return the node of the quantiles from `first` to `last` - 1 between those before and after them."""
        if first == last:
            return None
        middle = (first + last - 1) // 2
        above, below = parts[middle] - parts[first - 1], parts[last] - parts[first - 1]
        common = math.gcd(above, below)
        cost = epsilon / _height(last - first)
        left = self._node(first, middle, parts, epsilon - cost)
        right = self._node(middle + 1, last, parts, epsilon - cost)
        return _Node(middle - 1, above // common, below // common, cost, left, right)

    def _divisor(self, node: _Node, *, first: bool) -> int:
        """Return c, times the denominator of the node's quantile."""
        larger = max(node.above, node.below - node.above)
        if self.neighbours == "add-remove":
            return larger
        return node.below if first else 2 * larger

    def _log_steps(self, epsilon: Fraction, divisor: int, below: int, chance: float, rows: int = 0) -> float:
        """Return how many rows an error stays below, but for a chance; `rows` is 0 for the errors of whole steps."""
        rate = float(epsilon * below / (2 * divisor))
        return math.log(self.steps * (1.0 + rate * rows) / chance) / rate

    def _apart(self) -> list[_Node]:
        """Return a node for each quantile, all of the whole range."""
        epsilon = self._for_values / len(self.fractions)
        return [_Node(i, a, self._denominator, epsilon, None, None) for i, a in enumerate(self._numerators)]

    def _apart_errors(self) -> list[float]:
        chance = 1.0 - _LEVEL
        return [self._log_steps(n.epsilon, self._divisor(n, first=True), n.below, chance) for n in self._apart()]

    def _halves_errors(self, tree: _Node, rows: int) -> list[float]:
        errors = [0.0] * len(self.fractions)
        chance = (1.0 - _LEVEL) / _height(len(self.fractions))

        def fill(node: _Node | None, before: float, after: float, *, first: bool) -> None:
            if node is None:
                return
            tied = 0 if node.left is None and node.right is None else rows
            own = self._log_steps(node.epsilon, self._divisor(node, first=first), node.below, chance, tied)
            share = node.above / node.below
            errors[node.index] = own + (1.0 - share) * before + share * after
            fill(node.left, before, errors[node.index], first=False)
            fill(node.right, errors[node.index], after, first=False)

        fill(tree, 0.0, 0.0, first=True)
        return errors


def _height(quantiles: int) -> int:
    """Return ceil(log2(quantiles + 1)): how many levels so many quantiles take."""
    return quantiles.bit_length()


def _blocks(starts: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Return ranges of cells that have few enough values to be worked on together, or are one cell."""
    blocks, first, cells = [], 0, starts.size - 1
    while first < cells:
        # A cell without values still has runs of its own.
        room = np.searchsorted(starts[first:] + np.arange(cells + 1 - first), starts[first] + _BLOCK, side="right")
        last = max(first + int(room) - 1, first + 1)
        blocks.append((first, last))
        first = last
    return blocks
