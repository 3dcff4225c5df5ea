"""What the Exponential mechanism in its generalized Gaussian form really costs, beside its nominal epsilon.

=======  ===============================================================================================
u        the utility -|s* - s|^p of an output s*, for a true value s within bounds of width w
Delta_u  its sensitivity: exactly w^p - (w - D)^p, or what the paper's Lemma 9 bounds it by
b        the scale (2 Delta_u / epsilon)^(1/p)
Z(s)     the normaliser, Integral exp(-(|x - s| / b)^p) dx over the bounds
=======  ===============================================================================================

The loss is a change of weight, at most [w^p - (w - D)^p] / b^p (which is epsilon/2 with the exact Delta_u), and a
change of the normaliser, at most log Z(c0 + D) / Z(c0) or, where D is more than half the width, the same with the
middle instead of c0 + D: log Z is concave and symmetric, so that it rises the most from an end. The two need not
have the same sign where either is largest, so the true loss can be below that of the weights alone.

References
----------
Liu, arXiv 1602.06028 v5, Section 2.7, Lemma 9 and Cor. 12 ("always less than the nominal budget"; "epsilon/2" when the
normaliser is constant). log Z is concave as the convolution of two log-concave functions (Prekopa, 1973).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from ggdp import PureDP, Sensitivity
from ggdp.calibration import exponential_calibration, utility_sensitivity
from ggdp_reproduction.checks import Floats, frozen, interval, orders_of, positive

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


__all__ = ["ExponentialComparison", "exponential_losses"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ExponentialComparison:
    """The true loss of the Exponential mechanism over orders, and what it is made of.

    Attributes
    ----------
    epsilon, sensitivity : float
        The nominal epsilon, and how far one person can move the query.
    bounds : (float, float), optional
        Bounds of query and output; None without bounds, where the normaliser is constant.
    orders : ndarray
        Orders of the utility.
    utility_sensitivity : ndarray
        The Delta_u that the scale is made of.
    scale : ndarray
        Scale of the noise.
    loss : ndarray
        The true loss, proved as an upper bound.
    weight_loss : ndarray
        What the weights alone contribute at most: epsilon/2 with the exact Delta_u.
    normaliser_loss : ndarray
        What the normaliser alone contributes at most; 0 where it is constant.
    """

    epsilon: float
    sensitivity: float
    bounds: tuple[float, float] | None
    orders: Floats
    utility_sensitivity: Floats
    scale: Floats
    loss: Floats
    weight_loss: Floats
    normaliser_loss: Floats

    @property
    def below_nominal(self) -> NDArray[np.bool_]:
        """Whether the paper's first claim holds: a true loss below epsilon."""
        return self.loss < self.epsilon

    @property
    def below_half(self) -> NDArray[np.bool_]:
        """Whether the true loss is below epsilon/2, which the paper takes for the extreme."""
        return self.loss < self.epsilon / 2.0


def exponential_losses(
    orders: ArrayLike,
    epsilon: float,
    sensitivity: float = 1.0,
    bounds: tuple[float, float] | None = None,
    utility: Literal["exact", "lemma"] = "exact",
) -> ExponentialComparison:
    """Return the true loss of the Exponential mechanism with the utility -|s* - s|^p, for every order.

    Parameters
    ----------
    orders : array_like
        Orders p of the utility, from 1 to 1e6.
    epsilon : float
        The nominal epsilon.
    sensitivity : float, default 1
        How far one person can move the query.
    bounds : (float, float), optional
        Bounds of query and output; needed at every order above 1.
    utility : {"exact", "lemma"}, default "exact"
        The exact sensitivity of the utility, or the bound of the paper's Lemma 9.

    Examples
    --------
    >>> found = exponential_losses([1, 2, 3], 1.0, bounds=(0.0, 10.0))
    >>> found.loss.round(3), found.below_half
    (array([0.831, 0.345, 0.394]), array([False,  True,  True]))
    """
    checked = orders_of(orders=orders)
    goal, query = PureDP(positive(epsilon=epsilon)), Sensitivity.disjoint(sensitivity)
    pair = None if bounds is None else interval(bounds=bounds)
    pairs = None if pair is None else [pair]
    found = [exponential_calibration(goal, query, order=float(p), bounds=pairs, utility=utility) for p in checked]
    scales = np.array([calibration.scale for calibration in found], dtype=np.float64)
    size = query.largest
    if pair is None:
        sizes, weights, normalisers = np.full(checked.shape, size), size / scales, np.zeros(checked.shape)
    else:
        sizes = np.array([utility_sensitivity(float(p), query, [pair], utility=utility) for p in checked])
        width = pair[1] - pair[0]
        weights = np.array([_weight_loss(p, b, width, size) for p, b in zip(checked, scales, strict=True)])
        normalisers = np.array([_normaliser_loss(p, b, width, size) for p, b in zip(checked, scales, strict=True)])
    return ExponentialComparison(
        epsilon=goal.epsilon,
        sensitivity=size,
        bounds=pair,
        orders=frozen(checked),
        utility_sensitivity=frozen(sizes),
        scale=frozen(scales),
        loss=frozen([calibration.guarantee.epsilon for calibration in found]),
        weight_loss=frozen(weights),
        normaliser_loss=frozen(normalisers),
    )


def _weight_loss(p: float, b: float, width: float, size: float) -> float:
    """Return (w/b)^p - ((w - D)/b)^p without cancellation."""
    if size >= width:
        return float((width / b) ** p)
    return float(-((width / b) ** p) * math.expm1(p * math.log1p(-size / width)))


def _normaliser_loss(p: float, b: float, width: float, size: float) -> float:
    """Return log Z(c0 + D) / Z(c0), or of the middle to the end where D reaches beyond the middle."""
    from scipy.special import gammainc

    near = min(size, width / 2.0)
    left, right, whole = gammainc(1.0 / p, (np.array([near, width - near, width]) / b) ** p)
    return math.log(left + right) - math.log(whole)
