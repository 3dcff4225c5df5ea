"""Tails of Laplace noise of epsilon-DP and of Gaussian noise of (epsilon, delta)-DP, and the epsilon of the same tail.

=======  =============================================================================
epsilon  the epsilon of both; the sensitivity is 1, so t is in units of it
sigma    standard deviation of the Gaussian noise (`gaussian_sigma`)
p1       Pr(|e1| > t) = exp(-t epsilon), Laplace
p2       Pr(|e2| > t) = 2 Phi(-t/sigma) = erfc(y) = exp(-y^2) erfcx(y), y = t / (sqrt 2 sigma)
x, c     t / sigma and epsilon sigma
h(x)     phi(x) / Phi(-x), the Gaussian's rate of failure, which rises from sqrt(2/pi)
a        t epsilon: the tail of the Laplace noise is e^-a
z_t      Phi^-1(1 - e^-a / 2), so sigma_t = t / z_t has the same tail
u        z_t / a, which falls from sqrt(pi/2) at a = 0
=======  =============================================================================

The logarithm of the ratio p1 : p2 is a function of x and c alone, g(x) = x^2/2 - c x - log erfcx(x / sqrt 2), with
g(0) = 0 and g'(x) = h(x) - c. So g is convex. For c > sqrt(2/pi) the ratio starts at 1, falls to its minimum at
h(x) = c, rises, and crosses 1 once more; for c <= sqrt(2/pi) it only rises. Both points are left of where Newton's
method is started (h(x) > x gives x < c, and g(2c) = -log erfcx(sqrt 2 c) > 0 gives x < 2c), from where it falls
monotonically to them, h and g being convex.

By Lemma 10 the Gaussian noise of sigma_t has epsilon_2 = z/sigma_t + 1/(2 sigma_t^2), that is
epsilon_2 : epsilon_1 = z u + epsilon_1 u^2 / 2. At t = 0 every noise has the tail 1; the limit is given there.

References
----------
Liu, arXiv 1602.06028 v5, Section 3, Fig. 4 (with Pr(|e| > t) for its Pr(e > |t|)) and Fig. 5.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from ggdp_reproduction.checks import Floats, broadcast, deltas, frozen, non_negatives, positives
from ggdp_reproduction.comparisons.gaussian import Gaussian, gaussian_sigma, two_sided_quantile

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

# Where both tail probabilities are below it, the paper draws its curves in grey.
UNLIKELY = 1e-4
PAPER_EPSILONS = (0.1, 1.0, 2.0)
PAPER_DELTAS = (0.01, 0.05, 0.1, 0.2)
PAPER_GOALS = tuple(product(PAPER_EPSILONS, PAPER_DELTAS))
POINTS = 601
FLATTEST = math.sqrt(2.0 / math.pi)
NEWTON_STEPS = 200
NEAR = 0.5


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TailComparison:
    """Tail probabilities of Laplace and Gaussian noise at noise sizes t, as logarithms that no tail underflows."""

    gaussian_kind: Gaussian  # which Gaussian mechanism, as in `gaussian_sigma`
    # The goals and the standard deviation of the Gaussian noise.
    epsilon: Floats
    delta: Floats
    sigma: Floats
    t: Floats  # noise sizes, in units of the sensitivity
    # Logarithms of p1, p2 and p1 / p2.
    log_laplace: Floats
    log_gaussian: Floats
    log_ratio: Floats

    @property
    def laplace(self) -> Floats:
        """The probability that Laplace noise exceeds t in absolute value."""
        return np.exp(self.log_laplace)

    @property
    def gaussian(self) -> Floats:
        """The probability that Gaussian noise exceeds t in absolute value."""
        return np.exp(self.log_gaussian)

    @property
    def ratio(self) -> Floats:
        """Laplace over Gaussian; infinite where that is above all floats."""
        with np.errstate(over="ignore"):
            return np.exp(self.log_ratio)

    def likely(self, least: float = UNLIKELY) -> NDArray[np.bool_]:
        """Return where at least one of the two exceeds t with a probability of `least`."""
        return np.maximum(self.log_laplace, self.log_gaussian) >= math.log(least)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TailTurn:
    """Where the ratio of the tails is least, and where it is 1 again."""

    # Noise size at which Laplace : Gaussian is least, and the logarithm of the ratio there.
    t_minimum: Floats
    log_minimum: Floats
    t_crossing: Floats  # noise size beyond which Laplace noise is more likely; 0 if it always is
    log_tail_at_crossing: Floats  # logarithm of the probability that either noise exceeds it

    @property
    def minimum(self) -> Floats:
        """The least ratio."""
        return np.exp(self.log_minimum)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SameTail:
    """The Gaussian mechanism, by Lemma 10, with the tail of a Laplace mechanism at t."""

    # The epsilon_1 of the Laplace mechanism, and the delta of the Gaussian mechanism.
    epsilon: Floats
    delta: Floats
    t: Floats  # noise sizes at which the tails agree, in units of the sensitivity
    log_tail: Floats  # logarithm of the tail that both have at t
    sigma: Floats  # standard deviation of the Gaussian noise
    ratio: Floats  # epsilon_2 : epsilon_1; below 1 the Gaussian mechanism has the same tail at a smaller epsilon

    def likely(self, least: float = UNLIKELY) -> NDArray[np.bool_]:
        """Return where the tail is at least `least`."""
        return self.log_tail >= math.log(least)


def tail_probabilities(
    epsilon: ArrayLike, delta: ArrayLike, t: ArrayLike, gaussian: Gaussian = "paper"
) -> TailComparison:
    """Return how likely Laplace and Gaussian noise of the same epsilon are to exceed t in absolute value.

    Parameters
    ----------
    epsilon, delta : array_like
        The goals: epsilon-DP for the Laplace noise, (epsilon, delta) for the Gaussian.
    t : array_like
        Noise sizes of at least 0, in units of the sensitivity; all three are broadcast against each other.
    gaussian : {"paper", "tight-pdp", "classic", "analytic"}, default "paper"
        Which Gaussian mechanism; the paper's is that of Lemma 10.

    Examples
    --------
    >>> found = tail_probabilities(1.0, 0.05, [0.0, 3.92, 10.0])
    >>> found.ratio.round(4)
    array([1.    , 0.2708, 9.285 ])
    """
    from scipy.special import erf, erfcx

    eps, slack = positives(epsilon=epsilon), deltas(delta=delta)
    sigma = gaussian_sigma(eps, slack, gaussian)
    sizes = non_negatives(t=t)
    eps_all, sigma_all, t_all = broadcast(epsilon=eps, delta=sigma, t=sizes)
    with np.errstate(all="ignore"):
        y = t_all / sigma_all / math.sqrt(2.0)
        rest = np.log(erfcx(y))
        # The difference of the exponents as one product: the two nearly cancel, and both may overflow.
        log_ratio = t_all * (t_all / sigma_all / sigma_all / 2.0 - eps_all) - rest
        # Near 0 the probability is near 1, and its logarithm has the digits of what it lacks to 1.
        log_gaussian = np.where(y < NEAR, np.log1p(-erf(y)), rest - y * y)
        return TailComparison(
            gaussian_kind=gaussian,
            epsilon=frozen(eps),
            delta=frozen(slack),
            sigma=sigma,
            t=frozen(sizes),
            log_laplace=frozen(-t_all * eps_all),
            log_gaussian=frozen(log_gaussian),
            log_ratio=frozen(log_ratio),
        )


def tail_turn(epsilon: ArrayLike, delta: ArrayLike, gaussian: Gaussian = "paper") -> TailTurn:
    """Return where the ratio Laplace : Gaussian of the tails is least and where it crosses 1, solved.

    Parameters
    ----------
    epsilon, delta : array_like
        The goals, broadcast against each other.
    gaussian : {"paper", "tight-pdp", "classic", "analytic"}, default "paper"
        Which Gaussian mechanism.

    Notes
    -----
    Claim: for epsilon sigma > sqrt(2/pi) there is one minimum and one crossing beyond it; else the ratio rises from 1
    at t = 0, which is then both. The module has the proof.

    Examples
    --------
    >>> found = tail_turn(1.0, 0.05)
    >>> print(f"{found.minimum:.6f} at {found.t_minimum:.4f}, 1 again at {found.t_crossing:.4f}")
    0.270846 at 3.9169, 1 again at 7.6407
    """
    from scipy.special import erfcx

    eps, slack = broadcast(epsilon=positives(epsilon=epsilon), delta=deltas(delta=delta))
    sigma = gaussian_sigma(eps, slack, gaussian)
    c = eps * sigma

    def rate(x: Floats) -> Floats:
        return np.asarray(FLATTEST / erfcx(x / math.sqrt(2.0)))

    def log_ratio(x: Floats) -> Floats:
        return np.asarray(x * (x / 2.0 - c) - np.log(erfcx(x / math.sqrt(2.0))))

    # h'(x) = h(x) (h(x) - x); where all its digits cancel, the start is the minimum to all digits.
    lowest = _descend(lambda x: (rate(x) - c) / (rate(x) * (rate(x) - x)), c)
    crossing = _descend(lambda x: log_ratio(x) / (rate(x) - c), 2.0 * c)
    falls = c > FLATTEST
    # Barely above the threshold g is lost in rounding, and the descent may end at 0.
    lowest, crossing = np.where(falls, lowest, 0.0), np.where(falls, np.maximum(crossing, lowest), 0.0)
    return TailTurn(
        t_minimum=frozen(sigma * lowest),
        log_minimum=frozen(np.minimum(log_ratio(lowest), 0.0)),
        t_crossing=frozen(sigma * crossing),
        log_tail_at_crossing=frozen(-c * crossing),
    )


def _descend(newton: Callable[[Floats], Floats], start: Floats) -> Floats:
    """Go down from the start by Newton's steps until none of them leads further down, or below 0."""
    x = start
    with np.errstate(all="ignore"):
        for _ in range(NEWTON_STEPS):
            step = newton(x)
            below = np.where(np.isfinite(step) & (step > 0.0), np.maximum(x - step, 0.0), x)
            if np.array_equal(below, x):
                break
            x = below
    return x


def epsilon_of_same_tail(epsilon: ArrayLike, delta: ArrayLike, t: ArrayLike) -> SameTail:
    """Return the epsilon of the Gaussian mechanism of Lemma 10 that exceeds t as often as the Laplace mechanism.

    Parameters
    ----------
    epsilon, delta : array_like
        The epsilon of the Laplace mechanism, and the delta of the Gaussian mechanism.
    t : array_like
        Noise sizes of at least 0, in units of the sensitivity; all three are broadcast against each other.

    Examples
    --------
    >>> epsilon_of_same_tail(1.0, 0.05, [0.1, 2.0, 8.0]).ratio.round(2)
    array([3.06, 1.74, 0.98])
    """
    from scipy.special import erfinv, ndtri_exp

    eps, slack, sizes = positives(epsilon=epsilon), deltas(delta=delta), non_negatives(t=t)
    eps_all, delta_all, t_all = broadcast(epsilon=eps, delta=slack, t=sizes)
    with np.errstate(all="ignore"):
        a = t_all * eps_all
        quantile = np.where(a < 0.5, math.sqrt(2.0) * erfinv(-np.expm1(-a)), -ndtri_exp(-a - math.log(2.0)))
        u = np.where(a < 1e-290, math.sqrt(math.pi / 2.0), np.where(np.isinf(a), 0.0, quantile / a))
        return SameTail(
            epsilon=frozen(eps),
            delta=frozen(slack),
            t=frozen(sizes),
            log_tail=frozen(-a),
            sigma=frozen(1.0 / (eps_all * u)),
            ratio=frozen(two_sided_quantile(delta_all) * u + eps_all * u * u / 2.0),
        )


def paper_tails() -> tuple[TailComparison, ...]:
    """Return the comparisons of the paper's Fig. 4: epsilon 0.1, 1 and 2, each at delta 1, 5, 10 and 20 %.

    Examples
    --------
    >>> len(paper_tails())
    12
    """
    return tuple(tail_probabilities(*goal, np.linspace(0.0, 16.0 / goal[0], POINTS)) for goal in PAPER_GOALS)


def paper_same_tails() -> tuple[SameTail, ...]:
    """Return the comparisons of the paper's Fig. 5, at the goals of its Fig. 4.

    Examples
    --------
    >>> len(paper_same_tails())
    12
    """
    return tuple(epsilon_of_same_tail(*goal, np.linspace(0.0, 16.0 / goal[0], POINTS)) for goal in PAPER_GOALS)
