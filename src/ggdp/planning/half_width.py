"""The other way around: the smallest epsilon whose noise keeps a half-width, and its order.

For each order the scale is the largest whose half-width at the level is within the target, and its epsilon the least
one for the delta. Epsilons to choose by are found in floats where a convolution would be needed; the plan's own is
proved by `calibrate`, and its scale keeps the half-width.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ggdp._work import within
from ggdp.calibration import calibrate
from ggdp.calibration.corner import corner_excess
from ggdp.calibration.privacy_profile import delta_between, epsilon_above
from ggdp.calibration.search import passing_end
from ggdp.errors import ArgumentError, GgdpError
from ggdp.planning.order_search import Resolution, Trial, least_error
from ggdp.privacy import ApproxDP, PureDP
from ggdp.proofs.corner import CornerDelta
from ggdp.proofs.noise_law import NoiseLaw
from ggdp.proofs.profile import NoisyQuery
from ggdp.proofs.requirements import require_integers

if TYPE_CHECKING:
    from collections.abc import Callable

    from ggdp.calibration import Calibration
    from ggdp.planning.measures import Measure
    from ggdp.privacy import Sensitivity
    from ggdp.proofs.noise_law import Support

RESOLUTION = Resolution(points=25, finer=1, valleys=2, splits=2, width=1e-2)
LAPLACE = 1.0
MOST_EPSILON = 1e6
LEAST_EPSILON = 1e-9
# How much epsilon is raised at a time until its proved scale keeps the half-width.
RAISES = (0.0, 1e-12, 1e-9, 1e-7, 1e-5, 1e-4, 1e-3, 3e-3, 1e-2, 3e-2)
HALVINGS = 60
# Orders that need more than this multiple of the epsilon of Laplace noise are skipped.
FAR_ABOVE = 2.0
# Units of work of the search over orders.
SEARCH_WORK = 3e6


def calibration_for_half_width(
    delta: float,
    sensitivity: Sensitivity,
    support: Support,
    measure: Measure,
    plus_minus: float,
    progress: Callable[[int, int], None] | None,
) -> Calibration:
    """Return the calibration of the smallest epsilon found whose noise keeps a half-width.

    Claim: the calibration's goal is proved, and its half-width is at most `plus_minus`. That no smaller epsilon does is
    the result of a search over orders.
    """
    if support == "integer":
        require_integers(sensitivity)
    if support == "integer" and plus_minus < 1.0:
        raise ArgumentError("plus_minus", plus_minus, "on the integers it must be at least 1")
    if sensitivity.largest > 10.0 * MOST_EPSILON * plus_minus:
        # Such noise is narrower than the change that it shall hide, by more than any epsilon that is tried.
        raise ArgumentError("plus_minus", plus_minus, f"is too small: no epsilon up to {MOST_EPSILON:,.0f} keeps it")

    def trial(order: float) -> Trial:
        unit = NoiseLaw(order=order, scale=1.0, support=support)
        try:
            law = unit.with_scale(measure.scales_around(plus_minus, unit, HALVINGS)[0])
            if delta > 0.0 and order != LAPLACE and _exceeds(law, sensitivity, delta, FAR_ABOVE * laplace.error):
                return Trial(law, math.inf)
            return Trial(law, _least_epsilon(law, sensitivity, delta))
        except (GgdpError, ArithmeticError):
            return Trial(unit, math.inf)

    laplace = trial(LAPLACE)
    best = laplace
    if delta > 0.0:
        best, _ = within(SEARCH_WORK, lambda: least_error(trial, RESOLUTION, [laplace], progress))
    if best.error == 0.0:
        expected = f"is so large that noise within it keeps delta = {delta!r} at every epsilon; give a smaller delta"
        raise ArgumentError("plus_minus", plus_minus, expected)
    for share in RAISES:
        epsilon = best.error * (1.0 + share)
        if not 0.0 < epsilon < MOST_EPSILON:
            break
        goal = PureDP(epsilon) if delta == 0.0 else ApproxDP(epsilon, delta)
        found = calibrate(goal, sensitivity, order=best.law.order, support=support)
        if measure.of(found.law) <= plus_minus * (1.0 + 1e-12):
            return found
    raise ArgumentError("plus_minus", plus_minus, f"no epsilon up to {MOST_EPSILON:,.0f} was found that keeps it")


def _exceeds(law: NoiseLaw, sensitivity: Sensitivity, delta: float, epsilon: float) -> bool:
    """Return whether a noise needs more than an epsilon, where that is told by one evaluation."""
    noisy = NoisyQuery(law, sensitivity)
    return math.isfinite(epsilon) and noisy.is_exact and delta_between(noisy, epsilon)[0] > delta


def _least_epsilon(law: NoiseLaw, sensitivity: Sensitivity, delta: float) -> float:
    """Return about the least epsilon of a noise."""
    noisy = NoisyQuery(law, sensitivity)
    if noisy.is_exact or delta == 0.0 or sensitivity.kind == "norm":
        return epsilon_above(noisy, delta)

    def excess(epsilon: float) -> float:
        return corner_excess(CornerDelta(corner=sensitivity.corner, epsilon=epsilon), law, delta, rough=True)

    failing, passing = LEAST_EPSILON, 1.0
    while excess(passing) > 0.0:
        failing, passing = passing, 2.0 * passing
        if passing > MOST_EPSILON:
            return math.inf
    while failing == LEAST_EPSILON and passing > LEAST_EPSILON and excess(0.5 * passing) <= 0.0:
        passing *= 0.5
    return passing_end(excess, failing=max(failing, 0.5 * passing), passing=passing, tolerance=1e-5)
