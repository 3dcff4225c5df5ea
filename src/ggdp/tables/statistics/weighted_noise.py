"""How far a weighted sum of noise is from 0: quantiles of |w_1 K_1 + ... + w_r K_r|, rounded outwards.

=======  ==============================================================================================
p, b     order and scale of the integer noise
K_i      independent standard noise with the density exp(-|x|^p) / (2 Gamma(1 + 1/p))
w        weights; for the inversion their largest absolute value is 1
X        sum of the w_i K_i
c(w)     the quantile of |X| at the level
phi(t)   E cos(t K_1), the characteristic function of one K
H(x)     P(|X| <= x) = (2/pi) times the integral of phi(w_1 t) ... phi(w_r t) sin(t x)/t over t > 0
L        period of the sum that replaces the integral, in x
T, D     where the window falls from 1 to 0, and the length of its fall
=======  ==============================================================================================

c has absolute values as its only use of signs, grows in proportion to w, and does not fall if any |w_i| grows.
(Proof: symmetric unimodal summands; |w K| grows stochastically with |w|, so the sum becomes less peaked:
Birnbaum 1948, "On random variables with comparable peakedness", Theorem 1.) On lines c is convex at the
levels used here, which tests check along those lines for orders from 1 to 100; the chords of a table then lie above it.

Inversion, up to `LARGEST_ORDER`. The integral is taken as a midpoint sum with steps 2 pi / L, cut off by the window
erfc((t - T)/D)/2. The sum differs from the integral by the mass of X beyond L - x, which is below 1e-11: X is
log-concave, so P(|X| > s std) <= e^(1 - s). The window smooths H with a kernel that falls as exp(-(D y)^2 / 4) with the
distance y. The densities of all X are analytic but at 0, where phi's slow decay comes from; quantiles at the levels
allowed are at least 0.6 away from it. Near the quantile the Fourier transform of H falls as exp(-pi t / (2 p)) at least
(the gamma function of a law that ends like exp(-x^p)). T and D are chosen so that each part is below 1e-10. Tests
compare with closed forms and with sums in 30 digits.

Claim (large orders). For p >= P, c of order p is at most c of order P over Gamma(1 + 1/P). Proof: let
d = 1/Gamma(1 + 1/P). The density of |K| of order p over that of d |K'|, K' of order P, is
Gamma(1 + 1/P) d / Gamma(1 + 1/p) times exp((x/d)^P - x^p). The first factor is at least 1, as Gamma is at most 1
between 1 and 2. The exponent is x^P (d^-P - x^(p - P)): not negative at first, and falling from where it is 0. So the
densities cross once, and |K| is stochastically smaller than d |K'|. Both are symmetric and unimodal, so their weighted
sums compare in the same way.

**Blocks.** The sums of all groups of a cell can have Minkowski noise with one total (`ggdp.noise.minkowski_noise`,
"added"), K = n + 1 sums in a block of n free coordinates, all blocks complete. On the reals and for b = 1 the density
at (a, c) is proportional to e^-(a + c) times the volumes V_n(a, c), proportional to the sum of C(n, i)^2 a^i c^(n - i),
of all blocks, in which their points are uniform; a - c is the total. The integral over a and c of
e^(-alpha a - gamma c) times the integral of e^(i t w.x) over a block is

    F(alpha, gamma) = (alpha + gamma)^n / product of (alpha - i t w_l) (gamma + i t w_l) over the K sums,

since a sum is either positive or negative, and what a and c have in excess of the parts adds 1/(alpha + gamma). Terms
a^i c^k of the volumes of the other blocks are derivatives of F, so E e^(i t w.x) is a finite sum over the coefficients
of F at alpha = gamma = 1. X is symmetric and log-concave. So c is a norm of the weights (Bobkov, "Convex bodies and
norms associated to convex measures", PTRF 2010), and so is its largest value over all signs of the weights, which does
not fall if any |w_i| grows: chords lie above both.

Claim (steps). Integer noise of scale b, divided by b, is within D + 2 steps of this noise times the largest weight, but
for a probability of D/b, D being the free coordinates of all blocks. Proof: integer noise is a mixture over patterns,
which say in which order, and to which sums, the gaps between D positions on two lines belong; a gap is 1 + floor(b E),
E exponential, which is within 1 of b E. Patterns with fewer positions come from those with D by contracting k of their
D gaps, so there are at most C(D, k) times as many with D - k, each with the weight (e^(1/b) - 1)^k of one with D. So
those with D have a probability of at least e^(-D/b).

Rounding: standard quantiles are raised by `MARGIN`, which is above the error of their inversion. Noise on the integers
of scale b is within one step of b K, in the same probabilities up to terms of order b^-2 (`ggdp.noise`
compares the sums), so each coordinate adds one step times its weight.
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
from attrs import field, frozen
from numpy.polynomial.chebyshev import chebpts1, chebvander

from ggdp.errors import ArgumentError
from ggdp.noise.generalized_gaussian import Floats, checked_order, checked_scale

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray


MARGIN = 1e-6
# Beyond it the law is as good as uniform, and the transforms would be long.
LARGEST_ORDER = 100.0
# What the inversion is accurate for; the least leaves quantiles away from 0, the most is that of means for variances.
_LEAST_LEVEL, _MOST_LEVEL = 0.5, 0.99999

# The most that noise on the integers may differ from that of blocks on the reals: D/b in the claim of steps.
LEAST_MISS = 1e-3

# Entries of a table along a line, and along each side of one for three weights.
_LINE, _FINE = 256, 513
# Nodes of an interpolation: at high orders, where the law has almost an edge, more are needed.
_COARSE, _COARSE_AT_HIGH_ORDERS, _HIGH_ORDER = 17, 41, 4.0
# From so many rows on a table is quicker than one inversion each.
_MANY = 16
_LARGEST_TABLE = 3

_STEP = 0.005
_NODES = 16
# exp(-42) is below 1e-18, exp(-26) below 1e-11.
_REACH, _FAR = 42.0, 26.0
_FALL = 12.0
_AT_ONCE = 1 << 21
# Where the transform has lost about 1e-4 of its curvature at 0.
_FLAT = 1e-2


@frozen(kw_only=True)
class WeightedNoise:
    """Independent integer noise of one order and scale in every coordinate.

    The scale is in steps; at least several hundred, so that the law is as good as continuous.
    """

    order: float = field(converter=checked_order)
    scale: float = field(converter=checked_scale)

    def half_widths(self, weights: ArrayLike, level: float = 0.95, *, in_all: int | None = None) -> Floats:
        """Return distances that weighted sums of the noise stay within, with a probability of at least the level.

        The last axis of the weights is that of the coordinates. One with weights of 0 only has a half-width of 0. Where
        weights are asked for some at a time, `in_all` is how many they are together: many are found by a table.
        """
        rows = np.abs(np.asarray(weights, dtype=np.float64))
        standard = standard_half_widths(self.order, _level(level), rows, in_all)
        return np.asarray(standard * self.scale + rows.sum(axis=-1))

    # Signs do not matter.
    within = half_widths

    def along(self, start: Floats, end: Floats, place: Floats, level: float = 0.95) -> Floats:
        """Return half-widths at places from 0 to 1 on the line of weights from start to end.

        Claim: they are a convex function of the place, from above, within `MARGIN` of the half-widths.
        """
        first, last = tuple(start.tolist()), tuple(end.tolist())
        table = _line(Independent(self.order), _level(level), first, last)
        # A convex bound of the sum of absolute weights: its chord.
        steps = np.abs(start).sum() * (1.0 - place) + np.abs(end).sum() * place
        return np.asarray(_along(table, place) * self.scale + steps)


@frozen(kw_only=True)
class BlockNoise:
    """Minkowski noise (`ggdp.noise.MinkowskiNoise`) on the blocks of sums of a cell, which have one noisy total.

    Weights are of the last sums of one block. The scale is in steps, so large that D/b is at most `LEAST_MISS`.
    """

    scale: float = field(converter=checked_scale)
    free: int  # coordinates of the block that are free: one less than its sums
    others: tuple[int, ...]  # those of the other blocks

    def half_widths(self, weights: ArrayLike, level: float = 0.95) -> Floats:
        """Return distances that weighted sums of the noise stay within, with a probability of at least the level."""
        # Those of a complete column begin with one for a sum that is known to be 0.
        rows = np.asarray(weights, dtype=np.float64)[..., -self.free - 1 :]
        distinct, back = np.unique(rows.reshape(-1, rows.shape[-1]), axis=0, return_inverse=True)
        found = Block(self.free, self.others).quantiles(self._level(level), distinct)[back.reshape(-1)]
        return np.asarray(found.reshape(rows.shape[:-1]) * self.scale + self._steps * np.abs(rows).max(axis=-1))

    def within(self, weights: ArrayLike, level: float = 0.95, *, in_all: int | None = None) -> Floats:
        """Return the same for all weights that are at most as large in absolute value."""
        rows = np.abs(np.asarray(weights, dtype=np.float64))
        found = _standard(Block(self.free, self.others, any_signs=True), self._level(level), rows, in_all)
        return np.asarray(found * self.scale + self._steps * rows.max(axis=-1))

    def along(self, start: Floats, end: Floats, place: Floats, level: float = 0.95) -> Floats:
        """Return half-widths at places from 0 to 1 on the line of weights from start to end, as of other noise."""
        law = Block(self.free, self.others)
        table = _line(law, self._level(level), tuple(start.tolist()), tuple(end.tolist()))
        largest = max(np.abs(start).max(), np.abs(end).max())
        return np.asarray(_along(table, place) * self.scale + self._steps * largest)

    def far(self, weights: Floats, miss: float, cells: int = 1) -> float:
        """Return a distance that the total noise of some cells exceeds with a probability of at most `miss`.

        It is about that of a log-concave law: P(|X| > s std) <= e^(1 - s).
        """
        row = weights[None, -self.free - 1 :]
        largest = float(np.abs(row).max())
        deviation = float(Block(self.free, self.others).deviations(row / largest)[0])
        return (1.0 - math.log(miss)) * math.sqrt(cells) * deviation * largest * self.scale

    @property
    def _steps(self) -> int:
        return self.free + sum(self.others) + 2

    def _level(self, level: float) -> float:
        return _level(_level(level) + (self.free + sum(self.others)) / self.scale)


SumNoise: TypeAlias = WeightedNoise | BlockNoise


def _level(level: float) -> float:
    if not _LEAST_LEVEL <= level <= _MOST_LEVEL:
        raise ArgumentError("level", level, f"must be from {_LEAST_LEVEL} to {_MOST_LEVEL}")
    return float(level)


def standard_half_widths(order: float, level: float, weights: Floats, in_all: int | None = None) -> Floats:
    """Return c(w) for each row of weights, along the last axis, raised by `MARGIN`."""
    return _standard(Independent(order), level, np.abs(weights), in_all)


def _standard(law: Independent | Block, level: float, weights: Floats, in_all: int | None) -> Floats:
    """Return the same for absolute weights, and any law."""
    rows = weights.reshape(-1, weights.shape[-1])
    largest = rows.max(axis=1)
    used = largest > 0.0
    result = np.zeros(len(rows))
    if used.any():
        # A selection of all rows would only copy them.
        some = slice(None) if used.all() else used
        result[some] = largest[some] * _normalised(law, level, rows[some] / largest[some, None], in_all or len(rows))
    return result.reshape(weights.shape[:-1])


def _normalised(law: Independent | Block, level: float, rows: Floats, in_all: int) -> Floats:
    """Return c(w) for rows whose largest weight is 1."""
    if law == Independent(2.0) or rows.shape[1] == 1:
        return law.quantiles(level, rows)
    if in_all < _MANY or rows.shape[1] > _LARGEST_TABLE:
        distinct, back = np.unique(rows, axis=0, return_inverse=True)
        return law.quantiles(level, distinct)[back.reshape(-1)]
    if rows.shape[1] == _LARGEST_TABLE:
        x, y, z = rows.T
        less, more = np.minimum(x, y), np.maximum(x, y)
        # The middle one of three, and the least.
        return _between(_triples(law, level), np.maximum(less, np.minimum(more, z)), np.minimum(less, z))
    return _along(_line(law, level, (1, 0), (1, 1)), rows.min(axis=1))


class Independent(NamedTuple):
    """Independent noise of an order."""

    order: float

    def quantiles(self, level: float, rows: Floats) -> Floats:
        """Return c(w) by inversion, raised by the margin and, beyond the largest order of it, by its bound."""
        if self.order <= LARGEST_ORDER:
            return magnitude_quantiles(self.order, level, rows) * (1.0 + MARGIN)
        most = LARGEST_ORDER
        return magnitude_quantiles(most, level, rows) * ((1.0 + MARGIN) / math.gamma(1.0 + 1.0 / most))


class Block(NamedTuple):
    """Minkowski noise on one block of sums of a cell, of scale 1 and on the reals, with weights for its last sums."""

    free: int  # coordinates of the block that are free: one less than its sums
    others: tuple[int, ...]  # those of the other blocks of the cell
    any_signs: bool = False  # whether c is the largest for all signs of the weights

    def quantiles(self, level: float, rows: Floats) -> Floats:
        """Return c(w) by inversion, raised by the margin."""
        if self.any_signs:
            signs = product((1.0,), *[(1.0, -1.0)] * (rows.shape[1] - 1))
            signed = self._replace(any_signs=False)
            each = [signed.quantiles(level, np.abs(rows) * np.array(sign)) for sign in signs]
            return np.asarray(np.max(each, axis=0))
        largest = np.abs(rows).max(axis=1)
        rows = rows / largest[:, None]
        # In a unit in which the standard deviation is that of Laplace noise. The density at 0 is at most
        # 1 / (2^(1/2) std), since X is log-concave and symmetric, so that P(|X| <= level) is not above the level.
        unit, spread = self.deviations(rows) / math.sqrt(2.0), 1.01 * math.sqrt(2.0)
        start = np.full(len(rows), 0.99 * level)
        found = _invert(self.transform, rows / unit[:, None], level, start, spread, (_FAR + 1.0) * spread, _end(1.0))
        return np.asarray(largest * unit * found * (1.0 + MARGIN))

    def deviations(self, rows: Floats) -> Floats:
        """Return the standard deviation of w.x for each row of weights of at most 1, up to 1e-3 of it."""
        # From the curvature of the transform at 0.
        return np.asarray(np.sqrt(2.0 * (1.0 - self.transform(rows, np.array([_FLAT]))[:, 0])) / _FLAT)

    def transform(self, rows: Floats, t: Floats) -> Floats:
        """Return E cos(t w.x) for each row of weights."""
        degree, sums = sum(self.others), self.free + 1
        weights = np.zeros((len(rows), sums))
        weights[:, sums - rows.shape[1] :] = rows
        terms = np.array([1.0])
        for free in self.others:
            terms = np.convolve(terms, [float(math.comb(free, i) ** 2) for i in range(free + 1)])
        grow = np.array([math.factorial(i) for i in range(degree + 1)], dtype=np.float64)
        terms = terms * grow * grow[::-1]
        # The last row is that of weights 0, which normalizes all.
        result, most = np.empty((len(rows) + 1, t.size)), max(_AT_ONCE // (8 * t.size * (degree + 1)), 1)
        for first in range(0, len(rows) + 1, most):
            part = np.vstack([weights, np.zeros(sums)])[first : first + most]
            # Coefficients of 1/((1 - z - i t w_1) ... (1 - z - i t w_K)), by powers of z.
            series = np.zeros((degree + 1, len(part), t.size), dtype=np.complex128)
            series[0] = 1.0
            for weight in part.T:
                pole, carried = 1.0 - 1j * weight[:, None] * t, np.zeros((), dtype=np.complex128)
                for one in series:
                    one += carried
                    one /= pole
                    carried = one
            times = [series]
            for _ in range(self.free):
                after = times[-1].copy()
                after[1:] -= times[-1][:-1]
                times.append(after)
            found = np.zeros((len(part), t.size))
            for k in range(self.free + 1):
                pairs = times[k] * np.conj(times[self.free - k][::-1])
                found += math.comb(self.free, k) * np.tensordot(terms, pairs.real, axes=1)
            result[first : first + most] = found
        return np.asarray(result[:-1] / result[-1])


@lru_cache(maxsize=32)
def _line(law: Independent | Block, level: float, start: tuple[float, ...], end: tuple[float, ...]) -> Floats:
    """Return c at even steps from one row of weights to another."""
    place = np.linspace(0.0, 1.0, _LINE + 1)[:, None]
    return law.quantiles(level, (1.0 - place) * np.asarray(start) + place * np.asarray(end))


@lru_cache(maxsize=8)
def _triples(law: Independent | Block, level: float) -> Floats:
    """Return c(1, s, s q) on a fine grid of s and q in [0, 1], from polynomials through a coarse one.

    Where they are found to be low, between their nodes, the whole table is raised by four times as much.
    """

    def exact(s: Floats, q: Floats) -> Floats:
        rows = np.stack([np.ones(s.size), s.reshape(-1), (s * q).reshape(-1)], axis=1)
        return law.quantiles(level, rows).reshape(s.shape)

    is_high = isinstance(law, Independent) and law.order > _HIGH_ORDER
    nodes = 0.5 + 0.5 * chebpts1(_COARSE_AT_HIGH_ORDERS if is_high else _COARSE)
    known = exact(*np.meshgrid(nodes, nodes, indexing="ij"))
    middles = 0.5 * (nodes[1::2] + nodes[:-1:2])
    s, q = np.meshgrid(middles, middles, indexing="ij")
    between, everywhere = _shares(nodes, middles), _shares(nodes, np.linspace(0.0, 1.0, _FINE))
    low = float(np.max(1.0 - between @ known @ between.T / exact(s, q)))
    return np.asarray(everywhere @ known @ everywhere.T * (1.0 + 4.0 * max(low, 0.0)))


def _shares(nodes: Floats, places: Floats) -> Floats:
    """Return the shares of the values at Chebyshev nodes in their polynomial at other places, a row for each place."""
    at_nodes, at_places = (chebvander(2.0 * x - 1.0, len(nodes) - 1) for x in (nodes, places))
    return np.asarray(np.linalg.solve(at_nodes.T, at_places.T).T)


def _along(table: Floats, place: Floats) -> Floats:
    """Return the table at places from 0 to 1, linear between its entries."""
    scaled = place * (len(table) - 1.0)
    i = np.clip(scaled.astype(np.intp), 0, len(table) - 2)
    low = table.take(i)
    return np.asarray(low + (table.take(i + 1) - low) * (scaled - i))


def _between(table: Floats, s: Floats, t: Floats) -> Floats:
    """Return the table at s and q = t / s, linear between its entries: from above, as c is convex along both."""
    last, flat = _FINE - 1, table.reshape(-1)
    q = np.divide(t, s, out=np.zeros_like(t), where=s > 0.0) * last
    s = s * last
    i, j = (np.minimum(x.astype(np.intp), last - 1) for x in (s, q))
    s, q, corner = s - i, q - j, i * _FINE + j

    def at(first: NDArray[np.intp]) -> Floats:
        low = flat.take(first)
        return np.asarray(low + (flat.take(first + 1) - low) * q)

    low = at(corner)
    return np.asarray(low + (at(corner + _FINE) - low) * s)


def magnitude_quantiles(order: float, level: float, weights: Floats) -> Floats:
    """Return, for each row of weights, the x with P(|X| <= x) = level; the weights of a row are not all 0."""
    weights = np.abs(weights)
    largest = weights.max(axis=1)
    rows = weights / largest[:, None]
    if order == 2.0:
        from scipy.special import ndtri

        return np.asarray(largest * np.sqrt(np.square(rows).sum(axis=1) / 2.0) * ndtri(0.5 + 0.5 * level))
    # The quantile of one |K|.
    if order == 1.0:
        # SciPy takes longer to load than the means of a small table.
        single = -math.log1p(-level)
    else:
        from scipy.special import gammaincinv

        single = math.pow(float(gammaincinv(1.0 / order, level)), 1.0 / order)
    if rows.shape[1] == 1:
        return np.asarray(largest * single)
    # The points of the sum and the window there, for all rows together.
    deviation = math.sqrt(math.gamma(3.0 / order) / math.gamma(1.0 / order))
    spread = float(np.sqrt(np.square(rows).sum(axis=1)).max()) * deviation
    total = float(rows.sum(axis=1).max())
    # Either bound of the tail will do: log-concavity, or none of the summands beyond _FAR.
    far = min((_FAR + 1.0) * spread, total * (_FAR + math.log(rows.shape[1])) ** (1.0 / order))

    def transform(part: Floats, t: Floats) -> Floats:
        product = np.ones((len(part), t.size))
        for weight in part.T:
            values, back = np.unique(weight, return_inverse=True)
            # A weight that all rows share is looked up once.
            product *= _transform(order, values[:, None] * t)[back.reshape(-1)]
        return product

    # The start, the quantile of the largest summand, is not above the solution.
    return np.asarray(largest * _invert(transform, rows, level, np.full(len(rows), single), spread, far, _end(order)))


def _invert(
    transform: Callable[[Floats, Floats], Floats],
    rows: Floats,
    level: float,
    start: Floats,
    spread: float,
    far: float,
    end: float,
) -> Floats:
    """Return quantiles of |X| from the transform of X for each row, and points that are not above them.

    No X has a standard deviation above `spread`, or a mass of 1e-11 beyond `far`.
    """
    within = min((1.0 - math.log(1.0 - level)) * spread, far)
    count = math.ceil((far + within) * end / (2.0 * math.pi))
    t: Floats = (np.arange(count, dtype=np.float64) + 0.5) * (end / count)
    places = (t - (end - 5.5 * _FALL)) / _FALL
    window = 0.5 * np.array([math.erfc(place) for place in places.tolist()])
    spacing, size, found = 2.0 * (t[1] - t[0]) / math.pi, max(_AT_ONCE // t.size, 1), []
    for first in range(0, len(rows), size):
        product = transform(rows[first : first + size], t)
        product *= window
        # Newton's method: H is concave on x > 0 and the start is not above the solution, so the steps rise to it.
        x, over_t = start[first : first + size], product / t
        for _ in range(60):
            angles = x[:, None] * t
            inside = spacing * np.einsum("ij,ij->i", over_t, np.sin(angles))
            density = spacing * np.einsum("ij,ij->i", product, np.cos(angles))
            step = (level - inside) / density
            x = x + step
            if np.all(np.abs(step) <= 1e-12 * x):
                break
        found.append(x)
    return np.concatenate(found)


def _end(order: float) -> float:
    """Return where the window is 0: past the fall, which begins past the transform of a law that ends like e^-x^p."""
    return 11.0 * _FALL + 15.0 * order


def _transform(order: float, t: Floats) -> Floats:
    """Return phi at points from 0 to `_end`."""
    if order == 1.0:
        return np.asarray(1.0 / (1.0 + np.square(t)))
    values, slopes = _transform_table(order)
    place = t / _STEP
    index = np.minimum(place.astype(np.int64), values.size - 2)
    u = place - index
    v = 1.0 - u
    left = values[index] * (1.0 + 2.0 * u) + (_STEP * u) * slopes[index]
    right = values[index + 1] * (1.0 + 2.0 * v) - (_STEP * v) * slopes[index + 1]
    return np.asarray(left * np.square(v) + right * np.square(u))


@lru_cache(maxsize=4)
def _transform_table(order: float) -> tuple[Floats, Floats]:
    """Return phi and its derivative at the multiples of `_STEP`, by Gauss-Legendre rules on short pieces.

    cos((j m + k) s x) is expanded, so that all sums are products of two small matrices.
    """
    end = _REACH ** (1.0 / order)
    # 16 points resolve a piece over which the cosine turns by 10.
    edges = np.linspace(0.0, end, math.ceil(end * _end(order) / 10.0) + 1)
    # exp(-x^p) is not smooth at 0: pieces that shrink towards it.
    edges = np.concatenate(([0.0], edges[1] * 0.25 ** np.arange(12, 0, -1), edges[1:]))
    nodes, shares = np.polynomial.legendre.leggauss(_NODES)
    length: NDArray[np.float64] = np.diff(edges)
    x = (edges[:-1, None] + length[:, None] * (0.5 + 0.5 * nodes)).reshape(-1)
    mass = (0.5 * length[:, None] * shares).reshape(-1) * np.exp(-(x**order))
    mass = mass / mass.sum()
    count = math.ceil(_end(order) / _STEP) + 2
    short = math.isqrt(count) + 1
    fine, coarse = np.outer(x, np.arange(short) * _STEP), np.outer(np.arange(short) * (short * _STEP), x)
    cos_fine, sin_fine = np.cos(fine), np.sin(fine)
    cos_coarse, sin_coarse = np.cos(coarse), np.sin(coarse)
    values = (cos_coarse * mass) @ cos_fine - (sin_coarse * mass) @ sin_fine
    moments = mass * x
    slopes = -(sin_coarse * moments) @ cos_fine - (cos_coarse * moments) @ sin_fine
    return values.reshape(-1)[:count], slopes.reshape(-1)[:count]
