"""Standard deviations of the Gaussian mechanism by four bounds: two for pDP and two for aDP.

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

References
----------
Liu, arXiv 1602.06028 v5, Lemma 10, Eqn privacybook and Fig. 3 (its text says that aDP : pDP is below 1; it is pDP :
aDP). Dwork and Roth, "The Algorithmic Foundations of Differential Privacy", 2014, Theorem 3.22. Balle and Wang,
"Improving the Gaussian Mechanism for Differential Privacy", ICML 2018.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from ggdp import ApproxDP, ProbabilisticDP, Sensitivity, calibrate
from ggdp.errors import ArgumentError
from ggdp_reproduction.checks import Floats, broadcast, choice, deltas, frozen, positives

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["GAUSSIANS", "Gaussian", "GaussianBounds", "gaussian_bounds", "gaussian_sigma", "two_sided_quantile"]

Gaussian: TypeAlias = Literal["paper", "tight-pdp", "classic", "analytic"]

GAUSSIANS = ("paper", "tight-pdp", "classic", "analytic")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GaussianBounds:
    """Four standard deviations of the Gaussian mechanism for the same goals, D = 1.

    Attributes
    ----------
    epsilon, delta : ndarray
        The goals.
    paper : ndarray
        Lemma 10, for pDP.
    tight_pdp : ndarray
        The least for pDP.
    classic : ndarray
        The classic bound for aDP; NaN from epsilon = 1 on, where it is not proved.
    analytic : ndarray
        The least for aDP.
    """

    epsilon: Floats
    delta: Floats
    paper: Floats
    tight_pdp: Floats
    classic: Floats
    analytic: Floats

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
    kind = choice(among=GAUSSIANS, gaussian=gaussian)
    if kind == "paper":
        return frozen(_paper(eps, slack))
    if kind == "classic":
        if np.any(eps >= 1.0):
            raise ArgumentError("epsilon", float(eps.max()), "the classic bound is proved for epsilon below 1 only")
        return frozen(_classic(eps, slack))
    return frozen(_least(eps, slack, ProbabilisticDP if kind == "tight-pdp" else ApproxDP))


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
