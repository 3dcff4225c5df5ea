"""The scale of an order for a search over orders: what `ggdp.calibrate` would find, faster and without a proof.

Where one coordinate moves, a scale takes a millisecond and is searched as for a calibration. Where several do, delta
comes from a convolution, and three things save most of them: the search starts from the scales of the orders already
known (log b is smooth in log p), it goes by secants (log delta is nearly straight in log b), and nothing is proved.

On the integers delta is not monotone in the scale, so small scales are scanned, from the least that one
moving coordinate needs (several need no less: to forget the others is post-processing) up to the first that passes.
Above, and from order 1.5 on, the scale on the reals stands in: it was within 1e-3 of that on the integers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias, cast

from ggdp.calibration.least_scale import least_law, search_for
from ggdp.calibration.paper import disjoint_scale
from ggdp.calibration.scale_for_one_coordinate import least_for_integer_shift
from ggdp.calibration.scale_for_several_coordinates import wavy_scale
from ggdp.calibration.search import passing_end, passing_from
from ggdp.errors import ArgumentError, SearchError
from ggdp.privacy import ApproxDP, ProbabilisticDP
from ggdp.proofs.noise_law import NoiseLaw
from ggdp.proofs.one_coordinate import IntegerShiftDelta
from ggdp.proofs.several_coordinates import AbsoluteSumDelta, CornerDelta
from ggdp.proofs.worst_case import Question

if TYPE_CHECKING:
    from ggdp.privacy import Guarantee, Sensitivity
    from ggdp.proofs.noise_law import Support

Scales: TypeAlias = Callable[[float, Callable[[], float]], float]
Convolved: TypeAlias = CornerDelta | AbsoluteSumDelta
# Of log b, which need be known only well enough to tell which order is best.
TOLERANCE = 1e-5
# Of an estimate that is asked for by itself, and how far from it the search before it may be.
FINE_TOLERANCE, NEAR = 1e-7, 1.0 + 1e-4
# Where delta jumps, secants lead nowhere, and halving a bracket is slow.
LOOSE_TOLERANCE = 1e-4
SECANTS = 10
FARTHEST_STEP = 0.7
SMOOTH_ORDER = 1.5
SCAN_STEP = 0.01
WIDEST_SCAN_STEP = 0.03
NEAR_MISS = 0.3
DIP_STEPS = 8
# How far above the scale on the reals that on the integers is looked for.
ABOVE_REAL = 1.5


def estimate_scale(goal: ProbabilisticDP | ApproxDP, sensitivity: Sensitivity, *, order: float) -> float:
    """Return the scale for several coordinates that move at once, on the reals: a search in floats without a proof.

    It is good to about 1e-6, and much faster than `ggdp.calibrate`: made for curves over many orders or goals. Noise
    for a release needs a certificate, which only `ggdp.calibrate` gives.

    Parameters
    ----------
    goal : ProbabilisticDP or ApproxDP
        The goal. For `ProbabilisticDP` the scale is that of the paper's bound (Cor. 7), as with ``method="paper"``.
    sensitivity : Sensitivity
        A box or cells.
    order : float
        Order of the noise, above 1.

    Raises
    ------
    ArgumentError
        If an argument is wrong.
    SearchError
        If no scale was found.

    Examples
    --------
    >>> from ggdp import ApproxDP, ProbabilisticDP, Sensitivity
    >>> box = Sensitivity.box([1.0, 0.1, 0.05])
    >>> print(f"{estimate_scale(ProbabilisticDP(1.0, 0.05), box, order=2):.5f}")
    3.25827
    >>> print(f"{estimate_scale(ApproxDP(1.0, 0.05), box, order=3):.4f}")
    2.6183
    """
    if not isinstance(goal, ProbabilisticDP | ApproxDP):
        raise ArgumentError("goal", goal, "must be ProbabilisticDP or ApproxDP")
    if not sensitivity.is_per_coordinate:
        raise ArgumentError("sensitivity", sensitivity, "must be a box or cells")
    law = NoiseLaw(order=order, scale=1.0)
    bound: Convolved
    if isinstance(goal, ApproxDP):
        bound = CornerDelta(corner=sensitivity.corner, epsilon=goal.epsilon)
        near = scale_finder(goal, sensitivity, "real")(law.order, lambda: math.inf)
    else:
        bound = AbsoluteSumDelta(corner=sensitivity.corner, epsilon=goal.epsilon)

        def rough(scale: float) -> float:
            return _excess(bound, law.with_scale(scale), goal.delta, rough=True)

        start = disjoint_scale(law.order, sensitivity.lp(1), goal.epsilon, goal.delta)
        near = passing_from(rough, start, tolerance=TOLERANCE)

    def excess(scale: float) -> float:
        return _excess(bound, law.with_scale(scale), goal.delta)

    return passing_from(excess, near, ratio=NEAR, tolerance=FINE_TOLERANCE)


def is_convolved(question: Question) -> bool:
    """Return whether the delta of a question is a convolution."""
    return any(search_for(requirement.bound).excess is not None for requirement in question.requirements())


def scale_finder(goal: Guarantee, sensitivity: Sensitivity, support: Support) -> Scales:
    """Return a function of an order, and of a function that returns the largest scale of interest, to the scale found.

    It is infinite where none was found, or only one that is too large to be of interest.
    """
    known: dict[str, dict[float, float]] = {}

    def scale_of(order: float, largest: Callable[[], float]) -> float:
        question = Question(goal=goal, sensitivity=sensitivity, order=order, support=support)
        law = NoiseLaw(order=order, scale=1.0, support=support)
        found = []
        for requirement in question.requirements():
            if search_for(requirement.bound).excess is None:
                found.append(least_law(question, requirement).law.scale)
            else:
                bound = cast("Convolved", requirement.bound)
                found.append(_convolved(bound, law, requirement.target, largest, known))
        return min(found)

    return scale_of


def _convolved(
    bound: Convolved, law: NoiseLaw, delta: float, largest: Callable[[], float], known: dict[str, dict[float, float]]
) -> float:
    """Return the scale for a delta that is a convolution."""
    if not search_for(bound).wavy:
        # The slowest of all, and its delta falls with the scale: one estimate shows whether an order is of interest.
        most = largest()
        if math.isfinite(most) and _excess(bound, law.with_scale(most), delta) > 0.0:
            return math.inf
        return _smooth(bound, law, delta, known.setdefault(bound.name, {}))
    if law.support == "real":
        return _smooth(bound, law, delta, known.setdefault("corner", {}))
    near = _smooth(bound, replace(law, support="real"), delta, known.setdefault("corner on the reals", {}))
    if near > wavy_scale(law.order):
        # The steps of the integers are too fine to matter for which order is best, but near the kink of order 1.
        started = known.setdefault("corner", {law.order: near})
        return near if law.order >= SMOOTH_ORDER else _smooth(bound, law, delta, started)
    size = max(size for size, _ in bound.corner)
    single = IntegerShiftDelta(notion="approximate", sensitivity=int(size), epsilon=bound.epsilon)
    start = least_for_integer_shift(single, law, delta).law.scale
    end = min(ABOVE_REAL * near, largest())
    return _scanned(lambda scale: _excess(bound, law.with_scale(scale), delta, rough=True), law.order, start, end)


def _excess(bound: Convolved, law: NoiseLaw, delta: float, *, rough: bool = False) -> float:
    """Return log(delta(b) / delta), estimated in floats."""
    estimate = search_for(bound).excess
    assert estimate is not None
    return estimate(bound, law, delta, rough=rough)


def _smooth(bound: Convolved, law: NoiseLaw, delta: float, known: dict[float, float]) -> float:
    """Return the scale where delta falls with it, by secants from a guess, or by a bracket if they lead nowhere."""
    order = law.order
    guess = _guess(order, known) or _normal_guess(bound, delta)
    if not math.isfinite(guess) or guess <= 0.0:
        return math.inf

    def excess(scale: float) -> float:
        return _excess(bound, law.with_scale(scale), delta, rough=True)

    jumps = law.support == "integer" and not search_for(bound).wavy
    here = math.log(guess)
    value = excess(guess)
    ahead = here + math.copysign(0.01, value)
    for _ in range(0 if jumps else SECANTS):
        following = excess(math.exp(ahead))
        slope = (following - value) / (ahead - here) if ahead != here else 0.0
        here, value = ahead, following
        if not slope < -0.1:
            break
        step = -value / slope
        if abs(step) <= TOLERANCE:
            known[order] = math.exp(here + step)
            return known[order]
        ahead = here + min(max(step, -FARTHEST_STEP), FARTHEST_STEP)
    known[order] = passing_from(excess, guess, tolerance=LOOSE_TOLERANCE if jumps else TOLERANCE)
    return known[order]


def _guess(order: float, known: dict[float, float]) -> float | None:
    """Continue log b from the two known orders nearest in log p."""
    nearest = sorted(known, key=lambda other: abs(math.log(other / order)))[:2]
    if not nearest:
        return None
    if len(nearest) == 1:
        return known[nearest[0]]
    first, second = (math.log(other) for other in nearest)
    one, two = (math.log(known[other]) for other in nearest)
    return math.exp(one + (two - one) / (second - first) * (math.log(order) - first))


def _normal_guess(bound: Convolved, delta: float) -> float:
    """Return the scale of Gaussian noise for the same l_2 norm, about, as a start for any order."""
    norm = math.sqrt(sum(count * size * size for size, count in bound.corner))
    q = math.sqrt(2.0 * math.log(1.0 / delta))
    return norm * (q + math.sqrt(q * q + 2.0 * bound.epsilon)) / (math.sqrt(2.0) * bound.epsilon)


def _scanned(excess: Callable[[float], float], order: float, start: float, largest: float) -> float:
    """Return the first scale found to pass from `start` on, or infinity if there is none up to `largest`."""
    behind: tuple[float, float] | None = None
    here, value = start, excess(start)
    while value > 0.0:
        if here > largest:
            return math.inf
        # Far from passing, a step is what log delta, whose slope in log b is a few p, can hardly make up for.
        step = here * (1.0 + min(max(value / (2.0 * order), SCAN_STEP), WIDEST_SCAN_STEP))
        ahead = excess(step)
        if behind is not None and value < NEAR_MISS and value <= min(behind[1], ahead) and ahead > 0.0:
            dip, depth = _dip(excess, behind[0], here, value, step)
            if depth <= 0.0:
                return _narrowed(excess, behind[0], dip)
        behind, here, value = (here, value), step, ahead
    return here if behind is None else _narrowed(excess, behind[0], here)


def _dip(excess: Callable[[float], float], low: float, middle: float, value: float, high: float) -> tuple[float, float]:
    """Return the lowest point found between two scales, halving towards the lower side."""
    for _ in range(DIP_STEPS):
        if value <= 0.0:
            break
        for trial in (0.5 * (low + middle), 0.5 * (middle + high)):
            depth = excess(trial)
            if depth < value:
                low, high = (low, middle) if trial < middle else (middle, high)
                middle, value = trial, depth
                break
        else:
            low, high = 0.5 * (low + middle), 0.5 * (middle + high)
    return middle, value


def _narrowed(excess: Callable[[float], float], failing: float, passing: float) -> float:
    try:
        return passing_end(excess, failing, passing, tolerance=TOLERANCE)
    except SearchError:
        return passing
