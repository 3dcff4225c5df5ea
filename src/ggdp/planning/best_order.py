"""From a goal, a query and a measure of error to the best order, or to the smallest epsilon that keeps a half-width.

The least error over orders: a grid over all of them, then the promising valleys, narrowed step by step. On the reals
the error has one broad valley in log p, or sometimes, mostly for probabilistic DP, one at either end. On the integers
it has more, and it jumps: the scale of an order sits at a breakpoint that the next order may not share. So nothing here
rests on smoothness, only on looking closely enough; the best of all orders that were tried is returned. A measure that
is a whole number (a quantile on the integers) is shared by many orders: a second number then decides.

For a half-width, the scale of each order is the largest whose half-width at the level is within it, and its error the
least epsilon for the delta. Epsilons to choose by are found in floats where a convolution would be needed; the plan's
own is proved by `calibrate`, and its scale keeps the half-width.

The scale of an order is what `ggdp.calibrate` would find, faster and without a proof. Where one coordinate moves, a
scale takes a millisecond and is searched as for a calibration. Where several do, delta comes from a convolution, and
three things save most of them: the search starts from the scales of the orders already known (log b is smooth in log
p), it goes by secants (log delta is nearly straight in log b), and nothing is proved.

On the integers delta is not monotone in the scale, so small scales are scanned, from the least that one moving
coordinate needs (several need no less: to forget the others is post-processing) up to the first that passes. Above, and
from order 1.5 on, the scale on the reals stands in: it was within 1e-3 of that on the integers.

References
----------
Liu, arXiv 1602.06028 v5, compares a few whole orders at the paper's bounds; no order is chosen there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from itertools import takewhile
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np

from ggdp import _validate
from ggdp._work import within, without_limit
from ggdp.accounting.noise_guarantees import calibration_of_law, delta_between, epsilon_above
from ggdp.accounting.profile import NoisyQuery
from ggdp.calibration import Calibration, calibrate
from ggdp.calibration.least_scale import checked_question, least_law, minkowski_calibration, propose, search_for
from ggdp.calibration.scale_for_several_coordinates import corner_excess, wavy_scale
from ggdp.calibration.search import passing_end, passing_from
from ggdp.errors import ArgumentError, ArgumentTypeError, GgdpError, SearchError, UnattainableError, UnprovedError
from ggdp.noise.norm_ball_noise import NormBallNoise, vector_noise
from ggdp.planning.error_measures import Measure, MeasureName, Outside, noise_outside, validate_measure
from ggdp.privacy import ApproxDP, Guarantee, PureDP, Sensitivity
from ggdp.privacy.guarantees import as_goal
from ggdp.proofs.noise_law import NoiseLaw, Support
from ggdp.proofs.one_coordinate import IntegerShiftDelta
from ggdp.proofs.several_coordinates import ConvolvedDelta, CornerDelta
from ggdp.proofs.worst_case import Question, Requirement, require_integers


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """An order with its certified scale and its error, in the unit of the query.

    Attributes
    ----------
    name : str
        "best", "laplace", "gaussian" or "minkowski".
    order : float
        Order of the noise.
    scale, error : float, optional
        Its scale and error; None where the goal does not exist, or is not proved, for this order.
    gain : float, optional
        How many times the best order's error this one has; None if that is 0.
    """

    name: str
    order: float
    scale: float | None
    error: float | None
    gain: float | None

    def to_dict(self) -> dict[str, Any]:
        """Return the choice as plain values, fit for JSON."""
        return asdict(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The order that a query is best served by. Nothing in it comes from data.

    Attributes
    ----------
    best : Choice
        The best order found, its scale and its error.
    alternatives : tuple of Choice
        The usual orders: "laplace" (order 1) and "gaussian" (order 2, for approximate DP the analytic Gaussian). For
        several coordinates also "minkowski", noise of a norm with pure DP, which often has a smaller error than any
        independent noise; `ggdp.MinkowskiMechanism` draws it. For a goal with a delta only where its error is smaller.
    calibration : Calibration
        The best scale with its proof, ready for `ggdp.Mechanism`.
    measure : Measure
        What was minimized.
    curve : tuple of (order, error)
        All orders that were tried, in increasing order. But for those of `best` and `alternatives` their scales were
        not proved.
    notes : tuple of str
        What a reader should know, such as how closely the orders were searched.
    releases : int
        For how many equal releases the noise was planned: all of them together keep the goal.
    each : Calibration
        What one of the releases keeps by itself, ready for `ggdp.Mechanism`; the same as `calibration` where there is
        one. Of several releases `calibration` is about all of them together.
    outside : tuple of Outside
        Noise outside the family with a smaller error, for one moving coordinate; ggdp does not draw it.

    Examples
    --------
    >>> import ggdp
    >>> plan = ggdp.plan(ggdp.ApproxDP(1.0, 0.05), ggdp.Sensitivity.histogram())
    >>> print(f"{plan.best.order:.2f} {plan.best.error:.3f}")
    1.27 1.198
    >>> ggdp.Mechanism(plan.calibration).calibration.order == plan.best.order
    True
    """

    best: Choice
    alternatives: tuple[Choice, ...]
    calibration: Calibration
    measure: Measure
    curve: tuple[tuple[float, float], ...] = field(repr=False)
    notes: tuple[str, ...] = ()
    outside: tuple[Outside, ...] = ()
    releases: int = 1
    each: Calibration

    @property
    def choices(self) -> tuple[Choice, ...]:
        """The best choice and the alternatives."""
        return (self.best, *self.alternatives)

    def __repr__(self) -> str:
        calibration = self.calibration
        lines = [
            f"Plan for {calibration.goal.under(calibration.sensitivity.neighbours)}",
            f"  query: {self.each.sensitivity}, noise on the {calibration.support}s",
            f"  error: {self.measure}",
        ]
        for choice in self.choices:
            if choice.scale is None:
                lines.append(f"  {choice.name:<9} order {choice.order:<8.6g} not available")
                continue
            gain = "" if choice is self.best or choice.gain is None else f"  ({choice.gain:.4g} times the best)"
            lines.append(
                f"  {choice.name:<9} order {choice.order:<8.6g} scale {choice.scale:<12.7g} "
                f"error {choice.error:.7g}{gain}"
            )
        if self.releases > 1:
            lines.insert(2, f"  releases: {self.releases:,} together keep the goal; each alone {self.each.guarantee}")
        lines += [f"  outside the family: {other}" for other in self.outside]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as plain values, fit for JSON."""
        return {
            "best": self.best.to_dict(),
            "alternatives": [choice.to_dict() for choice in self.alternatives],
            "outside": [asdict(other) for other in self.outside],
            "gain": "each gain is the error of a choice divided by the error of the best; above 1 it is worse",
            "measure": self.measure.name,
            "level": self.measure.level,
            "cells": self.measure.cells,
            "support": self.calibration.support,
            "sensitivity": str(self.calibration.sensitivity),
            "goal": self.calibration.goal.under(self.calibration.sensitivity.neighbours).to_dict(),
            "releases": self.releases,
            "calibration": self.calibration.to_dict(),
            "each": self.each.to_dict(),
            "curve": [list(point) for point in self.curve],
            "notes": list(self.notes),
        }


# Called with the number of orders tried, and about how many there will be.
Progress: TypeAlias = Callable[[int, int], None] | None

LOWEST_ORDER, HIGHEST_ORDER = 1.0, 50.0
# Laplace and Gaussian noise: preferred where they are as good as any other.
USUAL = (1.0, 2.0)
# An order that is usual or has fewer digits is preferred if its error is larger by no more than this.
PLAIN = 1e-5


class Trial(NamedTuple):
    """A law that was tried: an order with the scale found for it, its error, and what decides between equal errors."""

    law: NoiseLaw
    error: float
    tie: float = 0.0

    @property
    def rank(self) -> tuple[float, float]:
        """What trials are compared by; the smaller is the better."""
        return self.error, self.tie

    def is_as_good_as(self, other: Trial) -> bool:
        """Return whether this trial is no worse than another, but for a share of `PLAIN`."""
        return self.error <= other.error * (1.0 + PLAIN) and self.tie <= other.tie * (1.0 + PLAIN)


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolution:
    """How closely the orders are searched."""

    points: int  # orders on the first grid, evenly spaced in log p
    finer: int  # into how many parts an interval of it is split if an end has an error near the least
    valleys: int  # how many of the lowest valleys are then narrowed
    splits: int  # into how many parts each half of a valley is split at a time
    width: float  # width of a valley, in log p, at which to stop


def least_error(
    trial: Callable[[float], Trial], resolution: Resolution, known: list[Trial], progress: Progress = None
) -> tuple[Trial, list[Trial]]:
    """Return the best trial and all of them in order, those `known` beforehand (the usual orders) among them."""
    tried = {one.law.order: one for one in known}
    points, finer, splits = resolution.points, resolution.finer, resolution.splits
    top = math.log(HIGHEST_ORDER / LOWEST_ORDER)
    rounds = max(math.ceil(math.log(2.0 * top / (points - 1) / finer / resolution.width, splits)), 0)
    # About how many orders will be tried.
    expected = points + (points - 1) * (finer - 1) // 2 + resolution.valleys * rounds * 2 * (splits - 1) + 2

    def tried_at(order: float) -> Trial:
        if order not in tried:
            tried[order] = trial(order)
            if progress is not None:
                progress(len(tried), expected)
        return tried[order]

    def at(log_order: float) -> Trial:
        return tried_at(round(min(max(math.exp(log_order), LOWEST_ORDER), HIGHEST_ORDER), 9))

    places = [math.log(LOWEST_ORDER) + top * i / (points - 1) for i in range(points)]
    grid = [at(place) for place in places]
    if finer > 1:
        enough = 1.5 * min(one.error for one in tried.values())
        for i in range(points - 1):
            if min(grid[i].error, grid[i + 1].error) <= enough:
                part = (places[i + 1] - places[i]) / finer
                places += [places[i] + part * j for j in range(1, finer)]
        places.sort()
        grid = [at(place) for place in places]
    around = [(max(i - 1, 0), min(i + 1, len(grid) - 1)) for i in range(len(grid))]
    valleys = [
        (one.rank, places[before], places[after])
        for one, (before, after) in zip(grid, around, strict=True)
        if math.isfinite(one.error) and one.rank <= min(grid[before].rank, grid[after].rank)
    ]
    for _, left, right in sorted(valleys, key=lambda valley: valley[0])[: resolution.valleys]:
        # Ever finer divisions around the best place of the valley.
        middle = 0.5 * (left + right)
        while right - left > resolution.width:
            division = [left + (middle - left) * i / splits for i in range(splits)]
            division += [middle + (right - middle) * i / splits for i in range(splits + 1)]
            lowest = min(range(len(division)), key=lambda i: at(division[i]).rank)
            middle = division[lowest]
            left, right = division[max(lowest - 1, 0)], division[min(lowest + 1, len(division) - 1)]
    best = min(tried.values(), key=lambda one: one.rank)
    # A usual order, or the one of the fewest digits, that is as good as the best.
    plain = (*USUAL, *(float(f"{best.law.order:.{digits}g}") for digits in range(2, 7)))
    trials = (tried_at(order) for order in plain if LOWEST_ORDER <= order <= HIGHEST_ORDER)
    best = next((one for one in trials if one.is_as_good_as(best)), best)
    return best, [tried[order] for order in sorted(tried)]


# Of log b, which need be known only well enough to tell which order is best.
TOLERANCE = 1e-5


def estimate_scale(goal: Guarantee, sensitivity: Sensitivity, *, order: float) -> float:
    """Return about the scale that `ggdp.calibrate` finds on the reals: a search in floats without a proof.

    It is much faster where several coordinates change at once: made for curves over many orders or goals. Noise for a
    release needs a certificate, which only `ggdp.calibrate` gives. At order 2, if several coordinates change, the scale
    is that of the bounds which hold at every order, lest a curve have a dip where `ggdp.calibrate` knows a better one.

    Parameters
    ----------
    goal : ProbabilisticDP or ApproxDP
        The goal. For `ProbabilisticDP`, a box or cells the scale is that of the paper's bound (Cor. 7).
    sensitivity : Sensitivity
        How far one person can change the query.
    order : float
        Order of the noise.

    Raises
    ------
    ArgumentError
        If an argument is wrong.
    UnattainableError
        If the goal does not exist for this noise.
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
    law = NoiseLaw(order=order, scale=1.0)
    # What applies next to order 2 applies at 2 as well.
    near = math.nextafter(2.0, math.inf) if law.order == 2.0 else law.order
    question = checked_question(as_goal(goal), sensitivity, near, "real", None, None)

    def scale(requirement: Requirement) -> float:
        if search_for(requirement.bound).excess is None:
            return least_law(question, requirement).law.scale
        bound = cast("ConvolvedDelta", requirement.bound)
        start = _smooth_scale(bound, law, requirement.target, {})
        # What the first search finds may be so far from it.
        return passing_from(_excess(bound, law, requirement.target), start, ratio=1.0 + 1e-4, tolerance=1e-7)

    return min(scale(requirement) for requirement in question.requirements())


def is_convolved(question: Question) -> bool:
    """Return whether the delta of a question is a convolution."""
    return any(search_for(requirement.bound).excess is not None for requirement in question.requirements())


def scale_finder(
    goal: Guarantee, sensitivity: Sensitivity, support: Support
) -> Callable[[float, Callable[[], float]], float]:
    """Return a function of an order, and of a function that returns the largest scale of interest, to the scale found.

    It is infinite where none was found, or only one that is too large to be of interest.
    """
    known: dict[str, dict[float, float]] = {}

    def scale_of(order: float, largest: Callable[[], float]) -> float:
        question = Question(goal=goal, sensitivity=sensitivity, order=order, support=support)
        law = NoiseLaw(order=order, scale=1.0, support=support)
        return min(
            least_law(question, requirement).law.scale
            if search_for(requirement.bound).excess is None
            else _convolved_scale(cast("ConvolvedDelta", requirement.bound), law, requirement.target, largest, known)
            for requirement in question.requirements()
        )

    return scale_of


def _convolved_scale(
    bound: ConvolvedDelta,
    law: NoiseLaw,
    delta: float,
    largest: Callable[[], float],
    known: dict[str, dict[float, float]],
) -> float:
    """Return the scale for a delta that is a convolution."""
    if not search_for(bound).wavy:
        # The slowest of all, and its delta falls with the scale: one estimate shows whether an order is of interest.
        most = largest()
        if math.isfinite(most) and _excess(bound, law, delta)(most) > 0.0:
            return math.inf
        return _smooth_scale(bound, law, delta, known.setdefault(bound.name, {}))
    if law.support == "real":
        return _smooth_scale(bound, law, delta, known.setdefault("corner", {}))
    near = _smooth_scale(bound, replace(law, support="real"), delta, known.setdefault("corner on the reals", {}))
    if near > wavy_scale(law.order):
        # The steps of the integers are too fine to matter for which order is best, but near the kink of order 1. The
        # first order that comes here enters with its scale on the reals, from which the search of the others starts.
        started = known.setdefault("corner", {law.order: near})
        return near if law.order >= 1.5 else _smooth_scale(bound, law, delta, started)
    size = max(size for size, _ in bound.corner)
    single = IntegerShiftDelta(notion="approximate", sensitivity=int(size), epsilon=bound.epsilon)
    start = propose(single, law, delta).law.scale
    end = min(1.5 * near, largest())
    return _scan(_excess(bound, law, delta, rough=True), law.order, start, end)


def _excess(bound: ConvolvedDelta, law: NoiseLaw, delta: float, *, rough: bool = False) -> Callable[[float], float]:
    """Return log(delta(b) / delta) as a function of the scale b, estimated in floats."""
    estimate = search_for(bound).excess
    assert estimate is not None
    return lambda scale: estimate(bound, law.with_scale(scale), delta, rough=rough)


def _smooth_scale(bound: ConvolvedDelta, law: NoiseLaw, delta: float, known: dict[float, float]) -> float:
    """Return the scale where delta falls with it, by secants from a guess, or by a bracket if they lead nowhere."""
    order = law.order
    guess = _guess(bound, order, delta, known)
    if not math.isfinite(guess) or guess <= 0.0:
        return math.inf

    excess = _excess(bound, law, delta, rough=True)
    jumps = law.support == "integer" and not search_for(bound).wavy
    here = math.log(guess)
    value = excess(guess)
    ahead = here + math.copysign(0.01, value)
    for _ in range(0 if jumps else 10):
        following = excess(math.exp(ahead))
        slope = (following - value) / (ahead - here) if ahead != here else 0.0
        here, value = ahead, following
        if not slope < -0.1:
            break
        step = -value / slope
        if abs(step) <= TOLERANCE:
            known[order] = math.exp(here + step)
            return known[order]
        ahead = here + min(max(step, -0.7), 0.7)
    # Where delta jumps, secants lead nowhere, and halving a bracket is slow.
    known[order] = passing_from(excess, guess, tolerance=1e-4 if jumps else TOLERANCE)
    return known[order]


def _guess(bound: ConvolvedDelta, order: float, delta: float, known: dict[float, float]) -> float:
    """Continue log b from the two known orders nearest in log p."""
    nearest = sorted(known, key=lambda other: abs(math.log(other / order)))[:2]
    if not nearest:
        # About the scale of Gaussian noise for the same l_2 norm, as a start for any order.
        norm = math.sqrt(sum(count * size * size for size, count in bound.corner))
        q = math.sqrt(2.0 * math.log(1.0 / delta))
        return norm * (q + math.sqrt(q * q + 2.0 * bound.epsilon)) / (math.sqrt(2.0) * bound.epsilon)
    if len(nearest) == 1:
        return known[nearest[0]]
    first, second = (math.log(other) for other in nearest)
    one, two = (math.log(known[other]) for other in nearest)
    return math.exp(one + (two - one) / (second - first) * (math.log(order) - first))


def _scan(excess: Callable[[float], float], order: float, start: float, largest: float) -> float:
    """Return the first scale found to pass from `start` on, or infinity if there is none up to `largest`."""
    behind: tuple[float, float] | None = None
    here, value = start, excess(start)
    while value > 0.0:
        if here > largest:
            return math.inf
        # Far from passing, a step is what log delta, whose slope in log b is a few p, can hardly make up for.
        step = here * (1.0 + min(max(value / (2.0 * order), 0.01), 0.03))
        ahead = excess(step)
        if behind is not None and value < 0.3 and value <= min(behind[1], ahead) and ahead > 0.0:
            dip, depth = _dip(excess, behind[0], here, value, step)
            if depth <= 0.0:
                return _narrow(excess, behind[0], dip)
        behind, here, value = (here, value), step, ahead
    return here if behind is None else _narrow(excess, behind[0], here)


def _dip(excess: Callable[[float], float], low: float, middle: float, value: float, high: float) -> tuple[float, float]:
    """Return the lowest point found between two scales, halving towards the lower side."""
    for _ in range(8):
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


def _narrow(excess: Callable[[float], float], failing: float, passing: float) -> float:
    try:
        return passing_end(excess, failing, passing, tolerance=TOLERANCE)
    except SearchError:
        return passing


LEAST_EPSILON, MOST_EPSILON = 1e-9, 1e6
LAPLACE, GAUSSIAN = USUAL
# By support, and whether a scale takes a convolution.
RESOLUTIONS = {
    ("real", False): Resolution(points=65, finer=1, valleys=3, splits=2, width=1e-3),
    ("real", True): Resolution(points=13, finer=1, valleys=2, splits=2, width=1e-2),
    ("integer", False): Resolution(points=61, finer=6, valleys=6, splits=5, width=1e-4),
    ("integer", True): Resolution(points=25, finer=1, valleys=2, splits=2, width=1e-2),
}
# An order is dropped once its error is known to be more than this many times the least so far.
DROPPED_ABOVE = 1.3
# What can be proved of all orders but 1 and 2 can be proved of this one.
GENERAL_ORDER = 3.0
SOME_CELLS = (
    "the largest error is taken over {:,} cells, as many as can move; a query with more cells has a larger one, and "
    "maybe another best order: give their number as cells"
)
NOTHING_TO_CHOOSE = ", there was nothing to choose"
# Units of work of a plan in all, and of its search over orders.
MOST_WORK, SEARCH_WORK = 6e6, 3e6


def plan(
    goal: Guarantee | float | None = None,
    sensitivity: Sensitivity | None = None,
    measure: MeasureName = "rmse",
    *,
    epsilon: float | None = None,
    plus_minus: float | None = None,
    delta: float | None = None,
    level: float = 0.95,
    cells: int | None = None,
    support: Support = "real",
    releases: int = 1,
    progress: Progress = None,
) -> Plan:
    """Return the order in [1, 50] whose noise, of the least scale that keeps the goal, has the least error.

    Parameters
    ----------
    goal : PureDP, ProbabilisticDP, ApproxDP or float
        What must be promised; a number is the epsilon of pure DP. None with `plus_minus`.
    sensitivity : Sensitivity
        How far one person can move the query.
    measure : {"rmse", "mean-abs", "quantile", "max"}, default "rmse"
        What to minimize; "max" is the expected largest absolute error over the cells of the query.
    epsilon : float, optional
        In place of `goal`: pure DP, or with `delta` approximate DP.
    plus_minus : float, optional
        The half-width that an interval of this `level` may have: the smallest epsilon with it is then looked for, for
        pure DP, or for approximate DP with the `delta` that is given; `measure` is "quantile", and `cells` is not used.
    delta : float, optional
        The delta of the goal, with `epsilon`; of the one that is looked for, with `plus_minus`.
    level : float, default 0.95
        Level of the quantile.
    cells : int, optional
        Number of cells of the query, for "max"; by default as many as can move.
    support : {"real", "integer"}, default "real"
        Where the noise lives.
    releases : int, default 1
        How many equal releases of the same people shall keep the goal together. The noise of each is `Plan.each`; the
        queries may be chosen adaptively, but not the noise.
    progress : callable, optional
        Called after each order with the number of orders tried and about how many there will be.

    Returns
    -------
    Plan
        The best order with its certified calibration, beside Laplace and Gaussian noise.

    Raises
    ------
    ArgumentError
        If an argument is wrong.

    Notes
    -----
    Claim: the plan is a function of the arguments, which are public, so it costs no privacy. Its scale is proved; that
    no other order has a smaller error is the result of a search, and the notes say how close. Of orders whose errors
    agree to 1e-5 a usual one, or else the one with the fewest digits, is preferred.

    Examples
    --------
    >>> import ggdp
    >>> plan = ggdp.plan(ggdp.ApproxDP(0.1, 0.1), ggdp.Sensitivity.histogram())
    >>> [f"{choice.name} {choice.error:.3f}" for choice in plan.choices]
    ['best 2.538', 'laplace 4.551', 'gaussian 2.847']
    >>> print(plan.outside[0])
    truncated Laplace 2.309 (0.910 times the best)

    Twelve monthly histograms that keep the goal together:

    >>> year = ggdp.plan(ggdp.ApproxDP(1.0, 1e-6), ggdp.Sensitivity.histogram(), support="integer", releases=12)
    >>> print(year.each.guarantee)
    (0.211, 8.34e-08)-aDP under add-remove neighbours

    Plus or minus 10 with 95 percent, and the epsilon that it takes:

    >>> within = ggdp.plan(None, ggdp.Sensitivity.histogram(), plus_minus=10, delta=1e-6, support="integer")
    >>> print(within.calibration.goal, f"{within.best.order:g}", within.best.error)
    (0.285, 1e-06)-aDP 1 10.0
    """
    if not isinstance(sensitivity, Sensitivity):
        raise ArgumentTypeError("sensitivity", sensitivity, "must be a Sensitivity, such as Sensitivity.disjoint(1)")
    number = _validate.integer(releases=releases, at_least=1)
    if plus_minus is not None:
        _require_unused(epsilon, measure, cells, number)
        looked_for = goal, sensitivity, support, plus_minus, delta, level, progress
        return within(MOST_WORK, lambda: _plan_for_half_width(*looked_for))
    goal = as_goal(goal, epsilon, delta, instead="; or give `plus_minus`")
    if number > 1 and goal.notion == "probabilistic":
        raise ArgumentError("goal", str(goal), "several releases keep approximate DP together; use ApproxDP")
    error = validate_measure(measure, level, cells, sensitivity)
    some_cells = error.cells is not None and cells is None and not sensitivity.has_fixed_dimension
    notes = [SOME_CELLS.format(error.cells)] if some_cells else []
    asked = goal, sensitivity.repeated(number), support, error, notes, progress
    found = within(MOST_WORK, lambda: _plan_for_goal(*asked))
    if number == 1:
        return _with_minkowski(found, goal, sensitivity, support)
    each = calibration_of_law(found.calibration.law, sensitivity, delta=goal.delta / number)
    return replace(found, releases=number, each=each)


def _require_unused(epsilon: float | None, measure: str, cells: int | None, releases: int) -> None:
    """Refuse arguments of a goal where the goal is looked for."""
    if epsilon is not None:
        raise ArgumentError("epsilon", epsilon, "is what plus_minus looks for; leave it out")
    for name, value, unused in (("measure", measure, "rmse"), ("cells", cells, None), ("releases", releases, 1)):
        if value != unused and (name, value) != ("measure", "quantile"):
            expected = "is not used with plus_minus, whose measure is the quantile; leave it out"
            raise ArgumentError(name, value, expected)


def _plan_for_goal(
    goal: Guarantee, sensitivity: Sensitivity, support: Support, measure: Measure, notes: list[str], progress: Progress
) -> Plan:
    """Return the plan of the least error, over as many orders as the goal has a proof for."""
    proved = {LAPLACE: calibrate(goal, sensitivity, order=LAPLACE, support=support)}
    try:
        proved[GAUSSIAN] = calibrate(goal, sensitivity, order=GAUSSIAN, support=support)
    except (UnattainableError, UnprovedError) as refused:
        notes.append(f"order 1 is the only one{NOTHING_TO_CHOOSE}: {refused}")
        return _plan_among(proved, measure, [], notes)
    except SearchError as missing:
        notes.append(f"order 2 is left out: {missing}")
    general = Question(goal=goal, sensitivity=sensitivity, order=GENERAL_ORDER, support=support)
    try:
        requirements = general.requirements()
    except UnprovedError as refused:
        notes.append(f"orders 1 and 2 are the only ones: {refused}")
        return _plan_among(proved, measure, [], notes)
    resolution = RESOLUTIONS[support, is_convolved(general)]
    best, trials = _search(general, measure, proved.values(), resolution, progress)
    tried = [one for one in trials if math.isfinite(one.error)]
    dropped = len(trials) - len(tried)
    seen = f"; {dropped} were dropped when seen to have over {DROPPED_ABOVE:g} times the least error" if dropped else ""
    notes.append(
        f"searched: {len(trials)} orders in [{LOWEST_ORDER:g}, {HIGHEST_ORDER:g}], {resolution.points} of them evenly "
        f"in log order, the others in its lowest valleys (at most {resolution.valleys}){seen}. That no other order is "
        "better is a result of this search; that the scale keeps the goal is proved"
    )
    if all(requirement.note is not None for requirement in requirements):
        notes.append("for most orders only upper bounds of the scale are known here: some may be better than they look")
    for found in sorted({best, *tried}, key=lambda one: (one.law.order != best.law.order, one.rank)):
        # The best order found is proved now; a proof that fails, which none should, leaves the next best.
        order = found.law.order
        with suppress(SearchError):
            if order not in proved:
                proved[order] = calibrate(goal, sensitivity, order=order, support=support)
            break
    return _plan_among(proved, measure, tried, notes)


def estimated_best(goal: Guarantee, sensitivity: Sensitivity) -> Trial | None:
    """Return about the noise on the reals with the least rmse, without a proof; None without orders to choose from."""
    general = Question(goal=goal, sensitivity=sensitivity, order=GENERAL_ORDER, support="real")
    try:
        usual = [calibrate(goal, sensitivity, order=order) for order in USUAL]
        general.requirements()
    except (UnattainableError, UnprovedError):
        return None
    resolution = RESOLUTIONS["real", is_convolved(general)]
    return _search(general, Measure(name="rmse"), usual, resolution, None)[0]


def _with_minkowski(found: Plan, goal: Guarantee, sensitivity: Sensitivity, support: Support) -> Plan:
    """Return a plan next to noise of a norm, which is pure: by the rmse of all its values, or the largest quantile."""
    measure, is_pure = found.measure, goal.delta == 0.0
    if sensitivity.moving == 1 or not (is_pure or measure.name == "rmse" or measure.level is not None):
        return found
    try:
        calibration = minkowski_calibration(PureDP(goal.epsilon), sensitivity, on_grid=support == "real")
    except ArgumentError:
        # It does not say how many values there are.
        return found
    if calibration.support == "real" and support == "integer":
        return found
    noise, norm = vector_noise(calibration.law), calibration.law.norm
    assert norm is not None
    # Among independent noise.
    notes = tuple(note.replace(NOTHING_TO_CHOOSE, " of independent noise") for note in found.notes)
    if measure.name == "rmse":
        stds = np.multiply(noise.std, norm.sizes or 1.0) if norm.kind == "lp" else np.repeat(noise.std, norm.cells)
        error = math.sqrt(float(np.mean(np.square(stds))))
    elif measure.level is not None:
        each = (
            (noise.half_width(measure.level),) if isinstance(noise, NormBallNoise) else noise.half_widths(measure.level)
        )
        error = max(each) * max(norm.sizes or (1.0,))
    else:
        return replace(found, notes=(*notes, "noise of a norm (minkowski) is compared by rmse and quantile only"))
    best = found.best.error or 0.0
    choice = Choice(
        name="minkowski", order=1.0, scale=calibration.scale, error=error, gain=error / best if best > 0.0 else None
    )
    if not is_pure and error >= best:
        return found
    if choice.gain is not None and choice.gain < 1.0:
        said = f"noise of a norm (minkowski) has {choice.gain:.3g} times the error of the best order"
        said += "" if is_pure else " and needs no delta"
        notes = (f"{said}; ggdp.MinkowskiMechanism adds it to all coordinates at once", *notes)
    return replace(found, alternatives=(*found.alternatives, choice), notes=notes)


def _plan_for_half_width(
    goal: Guarantee | float | None,
    sensitivity: Sensitivity,
    support: Support,
    plus_minus: float,
    delta: float | None,
    level: float,
    progress: Progress,
) -> Plan:
    """Return the plan of the smallest epsilon found whose noise keeps a half-width.

    Claim: the goal of its calibration is proved, and the half-width is at most `plus_minus`. That no smaller epsilon
    does is the result of a search over orders.
    """
    if goal is not None:
        raise ArgumentError("goal", str(goal), "is what plus_minus looks for; give None, and the delta")
    width = _validate.positive(plus_minus=plus_minus)
    slack = 0.0 if delta is None else _validate.probability(delta=delta)
    _validate.choice(among=("real", "integer"), support=support)
    measure = validate_measure("quantile", level, None, sensitivity)
    if support == "integer":
        require_integers(sensitivity)
    if support == "integer" and width < 1.0:
        raise ArgumentError("plus_minus", width, "on the integers it must be at least 1")
    if sensitivity.largest > 10.0 * MOST_EPSILON * width:
        # Such noise is narrower than the change that it shall hide, by more than any epsilon that is tried.
        raise ArgumentError("plus_minus", width, f"is too small: no epsilon up to {MOST_EPSILON:,.0f} keeps it")

    def trial(order: float, most: float = math.inf) -> Trial:
        unit = NoiseLaw(order=order, scale=1.0, support=support)
        try:
            law = unit.with_scale(measure.scales_around(width, unit, 60)[0])
            noisy = NoisyQuery(law, sensitivity)
            # One evaluation tells that an exact delta needs more than the most.
            if math.isfinite(most) and noisy.is_exact and delta_between(noisy, most)[0] > slack:
                return Trial(law, math.inf)
            return Trial(law, _least_epsilon(noisy, slack))
        except (GgdpError, ArithmeticError):
            return Trial(unit, math.inf)

    best = trial(LAPLACE)
    if slack > 0.0:
        # Orders that need more than twice the epsilon of Laplace noise are skipped.
        near, resolution = partial(trial, most=2.0 * best.error), RESOLUTIONS["integer", True]
        best, _ = within(SEARCH_WORK, partial(least_error, near, resolution, [best], progress))
    if best.error == 0.0:
        expected = f"is so large that noise within it keeps delta = {slack!r} at every epsilon; give a smaller delta"
        raise ArgumentError("plus_minus", width, expected)
    # Epsilon is raised until its proved scale keeps the half-width.
    shares = (0.0, 1e-12, 1e-9, 1e-7, 1e-5, 1e-4, 1e-3, 3e-3, 1e-2, 3e-2)
    raised = (best.error * (1.0 + share) for share in shares)
    for epsilon in takewhile(lambda epsilon: 0.0 < epsilon < MOST_EPSILON, raised):
        goal = PureDP(epsilon) if slack == 0.0 else ApproxDP(epsilon, slack)
        found = calibrate(goal, sensitivity, order=best.law.order, support=support)
        if measure.of(found.law) <= width * (1.0 + 1e-12):
            break
    else:
        raise ArgumentError("plus_minus", width, f"no epsilon up to {MOST_EPSILON:,.0f} was found that keeps it")
    proved = {found.order: found}
    for order in USUAL:
        with suppress(UnattainableError, UnprovedError, SearchError):
            proved.setdefault(order, calibrate(found.goal, sensitivity, order=order, support=support))
    note = (
        f"epsilon = {found.goal.epsilon:.12g} is the smallest found that keeps plus or minus {width:.12g} at the level "
        f"{level:.12g}; that no other order needs less is a result of a search, that it is enough is proved"
    )
    return _plan_among(proved, measure, [], [note])


def _least_epsilon(noisy: NoisyQuery, delta: float) -> float:
    """Return about the least epsilon of a noise."""
    if noisy.is_exact or delta == 0.0 or not noisy.sensitivity.is_per_coordinate:
        return epsilon_above(noisy, delta)

    def excess(epsilon: float) -> float:
        bound = CornerDelta(corner=noisy.sensitivity.corner, epsilon=epsilon)
        return corner_excess(bound, noisy.law, delta, rough=True)

    failing, passing = LEAST_EPSILON, 1.0
    while excess(passing) > 0.0:
        failing, passing = passing, 2.0 * passing
        if passing > MOST_EPSILON:
            return math.inf
    while failing == LEAST_EPSILON and passing > LEAST_EPSILON and excess(0.5 * passing) <= 0.0:
        passing *= 0.5
    return passing_end(excess, max(failing, 0.5 * passing), passing, tolerance=1e-5)


def _search(
    general: Question, measure: Measure, proved: Iterable[Calibration], resolution: Resolution, progress: Progress
) -> tuple[Trial, list[Trial]]:
    """Return the best trial and all of them, for the question of any order."""
    # What is proved has an error, however much work the search for it took.
    known = without_limit(lambda: [_trial(calibration.law, measure) for calibration in proved])
    least = min(one.error for one in known)
    scale_of = scale_finder(general.goal, general.sensitivity, general.support)

    def trial(order: float) -> Trial:
        nonlocal least
        unit = NoiseLaw(order=order, scale=1.0, support=general.support)
        try:
            # The largest scale of interest need not be known well.
            scale = scale_of(order, lambda: measure.scales_around(DROPPED_ABOVE * least, unit, 5)[1])
            found = Trial(unit, math.inf) if math.isinf(scale) else _trial(unit.with_scale(scale), measure)
        except SearchError:
            return Trial(unit, math.inf)
        least = min(least, found.error)
        return found

    return within(SEARCH_WORK, lambda: least_error(trial, resolution, known, progress))


def _trial(law: NoiseLaw, measure: Measure) -> Trial:
    # Quantiles on the integers are whole numbers, shared by many orders.
    shared = law.support == "integer" and measure.level is not None
    return Trial(law, measure.of(law), Measure(name="rmse").of(law) if shared else 0.0)


def _plan_among(proved: dict[float, Calibration], measure: Measure, tried: list[Trial], notes: list[str]) -> Plan:
    """Return the plan of the best among proved calibrations."""
    trials = without_limit(lambda: {order: _trial(found.law, measure) for order, found in proved.items()})
    least = min(trials.values(), key=lambda one: one.rank)
    best = next((trials[order] for order in USUAL if order in trials and trials[order].is_as_good_as(least)), least)
    curve = {one.law.order: one.error for one in (*tried, *trials.values())}
    calibration = proved[best.law.order]

    def choice(name: str, order: float) -> Choice:
        found = trials.get(order)
        if found is None:
            return Choice(name=name, order=order, scale=None, error=None, gain=None)
        gain = found.error / best.error if best.error > 0.0 else None
        return Choice(name=name, order=order, scale=found.law.scale, error=found.error, gain=gain)

    return Plan(
        outside=noise_outside(calibration.goal, calibration.sensitivity, calibration.support, measure, best.error),
        each=calibration,
        best=choice("best", best.law.order),
        alternatives=(choice("laplace", LAPLACE), choice("gaussian", GAUSSIAN)),
        calibration=calibration,
        measure=measure,
        curve=tuple(sorted(curve.items())),
        notes=(*notes, *calibration.notes),
    )
