"""Noise for many numbers at once: integer vectors drawn exactly by a norm, P(x) proportional to exp(-||x|| / scale)."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property, lru_cache, partial
from itertools import accumulate
from typing import Literal, TypeAlias, get_args

import numpy as np
from attrs import field, frozen
from flint import arb
from numpy.typing import ArrayLike, NDArray

from ggdp import _validate
from ggdp.errors import ArgumentError, UnprovedError
from ggdp.noise.entropy import Integers, Source, checked_source, random_bits, random_words, takes_rng, uniform_integers
from ggdp.noise.generalized_gaussian import checked_scale
from ggdp.noise.integer_law import least_passing
from ggdp.noise.table import invert, is_below

Kind: TypeAlias = Literal["added", "replaced", "signed"]
Floats: TypeAlias = NDArray[np.float64]

KINDS = get_args(Kind)
_FARTHEST = 1 << 61
_TAIL_BITS = 256
_MOST_GAUSS = 150


def _groups(groups: tuple[int, ...]) -> tuple[int, ...]:
    sizes = _validate.non_empty(groups=groups)
    return tuple(_validate.integer(groups=size, at_least=0, at_most=10_000) for size in sizes)


def _kind(kind: str) -> str:
    return _validate.choice(among=KINDS, kind=kind)


def _complete(complete: tuple[bool, ...] | None) -> tuple[bool, ...] | None:
    if complete is None:
        return None
    return tuple(_validate.boolean(complete=one) for one in _validate.non_empty(complete=complete))


@frozen(kw_only=True)
class MinkowskiNoise:
    """Integer noise for groups of counts, P(x) proportional to exp(-||x|| / scale), drawn exactly."""

    scale: float = field(converter=checked_scale)
    groups: tuple[int, ...] = field(converter=_groups)
    kind: str = field(default="added", converter=_kind)
    complete: tuple[bool, ...] | None = field(default=None, converter=_complete)

    def __attrs_post_init__(self) -> None:
        if self.complete is not None and len(self.complete) != len(self.groups):
            raise ArgumentError("complete", self.complete, f"must have an entry for each of {len(self.groups)} groups")
        if self.kind == "signed" and self.complete is not None and any(self.complete):
            raise ArgumentError("complete", self.complete, "is for the kinds 'added' and 'replaced'")
        if not sum(self.cells):
            raise ArgumentError("groups", self.groups, "must have a coordinate")

    @property
    def cells(self) -> tuple[int, ...]:
        """How many cells are released of each group: its coordinates, and one more where it is complete."""
        return tuple(n + closed for n, closed in zip(self.groups, self._closed, strict=True))

    @property
    def _closed(self) -> tuple[bool, ...]:
        return self.complete or (False,) * len(self.groups)

    @cached_property
    def _radii(self) -> _Radii:
        return _radii(self.kind, tuple(sorted(self.groups)), self.scale)

    @takes_rng
    def sample(self, size: int, *, rng: Source | None = None) -> Integers:
        """Return independent draws, an array of `size` rows with the cells of all groups, group after group."""
        bits, rows = checked_source(rng), _validate.integer(size=size, at_least=0)
        out = np.empty((rows, sum(self.cells)), dtype=np.int64)
        step = max(1, (1 << 20) // out.shape[1])
        for start in range(0, rows, step):
            part = out[start : start + step]
            a, c = self._radii.draw(len(part), bits)
            self._fill(part, a, c, bits)
        return out

    def _fill(self, out: Integers, a: Integers, c: Integers, rng: Source) -> None:
        """Overwrite rows of cells, given the radii of each row."""
        starts = np.cumsum((0, *self.cells[:-1]))
        # A few rows are drawn for all groups at once; for many, groups of one size are.
        sizes = np.array(self.groups)
        parts = (
            [np.flatnonzero(sizes)] if len(out) < 64 else [np.flatnonzero(sizes == n) for n in set(self.groups) if n]
        )
        for part in parts:
            if not part.size:
                continue
            n, rows = np.repeat(sizes[part], len(out)), np.tile(np.arange(len(out)), part.size)
            points = _points(self.kind, n, a[rows], c[rows], rng).reshape(part.size, len(out), -1)
            for j, x in zip(part, points, strict=True):
                out[:, starts[j] : starts[j] + sizes[j]] = x[:, : sizes[j]]
        for start, n, closed in zip(starts, self.groups, self._closed, strict=True):
            if closed:
                out[:, start + n] = a - c - out[:, start : start + n].sum(axis=1)

    def pmf(self, points: ArrayLike) -> Floats:
        """Return P(x) of rows of cells."""
        x = np.asarray(points)
        if x.dtype.kind not in "iu" or x.ndim < 1 or x.shape[-1] != sum(self.cells):
            raise ArgumentError("points", points, f"must be integers, {sum(self.cells)} in a row")
        a, c = np.zeros(x.shape[:-1]), np.zeros(x.shape[:-1])
        total, agree, start = None, np.ones(x.shape[:-1], dtype=np.bool_), 0
        for n, closed in zip(self.groups, self._closed, strict=True):
            free = x[..., start : start + n]
            up, down = np.maximum(free, 0).sum(axis=-1), -np.minimum(free, 0).sum(axis=-1)
            if self.kind == "signed":
                up, down = up + down, np.zeros_like(up)
            a, c = np.maximum(a, up), np.maximum(c, down)
            if closed:
                u = x[..., start : start + n + 1].sum(axis=-1)
                agree &= u == (0 if self.kind == "replaced" else u if total is None else total)
                total = u
            start += n + closed
        b = self.scale
        lost = math.log(-math.expm1(-1.0 / b))
        if self.kind == "added":
            lost *= 2
            if total is not None:
                a = np.maximum(a, c + total)
                c = a - total
                lost = math.log(-math.expm1(-2.0 / b))
        norm = np.maximum(a, c) if self.kind == "replaced" else a + c
        return np.where(agree, np.exp(-norm / b - lost - _moments(self.kind, self.groups, b)[0]), 0.0)

    @property
    def std(self) -> tuple[float, ...]:
        """Standard deviation of a cell of each group."""
        return spreads(self.groups, self.kind, self.scale)

    def half_widths(self, level: float) -> tuple[int, ...]:
        """Return for a cell of each group the least h with P(|x| <= h) >= level."""
        least = {n: self._least(level, lambda k, n=n: self._tail(n, k)) for n in set(self.groups)}
        return tuple(least[n] for n in self.groups)

    def total_half_width(self, level: float) -> int:
        """Return the least h with P(|u| <= h) >= level for the common total u of complete groups."""
        return self._least(level, partial(self._tail, 0))

    def simultaneous_half_width(self, level: float) -> int:
        """Return an h with P(|x| <= h for all cells x) >= level."""
        counts = [(n, cells) for n, cells in zip(self.groups, self.cells, strict=True) if cells]
        return self._least(level, lambda k: sum(cells * self._tail(n, k) for n, cells in counts))

    def _least(self, level: float, tail: Callable[[int], float]) -> int:
        """Return the least h with a tail from h + 1 on of at most 1 - level, with a margin for the floats."""
        most = 1.0 - _validate.probability(level=level)
        return least_passing(lambda h: h >= 0 and tail(h + 1) * (1.0 + 1e-7) <= most, round(2.0 * max(self.std)))

    def _tail(self, n: int, k: int) -> float:
        """Return P(|x| >= k) for k >= 1 and a cell of a group of n coordinates, or for n = 0 the common total."""
        kind, scale = self.kind, self.scale
        total = _moments(kind, self.groups, scale)[0]
        if n == 0:
            if kind != "added":
                return 0.0
            c, d, base = _nodes_of_total(self.groups, scale, k)
            return 2.0 * float(np.exp(base + _log_counts(kind, self.groups, c + d + k, c) - total).sum())
        a, c, base = _nodes(kind, self.groups, scale)
        if sum(self.groups) <= _MOST_GAUSS:
            a, c, base = a + k, c if kind == "added" else a + k, base - k / scale
        others = list(self.groups)
        others.remove(n)
        inside = a >= k
        a, c, base = a[inside], c[inside], base[inside]
        logs = base + _log_counts(kind, tuple(others), a, c) - total
        # Points with x_1 >= k are those with x_1 >= 0 of a smaller ball: half of them, and of those with x_1 = 0.
        t, u = (a - k, 0.0) if kind == "signed" else (a - k + c, a - k - c)
        ratio = _ratios(kind, n - 1, t, u)[n - 1]
        logs += _log_counts(kind, (n - 1,), a - k, c)
        return float((np.exp(logs) * (ratio + 1.0 + u / n)).sum())


def spreads(groups: tuple[int, ...], kind: str, scale: float) -> tuple[float, ...]:
    """Return the standard deviation of a cell of each group."""
    found = _moments(kind, tuple(groups), float(scale))[1]
    return tuple(math.sqrt(found[n]) for n in groups)


# --- the counts ---


def _ratios(kind: str, most: int, t: Floats, u: Floats | float) -> list[Floats]:
    """Return N_(n+1) / N_n for n = 0, ..., most at a + c = t and a - c = u."""
    if kind == "signed":
        steps = [odd := 2.0 * t + 1.0]
        for n in range(1, most + 1):
            steps.append((odd + n / steps[-1]) / (n + 1))
        return steps
    steps = [rise := t + 1.0]
    for n in range(1, most + 1):
        steps.append(((2 * n + 1) * rise + (n - u) * (n + u) / steps[-1]) / (n + 1) ** 2)
    return steps


def _log_counts(kind: str, groups: tuple[int, ...], a: Floats, c: Floats) -> Floats:
    """Return the sum over groups of log N_n(a, c)."""
    t, u = (a, 0.0) if kind == "signed" else (a + c, a - c)
    total = np.zeros(np.shape(t))
    if groups and max(groups):
        ratios = _ratios(kind, max(groups) - 1, t, u)
        # Step n is taken by every group that is larger.
        larger = np.cumsum(np.bincount(groups)[::-1])[::-1]
        for n, ratio in enumerate(ratios):
            total += larger[n + 1] * np.log(ratio)
    return total


def _terms(kind: str, n: int, a: int, c: int) -> list[int]:
    """Return how many points of the ball have i positive coordinates (or for "signed" i that are not 0), i <= n."""
    terms = [1 if kind == "signed" else math.comb(c + n, n)]
    for i in range(n):
        if kind == "signed":
            terms.append(terms[-1] * 2 * (n - i) * (a - i) // (i + 1) ** 2)
        else:
            terms.append(terms[-1] * (n - i) ** 2 * (a - i) // ((i + 1) ** 2 * (c + n - i)))
    return terms


# --- the radii ---


class _Radii:
    """Exact draws of the radii."""

    def __init__(self, kind: str, groups: tuple[int, ...], scale: float, *, bits: int = 60, word: int = 64) -> None:
        self.kind, self.groups, self.scale, self.word = kind, groups, scale, word
        dims = sum(groups)
        if scale * (16.0 * dims + 1024.0) > _FARTHEST:
            raise ArgumentError("scale", scale, "is too wide for 64-bit draws of so many numbers; use a larger unit")
        self.error = 2.0**-38 * (64 + dims + sum((n + 1) ** 2 for n in groups) / 256)
        mode, spread = _centre(kind, groups, scale)
        self.top = float(_log_weights(kind, groups, scale, mode, mode))
        far = math.ceil(4.0 * scale * dims) + 1
        while self._log_tail(far) - self.top > -math.log(2.0) * (_TAIL_BITS + bits + 1):
            far *= 2
        self.lines = _lines(mode, spread, far)
        self.widths = np.diff(self.lines)
        starts, ends = self.lines[:-1].astype(float), self.lines[1:] - 1.0
        # Between two lines log N lies below its chord in log(a + slack), and that below its tangent at the last place.
        slack = 1.0 if kind == "added" else 0.5
        span = np.log1p(self.widths / (starts + slack))
        last = np.log1p((ends - starts) / (starts + slack)) / span
        first = np.maximum(last - (ends - starts) / (ends + slack) / span, 0.0)
        grid = np.meshgrid(*[self.lines.astype(float)] * (2 if kind == "added" else 1), indexing="ij")
        bounds = [_log_counts(kind, groups, grid[0], grid[-1])]
        sizes = np.ones(())
        for _ in grid:
            places = ((first, starts), (last, ends))
            bounds = [((1 - x) * f[..., :-1] + x * f[..., 1:] - at / scale).T for f in bounds for x, at in places]
            sizes = np.multiply.outer(sizes, self.widths.astype(float))
        masses = np.exp(np.max(bounds, axis=0) - self.top + self.error).ravel() * sizes.ravel()
        # How many units a weight of e^top is given.
        self.height = 2.0 ** (bits - math.frexp(float(masses.sum()))[1])
        self.units = np.ceil(masses * (self.height * (1.0 + 2.0**-40))).astype(np.int64)
        self.ends = np.cumsum(self.units)
        with np.errstate(divide="ignore"):
            self.shares = np.log(sizes.ravel() * self.height / self.units)

    def _log_tail(self, far: int) -> float:
        """Return an upper bound of the logarithm of the weight of all radii that are not below `far`."""
        rest = 2.0 * math.log(-math.expm1(-0.5 / self.scale))
        return float(_log_counts(self.kind, self.groups, float(far), float(far))) - far / self.scale + 1.5 - rest

    def draw(self, count: int, rng: Source) -> tuple[Integers, Integers]:
        """Return the radii a and c of so many draws."""
        found: list[tuple[Integers, Integers]] = []
        left = count
        while left > 0:
            a, c = self._round(left + left // 2 + 4, rng)
            found.append((a[:left], c[:left]))
            left -= a.size
        both = tuple(np.concatenate(parts) for parts in zip(*found, strict=True)) if found else ()
        return both or (np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))

    def _round(self, count: int, rng: Source) -> tuple[Integers, Integers]:
        """Return those of so many proposals that are accepted."""
        units = uniform_integers(int(self.ends[-1]) + 1, count, rng, word=self.word)
        block = np.searchsorted(self.ends, units, side="right")
        beyond = block == self.ends.size
        if beyond.any():
            if random_bits(rng, _TAIL_BITS) == 0:
                raise UnprovedError("a draw fell beyond 64 bits, which happens with a probability below 2^-256")
            block[beyond] = 0
        i, j = np.divmod(block, self.widths.size) if self.kind == "added" else (block, block)
        a = self.lines[i] + uniform_integers(self.widths[i], count, rng, word=self.word)
        c = a
        if self.kind == "added":
            c = self.lines[j] + uniform_integers(self.widths[j], count, rng, word=self.word)
        words = random_words(rng, count) >> np.uint64(64 - self.word)
        weights = _log_weights(self.kind, self.groups, self.scale, a.astype(float), c.astype(float))
        chances = np.exp(weights - self.top + self.shares[block])
        gaps = chances - words * 2.0**-self.word
        errors = 2.0 * self.error * chances + 2.0**-50 + 2.0**-self.word
        accepted = gaps > errors
        for k in np.flatnonzero((np.abs(gaps) <= errors) & ~beyond):
            height = partial(self._chance, int(a[k]), int(c[k]), int(block[k]))
            numerator, word = int(words[k]), self.word
            accepted[k] = is_below(height, 0, rng, numerator=numerator, word=word, precision=lambda bits: bits + 128)
        accepted &= ~beyond
        return a[accepted], c[accepted]

    def _chance(self, a: int, c: int, block: int) -> arb:
        """Enclose the probability of accepting a place of a block."""
        i, j = divmod(block, self.widths.size) if self.kind == "added" else (block, None)
        places = int(self.widths[i]) * (1 if j is None else int(self.widths[j]))
        points = math.prod(sum(_terms(self.kind, n, a, c)) for n in self.groups)
        norm = a + c if self.kind == "added" else a
        weight = arb(points) * (-arb(norm) / arb(self.scale) - arb(self.top)).exp()
        return weight * arb(self.height) * places / int(self.units[block])


_radii = lru_cache(maxsize=32)(_Radii)


def _log_weights(kind: str, groups: tuple[int, ...], scale: float, a: Floats | float, c: Floats | float) -> Floats:
    """Return the logarithms of the weights of radii."""
    return _log_counts(kind, groups, a, c) - (a + c if kind == "added" else a) / scale


def _centre(kind: str, groups: tuple[int, ...], scale: float) -> tuple[float, float]:
    """Return about the likeliest radius a (= c), a whole number, and the standard deviation of a given c."""
    # log N rises by at most D/(a + 1/2) on the diagonal, so there is no mode beyond b D.
    end = scale * sum(groups) + 1.0
    low, high = 0.0, end
    for _ in range(2):
        places = np.linspace(low, high, 65)
        best = int(np.argmax(_log_weights(kind, groups, scale, places, places)))
        low, high = places[max(best - 1, 0)], places[min(best + 1, 64)]
    mode = float(round(places[best]))
    usual = scale * math.sqrt(sum(groups) + 2.0) * (0.8 if kind == "added" else 1.0)
    step = max(1.0, float(round(usual / 2.0)))
    if mode < step:
        return mode, usual
    a = mode + step * np.array([-1.0, 0.0, 1.0])
    below, at, above = _log_weights(kind, groups, scale, a, np.full(3, mode) if kind == "added" else a)
    return mode, min(usual, step / math.sqrt(max(2.0 * at - below - above, 1e-9)))


def _lines(mode: float, spread: float, far: int) -> Integers:
    """Return where blocks of radii begin and end: narrow ones about the mode, wider ones from 0 and to `far`."""
    step = max(1, int(spread / 3.0))
    steps = step * np.maximum(1.0, 1.5 ** (np.arange(140.0) - 12.0))
    away = np.cumsum(np.minimum(steps, 2.0**60)[: int(np.argmax(np.cumsum(steps) >= far)) + 1]).astype(np.int64)
    middle = int(mode)
    inside = [*(middle - away), middle, *(middle + away)]
    return np.array(sorted({0, far, *(int(x) for x in inside if 0 < x < far)}), dtype=np.int64)


# --- uniform points ---


def _points(kind: str, n: Integers, a: Integers, c: Integers, rng: Source) -> Integers:
    """Return a uniform point of each ball, one in a row; what follows its n coordinates has no meaning."""
    width = int(n.max())
    i = _signs(kind, n, a, c, rng)
    places = np.arange(width)
    if kind == "signed":
        sets = _subsets(np.concatenate((a, n)), np.concatenate((i, i)), width, rng).reshape(2, -1, width)
        others = np.zeros_like(sets[0])
    else:
        m = n - i
        sets = _subsets(np.concatenate((a, n, c + m)), np.concatenate((i, i, m)), width, rng).reshape(3, -1, width)
        others = np.diff(sets[2], prepend=-1, axis=1) - 1
    chosen = np.zeros((n.size, width + 1), dtype=np.bool_)
    np.put_along_axis(chosen, np.minimum(sets[1], width), values=True, axis=1)
    chosen = chosen[:, :width]
    before = np.cumsum(chosen, axis=1)
    values = np.take_along_axis(np.diff(sets[0], prepend=-1, axis=1), np.maximum(before - 1, 0), axis=1)
    if kind == "signed":
        values[(random_words(rng, values.size) & np.uint64(1)).astype(np.bool_).reshape(values.shape)] *= -1
    rest = np.take_along_axis(others, np.minimum(places - before, width - 1) * ~chosen, axis=1)
    return np.where(chosen, values, -rest)


def _signs(kind: str, n: Integers, a: Integers, c: Integers, rng: Source) -> Integers:
    """Return how many coordinates of a uniform point of each ball are positive (for "signed", are not 0)."""
    i, size = np.arange(float(n.max())), n[:, None].astype(float)
    left = np.maximum(size - i, 0.0)
    if kind == "signed":
        ratios = 2.0 * left * np.maximum(a[:, None] - i, 0.0) / (i + 1.0) ** 2
    else:
        ratios = left**2 * np.maximum(a[:, None] - i, 0.0) / ((i + 1.0) ** 2 * (c[:, None] + np.maximum(left, 1.0)))
    with np.errstate(divide="ignore"):
        terms = np.cumsum(np.log(ratios), axis=1)
    terms = np.exp(np.concatenate((np.zeros((n.size, 1)), terms), axis=1) - np.maximum(terms.max(axis=1), 0.0)[:, None])
    below = np.cumsum(terms, axis=1)
    below = below[:, :-1] / below[:, -1:]
    words = random_words(rng, n.size)
    uniform = (words * 2.0**-64)[:, None]
    found = (uniform >= below).sum(axis=1)
    for k in np.flatnonzero((np.abs(uniform - below) <= 2.0**-37 * (i.size + 2)).any(axis=1)):
        counts = _terms(kind, int(n[k]), int(a[k]), int(c[k]))
        sums = [0, *accumulate(counts)]

        def enclose(j: int, sums: list[int] = sums) -> arb:
            return arb(sums[min(max(j, 0), len(sums) - 1)]) / arb(sums[-1])

        found[k] = invert(enclose, rng, numerator=int(words[k]), bits=64, start=int(found[k]))
    return found


def _subsets(totals: Integers, sizes: Integers, width: int, rng: Source) -> Integers:
    """Return for each row a uniform set of so many of the integers from 0 to total - 1, in order, then 2^62."""
    places = np.arange(width)
    left = np.maximum(totals[:, None] - places, 1)
    drawn = uniform_integers(left.ravel(), left.size, rng).reshape(left.shape)
    found = np.full(left.shape, 1 << 62)
    for k in range(int(sizes.max())):
        # Of the integers that are left, the r-th: so many that are taken come before it.
        taken = (found[:, :k] - places[:k] <= drawn[:, k, None]).sum(axis=1)
        found[:, k] = np.where(k < sizes, drawn[:, k] + taken, 1 << 62)
        found[:, : k + 1].sort(axis=1)
    return found


# --- moments ---


@lru_cache(maxsize=64)
def _moments(kind: str, groups: tuple[int, ...], scale: float) -> tuple[float, dict[int, float]]:
    """Return the logarithm of the sum of all weights, and E x^2 of a cell of a group of n coordinates for each n."""
    a, c, base = _nodes(kind, groups, scale)
    logs = base + _log_counts(kind, groups, a, c)
    top = float(logs.max())
    weights = np.exp(logs - top)
    total = float(weights.sum())
    t, u = (a, np.zeros_like(a)) if kind == "signed" else (a + c, a - c)
    ratios = _ratios(kind, max(groups), t, u)
    squares = {}
    for n in set(groups):
        if kind == "signed":
            mean = ((2.0 * t + 1.0) * ratios[n] - 1.0) / (2.0 * (n + 2.0))
        else:
            mean = (n * (1.0 + t) * ratios[n] - n + (n + 4.0) * u * u / (n + 1.0)) / (n + 2.0) ** 2
        squares[n] = float((weights * (mean if n else u * u)).sum()) / total
    return top + math.log(total), squares


def _nodes(kind: str, groups: tuple[int, ...], scale: float) -> tuple[Floats, Floats, Floats]:
    """Return radii a and c, and the logarithms of weights with which they sum what is q^(a + c) times a polynomial."""
    dims = sum(groups)
    if dims <= _MOST_GAUSS:
        x, logs = _gauss(scale, (dims + 4) // 2)
    else:
        mode, spread = _centre(kind, groups, scale)
        step = max(1.0, float(int(spread / 1.2)))
        x = mode + step * np.arange(-math.ceil(11.0 * spread / step), math.ceil(11.0 * spread / step) + 1)
        x = x[x >= 0.0]
        logs = math.log(step) - x / scale
    if kind != "added":
        return x, x, logs
    a, c = np.meshgrid(x, x, indexing="ij")
    return a.ravel(), c.ravel(), np.add.outer(logs, logs).ravel()


def _nodes_of_total(groups: tuple[int, ...], scale: float, k: int) -> tuple[Floats, Floats, Floats]:
    """Return radii c, excesses d of a over c + k, and the logarithms of their weights, for sums over u >= k."""
    dims = sum(groups)
    if dims <= _MOST_GAUSS:
        (c, first), (d, second) = (_gauss(width, (dims + 4) // 2) for width in (scale / 2.0, scale))
        both = np.add.outer(first, second - k / scale)
    else:
        mode, spread = _centre("added", groups, scale)
        step = max(1.0, float(int(spread / 1.2)))
        c = mode + step * np.arange(-math.ceil(11.0 * spread / step), math.ceil(11.0 * spread / step) + 1)
        if spread > 16.0:
            d, second = _gauss(spread / 2.0, 48)
            second += d / (spread / 2.0)
        else:
            d = np.arange(math.ceil(12.0 * spread) + 60.0)
            second = np.zeros_like(d)
        half = np.floor((d + k) / 2.0)
        c = c[:, None] - half
        both = np.where(c >= 0.0, math.log(step) + second - (2.0 * c + d + k) / scale, -np.inf)
        return np.maximum(c, 0.0).ravel(), np.broadcast_to(d, c.shape).ravel(), both.ravel()
    c, d = np.meshgrid(c, d, indexing="ij")
    return c.ravel(), d.ravel(), both.ravel()


def _gauss(scale: float, count: int) -> tuple[Floats, Floats]:
    """Return nodes and the logarithms of weights of the Gauss rule for the weights e^(-x/scale), x = 0, 1, ..."""
    q, p = math.exp(-1.0 / scale), -math.expm1(-1.0 / scale)
    k = np.arange(float(count))
    diagonal, beside = (k + q * (k + 1.0)) / p, k[1:] * math.sqrt(q) / p
    x = np.linalg.eigvalsh(np.diag(diagonal) + np.diag(beside, 1) + np.diag(beside, -1))
    # Weights are 1 / sum p_k(x)^2 over the orthonormal polynomials p_k.
    before, now = np.zeros_like(x), np.full_like(x, math.sqrt(p))
    squares = now**2
    with np.errstate(all="ignore"):
        for j in range(count - 1):
            last = beside[j - 1] * before if j else 0.0
            before, now = now, ((x - diagonal[j]) * now - last) / beside[j]
            squares += now**2
        logs = -np.log(squares)
    return x, np.where(np.isfinite(logs), logs, -np.inf)
