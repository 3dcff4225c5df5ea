"""Whether draws fit a law: three tests whose levels are proved, and the power of each against another law.

===========  ====================================================================================================
n            number of draws
F, F_n       P(K < k) and the share of draws below k, at the edges of a law
kl(a, p)     a log(a/p) + (1 - a) log((1 - a)/(1 - p)), the relative entropy of two events
D            relative entropy of the shares of draws in the cells from their probabilities; 2 n D is the
             likelihood-ratio form of chi-square
===========  ====================================================================================================

The levels asked for are near 1e-13, where no chi-square approximation can be trusted. So each critical value comes from
a bound that holds for every law and every n; cells are pooled for the sake of power, not of the level.

Claim (edges and cells). For an event of probability p seen X times, P(n kl(X/n, p) >= x) <= 2 e^-x (Chernoff, once for
each side). With m events, each edge and each single cell, P(any of n kl >= x) <= 2 m e^-x. It sees far tails as well as
the middle.

Claim (chi-square). With d + 1 cells, P(n D >= x) <= (y/d)^d e^(d - y) for y = x - d log 2 >= d. Proof: given the
earlier cells, the count of each cell is Binomial, and n D is the sum of the d terms m kl(X/m, p) of these. By the first
claim P(m kl >= x) <= min(1, 2 e^-x), so E e^(t m kl) <= 2^t / (1 - t) for 0 <= t < 1, whatever came before; so
E e^(t n D) <= (2^t / (1 - t))^d, and Markov's inequality with 1 - t = d / y gives the bound.

Claim (Kolmogorov-Smirnov). P(sup |F_n - F| >= sqrt(log(2/level) / (2 n))) <= level for every law (Dvoretzky, Kiefer and
Wolfowitz with Massart's constant, which discrete laws and a sup over fewer points can only make conservative).

Claim (two samples). If both have the same law, then given how many of the 2 n draws are in an event, those of
the first sample are hypergeometric, and Chernoff's bound holds for it too (Hoeffding 1963, section 6).

Claim (power). Let A be an event, and a a number between P(A) and Q(A) such that the test rejects when the share of
draws in A is at a or beyond it. Draws of the law Q are then missed with a probability of at most exp(-n kl(a, Q(A)))
(Chernoff). Chi-square rejects when n kl(a, P(A)) >= x for a union A of its cells, since pooling cannot raise n D.

References
----------
Hoeffding, "Probability Inequalities for Sums of Bounded Random Variables" (1963); Massart, "The Tight Constant in the
Dvoretzky-Kiefer-Wolfowitz Inequality" (1990); Berk and Jones (1979), for the test at every edge; Agrawal,
"Finite-Sample Concentration of the Multinomial in Relative Entropy" (2020), for a sharper form of the second claim.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import brentq
from scipy.special import rel_entr

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import ArrayLike, NDArray
    from tests.statistical.budget import Allowance
    from tests.statistical.laws import Law

    Floats = NDArray[np.float64]
    Below = Callable[[NDArray[np.int64]], Floats]

CHI_SQUARE, KOLMOGOROV, EDGES = "chi-square", "kolmogorov-smirnov", "every edge and cell"
ALL = (CHI_SQUARE, KOLMOGOROV, EDGES)
# Pooled cells are about this likely in the middle of a law, and hold this many draws in its tails.
_LIKELY, _EXPECTED = 1.0 / 24.0, 50.0


@dataclass(frozen=True, slots=True)
class Verdict:
    """What each test found: its statistic and its critical value."""

    found: dict[str, tuple[float, float]]

    @property
    def rejected(self) -> set[str]:
        """The tests that rejected."""
        return {name for name, (statistic, critical) in self.found.items() if statistic >= critical}


def relative_entropy(a: ArrayLike, p: ArrayLike) -> Floats:
    """kl(a, p)."""
    a, p = np.clip(a, 0.0, 1.0), np.clip(p, 0.0, 1.0)
    return np.asarray(rel_entr(a, p) + rel_entr(1.0 - a, 1.0 - p), dtype=np.float64)


def edges_critical(events: int, level: float) -> float:
    """The x with 2 m e^-x = level."""
    return math.log(2.0 * events / level)


def kolmogorov_critical(n: int, level: float) -> float:
    """The distance that F_n and F do not reach but with a probability of `level`."""
    return math.sqrt(math.log(2.0 / level) / (2.0 * n))


def chi_square_critical(cells: int, level: float) -> float:
    """The x that n D does not reach but with a probability of `level`."""
    d = cells - 1
    if d <= 1:
        return edges_critical(1, level) if d else math.inf
    excess = brentq(lambda z: d * math.log1p(z / d) - z - math.log(level), 1e-9, 100.0 * (d - math.log(level)))
    return float(excess + d + d * math.log(2.0))


def pooled(probabilities: Floats, n: int) -> NDArray[np.int64]:
    """Where neighbouring cells are joined: the first cell of each pool."""
    starts, held, before = [0], 0.0, 0.0
    for i, probability in enumerate(probabilities):
        least = max(_EXPECTED / n, min(_LIKELY, min(before + held, 1.0 - before) / 2.0))
        if held >= least and 1.0 - before - held >= _EXPECTED / n:
            starts.append(i)
            before, held = before + held, 0.0
        held += probability
    return np.array(starts, dtype=np.int64)


def examined(draws: NDArray[np.int64], law: Law, level: float) -> Verdict:
    """Compare draws with a law; a right sampler has any test reject with a probability of at most `level`."""
    n, each = draws.size, level / len(ALL)
    P = law.probabilities(law.below)
    counts = law.counted(draws)
    F, F_n = np.cumsum(P)[:-1], np.cumsum(counts)[:-1] / n
    events_P, events_n = np.concatenate([F, P]), np.concatenate([F_n, counts / n])
    starts = pooled(P, n)
    pools, pooled_counts = np.add.reduceat(P, starts), np.add.reduceat(counts, starts)
    return Verdict(
        {
            CHI_SQUARE: (
                float(n * rel_entr(pooled_counts / n, pools).sum()),
                chi_square_critical(starts.size, each),
            ),
            KOLMOGOROV: (float(np.abs(F_n - F).max(initial=0.0)), kolmogorov_critical(n, each)),
            EDGES: (
                float(n * relative_entropy(events_n, events_P).max(initial=0.0)),
                edges_critical(events_P.size, each),
            ),
        }
    )


def missed(law: Law, other: Below, n: int, level: float) -> dict[str, float]:
    """Bound the probability that each test at `level` does not reject n draws of another law, given by its P(K < k)."""
    each = level / len(ALL)
    P, Q = law.probabilities(law.below), law.probabilities(other)
    F, G = np.cumsum(P)[:-1], np.cumsum(Q)[:-1]
    starts = pooled(P, n)
    pools, others = np.add.reduceat(P, starts), np.add.reduceat(Q, starts)
    more = others > pools
    events_P, events_Q = np.concatenate([F, P]), np.concatenate([G, Q])
    union = np.array([pools[more].sum()]), np.array([others[more].sum()])
    distance = kolmogorov_critical(n, each)
    return {
        CHI_SQUARE: _least_miss(*union, n, _barriers(*union, chi_square_critical(starts.size, each) / n)),
        KOLMOGOROV: _least_miss(F, G, n, F + np.where(G > F, distance, -distance)),
        EDGES: _least_miss(
            events_P, events_Q, n, _barriers(events_P, events_Q, edges_critical(events_P.size, each) / n)
        ),
    }


def _barriers(P: Floats, Q: Floats, x: float) -> Floats:
    """The share a between P and Q with kl(a, P) = x; beyond Q where there is none."""
    inside, outside = P.copy(), Q + np.where(Q > P, 1.0, -1.0) * 1e-12
    for _ in range(60):
        middle = (inside + outside) / 2.0
        enough = relative_entropy(middle, P) >= x
        inside, outside = np.where(enough, inside, middle), np.where(enough, middle, outside)
    return outside


def _least_miss(P: Floats, Q: Floats, n: int, barrier: Floats) -> float:
    """The best bound exp(-n kl(a, Q)) over the events whose barrier a is between P and Q."""
    between = np.where(Q > P, (barrier > P) & (barrier < Q), (barrier < P) & (barrier > Q))
    exponents = np.where(between, n * relative_entropy(barrier, Q), 0.0)
    return float(np.exp(-exponents.max(initial=0.0)))


def assert_fits(draws: NDArray[np.int64], law: Law, allowance: Allowance) -> None:
    """Fail if a test rejects the draws."""
    verdict = examined(draws, law, allowance.level())
    assert not verdict.rejected, f"draws do not fit: {verdict}"


def weakest(law: Law, others: Iterable[tuple[float, Below]], n: int, level: float, *, by: Iterable[str] = ALL) -> float:
    """Return the first distortion of a ladder that is seen by the tests `by`, but with a probability of `level`."""
    strongest = None
    for strength, other in others:
        strongest = missed(law, other, n, level)
        if sum(strongest[name] for name in by) <= level:
            return strength
    message = f"no distortion of the ladder is sure to be seen; the last is missed with {strongest}"
    raise AssertionError(message)


def assert_seen(
    draws: NDArray[np.int64], law: Law, other: Below, allowance: Allowance, *, by: Iterable[str] = ALL
) -> None:
    """Fail if a test of `by` does not reject draws of another law, or is not almost sure to."""
    level = allowance.level()
    misses = missed(law, other, draws.size, level)
    assert sum(misses[name] for name in by) <= level, f"the control has too little power: {misses}"
    verdict = examined(draws, law, level)
    assert set(by) <= verdict.rejected, f"a control was not seen: {verdict}"


def assert_same(first: NDArray[np.int64], second: NDArray[np.int64], law: Law, allowance: Allowance) -> None:
    """Fail if two samples of one size do not have the same law, whichever that is, at the edges of `law`."""
    statistic, critical = compared(first, second, law, allowance.level())
    assert statistic < critical, f"samples differ: {statistic} >= {critical}"


def compared(first: NDArray[np.int64], second: NDArray[np.int64], law: Law, level: float) -> tuple[float, float]:
    """The largest n kl of one sample beside both, over all edges and cells, and its critical value."""
    if first.size != second.size:
        message = f"samples of one size are compared, not of {first.size} and {second.size}"
        raise ValueError(message)
    n, counts = first.size, np.array([law.counted(first), law.counted(second)])
    events = np.concatenate([np.cumsum(counts, axis=1)[:, :-1], counts], axis=1)
    statistic = n * relative_entropy(events[0] / n, events.sum(axis=0) / (2.0 * n)).max(initial=0.0)
    return float(statistic), edges_critical(events.shape[1], level)


def missed_between(law: Law, other: Below, n: int, level: float) -> float:
    """Bound the probability that samples of a law and of another are not told apart.

    Let u and v be a quarter of the way from P(A) to Q(A) and back. If the shares of A are on the far sides of u and v,
    the statistic is at least n kl(u, (u + v) / 2); that they are not has a probability that Chernoff bounds.
    """
    P, Q = law.probabilities(law.below), law.probabilities(other)
    F, G = np.concatenate([np.cumsum(P)[:-1], P]), np.concatenate([np.cumsum(Q)[:-1], Q])
    u, v = F + (G - F) / 4.0, G - (G - F) / 4.0
    far = n * relative_entropy(u, (u + v) / 2.0) >= edges_critical(F.size, level)
    misses = np.exp(-n * relative_entropy(u, F)) + np.exp(-n * relative_entropy(v, G))
    return float(misses[far].min(initial=1.0))


def assert_told_apart(
    first: NDArray[np.int64], second: NDArray[np.int64], law: Law, other: Below, allowance: Allowance
) -> None:
    """Fail if samples of `law` and of another are not told apart, or are not almost sure to be."""
    level = allowance.level()
    miss = missed_between(law, other, first.size, level)
    assert miss <= level, f"the control has too little power: {miss}"
    statistic, critical = compared(first, second, law, level)
    assert statistic >= critical, f"a control was not seen: {statistic} < {critical}"
