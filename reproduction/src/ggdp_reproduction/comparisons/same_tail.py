"""The epsilon at which Gaussian noise exceeds t as often as Laplace noise of a given epsilon.

=======  ============================================================================
epsilon  the epsilon_1 of the Laplace noise; the sensitivity is 1
z        Phi^-1(1 - delta/2)
a        t epsilon: the tail of the Laplace noise is e^-a
z_t      Phi^-1(1 - e^-a / 2), so sigma_t = t / z_t has the same tail
u        z_t / a, which falls from sqrt(pi/2) at a = 0
=======  ============================================================================

By Lemma 10 the Gaussian noise of sigma_t has epsilon_2 = z/sigma_t + 1/(2 sigma_t^2), that is
epsilon_2 : epsilon_1 = z u + epsilon_1 u^2 / 2. At t = 0 every noise has the tail 1; the limit is given there.

References
----------
Liu, arXiv 1602.06028 v5, Section 3 and Fig. 5.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ggdp_reproduction.checks import Floats, broadcast, deltas, frozen, non_negatives, positives
from ggdp_reproduction.comparisons.gaussian_scales import two_sided_quantile
from ggdp_reproduction.comparisons.tails import PAPER_GOALS, POINTS, UNLIKELY

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["SameTail", "epsilon_of_same_tail", "paper_same_tails"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SameTail:
    """The Gaussian mechanism, by Lemma 10, with the tail of a Laplace mechanism at t.

    Attributes
    ----------
    epsilon : ndarray
        The epsilon_1 of the Laplace mechanism.
    delta : ndarray
        The delta of the Gaussian mechanism.
    t : ndarray
        Noise sizes at which the tails agree, in units of the sensitivity.
    log_tail : ndarray
        Logarithm of the tail that both have at t.
    sigma : ndarray
        Standard deviation of the Gaussian noise.
    ratio : ndarray
        epsilon_2 : epsilon_1; below 1 the Gaussian mechanism has the same tail at a smaller epsilon.
    """

    epsilon: Floats
    delta: Floats
    t: Floats
    log_tail: Floats
    sigma: Floats
    ratio: Floats

    def likely(self, least: float = UNLIKELY) -> NDArray[np.bool_]:
        """Return where the tail is at least `least`."""
        return self.log_tail >= math.log(least)


def epsilon_of_same_tail(epsilon: ArrayLike, delta: ArrayLike, t: ArrayLike) -> SameTail:
    """Return the epsilon of the Gaussian mechanism of Lemma 10 that exceeds t as often as the Laplace mechanism.

    Parameters
    ----------
    epsilon : array_like
        The epsilon of the Laplace mechanism.
    delta : array_like
        The delta of the Gaussian mechanism.
    t : array_like
        Noise sizes of at least 0, in units of the sensitivity; all three are broadcast against each other.

    Examples
    --------
    >>> epsilon_of_same_tail(1.0, 0.05, [0.1, 2.0, 8.0]).ratio.round(2)
    array([3.06, 1.74, 0.98])
    """
    eps, slack = positives(epsilon=epsilon), deltas(delta=delta)
    sizes = non_negatives(t=t)
    eps_all, delta_all, t_all = broadcast(epsilon=eps, delta=slack, t=sizes)
    with np.errstate(all="ignore"):
        a = t_all * eps_all
        u = _quantile_per_exponent(a)
        ratio = two_sided_quantile(delta_all) * u + eps_all * u * u / 2.0
        sigma = 1.0 / (eps_all * u)
    return SameTail(
        epsilon=frozen(eps),
        delta=frozen(slack),
        t=frozen(sizes),
        log_tail=frozen(-a),
        sigma=frozen(sigma),
        ratio=frozen(ratio),
    )


def paper_same_tails() -> tuple[SameTail, ...]:
    """Return the comparisons of the paper's Fig. 5, at the goals of its Fig. 4.

    Examples
    --------
    >>> len(paper_same_tails())
    12
    """
    return tuple(epsilon_of_same_tail(*goal, np.linspace(0.0, 16.0 / goal[0], POINTS)) for goal in PAPER_GOALS)


def _quantile_per_exponent(a: Floats) -> Floats:
    """Return Phi^-1(1 - e^-a / 2) / a, and its limit sqrt(pi/2) at a = 0."""
    from scipy.special import erfinv, ndtri_exp

    near = math.sqrt(2.0) * erfinv(-np.expm1(-a))
    quantile = np.where(a < 0.5, near, -ndtri_exp(-a - math.log(2.0)))
    return np.where(a < 1e-290, math.sqrt(math.pi / 2.0), np.where(np.isinf(a), 0.0, quantile / a))
