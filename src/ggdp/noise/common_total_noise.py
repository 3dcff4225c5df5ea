"""Noise for complete tables of two cells: independent in their common total and in the difference of each, then whole.

===========  ===========================================================================================
u, d_j       the total that all tables have, and the second count of table j less the first
k, m         whole multipliers of u and of every d_j
E_0, E_j     independent integer noise of one order and scale; U = k u + E_0 and V_j = m d_j + E_j
[x]          x rounded to a whole number; by a fair coin of its own where it lies between two
e, X_j       noise of the total, [E_0 / k], and of the second count of table j, [(m e + E_j) / 2m]
q, s, t      a divisor, a shift and a whole number
===========  ===========================================================================================

Published are the total u' = [U / k], of each table the second count [(m u' + V_j) / 2m], and for the first count u'
less the second. So every table adds up to u' as published.

Claim (privacy). What is published has the guarantee that is proved for U and all V_j. Proof: a unit adds 1 to u and 1
or -1 to each d_j, so it changes the vector (k u, m d_1, ...) in the box of sides (k, m, ..., m); all else is a function
of the noisy vector and of coins that know nothing.

Claim (law). The errors are e and X_j, whatever the counts are, and e - X_j has the law of X_j. Proof: [x + n] has the
law of [x] + n for whole n; as u + d_j is twice the second count, e = u' - u and X_j come out of the numerators. And
-[x] has the law of [-x], for coins are fair; so e - X_j = [e - (m e + E_j) / 2m] = [(m e - E_j) / 2m] in law, and E_j
is symmetric. So both counts of a table have one law, symmetric around 0.

With a coin c of 0 or 1, [n / q] = floor((2 n + q - c) / 2q), which differs for the two only where n / q lies between
two whole numbers. So P([(s + E) / q] >= t) is the mean over c of P(2 E >= 2 q t - q - 2 s + c).

On the reals a count has the variance Var E (1 / k^2 + 1 / m^2) / 4. Gaussian noise of the box of r tables has a
variance in proportion to k^2 + r m^2. The product is least where k / m is the fourth root of r; a count then has
(1 + sqrt(r)) / 2 times the deviation of a single count, where noise that is independent in every cell has sqrt(r).

Rounding: tails are sums of floats that are good to 1e-10 of themselves; a margin of 1e-9 is kept. Of E what lies beyond
e^-80 is left out.

References
----------
Lebeda, "Better Gaussian Mechanism using Correlated Noise", arXiv 2408.06853 (Gaussian noise of a common part).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

import numpy as np
from attrs import asdict, field, frozen

from ggdp import _validate
from ggdp.noise.bounded_law import running_sums, weights
from ggdp.noise.entropy import Integers, Source, uniform_integers
from ggdp.noise.generalized_gaussian import Floats, checked_order, checked_scale
from ggdp.noise.integer_law import least_passing
from ggdp.noise.minkowski_noise import SMALL
from ggdp.privacy import Sensitivity
from ggdp.proofs.noise_law import Norm

_DEPTH, _MARGIN, _INEXACT = 80.0, 1e-9, 1e-11
_LEAST, _LARGEST = -(2**63), 2**63 - 1


def _whole(value: int) -> int:
    return _validate.integer(value=value, at_least=1, at_most=1 << 20)


@frozen(kw_only=True)
class CommonTotalNoise:
    """The law of the noise of complete tables of two cells, which all add up to one noisy total.

    Parameters
    ----------
    order, scale : float
        Order and scale of the integer noise of total and differences, as they are multiplied.
    total, difference : int
        The multipliers k of the total, and m of the differences.
    tables : int
        How many tables.

    Examples
    --------
    >>> noise = CommonTotalNoise(order=2.0, scale=62.0, total=3, difference=1, tables=100)
    >>> round(noise.std[0], 1), noise.half_widths(0.95)[0], noise.total_half_width(0.95)
    (23.1, 45, 29)
    """

    order: float = field(converter=checked_order)
    scale: float = field(converter=checked_scale)
    total: int = field(converter=_whole)
    difference: int = field(converter=_whole)
    tables: int = field(converter=_whole)

    @property
    def norm(self) -> Norm:
        """The groups of cells."""
        return Norm(kind="added", groups=(1,) * self.tables, complete=(True,) * self.tables)

    @property
    def cells(self) -> tuple[int, ...]:
        """Number of cells of each table."""
        return (2,) * self.tables

    @property
    def complete(self) -> tuple[bool, ...]:
        """Which tables have the common total: all."""
        return (True,) * self.tables

    @property
    def encoding(self) -> dict[str, Any]:
        """What order and scale do not tell."""
        return {name: value for name, value in asdict(self).items() if name not in ("order", "scale")}

    @property
    def place(self) -> str:
        """What noise of this order and scale is added to, in words."""
        total, each = ("" if times == 1 else f"{times} times " for times in (self.total, self.difference))
        return f"on {total}the total and {each}each difference"

    @staticmethod
    def changes(total: int, difference: int, tables: int) -> Sensitivity:
        """Return how far one unit can change what the noise is added to."""
        return Sensitivity.box([total] + [difference] * tables)

    def encode(self, counts: Integers) -> list[int]:
        """Return k u and all m d_j of the counts of all tables, which have one total."""
        pairs = counts.reshape(self.tables, 2).tolist()
        return [self.total * sum(pairs[0]), *(self.difference * (second - first) for first, second in pairs)]

    def decode(self, noisy: Integers, rng: Source) -> Integers:
        """Return the counts to publish; whole numbers of any size are exact on the way."""
        coins = uniform_integers(2, noisy.size, rng).astype(object)
        (whole, *differences), k, m = noisy.tolist(), self.total, self.difference
        total = (2 * whole + k - coins[0]) // (2 * k)
        second = (2 * (m * total + np.array(differences, dtype=object)) + 2 * m - coins[1:]) // (4 * m)
        counts = np.stack([total - second, second], axis=1).reshape(-1)
        return np.asarray(np.clip(counts, _LEAST, _LARGEST).astype(np.int64))

    def half_widths(self, level: float) -> tuple[int, ...]:
        """Return for a cell x of each table the least h with P(|x| <= h) >= level."""
        return (self._least(level, partial(self.tail, 0), self._spreads[1]),) * self.tables

    def total_half_width(self, level: float) -> int:
        """Return the least h with P(|e| <= h) >= level, for the common total."""
        return self._least(level, lambda h: 2.0 * float(self._at_least(0, self.total, h)), self._spreads[0])

    def simultaneous_half_width(self, level: float) -> int:
        """Return the least h with P(|x| <= h for all cells x) >= level: given e, tables are independent."""

        def tail(h: int) -> float:
            e, mass = self._of_total
            m, far = self.difference, h - 1
            low, high = np.maximum(-far, e - far), np.minimum(far, e + far)
            inside = self._at_least(m * e, 2 * m, low) - self._at_least(m * e, 2 * m, high + 1)
            found = 1.0 - float(mass @ np.maximum(inside, 0.0) ** self.tables) + _INEXACT
            return found if found > SMALL else min(found, 2 * self.tables * self.tail(0, h))

        return self._least(level, tail, 4.0 * self._spreads[1])

    def tail(self, group: int, k: int) -> float:
        """Return P(|x| >= k) for k >= 1 and a cell x of a table."""
        del group  # all tables are alike
        e, mass = self._of_total
        return 2.0 * float(mass @ self._at_least(self.difference * e, 2 * self.difference, k))

    @property
    def std(self) -> tuple[float, ...]:
        """Standard deviation of a cell of each table."""
        return (self._spreads[1],) * self.tables

    @property
    def total_std(self) -> float:
        """Standard deviation of the common total."""
        return self._spreads[0]

    @property
    def _of_total(self) -> tuple[Integers, Floats]:
        return _masses(self.order, self.scale, 0, self.total)

    @property
    def _spreads(self) -> tuple[float, float]:
        return _spreads(self.order, self.scale, self.total, self.difference)

    def _at_least(self, s: Integers | int, q: int, t: Integers | int) -> Floats:
        return _rounded_tail(self.order, self.scale, s, q, t)

    def _least(self, level: float, tail: Callable[[int], float], guess: float) -> int:
        most = 1.0 - _validate.probability(level=level)
        return least_passing(lambda h: h >= 0 and tail(h + 1) * (1.0 + _MARGIN) <= most, round(guess))


@lru_cache(maxsize=8)
def _tails(order: float, scale: float) -> Floats:
    """Return P(E >= n) for n = 0, 1, ... up to a 0."""
    terms = weights(order, scale, np.arange(scale * _DEPTH ** (1.0 / order) + 2.0))
    sums = running_sums(terms[::-1])[::-1]
    return np.asarray(sums / (2.0 * sums[0] - terms[0]))


def _rounded_tail(order: float, scale: float, s: Integers | int, q: int, t: Integers | int) -> Floats:
    """Return P([(s + E) / q] >= t)."""
    tails, total = _tails(order, scale), np.zeros(np.broadcast(s, t).shape)
    for coin in (0, 1):
        n = np.asarray((2 * q * t - q - 2 * s + coin + 1) // 2)
        beyond = tails[np.minimum(np.abs(np.where(n > 0, n, 1 - n)), tails.size - 1)]
        total += 0.5 * np.where(n > 0, beyond, 1.0 - beyond)
    return total


@lru_cache(maxsize=32)
def _masses(order: float, scale: float, s: int, q: int) -> tuple[Integers, Floats]:
    """Return the whole numbers t, and P([(s + E) / q] = t), for s from 0 to q / 2."""
    far = _tails(order, scale).size // q + 2
    t = np.arange(-far, far + 1)
    # From the nearer end, where differences of tails lose nothing; -[x] has the law of [-x].
    above, below = (_rounded_tail(order, scale, shift, q, np.arange(far + 2)) for shift in (s, -s))
    return t, np.concatenate((-np.diff(below)[:0:-1], [1.0 - above[1] - below[1]], -np.diff(above)[1:]))


@lru_cache(maxsize=64)
def _spreads(order: float, scale: float, k: int, m: int) -> tuple[float, float]:
    """Return the standard deviations of total and cell: with e = 2 t + s, X = t + [(m s + E) / 2m]."""
    (e, mass), squares = _masses(order, scale, 0, k), 0.0
    for s in (0, 1):
        here, (x, of_x) = e % 2 == s, _masses(order, scale, m * s, 2 * m)
        t, of_t = e[here] // 2, mass[here]
        squares += float(of_t @ (t * t + 2.0 * (of_x @ x) * t) + of_t.sum() * (of_x @ (x * x)))
    return math.sqrt(float(mass @ (e * e))), math.sqrt(squares)
