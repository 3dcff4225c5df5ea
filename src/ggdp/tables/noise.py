"""The noise of a table: a certified scale on the integers, of the requested order or the best one.

Among orders, pure Laplace noise is taken where its standard deviation is within 1 % of the best: what it promises is
more. All of it is a function of the request, so it costs no privacy; a request that comes again is answered at once.
"""

from __future__ import annotations

from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol

from ggdp.calibration import calibrate
from ggdp.calibration.calibration_cache import remembered
from ggdp.errors import SearchError
from ggdp.mechanisms import Mechanism
from ggdp.planning import plan
from ggdp.planning.best_order import estimated_best
from ggdp.privacy import PureDP

if TYPE_CHECKING:
    from ggdp.calibration import Calibration
    from ggdp.planning.order_search import Trial
    from ggdp.privacy import Guarantee, Sensitivity

LAPLACE = 1.0
# What pure DP may cost in error before approximate DP is taken.
WORTH = 1.01
# Noise so wide hardly feels that it is on the integers: the order is found on the reals, which is faster.
WIDE = 2.0
# Noise so wide has the same standard deviation on the reals and on the integers, and an estimate is as exact as this.
VERY_WIDE, INEXACT = 100.0, 1e-3


class NoiseFor(Protocol):
    """Where a plan takes its noise from: for a goal, a sensitivity, and an order, or None for the best one."""

    def __call__(self, goal: Guarantee, sensitivity: Sensitivity, order: float | None) -> Mechanism:
        """Return the noise."""


def table_mechanism(goal: Guarantee, sensitivity: Sensitivity, order: float | None) -> Mechanism:
    """Return a mechanism with the noise of counts."""
    return Mechanism(table_noise(goal, sensitivity, order))


@lru_cache(maxsize=256)
def table_noise(goal: Guarantee, sensitivity: Sensitivity, order: float | None) -> Calibration:
    """Return the calibration of integer noise for a goal; of the best order if none is requested.

    Examples
    --------
    >>> import ggdp
    >>> noise = table_noise(ggdp.ApproxDP(1.0, 1e-6), ggdp.Sensitivity.histogram(), None)
    >>> noise.order, str(noise.guarantee)
    (1.0, '1-DP under add-remove neighbours')
    >>> noise = table_noise(ggdp.ApproxDP(1.0, 1e-6), ggdp.Sensitivity.histogram(max_cells=50), None)
    >>> noise.order > 1.5
    True
    """
    if goal.delta == 0.0:
        return calibrate(goal, sensitivity, order=LAPLACE if order is None else order, support="integer")
    return remembered(goal, sensitivity, order, lambda: _found(goal, sensitivity, order))


def _found(goal: Guarantee, sensitivity: Sensitivity, order: float | None) -> Calibration:
    if order is not None:
        return calibrate(goal, sensitivity, order=order, support="integer")
    pure = calibrate(PureDP(goal.epsilon), sensitivity, order=LAPLACE, support="integer")
    near = estimated_best(goal, sensitivity)
    if near is not None and near.error >= VERY_WIDE and pure.std <= (WORTH - INEXACT) * near.error:
        return pure
    best = _best(goal, sensitivity, near)
    return pure if pure.std <= WORTH * best.std else best


def _best(goal: Guarantee, sensitivity: Sensitivity, near: Trial | None) -> Calibration:
    """Return the noise of the least error, found near an estimate on the reals."""
    if near is not None and near.error >= WIDE:
        with suppress(SearchError):
            return calibrate(goal, sensitivity, order=near.law.order, support="integer")
    return plan(goal, sensitivity, support="integer").calibration
