"""The other direction: the delta of a noise for an epsilon, the epsilon for a delta, each between two proved floats.

What is claimed, and its proof, is in `ggdp.proofs.profile`; here are their grids, and the search for epsilon.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ggdp.calibration.scale_for_several_coordinates import corner_excess, laid_out
from ggdp.calibration.search import passing_end
from ggdp.proofs.corner import CornerDelta
from ggdp.proofs.profile import LEAST_EPSILON, Between, NoisyQuery, lower_delta, pure_between, upper_delta

if TYPE_CHECKING:
    from collections.abc import Callable

MOST_EPSILON = 1e8
EXACT_TOLERANCE = 1e-13
GRID_TOLERANCE = 1e-5
FIRST_STRIDE = 1e-3
SMALLEST = math.ulp(0.0)


def delta_between(noisy: NoisyQuery, epsilon: float) -> Between:
    """Return two floats with delta(epsilon) between them, for any finite epsilon."""
    return lower_delta(noisy, epsilon, laid_out), upper_delta(noisy, epsilon, laid_out)


def epsilon_above(noisy: NoisyQuery, delta: float, *, guess: float = 1.0) -> float:
    """Return the upper end of `epsilon_between`, in less time."""
    if delta == 0.0:
        return pure_between(noisy)[1]
    tolerance = EXACT_TOLERANCE if noisy.is_exact else GRID_TOLERANCE
    if not noisy.is_exact and noisy.sensitivity.kind != "norm":
        guess = _estimate(noisy, delta, guess)
    return _crossing(lambda eps: upper_delta(noisy, eps, laid_out), delta, guess, tolerance)[1]


def _estimate(noisy: NoisyQuery, delta: float, guess: float) -> float:
    """Return about eps(delta) of a corner, in floats: each evaluation in balls takes a hundred times as long."""

    def fails(epsilon: float) -> bool:
        asked = CornerDelta(corner=noisy.sensitivity.corner, epsilon=epsilon)
        return corner_excess(asked, noisy.law, delta, rough=True) > 0.0

    low = high = guess
    if fails(guess):
        while fails(high := 2.0 * (low := high)):
            if high > MOST_EPSILON:
                return guess
    else:
        while not fails(low := 0.5 * (high := low)):
            if low < LEAST_EPSILON:
                return guess
    while high - low > FIRST_STRIDE * high:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if fails(middle) else (low, middle)
    return high


def epsilon_between(noisy: NoisyQuery, delta: float, *, guess: float = 1.0) -> Between:
    """Return two floats with eps(delta) between them; infinite where no epsilon has this delta."""
    if delta == 0.0:
        return pure_between(noisy)
    tolerance = EXACT_TOLERANCE if noisy.is_exact else GRID_TOLERANCE
    upper = epsilon_above(noisy, delta, guess=guess)
    near = upper if 0.0 < upper < math.inf else guess
    lower, _ = _crossing(lambda eps: lower_delta(noisy, eps, laid_out), delta, near, tolerance)
    return min(lower, upper), upper


def _crossing(delta_at: Callable[[float], float], delta: float, guess: float, tolerance: float) -> Between:
    """Return two epsilons close together, with a falling bound of delta above the level at one and not at the other."""
    failed = 0.0

    def excess(epsilon: float) -> float:
        nonlocal failed
        value = delta_at(epsilon)
        if value > delta:
            failed = max(failed, epsilon)
        # The logarithm only leads the search: passing is decided by the floats themselves.
        distance = math.log(max(value, SMALLEST)) - math.log(max(delta, SMALLEST))
        return max(distance, math.ulp(0.0)) if value > delta else min(distance, 0.0)

    failing, passing, stride = 0.0, guess, FIRST_STRIDE
    if excess(passing) > 0.0:
        while excess(passing := (failing := passing) * (1.0 + stride)) > 0.0:
            stride *= 8.0
            if passing > MOST_EPSILON:
                return failed, math.inf
    else:
        while excess(below := passing / (1.0 + stride)) <= 0.0:
            passing, stride = below, 8.0 * stride
            if below < LEAST_EPSILON:
                return (failed, below) if excess(0.0) > 0.0 else (0.0, 0.0)
        failing = below
    passing = passing_end(excess, failing=failing, passing=passing, tolerance=tolerance, resolution=1e-15)
    return failed, passing
