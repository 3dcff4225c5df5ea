"""The Gaussian mechanism by four bounds, and which varies more: its noise or Laplace noise of the same epsilon.

===========  ============================================================================================
epsilon      the paper's epsilon; the sensitivity is D = 1 throughout
delta        the paper's delta, strictly between 0 and 1
z            Phi^-1(1 - delta/2)
paper        sigma = (z + sqrt(z^2 + 2 epsilon)) / (2 epsilon), enough for pDP (Lemma 10)
tight-pdp    the least sigma for pDP
classic      sigma = sqrt(2 ln(1.25/delta)) / epsilon, enough for aDP where epsilon < 1 (Eqn privacybook)
analytic     the least sigma for aDP: the analytic Gaussian mechanism
===========  ============================================================================================

The formulas are evaluated in floats, to be compared and drawn; the two least ones are certified by `ggdp.calibrate`.

Laplace noise has the variance 2 / epsilon^2. With the sigma of Lemma 10 the ratio Gaussian : Laplace of the variances
is (epsilon sigma)^2 / 2 = (z + sqrt(z^2 + 2 epsilon))^2 / 8. It falls with delta, and is 1 where sigma = sqrt 2 /
epsilon. There the loss of the Gaussian noise is normal with mean epsilon^2/4 and variance epsilon^2/2, so that with
y = 1 - epsilon/4 and w = 1 + epsilon/4 the delta of equal variances is

=========  ========================================================================
paper      erfc(y) = 2 Phi(-(sqrt 2 - epsilon/(2 sqrt 2))) up to epsilon = 4, then 1
tight-pdp  (erfc(y) + erfc(w)) / 2
analytic   (erfc(y) - e^epsilon erfc(w)) / 2 = e^(-y^2) (erfcx(y) - erfcx(w)) / 2
=========  ========================================================================

The first is 1 from epsilon = 4 on: there the Gaussian noise varies more at every delta. It rises with epsilon, and
Lemma 11 is its value at epsilon = 0.

References
----------
Liu, arXiv 1602.06028 v5, Lemma 10, Eqn privacybook and Fig. 3 (its text says that aDP : pDP is below 1; it is pDP :
aDP); Lemma 11 (with 2 Phi(-sqrt 2) for its 2 Phi(sqrt 2)) and Eqn varratio (corrected). Dwork and Roth, "The
Algorithmic Foundations of Differential Privacy", 2014, Theorem 3.22. Balle and Wang, "Improving the Gaussian Mechanism
for Differential Privacy", ICML 2018.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import numpy as np

from ggdp import ApproxDP, ProbabilisticDP, Sensitivity, calibrate
from ggdp.errors import ArgumentError
from ggdp_reproduction.checks import Floats, broadcast, choice, deltas, frozen, positives

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

Gaussian: TypeAlias = Literal["paper", "tight-pdp", "classic", "analytic"]

# 2 Phi(-sqrt 2) = erfc(1): below it Gaussian noise by Lemma 10 varies more than Laplace noise, whatever epsilon is.
LEMMA_DELTA = math.erfc(1.0)
NODES = 24


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GaussianBounds:
    """Four standard deviations of the Gaussian mechanism for the same goals, D = 1."""

    epsilon: Floats
    delta: Floats
    # Lemma 10, for pDP, and the least for pDP.
    paper: Floats
    tight_pdp: Floats
    classic: Floats  # the classic bound for aDP; NaN from epsilon = 1 on, where it is not proved
    analytic: Floats  # the least for aDP

    @property
    def paper_to_classic(self) -> Floats:
        """The pDP bound of Lemma 10 over the classic aDP bound: what the paper's Fig. 3 shows."""
        return self.paper / self.classic

    @property
    def tight_pdp_to_analytic(self) -> Floats:
        """The least sigma for pDP over the least for aDP: what pDP really costs."""
        return self.tight_pdp / self.analytic


def gaussian_bounds(epsilon: ArrayLike, delta: ArrayLike) -> GaussianBounds:
    """Return the four standard deviations for every goal, at sensitivity 1.

    Parameters
    ----------
    epsilon, delta : array_like
        The goals, broadcast against each other.

    Examples
    --------
    >>> found = gaussian_bounds(0.5, 0.01)
    >>> print(f"{found.paper:.4f} {found.tight_pdp:.4f} {found.classic:.4f} {found.analytic:.4f}")
    5.3390 5.1755 6.2150 3.1469
    """
    eps, slack = broadcast(epsilon=positives(epsilon=epsilon), delta=deltas(delta=delta))
    with np.errstate(all="ignore"):
        classic = np.where(eps < 1.0, _classic(eps, slack), np.nan)
    return GaussianBounds(
        epsilon=frozen(eps),
        delta=frozen(slack),
        paper=frozen(_paper(eps, slack)),
        tight_pdp=frozen(_least(eps, slack, ProbabilisticDP)),
        classic=frozen(classic),
        analytic=frozen(_least(eps, slack, ApproxDP)),
    )


def gaussian_sigma(epsilon: ArrayLike, delta: ArrayLike, gaussian: Gaussian = "paper") -> Floats:
    """Return the standard deviation of one kind of Gaussian mechanism, at sensitivity 1.

    Parameters
    ----------
    epsilon, delta : array_like
        The goals, broadcast against each other.
    gaussian : {"paper", "tight-pdp", "classic", "analytic"}, default "paper"
        Which bound; "classic" refuses an epsilon of 1 or more.

    Examples
    --------
    >>> print(f"{gaussian_sigma(1.0, 1e-6):.3f} {gaussian_sigma(1.0, 1e-6, 'analytic'):.3f}")
    4.992 4.225
    """
    eps, slack = broadcast(epsilon=positives(epsilon=epsilon), delta=deltas(delta=delta))
    kind = choice(among=get_args(Gaussian), gaussian=gaussian)
    if kind == "paper":
        return frozen(_paper(eps, slack))
    if kind == "classic":
        if np.any(eps >= 1.0):
            raise ArgumentError("epsilon", float(eps.max()), "the classic bound is proved for epsilon below 1 only")
        return frozen(_classic(eps, slack))
    return frozen(_least(eps, slack, ProbabilisticDP if kind == "tight-pdp" else ApproxDP))


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
    kind = choice(among=("paper", "tight-pdp", "analytic"), gaussian=gaussian)
    y, w = 1.0 - eps / 4.0, 1.0 + eps / 4.0
    if kind == "paper":
        return frozen(np.minimum(erfc(y), 1.0))
    if kind == "tight-pdp":
        return frozen((erfc(y) + erfc(w)) / 2.0)
    with np.errstate(all="ignore"):
        # Below 1 the difference of erfcx as an integral, in which nothing cancels.
        nodes, weights = np.polynomial.legendre.leggauss(NODES)
        quarter = np.minimum(eps, 1.0) / 4.0
        x = 1.0 + quarter[..., None] * nodes
        fall = quarter * np.sum(weights * (2.0 / math.sqrt(math.pi) - 2.0 * x * erfcx(x)), axis=-1)
        large = (erfc(y) - np.exp(-y * y) * erfcx(w)) / 2.0
        return frozen(np.where(eps < 1.0, np.exp(-y * y) * fall / 2.0, large))


def two_sided_quantile(delta: Floats) -> Floats:
    """Return z = Phi^-1(1 - delta/2), with its digits at a delta near 0 and near 1 alike."""
    from scipy.special import erfinv, ndtri_exp

    # Near 1 it is 1 - delta that decides, and the subtraction is exact there.
    near = math.sqrt(2.0) * erfinv(1.0 - delta)
    return np.asarray(np.where(delta < 0.5, -ndtri_exp(np.log(delta) - math.log(2.0)), near))


def _paper(epsilon: Floats, delta: Floats) -> Floats:
    """Lemma 10 as z/(2 eps) + sqrt((z/(2 eps))^2 + 1/(2 eps)), in which no square leaves the floats."""
    with np.errstate(all="ignore"):
        half = two_sided_quantile(delta) / 2.0 / epsilon
        return half + np.hypot(half, math.sqrt(0.5) / np.sqrt(epsilon))


def _classic(epsilon: Floats, delta: Floats) -> Floats:
    return np.sqrt(2.0 * (math.log(1.25) - np.log(delta))) / epsilon


def _least(epsilon: Floats, delta: Floats, notion: type[ApproxDP | ProbabilisticDP]) -> Floats:
    """Calibrate each distinct goal once."""
    goals, places = np.unique(np.stack([epsilon.ravel(), delta.ravel()]), axis=1, return_inverse=True)
    query = Sensitivity.disjoint(1)
    sigmas = [calibrate(notion(float(eps), float(slack)), query, order=2).std for eps, slack in goals.T]
    return np.array(sigmas, dtype=np.float64)[places.ravel()].reshape(epsilon.shape)
