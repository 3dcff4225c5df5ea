"""Private quantiles of the values of many cells: the Exponential mechanism on public steps, with intervals.

============  =========================================================================================================
q_1 < ... q_m quantiles to release, decimals with at most six digits
N             the last public step; values are steps 0, 1, ..., N
n             rows of a cell
c(q)          most that one row moves the error of a candidate: max(q, 1 - q) for add-remove, 1 for replace-one
eps           what a cell may cost; a share of it is for the ends of intervals
============  =========================================================================================================

One quantile is a step t, drawn with a probability proportional to exp(-eps x_t / (2 c)), x_t the error of the step in
rows (`ggdp.mechanisms.quantile_parts`): by how many rows the number below t is too large, or that at or below t too
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
are: `ggdp.mechanisms.quantile_intervals`, which spends its share of eps on a noisy histogram around the values.

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
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from attrs import field, frozen

from ggdp import _validate
from ggdp.errors import ArgumentError, ArgumentTypeError
from ggdp.mechanisms.quantile_intervals import interval_ends
from ggdp.mechanisms.quantile_parts import CellValues, Part, drawn_positions, drawn_steps
from ggdp.privacy.neighbours import Neighbours, validated_neighbours
from ggdp.proofs.total_loss import CountedLoss, ResponseLoss
from ggdp.sampling.entropy import checked_source

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ggdp.sampling.entropy import Source

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
        parts = [self._drawn(cells.slice(first, last), bits) for first, last in _blocks(cells.starts)]
        names = ("values", "lower", "upper")
        values, lower, upper = (np.concatenate([getattr(part, name) for part in parts]) for name in names)
        return QuantileDraws(values, lower, upper, (lower > 0) | (upper < self.steps))

    def _drawn(self, cells: CellValues, source: Source) -> _Block:
        values = np.empty((cells.cells, len(self.fractions)), dtype=np.int64)
        if self._tree is None:
            whole = Part.whole(cells, self.steps, 1)
            for node in self._apart():
                values[:, node.index] = self._of_node(node, whole, source, first=True)
            values.sort(axis=1)
        else:
            self._by_halves(self._tree, Part.whole(cells, self.steps, self._positions), values, source, first=True)
        lower, upper = interval_ends(cells, values, self.fractions, self.steps, self.interval_scale, source)
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
