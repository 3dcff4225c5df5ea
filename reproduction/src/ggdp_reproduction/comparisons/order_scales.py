"""The scale that each order needs for the same goal: the paper's bound beside the least.

========  ==========================================================================================
p         order of the noise
b         its scale; the standard deviation is b sqrt(Gamma(3/p) / Gamma(1/p))
D_k       how far coordinate k can move
paper     one coordinate moves: Cor. 8, solved; several: Cor. 7, with Lemma 2 for Delta_p; both for pDP
pdp       the least scale for pDP, where it is known: one coordinate moves, or p = 2
adp       the least scale for aDP
========  ==========================================================================================

Scales of different orders are not comparable as they stand, since b does not measure spread: hence the standard
deviations. Where one coordinate moves, or p = 2, the least scales are certified by `ggdp.calibrate` and the paper's is
its closed form. Where several move, delta is a convolution in floats, and nothing is proved: scales are good to about
1e-6. ``ggdp.calibrate`` proves such a scale, in a second or two each.

References
----------
Liu, arXiv 1602.06028 v5, Cors. 7 and 8, Fig. 2 (D = (1, 0.1, 0.05), by Monte Carlo).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ggdp import ApproxDP, GeneralizedGaussian, ProbabilisticDP, Sensitivity, calibrate
from ggdp.calibration import disjoint_scale
from ggdp.errors import ArgumentError
from ggdp.planning import estimate_scale
from ggdp_reproduction.checks import Floats, deltas, frozen, orders_of, positive, positives

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["PAPER_BOX", "ScaleComparison", "scales_by_order"]

# What the paper's Fig. 2 is drawn for.
PAPER_BOX = (1.0, 0.1, 0.05)
# Beyond it the convolutions of several coordinates leave the floats.
LARGEST_OF_SEVERAL = 50.0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScaleComparison:
    """Scales of several orders for one goal.

    Attributes
    ----------
    epsilon, delta : float
        The goal.
    sensitivities : tuple of float
        How far each coordinate can move; all can move at once.
    orders : ndarray
        Orders of the noise.
    paper : ndarray
        The paper's scale, for pDP.
    pdp : ndarray
        The least scale for pDP; NaN where it is not known.
    adp : ndarray
        The least scale for aDP.
    """

    epsilon: float
    delta: float
    sensitivities: tuple[float, ...]
    orders: Floats
    paper: Floats
    pdp: Floats
    adp: Floats

    def std(self, scales: Floats) -> Floats:
        """Return the standard deviations that go with scales of these orders."""
        unit = [GeneralizedGaussian(order=float(p), scale=1.0).std for p in self.orders]
        return scales * np.array(unit, dtype=np.float64)


def scales_by_order(
    orders: ArrayLike,
    epsilon: float,
    delta: float,
    sensitivities: ArrayLike = (1.0,),
) -> ScaleComparison:
    """Return the paper's scale and the least scales for pDP and aDP, for every order.

    Parameters
    ----------
    orders : array_like
        Orders from 1 to 1e6, or to 50 where several coordinates move.
    epsilon, delta : float
        The goal, delta strictly between 0 and 1.
    sensitivities : sequence of float, default (1,)
        Largest change of each coordinate. One coordinate takes milliseconds an order, several a second or two.

    Examples
    --------
    >>> found = scales_by_order([1, 1.5, 3], 0.5, 0.01)
    >>> found.paper.round(4), found.pdp.round(4), found.adp.round(4)
    (array([ 2.    ,  4.7758, 12.5086]), array([ 2.    ,  4.6888, 11.9133]), array([1.9227, 3.2014, 6.5099]))
    """
    checked = orders_of(orders=orders)
    eps, slack = positive(epsilon=epsilon), float(deltas(delta=delta))
    given = positives(sensitivities=sensitivities)
    if given.ndim != 1 or not given.size:
        raise ArgumentError("sensitivities", sensitivities, "must be a sequence of at least one number")
    sizes: tuple[float, ...] = tuple(given.tolist())
    goals = (ProbabilisticDP(eps, slack), ApproxDP(eps, slack))
    query = Sensitivity.disjoint(sizes[0]) if len(sizes) == 1 else Sensitivity.box(list(sizes))
    if query.moving > 1 and np.any(checked > LARGEST_OF_SEVERAL):
        expected = f"must be at most {LARGEST_OF_SEVERAL:g} where several coordinates move"
        raise ArgumentError("orders", float(checked.max()), expected)
    rows = []
    for p in map(float, checked):
        if query.moving == 1 or p == 2.0:
            pdp, adp = (calibrate(goal, query, order=p).scale for goal in goals)
        else:
            pdp, adp = math.nan, estimate_scale(goals[1], query, order=p)
        rows.append((_paper_scale(p, query, goals[0]), pdp, adp))
    columns = np.array(rows, dtype=np.float64).reshape(checked.size, 3).T
    return ScaleComparison(
        epsilon=eps,
        delta=slack,
        sensitivities=sizes,
        orders=frozen(checked),
        paper=frozen(columns[0]),
        pdp=frozen(columns[1]),
        adp=frozen(columns[2]),
    )


def _paper_scale(p: float, query: Sensitivity, goal: ProbabilisticDP) -> float:
    """Return the scale of Cor. 8, or of Cor. 7 where several coordinates move; at order 1 both are Delta_1/epsilon."""
    if p == 1.0:
        return query.lp(1) / goal.epsilon
    if query.moving == 1:
        return disjoint_scale(p, query.largest, goal.epsilon, goal.delta)
    return estimate_scale(goal, query, order=p)
