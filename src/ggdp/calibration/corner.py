"""The scale for several coordinates that move at once: search in floats, then one proof in balls.

On the reals delta falls as the scale grows, so a bracket is enough. On the integers it does not: at small scales
smaller ones may pass again, so the scales below the bracket are scanned too. That the scale is the smallest is a
search result; that it passes is proved.

References
----------
`ggdp.loss.corner` has the claims and their proofs.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

from ggdp.calibration.search import passing_end
from ggdp.errors import SearchError
from ggdp.loss.corner import delta_of_corner
from ggdp.loss.corner_estimate import estimate
from ggdp.loss.corner_plan import plan

if TYPE_CHECKING:
    from collections.abc import Callable

    from ggdp.loss.corner_plan import Corner

__all__ = ["bracket", "scale_for_corner"]

TOLERANCE = 1e-6
CORRECTIONS = 12
PROBE = 1e-3
LEAST_MOVE = 3e-7
FIRST_MOVE = 2e-5
FEW = 100
OVERSHOT = 1e-4
WIDEST_BRACKET = 400
# Above it the steps of the integers are too fine to matter.
WAVY_SCALE = 60.0
SCAN_STEPS = 200
SCAN_DEPTH = 6.0
REFINEMENTS = 12
NEAR_MISS = 0.5
MOST_VALLEYS = 8


def scale_for_corner(*, order: float, corner: Corner, epsilon: float, delta: float, support: str) -> float:
    """Return the least scale, up to about 5e-5, at which all coordinates of the corner keep (epsilon, delta)-DP.

    Parameters
    ----------
    order : float
        Order of the noise, at least 1.
    corner : tuple of (size, count)
        Distinct sizes and how many coordinates move by each; integers where the support is integer.
    epsilon, delta : float
        The guarantee to keep.
    support : {"real", "integer"}
        Where the noise lives.

    Notes
    -----
    Rounding: the scale returned was itself proved to pass by `delta_of_corner`.

    Examples
    --------
    >>> scale = scale_for_corner(order=2, corner=((1, 2),), epsilon=1.0, delta=0.05, support="real")
    >>> round(scale, 3)  # the analytic Gaussian for an l_2 norm of sqrt(2) has 2.6656
    2.666
    """
    # Sizes in units of the largest keep the search away from the ends of the float range.
    unit = max(size for size, _ in corner) if support == "real" else 1.0

    def excess(scale: float, *, rough: bool = False) -> float:
        chosen = plan(order=order, scale=scale * unit, corner=corner, epsilon=epsilon, support=support, rough=rough)
        if chosen is None:
            return -math.log(delta)
        value = estimate(chosen, order=order, scale=scale * unit, epsilon=epsilon, support=support)
        return math.log(max(value, 1e-300)) - math.log(delta)

    def proved(scale: float) -> float:
        return delta_of_corner(order=order, scale=scale * unit, corner=corner, epsilon=epsilon, support=support).upper

    relative = tuple((size / unit, count) for size, count in corner)
    failing, passing, above, below = bracket(excess, _guess(order, relative, epsilon, delta))
    scale = passing_end(
        excess,
        failing=failing,
        passing=passing,
        tolerance=TOLERANCE,
        failing_excess=above,
        passing_excess=below,
    )
    candidates = [scale]
    if order == 1.0:
        # Pure DP is never far away at p = 1, and near it the grid is the looser of the two.
        pure = float(sum(count * Fraction(size) for size, count in corner) / Fraction(epsilon)) / unit
        candidates = [min(scale, pure * (1.0 + 1e-15))]
    if support == "integer" and scale <= WAVY_SCALE:
        candidates = [*_passing_below(excess, candidates[0]), *candidates]
    for candidate in candidates:
        tried = candidate
        slope = max((excess(tried) - excess(tried * (1.0 + PROBE))) / PROBE, 1.0)
        # Where many coordinates add up, the slope is that of a smooth curve, and every proof takes long.
        farthest = FIRST_MOVE if sum(count for _, count in corner) <= FEW else math.inf
        failed = None
        for _ in range(CORRECTIONS):
            upper = proved(tried)
            if upper <= delta:
                if failed is not None and upper < delta * (1.0 - OVERSHOT):
                    # A long move went too far: between the two the curve is straight.
                    share = math.log(failed[1] / delta) / math.log(failed[1] / max(upper, 1e-300))
                    between = failed[0] + (tried - failed[0]) * min(share * (1.0 + PROBE), 1.0)
                    tried = between if proved(between) <= delta else tried
                return tried * unit
            failed = (tried, upper)
            # The proof adds what the estimate leaves out, so the scale is moved by what the proof is found to miss,
            # but not far at once: near order 1 the slope cannot be told from two points.
            tried *= 1.0 + min(max(1.05 * math.log(upper / delta) / slope, LEAST_MOVE), farthest)
            farthest *= 2.0
    message = f"no scale near {scale * unit!r} could be certified for this corner at order {order!r}"
    raise SearchError(message)


def _guess(order: float, corner: Corner, epsilon: float, delta: float) -> float:
    """The scale if the total loss were normal: its variance is the Fisher information times the squared l_2 norm."""
    information = order**2 * math.exp(math.lgamma(2.0 - 1.0 / order) - math.lgamma(1.0 / order))
    norm = math.sqrt(sum(count * size * size for size, count in corner))
    q = math.sqrt(2.0 * math.log(1.0 / delta))
    return math.sqrt(information) * norm * (q + math.sqrt(q * q + 2.0 * epsilon)) / (2.0 * epsilon)


def bracket(excess: Callable[[float], float], guess: float) -> tuple[float, float, float, float]:
    """Walk from the guess until one scale fails and another passes."""
    here, value = guess, excess(guess)
    fails = value > 0.0
    ratio = 1.1 if fails else 1.0 / 1.1
    for _ in range(WIDEST_BRACKET):
        step = here * ratio
        ahead = excess(step)
        if (ahead > 0.0) != fails:
            return (here, step, value, ahead) if fails else (step, here, ahead, value)
        here, value = step, ahead
        ratio = min(max(ratio * ratio, 1.0 / 4.0), 4.0)
    message = f"no scale that passes was found from {guess!r} to {here!r}"
    raise SearchError(message)


def _passing_below(excess: Callable[..., float], scale: float) -> list[float]:
    """Scan below a passing scale for smaller ones that pass, the smallest first."""
    ratio = SCAN_DEPTH ** (-1.0 / SCAN_STEPS)
    scales = [scale * ratio**i for i in range(SCAN_STEPS + 1)]
    values = [excess(s, rough=True) for s in scales]
    found: list[float] = []
    # Rough values are too large by a little, so a near miss is looked at again.
    promising = [i for i in range(1, SCAN_STEPS) if values[i] <= min(values[i - 1], values[i + 1], NEAR_MISS)]
    for i in promising[: -MOST_VALLEYS - 1 : -1]:
        best, value = _valley(excess, scales[i + 1], scales[i - 1])
        if value > 0.0:
            continue
        below = excess(scales[i + 1])
        if below > 0.0:
            best = passing_end(
                excess,
                failing=scales[i + 1],
                passing=best,
                tolerance=TOLERANCE,
                failing_excess=below,
                passing_excess=value,
            )
        found.append(best)
        break
    return found


def _valley(excess: Callable[[float], float], low: float, high: float) -> tuple[float, float]:
    """Golden-section search for the lowest excess between two scales."""
    golden = (math.sqrt(5.0) - 1.0) / 2.0
    points = [high - golden * (high - low), low + golden * (high - low)]
    values = [excess(point) for point in points]
    for _ in range(REFINEMENTS):
        if values[0] <= values[1]:
            high, points[1], values[1] = points[1], points[0], values[0]
            points[0] = high - golden * (high - low)
            values[0] = excess(points[0])
        else:
            low, points[0], values[0] = points[0], points[1], values[1]
            points[1] = low + golden * (high - low)
            values[1] = excess(points[1])
        if min(values) <= 0.0:
            break
    return min(zip(points, values, strict=True), key=lambda pair: pair[1])
