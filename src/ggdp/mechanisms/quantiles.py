"""Private quantiles of the values of many cells: the Exponential mechanism on public steps, with intervals.

============  =========================================================================================================
q_1 < ... q_m quantiles to release, decimals with at most six digits; q = a/b is one of them, or one of a part
N             the last public step; values are steps 0, 1, ..., N
S             positions of a step: position p is in step p // S, and the rows of one step lie evenly on its S positions
part          the positions from lo to hi - 1 of a cell, and the rows on them, or the shares of rows
n, B          rows of the part, and those before a position, in units of 1/S row
c(q)          most that one row moves the error of a candidate: max(q, 1 - q) for add-remove, 1 for replace-one
eps           what a cell may cost; a share of it is for the ends of intervals
============  =========================================================================================================

One quantile is a step t, drawn with a probability proportional to exp(-eps x_t / (2 c)), where x_t is the error of the
step in rows: max(0, B(first of t) - q n, q n - B(after t)). It is 0 exactly for the steps with at most q n rows below
and at least q n rows at or below, which is the usual definition of a quantile.

Several are drawn in one of two ways, whichever has the smaller error for cells of 1,000 rows, by the request alone.
*Separately*: each with eps/m, and sorted. *By halves*: the middle quantile first, which splits the range, and the rows
with it; then the quantiles of both halves side by side, each from the rows of its half. A node that has h levels of
quantiles below and including it takes 1/h of what its path has left. A part that is to be split draws a position, whose
error is |B(p) - q n|: it splits the rows of its step as well, so that ties do not push the quantiles of the two halves
aside.

Claim (errors). One row more, of which the share x lies in the part, moves no error by more than x max(q, 1 - q). Proof:
it adds x to n, and between 0 and x to B; so it moves B - q n by something between -q x and (1 - q) x; and the maximum
of 0 and several numbers, or an absolute value, moves no more than they do. One row of which the share y lies in the
part that replaces one of share x moves B - q n by at most max(q x + (1 - q) y, (1 - q) x + q y).

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

Intervals: a noisy histogram whose buckets grow with the distance from the released quantiles
---------------------------------------------------------------------------------------------

==========  ======================================================================================================
x           a boundary: L(x) rows are below it
J           number of buckets; j of them are below a boundary
b           scale of the integer Laplace noise of a bucket: 1/eps' for add-remove, 2/eps' for replace-one
Z(x)        (1 - q) L(x) - q (n - L(x)), negative where fewer than q n rows are below x
z           the critical value of a boundary: its noisy Z is above the true one by more than z with at most 2.5%
==========  ======================================================================================================

Boundaries are 1, 2, 4, ... steps away from each released quantile, on both sides, as far as the middle between two
of them. The buckets between them are a histogram on public boundaries: one row is in one bucket. The lower end starts
at the first step and moves to the next boundary as long as that one's noisy Z is below -z; the upper end comes from
the other side, as long as it is above z.

Claim. An interval holds all q-quantiles of its cell with a probability of at least 95%, whatever the data are, and
whatever was released before. Proof: the lower end is wrong only if it reached a boundary x with L(x) >= q n, so only if
the noisy Z of the *first* such boundary was below -z. Which one that is does not depend on the noise of the histogram,
and its true Z is at least 0: the probability is at most 2.5%. All quantiles are at least as large as a boundary with
L(x) < q n. The upper end is alike: at x with L(x) > q n all quantiles are at most x - 1. So no count is needed, and
nothing is lost by looking at many boundaries. It is conservative as far as boundaries are coarse (a factor of 2 in the
distance from the released quantile) and as Z is above 0 at the first boundary that is wrong.

Critical values. The noise of Z is (1 - q) A - q B, with A and B sums of j and J - j noises; their masses come from a
Fourier transform, cut where less than 1e-12 is left. For a scale b above 8 they come from that of 8: integer Laplace
noise is the difference of two exponentials rounded down, so it differs from real noise of the same scale by independent
numbers of mean 0 between -1 and 1, whose weighted sum is above r = sqrt(2 log(2000) sum of the squared weights) with a
probability of at most 0.05% (Hoeffding); and real noise scales. So (b/8) (z + r) + r, with z the value for the scale 8
at 2.4%, is wide enough: about a fifth wider than it need be.

References
----------
Smith, STOC 2011; Kaplan, Schnapp and Stemmer, "Differentially Private Approximate Quantiles", ICML 2022, Algorithm 1;
Drechsler, Globus-Harris, McMillan, Sarathy and Smith, "Nonparametric Differentially Private Confidence Intervals for
the Median", JSSAM 2022. Holohan et al., diffprivlib, issue 107, for what underflow does.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Self, TypeAlias

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from ggdp import _validate
from ggdp._rounding import rounded_up
from ggdp.accounting.noise_guarantees import calibration_of_law
from ggdp.errors import ArgumentError, ArgumentTypeError, CertificateError
from ggdp.mechanisms.certified_noise import CertifiedNoise
from ggdp.noise.entropy import Integers, Source, checked_source, takes_rng
from ggdp.noise.selection import CandidateRuns, select_in_cells
from ggdp.privacy import Sensitivity
from ggdp.privacy.guarantees import Neighbours, validated_neighbours
from ggdp.proofs.losses import CountedLoss, ResponseLoss
from ggdp.proofs.noise_law import NoiseLaw

Pair: TypeAlias = tuple[Integers, Integers]

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

    starts: Integers
    steps: Integers
    rows: Integers

    @classmethod
    def of(cls, cell: Integers, step: Integers, rows: Integers, *, cells: int) -> Self:
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

    @property
    def cell(self) -> Integers:
        """The cell of each step."""
        return np.repeat(np.arange(self.cells), np.diff(self.starts))

    def slice(self, first: int, last: int) -> CellValues:
        """Return the values of the cells from `first` to `last` - 1."""
        inside = slice(int(self.starts[first]), int(self.starts[last]))
        return CellValues(self.starts[first : last + 1] - self.starts[first], self.steps[inside], self.rows[inside])


@dataclass(frozen=True, slots=True)
class Node:
    """A quantile of a part: the `index`-th one, `above`/`below` of the rows of the part."""

    index: int
    above: int
    below: int
    divisor: int  # c, times `below`
    epsilon: Fraction  # what it may cost
    left: Node | None
    right: Node | None  # None only if `left` is, too


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Part:
    """A range of positions in each of some cells, and the steps that occur there."""

    low: Integers  # the positions of cell c are those from ``low[c]`` to ``high[c] - 1``; there may be none
    high: Integers
    # The steps that occur, sorted by cell and step: where, which, and how many rows have them in all.
    cell: Integers
    step: Integers
    rows: Integers
    positions: int  # S

    @classmethod
    def whole(cls, values: CellValues, steps: int, positions: int) -> Part:
        """Return all positions of all cells."""
        low, high = np.zeros(values.cells, dtype=np.int64), np.full(values.cells, (steps + 1) * positions)
        return cls(low, high, values.cell, values.steps, values.rows, positions)

    def split(self, at: Integers) -> tuple[Part, Part]:
        """Return the parts before a position of each cell, and from it on."""
        first = self.step * self.positions
        before, after = first < at[self.cell], first + self.positions > at[self.cell]
        left = Part(self.low, at, self.cell[before], self.step[before], self.rows[before], self.positions)
        right = Part(at, self.high, self.cell[after], self.step[after], self.rows[after], self.positions)
        return left, right

    def spans(self) -> Pair:
        """Return the first position of the part in each step that occurs, and the one after the last."""
        first = np.maximum(self.step * self.positions, self.low[self.cell])
        return first, np.minimum((self.step + 1) * self.positions, self.high[self.cell])

    def masses(self) -> tuple[Integers, Integers, Integers]:
        """Return the rows before and at each step that occurs and those of each cell, in units of 1/S row."""
        first, after = self.spans()
        at = self.rows * np.maximum(after - first, 0)
        ends = np.concatenate(([0], np.cumsum(at)))
        bounds = np.searchsorted(self.cell, np.arange(self.low.size + 1))
        return ends[:-1] - ends[bounds[:-1]][self.cell], at, np.diff(ends[bounds])


def draw_steps(part: Part, node: Node, rng: Source) -> Integers:
    """Return a step of the part of each cell, near the quantile of a node, by the errors of whole steps."""
    above, below = node.above, node.below
    before, at, total = part.masses()
    far = below * before - above * total[part.cell]
    errors = np.maximum(np.maximum(far, -far - below * at), 0)
    # Where nothing is left of a part its end is the quantile.
    low = part.low // part.positions
    high = np.maximum((part.high - 1) // part.positions, low) + 1
    runs = [(np.ones_like(errors), errors, np.zeros_like(errors))]
    gaps = np.abs(far), (below - above) * total
    spans = part.step, part.step + 1
    kind, place, start, stop, _ = _select(part, node, spans, (low, high), gaps, runs, rng)
    return np.where(kind == 0, start + place, stop)


def draw_positions(part: Part, node: Node, rng: Source) -> Integers:
    """Return a position of the part of each cell, near the quantile of a node, by the errors of positions."""
    above, below = node.above, node.below
    before, _, total = part.masses()
    first, after = part.spans()
    # The first so many positions of a step have fewer than q n rows before them, and errors that fall.
    growth = below * part.rows
    needed = above * total[part.cell] - below * before
    falling = np.clip(-(-needed // growth), 0, after - first)
    runs = [
        (falling, needed - growth * (falling - 1), growth),
        (after - first - falling, growth * falling - needed, growth),
    ]
    bounds = part.low, np.maximum(part.high, part.low + 1)
    gaps = np.abs(needed), (below - above) * total
    kind, place, start, stop, falls = _select(part, node, (first, after), bounds, gaps, runs, rng)
    return np.choose(kind, [start + place, stop + falls - 1 - place, stop + falls + place])


def _select(
    part: Part, node: Node, spans: Pair, bounds: Pair, gaps: Pair, runs: Sequence[tuple[Integers, ...]], rng: Source
) -> tuple[Integers, ...]:
    """Draw a candidate of each cell: one in the gaps before, between and after steps, or of the runs of a step.

    A candidate whose error is x rows has a weight of exp(-epsilon below x / (2 divisor)), with the numbers of the node.
    `spans` and `bounds` are the first candidate of each step and of each cell, and the one after the last. `gaps` are
    the errors in the gap before each step, and in the last gap of each cell. Runs are (sizes, errors, growth) by step.
    Returned are, for each cell: 0 for a gap and k for the k-th run of a step, the place in it, where the gap before the
    step starts and stops, and the size of the first run of the step.
    """
    cells = np.arange(part.low.size)
    # Each step that occurs has a slot for its gap and runs, and so has the end of each cell.
    slots, ends = np.arange(part.cell.size) + part.cell, np.searchsorted(part.cell, cells, side="right") + cells
    starts, stops = np.empty((2, slots.size + ends.size), dtype=np.int64)
    stops[slots], stops[ends] = spans[0], bounds[1]
    starts[slots + 1], starts[np.append(0, ends[:-1] + 1)] = spans[1], bounds[0]
    kinds = 1 + len(runs)
    sizes, errors, growth = np.zeros((3, starts.size, kinds), dtype=np.int64)
    sizes[:, 0], errors[slots, 0], errors[ends, 0] = stops - starts, *gaps
    for k, run in enumerate(runs, start=1):
        sizes[slots, k], errors[slots, k], growth[slots, k] = run
    first = np.append(0, ends + 1) * kinds
    errors = np.where(sizes > 0, errors, 0)
    rate, divisor = node.epsilon / 2, node.divisor * part.positions
    offered = CandidateRuns(first, sizes.ravel(), errors.ravel(), growth.ravel(), rate, divisor)
    chosen, place = select_in_cells(offered, rng)
    slot, kind = np.divmod(chosen, kinds)
    return kind, place, starts[slot], stops[slot], sizes[slot, 1]


MISSES = 0.025
_ROUNDING_MISSES = 0.0005
# Covers the roundings of floats, and what is cut off.
_SLACK = 1e-9
_KEY = 33


def boundaries(values: Integers, steps: int) -> Integers:
    """Return the boundaries of each cell in increasing order, from 0 to `steps` + 1; their number is public."""
    rungs = 1 << np.arange(max(steps.bit_length(), 1))
    middles = (values[:, 1:] + values[:, :-1] + 1) // 2
    ends = np.pad(middles, ((0, 0), (1, 1)), constant_values=((0, 0), (0, steps + 1)))
    # From v down to v - 1, v - 3, ...: also v itself and v + 1, the two sides of the step that was released.
    down = np.maximum(values[:, :, None] + 1 - rungs[::-1], ends[:, :-1, None])
    up = np.minimum(values[:, :, None] + rungs, ends[:, 1:, None])
    found = np.clip(np.concatenate((down, up), axis=2).reshape(values.shape[0], -1), 0, steps + 1)
    return np.pad(found, ((0, 0), (1, 1)), constant_values=((0, 0), (0, steps + 1)))


def _histogram(cells: CellValues, bounds: Integers) -> Integers:
    """Return how many rows of each cell are between its boundaries."""
    below = np.concatenate(([0], np.cumsum(cells.rows)))
    keys = (np.arange(cells.cells)[:, None] << _KEY) + bounds
    return np.diff(below[np.searchsorted((cells.cell << _KEY) + cells.steps, keys)], axis=1)


@lru_cache(maxsize=64)
def critical_values(q: float, buckets: int, scale: float) -> NDArray[np.float64]:
    """Return the critical value of each boundary between so many buckets."""
    fine, j = min(scale, 8.0), np.arange(1, buckets)
    misses = MISSES if scale == fine else MISSES - 2.0 * _ROUNDING_MISSES
    ratio, found = math.exp(-1.0 / fine), np.empty(buckets - 1)
    for below in j.tolist():
        # A z with P((1 - q) A - q B > z) of at most `misses`, not much above the least.
        place, mass = _sum_of_noise(below, fine)
        other, chance = _sum_of_noise(buckets - below, fine)
        # P(B < x), by the number of places below x.
        cumulative = np.concatenate(([0.0], np.cumsum(chance)))
        weight = math.hypot((1.0 - q) * below**0.5, q * (buckets - below) ** 0.5)
        low, high = 0.0, 4.0 * (math.sqrt(2.0 * ratio) / (1.0 - ratio) * weight)
        for _ in range(10):
            middle = (low + high) / 2.0
            reach = np.ceil(((1.0 - q) * place - middle) / q).astype(np.int64) - other[0]
            missed = float(mass @ cumulative[np.clip(reach, 0, other.size)])
            low, high = (low, middle) if missed <= misses - _SLACK else (middle, high)
        found[below - 1] = high * (1.0 + _SLACK)
    if scale > fine:
        squares = (1.0 - q) ** 2 * j + q**2 * (buckets - j)
        rounding = np.sqrt(-2.0 * math.log(_ROUNDING_MISSES) * squares)
        found = scale / fine * (found + rounding) + rounding
    found.setflags(write=False)
    return found


@lru_cache(maxsize=512)
def _sum_of_noise(count: int, scale: float) -> tuple[Integers, NDArray[np.float64]]:
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
_MOST_POSITIONS = 1 << 20
# Values of cells that are worked on together.
_BLOCK = 1 << 14


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class QuantileDraws:
    """Released quantiles of some cells, each an array with a row for each cell and a column for each quantile.

    Attributes
    ----------
    values : array of int64
        The released steps, not decreasing in a row.
    lower, upper : array of int64
        95% intervals, in steps.
    known : array of bool
        Where an interval is less than the whole range. Elsewhere the cell may be empty for all that is known, and the
        value is as good as none.
    """

    values: Integers
    lower: Integers
    upper: Integers
    known: NDArray[np.bool_]


def _decimals(fractions: object) -> tuple[Fraction, ...]:
    """Return quantiles as exact fractions of the decimals that were written."""
    if isinstance(fractions, str) or not isinstance(fractions, Iterable):
        raise ArgumentTypeError("fractions", fractions, "must be a list of numbers above 0 and below 1")
    found: list[Fraction] = []
    for q in fractions:
        if isinstance(q, bool) or not isinstance(q, Fraction | Decimal | float | int | str | np.floating):
            raise ArgumentTypeError("fractions", q, "must be numbers above 0 and below 1")
        try:
            exact = q if isinstance(q, Fraction | Decimal) else Decimal(q if isinstance(q, str) else repr(float(q)))
            found.append(Fraction(exact))
        except (InvalidOperation, ValueError, OverflowError):
            raise ArgumentError("fractions", q, "must be numbers above 0 and below 1") from None
    if not found or any(not 0 < q < 1 for q in found) or any(a >= b for a, b in pairwise(found)):
        raise ArgumentError("fractions", fractions, "must be above 0 and below 1, each larger than the one before")
    if math.lcm(*(q.denominator for q in found)) > 10**6:
        raise ArgumentError("fractions", fractions, "must have at most six decimal digits")
    return tuple(found)


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
    # The nodes of the whole range: the first of the way by halves, or one for each quantile that is drawn separately.
    _roots: list[Node] = field(init=False, repr=False, eq=False)

    @_roots.default
    def _better_way(self) -> list[Node]:
        first = self._node(1, len(self.fractions) + 1, (Fraction(0), *self.fractions, Fraction(1)), self._for_values)
        assert first is not None
        return min(self._apart(), [first], key=lambda roots: max(self._errors(roots, 1000)))

    @property
    def losses(self) -> tuple[CountedLoss, ...]:
        """Losses that dominate the quantiles of one cell in a composition."""
        return (CountedLoss(ResponseLoss(self.epsilon, 0.0), 1),)

    @property
    def levels(self) -> int:
        """How many epsilons the values are split into: levels by halves, or quantiles that are drawn separately."""
        # n quantiles by halves take ceil(log2(n + 1)) levels.
        return len(self._roots) * (len(self.fractions) // len(self._roots)).bit_length()

    def rank_errors(self, count: int) -> tuple[float, ...]:
        """Return the plus-minus of each quantile in ranks, at 95%, for a cell of so many rows.

        For quantiles drawn separately it is a bound for every data set. By halves it adds up what the levels may do,
        with the logarithm of `count` for ties, and is as conservative.
        """
        rows = _validate.integer(count=count, at_least=0)
        return tuple(min(error, float(rows)) for error in self._errors(self._roots, rows))

    @takes_rng
    def draw(self, cells: CellValues, rng: Source | None = None) -> QuantileDraws:
        """Return private quantiles of all cells, with 95% intervals.

        Parameters
        ----------
        cells : CellValues
            The values of all cells, also of those that have none.
        rng : Source, optional
            Where the random bits come from; the operating system by default.
        """
        bits = checked_source(rng)
        if not isinstance(cells, CellValues):
            raise ArgumentTypeError("cells", type(cells).__name__, "must be CellValues")
        if cells.steps.size and int(cells.steps.max()) > self.steps:
            raise ArgumentError("cells", "these", f"must have steps of at most {self.steps:,}")
        noise = self.interval_noise()
        blocks, first, sizes = [], 0, cells.starts + np.arange(cells.cells + 1)
        while first < cells.cells:
            # Few enough values for a core's own cache, or one cell. A cell without values still has runs of its own.
            last = max(int(np.searchsorted(sizes, sizes[first] + _BLOCK, side="right")) - 1, first + 1)
            blocks.append(self._draw(cells.slice(first, last), noise, bits))
            first = last
        values, lower, upper = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
        return QuantileDraws(values, lower, upper, (lower > 0) | (upper < self.steps))

    def _draw(self, cells: CellValues, noise: CertifiedNoise, rng: Source) -> tuple[Integers, ...]:
        """Return the values of cells that are worked on together, and their lower and upper ends."""
        values = np.empty((cells.cells, len(self.fractions)), dtype=np.int64)
        positions = 1 if len(self._roots) == len(self.fractions) else self._positions
        whole = Part.whole(cells, self.steps, positions)
        for node in self._roots:
            self._fill(node, whole, values, rng)
        # Those that are drawn separately come in any order.
        values.sort(axis=1)
        lower, upper = self._interval_ends(cells, values, noise, rng)
        return values, np.minimum(lower, values), np.maximum(upper, values)

    def _fill(self, node: Node, part: Part, values: Integers, rng: Source) -> None:
        """Draw the quantile of a node, and those of both halves after it."""
        if node.right is None:
            values[:, node.index] = draw_steps(part, node, rng)
            return
        at = draw_positions(part, node, rng)
        values[:, node.index] = at // part.positions
        for child, half in zip((node.left, node.right), part.split(at), strict=True):
            if child is not None:
                self._fill(child, half, values, rng)

    def _interval_ends(self, cells: CellValues, values: Integers, noise: CertifiedNoise, rng: Source) -> Pair:
        """Return the lower and upper ends of each cell and quantile, given the released values."""
        bounds = boundaries(values, self.steps)
        counts = _histogram(cells, bounds)
        counts += noise.sample(counts.size, rng).reshape(counts.shape)
        below = np.cumsum(counts[:, :-1], axis=1).astype(np.float64)
        total = counts.sum(axis=1, keepdims=True).astype(np.float64)
        lower, upper = np.empty_like(values), np.empty_like(values)
        every, last = np.arange(values.shape[0]), bounds.shape[1] - 1
        for i, q in enumerate(self.fractions):
            balance = below - float(q) * total
            critical = critical_values(float(q), counts.shape[1], noise.calibration.law.scale)
            passed = np.logical_and.accumulate(balance < -critical, axis=1).sum(axis=1)
            lower[:, i] = bounds[every, passed]
            passed = np.logical_and.accumulate((balance > critical)[:, ::-1], axis=1).sum(axis=1)
            upper[:, i] = bounds[every, last - passed] - 1
        return lower, upper

    def interval_noise(self) -> CertifiedNoise:
        """Return the Laplace noise of the histograms of intervals, if it is proved to cost no more than its share."""
        epsilon, rows = Fraction(self.epsilon) * self.interval_share, 1 if self.neighbours == "add-remove" else 2
        law = NoiseLaw(order=1.0, scale=rounded_up(rows / epsilon, of="scale"), support="integer")
        found = calibration_of_law(law, Sensitivity.histogram(neighbours=self.neighbours), delta=0.0)
        if found.guarantee.epsilon > rounded_up(epsilon, of="epsilon"):
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
    def _positions(self) -> int:
        """S, the positions of a step: b S is at most 2^26, and S at most 2^20."""
        return min(_MOST_POSITIONS, 1 << (((1 << 26) // self._denominator).bit_length() - 1))

    def _node(self, first: int, last: int, parts: tuple[Fraction, ...], epsilon: Fraction) -> Node | None:
        """Return the node of the quantiles from `first` to `last` - 1 between those before and after them."""
        if first == last:
            return None
        middle = (first + last - 1) // 2
        share = (parts[middle] - parts[first - 1]) / (parts[last] - parts[first - 1])
        above, below = share.as_integer_ratio()
        cost = epsilon / (last - first).bit_length()
        divisor = self._divisor(above, below, whole=last - first == len(self.fractions))
        left = self._node(first, middle, parts, epsilon - cost)
        right = self._node(middle + 1, last, parts, epsilon - cost)
        return Node(middle - 1, above, below, divisor, cost, left, right)

    def _divisor(self, above: int, below: int, *, whole: bool) -> int:
        """Return c for the quantile above/below of a whole cell, or of a part of it, times `below`."""
        larger = max(above, below - above)
        if self.neighbours == "add-remove":
            return larger
        return below if whole else 2 * larger

    def _apart(self) -> list[Node]:
        """Return a node for each quantile, all of the whole range."""
        below, epsilon = self._denominator, self._for_values / len(self.fractions)
        return [
            Node(i, above, below, self._divisor(above, below, whole=True), epsilon, None, None)
            for i, above in enumerate(int(q * below) for q in self.fractions)
        ]

    def _errors(self, roots: list[Node], rows: int) -> list[float]:
        """Return by how many ranks each quantile misses at most, but for 5%, in a cell of so many rows."""
        errors = [0.0] * len(self.fractions)
        chance = (1.0 - 0.95) / (len(errors) // len(roots)).bit_length()

        def fill(node: Node | None, before: float, after: float) -> None:
            if node is None:
                return
            rate = float(node.epsilon * node.below / (2 * node.divisor))
            # Positions, which are drawn where a part is split, are more than steps.
            choices = self.steps if node.right is None else self.steps * (1.0 + rate * rows)
            own = math.log(choices / chance) / rate
            share = node.above / node.below
            errors[node.index] = own + (1.0 - share) * before + share * after
            fill(node.left, before, errors[node.index])
            fill(node.right, errors[node.index], after)

        for node in roots:
            fill(node, 0.0, 0.0)
        return errors
