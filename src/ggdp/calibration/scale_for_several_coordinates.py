"""The scale for several coordinates that move at once: a search in floats, then one proof in balls.

Where the size of each coordinate is known (the change is a corner of a box), delta comes from a convolution. On the
reals it falls as the scale grows, so a bracket is enough. On the integers it does not: at small scales smaller ones may
pass again, so the scales below the bracket are scanned too. That the scale is the smallest is a search result; that it
passes is proved.

Where only the l_p norm Delta_p of the change is known, the direction-free bound holds with equality at

    b = Delta_p / ((g + epsilon)^(1/p) - g^(1/p)), g = Q^-1(r/p, delta).

References
----------
`ggdp.proofs.several_coordinates` and `ggdp.proofs.norms` have the claims and their proofs.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from ggdp.calibration.loss_grids import estimate_delta, plan_total, plan_upper, sample_losses
from ggdp.calibration.search import Proposal, log_excess, passing_end, passing_from, raise_until_proved
from ggdp.errors import SearchError
from ggdp.proofs.bound import EXACT
from ggdp.proofs.layouts import CornerLayout
from ggdp.proofs.losses import CoordinateLoss

if TYPE_CHECKING:
    from collections.abc import Callable

    from ggdp.proofs.noise_law import NoiseLaw
    from ggdp.proofs.norms import RadialDelta
    from ggdp.proofs.several_coordinates import Corner, CornerDelta


TOLERANCE = 1e-6
# Bits of a proof, on a step of 2^-10: weights have 50, and come from masses that are differences divided by the step.
PRECISION, COARSE = 80, 10
# How often a proof that misses its target is tried again with a larger scale.
CORRECTIONS = 12
PROBE = 1e-3
LEAST_MOVE = 3e-7
FIRST_MOVE = 2e-5
# Up to so many coordinates the slope of delta cannot be told from two points.
FEW = 100
OVERSHOT = 1e-4
# By how much the grid of a first proof may raise the scale, relatively.
MISSED = 3e-6
# A grid is made finer, by this factor, until the scale is as near, or what a proof misses is hardly reduced.
FINER = 4.0
NEAR = 1e-7
WORTH_REFINING = 0.7
# Where all losses are larger, delta is 1 for all that a proof could show.
MOST_LOSS = 1e6
# Above it the steps of the integers are too fine to matter at any order.
WAVY_SCALE = 60.0
LEAST_WAVY_SCALE = 3.0
SCAN_STEPS = 200
SCAN_DEPTH = 6.0
REFINEMENTS = 12
NEAR_MISS = 0.5
MOST_VALLEYS = 8
LEAST_DELTA = 1e-300
# Where only a norm is known, the closed form in floats is as close as `WIDEST` in every case tried.
NORM_TOLERANCE, WIDEST = 1e-10, 1e-3


def least_for_corner(bound: CornerDelta, law: NoiseLaw, target: float) -> Proposal:
    """Return the least law, up to about 5e-5 in its scale, at which a corner reaches a target.

    Examples
    --------
    >>> from ggdp.proofs import NoiseLaw
    >>> from ggdp.proofs.several_coordinates import CornerDelta
    >>> found = least_for_corner(CornerDelta(corner=((1, 2),), epsilon=1.0), NoiseLaw(order=2, scale=1), 0.05)
    >>> round(found.law.scale, 3)  # the analytic Gaussian for an l_2 norm of sqrt(2) has 2.6656
    2.666
    """
    # What a certificate states is a little more than what is proved.
    delta = target * (1.0 - 2.0 * bound.margin)
    # Sizes in units of the largest keep the search away from the ends of the float range.
    unit = max(size for size, _ in bound.corner) if law.support == "real" else 1.0

    def excess(scale: float, *, rough: bool = False) -> float:
        return corner_excess(bound, law.with_scale(scale * unit), delta, rough=rough)

    relative = tuple((size / unit, count) for size, count in bound.corner)
    scale = passing_from(excess, _guess(law.order, relative, bound.epsilon, delta), tolerance=TOLERANCE)
    if law.order == 1.0:
        # Pure DP is never far away at p = 1, and near it the grid is the looser of the two.
        pure = float(sum(count * Fraction(size) for size, count in bound.corner) / Fraction(bound.epsilon)) / unit
        scale = min(scale, pure * (1.0 + 1e-15))
    candidates = [scale]
    if law.support == "integer" and scale <= wavy_scale(law.order):
        candidates = [*_passing_below(excess, scale), scale]
    for candidate in candidates:
        slope = (excess(candidate) - excess(candidate * (1.0 + PROBE))) / PROBE
        proposal = _prove_near(bound, law.with_scale(candidate * unit), delta, max(slope, 1.0))
        if proposal is not None:
            return proposal
    raise SearchError(f"no scale near {scale * unit!r} could be proved for this corner at order {law.order!r}")


def wavy_scale(order: float) -> float:
    """Return the scale above which delta was found to fall with the scale on the integers, if several coordinates move.

    Found by trying epsilons from 0.1 to 30: delta rose with the scale up to 0.9 at order 1.5, 3.0 at order 2, 6.8 at
    order 3 and 9.4 at order 4.
    """
    return min(WAVY_SCALE, max(LEAST_WAVY_SCALE, 4.0 * (order - 1.0) ** 2))


def corner_excess(bound: CornerDelta, law: NoiseLaw, delta: float, *, rough: bool = False) -> float:
    """Return log(delta(b) / delta), estimated in floats."""
    found = estimate_delta(law, bound.corner, bound.epsilon, rough=rough)
    return math.log(max(found.delta, LEAST_DELTA)) - math.log(delta)


@np.errstate(all="ignore")
def with_layout(bound: CornerDelta, law: NoiseLaw, *, spread: float | None = None) -> tuple[CornerDelta, int]:
    """Return the bound with a layout for a law, and the precision for a proof.

    With a spread, the layout is for an upper bound that is looser by about that much, else for both bounds.
    """
    losses = [(CoordinateLoss(law, size), count) for size, count in bound.corner]
    samples = sample_losses(losses)
    if samples is None or any(sample.losses.min() > MOST_LOSS for sample in samples):
        return bound, EXACT
    if spread is None:
        found = estimate_delta(law, bound.corner, bound.epsilon)
        ratio = found.density / max(found.delta, LEAST_DELTA)
        planned = plan_total(losses, samples, bound.epsilon, ratio=ratio)
    else:
        planned = plan_upper(losses, samples, bound.epsilon, spread)
    sizes = tuple(part.layout for part in planned.parts)
    layout = CornerLayout(sizes=sizes, tilt=planned.tilt, tail=planned.tail, points=planned.points)
    finest = min(size.step for size in sizes)
    return replace(bound, layout=layout), PRECISION + max(-math.frexp(finest)[1] - COARSE, 0)


def _prove_near(bound: CornerDelta, law: NoiseLaw, delta: float, slope: float) -> Proposal | None:
    """Prove a law, or one with a scale that is larger by what the proof is found to miss.

    `slope` is that of log delta against log b, without its sign. A proof that misses its target is first repeated on a
    finer grid, and then with a larger scale.
    """
    found = estimate_delta(law, bound.corner, bound.epsilon)
    # A grid with a spread W raises log delta by about 2/3 W times the density over delta.
    spread = 1.5 * MISSED * slope * found.delta / max(found.density, LEAST_DELTA)
    last, failed = math.inf, None
    # Where many coordinates add up, the slope is that of a smooth curve; near order 1 it cannot be told from two
    # points, and the scale is not moved far at once.
    farthest = FIRST_MOVE if sum(count for _, count in bound.corner) <= FEW else math.inf
    for _ in range(CORRECTIONS):
        proved = _prove(bound, law, spread)
        upper = proved.found.upper
        if upper <= delta:
            return proved if failed is None else _between(bound, failed, proved, delta, spread)
        missed = math.log(upper / delta) / slope
        if failed is None and NEAR < missed < WORTH_REFINING * last:
            last, spread = missed, spread / FINER**2
            continue
        if failed is not None:
            # Two proofs may show a curve that is less steep than was thought.
            fallen = math.log(failed.found.upper / upper) / math.log(law.scale / failed.law.scale)
            slope = max(min(slope, fallen), 1.0)
        failed = proved
        move = min(max(1.05 * math.log(upper / delta) / slope, LEAST_MOVE), farthest)
        law = law.with_scale(law.scale * (1.0 + move))
        farthest *= 2.0
    return None


def _between(bound: CornerDelta, failed: Proposal, proved: Proposal, delta: float, spread: float) -> Proposal:
    """Return a smaller law where a long move went too far: between the two the curve is straight."""
    if proved.found.upper >= delta * (1.0 - OVERSHOT):
        return proved
    missed = failed.found.upper
    share = math.log(missed / delta) / math.log(missed / max(proved.found.upper, LEAST_DELTA))
    scale = failed.law.scale + (proved.law.scale - failed.law.scale) * min(share * (1.0 + PROBE), 1.0)
    between = _prove(bound, failed.law.with_scale(scale), spread)
    return between if between.found.upper <= delta else proved


def _prove(bound: CornerDelta, law: NoiseLaw, spread: float) -> Proposal:
    """Return what is proved of a law, with a layout of its own."""
    planned, bits = with_layout(bound, law, spread=spread)
    return Proposal(planned, law, planned.at_precision(law, bits))


def _guess(order: float, corner: Corner, epsilon: float, delta: float) -> float:
    """Return the scale if the loss were normal: its variance is the Fisher information times the squared l_2 norm."""
    information = order**2 * math.exp(math.lgamma(2.0 - 1.0 / order) - math.lgamma(1.0 / order))
    norm = math.sqrt(sum(count * size * size for size, count in corner))
    q = math.sqrt(2.0 * math.log(1.0 / delta))
    return math.sqrt(information) * norm * (q + math.sqrt(q * q + 2.0 * epsilon)) / (2.0 * epsilon)


def _passing_below(excess: Callable[..., float], scale: float) -> list[float]:
    """Scan below a passing scale for smaller ones that pass, the smallest first."""
    ratio = SCAN_DEPTH ** (-1.0 / SCAN_STEPS)
    scales = [scale * ratio**i for i in range(SCAN_STEPS + 1)]
    values = [excess(s, rough=True) for s in scales]
    # Rough values are too large by a little, so a near miss is looked at again.
    promising = [i for i in range(1, SCAN_STEPS) if values[i] <= min(values[i - 1], values[i + 1], NEAR_MISS)]
    for i in promising[: -MOST_VALLEYS - 1 : -1]:
        best, value = _valley(excess, scales[i + 1], scales[i - 1])
        if value > 0.0:
            continue
        below = excess(scales[i + 1])
        if below > 0.0:
            ends = {"failing_excess": below, "passing_excess": value}
            best = passing_end(excess, scales[i + 1], best, tolerance=TOLERANCE, **ends)
        return [best]
    return []


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


def least_for_radial(bound: RadialDelta, law: NoiseLaw, target: float) -> Proposal:
    """Return the least law, up to 1e-9 in its scale, at which the direction-free bound reaches a target.

    Examples
    --------
    >>> from ggdp.proofs import NoiseLaw
    >>> from ggdp.proofs.norms import RadialDelta
    >>> bound = RadialDelta(sensitivity=1.0, dimension=2, epsilon=1.0)
    >>> print(f"{least_for_radial(bound, NoiseLaw(order=2, scale=1), 0.05).law.scale:.7f}")  # g = log 20
    3.7297512
    """
    from scipy import special

    root, g = 1.0 / law.order, float(special.gammainccinv(bound.dimension / law.order, target))
    reach = g**root * math.expm1(math.log1p(bound.epsilon / g) / law.order) if g != 0.0 else bound.epsilon**root
    start = bound.sensitivity / float(reach)
    excess = log_excess(bound, law, target)
    width = NORM_TOLERANCE
    while width <= WIDEST:
        failing, passing = start * (1.0 - width), start * (1.0 + width)
        above, below = excess(failing), excess(passing)
        if above > 0.0 >= below:
            ends = {"failing_excess": above, "passing_excess": below}
            scale = passing_end(excess, failing, passing, tolerance=NORM_TOLERANCE, **ends)
            return raise_until_proved(bound, law.with_scale(scale), target)
        width *= 10.0
    raise SearchError(f"no scale near {start!r} could be proved for dimension {bound.dimension} at order {law.order!r}")
