"""Exact draws of the Binomial law, with up to 10^18 trials and a probability that is known by enclosures.

=======  ==============================================================================
N, q     number of trials, and probability of each
f(k)     N! / (k! (N - k)!) q^k (1 - q)^(N - k), the probability of k
m        a mode, about (N + 1) q
=======  ==============================================================================

The thresholds of a table (`ggdp.noise.table`) are sums of f, made in balls: f(m) from the logarithm of the gamma
function, its neighbours by f(k + 1) / f(k) = (N - k) q / ((k + 1)(1 - q)). No normaliser is needed. Where the terms
become negligible the rest is bounded by a geometric series.

Claim (the rest). f(k - 1) / f(k) rises with k, since it is k (1 - q) / ((N - k + 1) q). So for any k below the mode,
with r = f(k - 1) / f(k) < 1, the sum over j < k is at most f(k) r / (1 - r); and likewise above it.

A probability that is enclosed at any precision gives exactly the Binomial law. One that is only known to lie in a fixed
interval gives it unless a draw falls where the interval does not decide, which raises an error and returns nothing.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeAlias

from attrs import field, frozen
from flint import arb, ctx

from ggdp import _validate
from ggdp._balls import BALLS, hull, working_precision
from ggdp.errors import ArgumentError
from ggdp.noise.integer_noise import ExactLaw
from ggdp.noise.table import Table, integer_bracket

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from ggdp.noise.entropy import Source


Enclosure: TypeAlias = "Callable[[], arb]"

_MOST_TRIALS = 10**18
_MOST_TERMS = 1 << 18
_SPARE_BITS = 64
# Terms below this share of the whole are left to the bound of the rest.
_DEPTH_BITS = 80
# Standard deviations that hold all but 2^-64 of the law, generously.
_REACH = 12.0


def _trials(trials: int) -> int:
    count = _validate.integer(trials=trials, at_least=0)
    if count > _MOST_TRIALS:
        raise ArgumentError("trials", count, "must be at most 10^18")
    return count


def _probability(probability: float | arb | Enclosure) -> float | arb | Enclosure:
    if callable(probability) or isinstance(probability, arb):
        return probability
    return _validate.finite(probability=probability)


@frozen(kw_only=True)
class Binomial(ExactLaw):
    """How many of `trials` independent events happen, each with a `probability`; drawn exactly.

    Parameters
    ----------
    trials : int
        Number of events, at most 10^18.
    probability : float, arb or callable that returns an arb
        Probability of each. A float is taken as exact. A callable encloses it at the working precision of flint, as
        narrowly as it is asked; a ball (arb) is an interval that is known to hold it, and a draw that it does not
        decide raises an `UnprovedError`.

    Notes
    -----
    A law with a variance above some 1e8 is too wide to be drawn.

    Examples
    --------
    >>> from ggdp.proofs.tails import tail
    >>> cells = Binomial(trials=10**13, probability=lambda: tail(1.0, 1.0, 30))
    >>> cells.sample(4).dtype
    dtype('int64')
    """

    trials: int = field(converter=_trials)
    # Compared in a tuple, by identity first: a ball with a radius does not equal itself.
    probability: float | arb | Enclosure = field(converter=_probability, eq=lambda probability: (probability,))
    _made: list[Table | _Constant] = field(factory=list, init=False, repr=False, eq=False)

    def __attrs_post_init__(self) -> None:
        q = self._enclosed()
        if not isinstance(q, arb) or not (q >= 0 and q <= 1):
            raise ArgumentError(
                "probability", self.probability, "must be, or enclose, a number of at least 0 and at most 1"
            )

    def _sampler(self) -> Table | _Constant:
        if not self._made:
            self._made.append(self._new_sampler())
        return self._made[0]

    def _enclosed(self) -> arb:
        """Enclose the probability at the working precision."""
        return self.probability() if callable(self.probability) else arb(self.probability)

    def _new_sampler(self) -> Table | _Constant:
        with BALLS, working_precision(64):
            q = self._enclosed()
            deviation = math.sqrt(max(float((self.trials * q * (1 - q)).upper()), 0.0))
            centre = float((self.trials * q).mid())
        if self.trials == 0 or q <= 0:
            return _Constant(0)
        if q >= 1:
            return _Constant(self.trials)
        # Far from the normal shape, a small mean reaches farther: its tail falls like that of a Poisson law.
        reach = math.ceil(_REACH * deviation) + 60
        if 2 * reach > _MOST_TERMS:
            raise ArgumentError(
                "trials", self.trials, "with this probability the number of events spreads too far for an exact table"
            )
        mode = min(max(int(centre), 0), self.trials)
        first, last = max(mode - reach, 0), min(mode + reach, self.trials)
        with BALLS, working_precision(_bits(self.trials, 64)):
            brackets, least, stop = _brackets(self.trials, self._enclosed(), mode, first, last)
        ends = (least == 0, stop == self.trials)

        def below(k: int) -> arb:
            with BALLS, working_precision(_bits(self.trials, ctx.prec)):
                return _below(self.trials, self._enclosed(), k)

        return Table.of(brackets, least=least, ends=ends, below=below)


@frozen
class _Constant:
    """Draws that are always the same."""

    value: int

    def draw(self, out: NDArray[np.int64], source: Source) -> None:  # noqa: ARG002 - nothing is left to chance
        """Overwrite a flat array."""
        out[:] = self.value


def _bits(trials: int, bits: int) -> int:
    """Return the precision at which f is enclosed to `bits` bits: the logarithms in it are of the size of N log N."""
    return bits + _SPARE_BITS + 2 * trials.bit_length()


def _mass(n: int, q: arb, k: int) -> arb:
    """Enclose f(k)."""
    choose = (arb(n) + 1).lgamma() - (arb(k) + 1).lgamma() - (arb(n - k) + 1).lgamma()
    return (choose + k * q.log() + (n - k) * (-q).log1p()).exp()


def _terms_down(n: int, q: arb, k: int, last: int, *, floor: arb) -> tuple[list[arb], arb, int]:
    """Return f(k), f(k - 1), ..., a bound of the rest as a ball from 0, and the least k among the terms."""
    odds = (1 - q) / q
    terms = [_mass(n, q, k)]
    while k > last and not terms[-1] < floor:
        terms.append(terms[-1] * odds * k / (n - k + 1))
        k -= 1
    if k == 0:
        return terms, arb(0), 0
    ratio = odds * k / (n - k + 1)
    rest = terms[-1] * ratio / (1 - ratio) if ratio < 1 else arb(1)
    return terms, hull(arb(0), rest.upper()), k


def _below(n: int, q: arb, k: int) -> arb:
    """Enclose the sum of f(j) over j < k."""
    if k <= 0:
        return arb(0)
    if k > n:
        return arb(1)
    floor = arb(2) ** -(ctx.prec)
    if k - 1 <= (n + 1) * q:
        terms, rest, _ = _terms_down(n, q, k - 1, 0, floor=floor)
        return sum(terms, rest)
    terms, rest, _ = _terms_down(n, 1 - q, n - k, 0, floor=floor)
    return 1 - sum(terms, rest)


def _brackets(n: int, q: arb, mode: int, first: int, last: int) -> tuple[list[tuple[int, int]], int, int]:
    """Return the brackets of 2^64 P(X < k), the value below the first of them, and that from the last on."""
    floor = arb(2) ** -_DEPTH_BITS
    down, total, least = _terms_down(n, q, mode, first, floor=floor)
    up, _, _ = _terms_down(n, 1 - q, n - mode, n - last, floor=floor)
    unit = arb(2) ** 64
    brackets: list[tuple[int, int]] = []
    # Below `least` the law goes on if that is not 0; its share is the first threshold then.
    if least > 0:
        brackets.append(integer_bracket(total * unit))
        least -= 1
    for term in [*reversed(down), *up[1:]]:
        total = total + term
        low, high = integer_bracket(total * unit)
        brackets.append((min(low, (1 << 64) - 1), min(high, 1 << 64)))
        if high >> 64:
            break
    stop = least + len(brackets)
    if stop > n:
        # All of the law is in the terms, so the last sum is 1 and no threshold.
        brackets.pop()
        stop = n
    return brackets, least, stop
