"""Which noise varies more: Gaussian noise of (epsilon, delta)-DP or Laplace noise of epsilon-DP.

=======  ============================================================================
epsilon  the epsilon of both; the sensitivity is 1, so the Laplace variance is 2 / epsilon^2
z        Phi^-1(1 - delta/2)
y, w     1 - epsilon/4 and 1 + epsilon/4
=======  ============================================================================

With the sigma of Lemma 10 the ratio Gaussian : Laplace of the variances is (epsilon sigma)^2 / 2
= (z + sqrt(z^2 + 2 epsilon))^2 / 8. It falls with delta, and is 1 where sigma = sqrt 2 / epsilon. There the loss of the
Gaussian noise is normal with mean epsilon^2/4 and variance epsilon^2/2, so that the delta of equal variances is

=========  ========================================================================
paper      erfc(y) = 2 Phi(-(sqrt 2 - epsilon/(2 sqrt 2))) up to epsilon = 4, then 1
tight-pdp  (erfc(y) + erfc(w)) / 2
analytic   (erfc(y) - e^epsilon erfc(w)) / 2 = e^(-y^2) (erfcx(y) - erfcx(w)) / 2
=========  ========================================================================

The first is 1 from epsilon = 4 on: there the Gaussian noise varies more at every delta. It rises with epsilon, and
Lemma 11 is its value at epsilon = 0.

References
----------
Liu, arXiv 1602.06028 v5, Lemma 11 (with 2 Phi(-sqrt 2) for its 2 Phi(sqrt 2)) and Eqn varratio (corrected).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ggdp_reproduction.checks import Floats, broadcast, choice, deltas, frozen, positives
from ggdp_reproduction.comparisons.gaussian_scales import Gaussian, gaussian_sigma

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["LEMMA_DELTA", "delta_of_equal_variance", "variance_ratio"]

# 2 Phi(-sqrt 2) = erfc(1): below it Gaussian noise by Lemma 10 varies more than Laplace noise, whatever epsilon is.
LEMMA_DELTA = math.erfc(1.0)
KINDS = ("paper", "tight-pdp", "analytic")
NODES = 24


def variance_ratio(epsilon: ArrayLike, delta: ArrayLike, gaussian: Gaussian = "paper") -> Floats:
    """Return the variance of Gaussian noise over that of Laplace noise of the same epsilon.

    Parameters
    ----------
    epsilon, delta : array_like
        The goals, broadcast against each other: (epsilon, delta) for the Gaussian noise, epsilon for the Laplace noise.
    gaussian : {"paper", "tight-pdp", "classic", "analytic"}, default "paper"
        Which Gaussian mechanism.

    Examples
    --------
    >>> print(f"{variance_ratio(1.0, 0.05):.4f}")
    2.3946
    """
    eps, slack = broadcast(epsilon=positives(epsilon=epsilon), delta=deltas(delta=delta))
    with np.errstate(all="ignore"):
        return frozen((eps * gaussian_sigma(eps, slack, gaussian)) ** 2 / 2.0)


def delta_of_equal_variance(epsilon: ArrayLike, gaussian: Gaussian = "paper") -> Floats:
    """Return the delta at which Gaussian and Laplace noise vary the same; below it the Gaussian varies more.

    Parameters
    ----------
    epsilon : array_like
        The epsilon of both.
    gaussian : {"paper", "tight-pdp", "analytic"}, default "paper"
        Which Gaussian mechanism. With the paper's it is the exact condition of Lemma 11, and 1 from epsilon = 4 on.

    Examples
    --------
    >>> print(f"{delta_of_equal_variance(1.0):.4f} {delta_of_equal_variance(1.0, 'analytic'):.4f} {LEMMA_DELTA:.6f}")
    0.2888 0.0396 0.157299
    """
    from scipy.special import erfc, erfcx

    eps = positives(epsilon=epsilon)
    kind = choice(among=KINDS, gaussian=gaussian)
    y, w = 1.0 - eps / 4.0, 1.0 + eps / 4.0
    if kind == "paper":
        return frozen(np.minimum(erfc(y), 1.0))
    if kind == "tight-pdp":
        return frozen((erfc(y) + erfc(w)) / 2.0)
    with np.errstate(all="ignore"):
        small = np.exp(-y * y) * _erfcx_fall(np.minimum(eps, 1.0)) / 2.0
        large = (erfc(y) - np.exp(-y * y) * erfcx(w)) / 2.0
    return frozen(np.where(eps < 1.0, small, large))


def _erfcx_fall(epsilon: Floats) -> Floats:
    """Return erfcx(1 - epsilon/4) - erfcx(1 + epsilon/4) for epsilon <= 1, as an integral: nothing cancels."""
    from scipy.special import erfcx

    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    quarter = epsilon / 4.0
    x = 1.0 + quarter[..., None] * nodes
    return np.asarray(quarter * np.sum(weights * (2.0 / math.sqrt(math.pi) - 2.0 * x * erfcx(x)), axis=-1))
