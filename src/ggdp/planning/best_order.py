"""From a goal, a query and a measure of error to the best order.

The least error over orders: a grid over all of them, then the promising valleys, narrowed step by step.

On the reals the error has one broad valley in log p, or sometimes, mostly for probabilistic DP, one at either end. On
the integers it has more, and it jumps: the scale of an order sits at a breakpoint that the next order may not share. So
nothing here rests on smoothness, only on looking closely enough; the best of all orders that were tried is returned.

The measure may be a whole number (a quantile on the integers), shared by many orders: a trial carries a second number
that decides between equals.

The other way around: the smallest epsilon whose noise keeps a half-width, and its order.

For each order the scale is the largest whose half-width at the level is within the target, and its epsilon the least
one for the delta. Epsilons to choose by are found in floats where a convolution would be needed; the plan's own is
proved by `calibrate`, and its scale keeps the half-width.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from ggdp import _validate
from ggdp._work import within, without_limit
from ggdp.accounting.noise_guarantees import calibration_of_law, delta_between, epsilon_above
from ggdp.accounting.profile import NoisyQuery
from ggdp.calibration import Calibration, calibrate
from ggdp.calibration.scale_for_several_coordinates import corner_excess
from ggdp.calibration.search import passing_end
from ggdp.errors import ArgumentError, ArgumentTypeError, GgdpError, SearchError, UnattainableError, UnprovedError
from ggdp.planning.measures import Measure, MeasureName, checked_measure
from ggdp.planning.order_plan import Choice, Plan, noise_outside
from ggdp.planning.scale_estimates import is_convolved, scale_finder
from ggdp.privacy import ApproxDP, PureDP, Sensitivity
from ggdp.proofs.noise_law import NoiseLaw
from ggdp.proofs.several_coordinates import CornerDelta
from ggdp.proofs.worst_case import Question, require_integers

if TYPE_CHECKING:
    from collections.abc import Callable

    from ggdp.calibration import Calibration
    from ggdp.privacy import Guarantee
    from ggdp.proofs.noise_law import Support


LOWEST_ORDER, HIGHEST_ORDER = 1.0, 50.0
# Laplace and Gaussian noise: preferred where they are as good as any other.
USUAL = (1.0, 2.0)
# An order that is usual or has fewer digits is preferred if its error is larger by no more than this.
PLAIN = 1e-5
# Errors up to this many times the least are near it.
NEAR = 1.5
DIGITS = range(2, 7)


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

    @property
    def expected(self) -> int:
        """About how many orders will be tried."""
        spacing = 2.0 * math.log(HIGHEST_ORDER / LOWEST_ORDER) / (self.points - 1) / self.finer
        rounds = max(math.ceil(math.log(spacing / self.width, self.splits)), 0)
        near = (self.points - 1) * (self.finer - 1) // 2
        return self.points + near + self.valleys * rounds * 2 * (self.splits - 1) + 2


def least_error(
    trial: Callable[[float], Trial],
    resolution: Resolution,
    known: list[Trial],
    progress: Callable[[int, int], None] | None = None,
) -> tuple[Trial, list[Trial]]:
    """Return the best trial and all of them in order, those `known` beforehand (the usual orders) among them.

    Examples
    --------
    >>> from ggdp.proofs.noise_law import NoiseLaw
    >>> def bowl(order):
    ...     return Trial(NoiseLaw(order=order, scale=1.0), 2.0 + math.log(order / 3.0) ** 2)
    >>> resolution = Resolution(points=9, finer=1, valleys=1, splits=2, width=0.01)
    >>> best, tried = least_error(bowl, resolution, [bowl(1.0), bowl(2.0)])
    >>> best.law.order, len(tried) < 40
    (3.0, True)
    """
    tried = {one.law.order: one for one in known}

    def at(log_order: float) -> Trial:
        order = min(max(math.exp(log_order), LOWEST_ORDER), HIGHEST_ORDER)
        return tried_at(round(order, 9))

    def tried_at(order: float) -> Trial:
        if order not in tried:
            tried[order] = trial(order)
            if progress is not None:
                progress(len(tried), resolution.expected)
        return tried[order]

    top = math.log(HIGHEST_ORDER / LOWEST_ORDER)
    places = [math.log(LOWEST_ORDER) + top * i / (resolution.points - 1) for i in range(resolution.points)]
    grid = [at(place) for place in places]
    if resolution.finer > 1:
        enough = NEAR * min(one.error for one in tried.values())
        for i in range(resolution.points - 1):
            if min(grid[i].error, grid[i + 1].error) <= enough:
                part = (places[i + 1] - places[i]) / resolution.finer
                places += [places[i] + part * j for j in range(1, resolution.finer)]
        places.sort()
        grid = [at(place) for place in places]
    for left, right in _valleys(places, grid)[: resolution.valleys]:
        _narrowed(at, left, right, resolution)
    best = min(tried.values(), key=lambda one: one.rank)
    return _plainest(tried_at, best), [tried[order] for order in sorted(tried)]


def _valleys(places: list[float], grid: list[Trial]) -> list[tuple[float, float]]:
    """Return the neighbourhoods of the local minima of a grid, the lowest first."""
    last = len(grid) - 1
    lowest = [
        i
        for i, one in enumerate(grid)
        if math.isfinite(one.error) and one.rank <= min(grid[max(i - 1, 0)].rank, grid[min(i + 1, last)].rank)
    ]
    lowest.sort(key=lambda i: grid[i].rank)
    return [(places[max(i - 1, 0)], places[min(i + 1, last)]) for i in lowest]


def _narrowed(at: Callable[[float], Trial], left: float, right: float, resolution: Resolution) -> None:
    """Look at ever finer divisions around the best place of a valley."""
    middle = 0.5 * (left + right)
    while right - left > resolution.width:
        places = [left + (middle - left) * i / resolution.splits for i in range(resolution.splits)]
        places += [middle + (right - middle) * i / resolution.splits for i in range(resolution.splits + 1)]
        best = min(range(len(places)), key=lambda i: at(places[i]).rank)
        middle = places[best]
        left, right = places[max(best - 1, 0)], places[min(best + 1, len(places) - 1)]


def _plainest(tried_at: Callable[[float], Trial], best: Trial) -> Trial:
    """Return the trial of a usual order, or of the order of the fewest digits, that is as good as the best."""
    for order in (*USUAL, *(float(f"{best.law.order:.{digits}g}") for digits in DIGITS)):
        if LOWEST_ORDER <= order <= HIGHEST_ORDER and tried_at(order).is_as_good_as(best):
            return tried_at(order)
    return best


WIDTH_RESOLUTION = Resolution(points=25, finer=1, valleys=2, splits=2, width=1e-2)
MOST_EPSILON = 1e6
LEAST_EPSILON = 1e-9
# How much epsilon is raised at a time until its proved scale keeps the half-width.
EPSILON_RAISES = (0.0, 1e-12, 1e-9, 1e-7, 1e-5, 1e-4, 1e-3, 3e-3, 1e-2, 3e-2)
WIDTH_HALVINGS = 60
# Orders that need more than this multiple of the epsilon of Laplace noise are skipped.
FAR_ABOVE = 2.0


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
            law = unit.with_scale(measure.scales_around(plus_minus, unit, WIDTH_HALVINGS)[0])
            if delta > 0.0 and order != LAPLACE and _exceeds(law, sensitivity, delta, FAR_ABOVE * laplace.error):
                return Trial(law, math.inf)
            return Trial(law, _least_epsilon(law, sensitivity, delta))
        except (GgdpError, ArithmeticError):
            return Trial(unit, math.inf)

    laplace = trial(LAPLACE)
    best = laplace
    if delta > 0.0:
        best, _ = within(SEARCH_WORK, lambda: least_error(trial, WIDTH_RESOLUTION, [laplace], progress))
    if best.error == 0.0:
        expected = f"is so large that noise within it keeps delta = {delta!r} at every epsilon; give a smaller delta"
        raise ArgumentError("plus_minus", plus_minus, expected)
    for share in EPSILON_RAISES:
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
    if noisy.is_exact or delta == 0.0 or not sensitivity.is_per_coordinate:
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
    return passing_end(excess, max(failing, 0.5 * passing), passing, tolerance=1e-5)


LAPLACE, GAUSSIAN = USUAL
NAMES = {LAPLACE: "laplace", GAUSSIAN: "gaussian"}
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
# The largest scale of interest need not be known well.
HALVINGS = 5
# Units of work of a plan in all, and of its search over orders.
MOST_WORK, SEARCH_WORK = 6e6, 3e6


def plan(
    goal: Guarantee | None,
    sensitivity: Sensitivity,
    measure: MeasureName = "rmse",
    *,
    plus_minus: float | None = None,
    delta: float | None = None,
    level: float = 0.95,
    cells: int | None = None,
    support: Support = "real",
    releases: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> Plan:
    """Return the order in [1, 50] whose noise, of the least scale that keeps the goal, has the least error.

    Parameters
    ----------
    goal : PureDP, ProbabilisticDP or ApproxDP
        What must be promised; None with `plus_minus`.
    sensitivity : Sensitivity
        How far one person can move the query.
    measure : {"rmse", "mean-abs", "quantile", "max"}, default "rmse"
        What to minimise: root mean square error, mean absolute error, a quantile of the absolute error, or the expected
        largest absolute error over the cells of the query.
    plus_minus : float, optional
        The half-width that an interval of this `level` may have: the smallest epsilon with it is then looked for, for
        pure DP, or for approximate DP with the `delta` that is given; `measure` is "quantile", and `cells` is not used.
    delta : float, optional
        The delta of the goal that is looked for, with `plus_minus`.
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
    Claim: the plan is a function of the arguments, which are public, so it costs no privacy. Its scale is proved by
    `calibrate`; that no other order has a smaller error is the result of a search, and the notes say how close.
    Among orders whose errors agree to 1e-5 a usual one, or else the one with the fewest digits, is preferred.

    References
    ----------
    Liu, arXiv 1602.06028 v5, compares a few whole orders at the paper's bounds; no order is chosen there.

    Examples
    --------
    >>> import ggdp
    >>> plan = ggdp.plan(ggdp.ApproxDP(0.1, 0.1), ggdp.Sensitivity.histogram())
    >>> print(f"{plan.best.error:.3f}, {plan.best.order:.2g}")
    2.538, 4.6
    >>> [f"{choice.name} {choice.error:.3f}" for choice in plan.alternatives]
    ['laplace 4.551', 'gaussian 2.847']
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
    if number > 1 and goal is not None and goal.notion == "probabilistic":
        raise ArgumentError("goal", str(goal), "several releases keep approximate DP together; use ApproxDP")
    if plus_minus is not None:
        for name, value, unused in (("measure", measure, "rmse"), ("cells", cells, None), ("releases", number, 1)):
            if value != unused and (name, value) != ("measure", "quantile"):
                raise ArgumentError(
                    name, value, "is not used with plus_minus, whose measure is the quantile; leave it out"
                )
        within_width = partial(_plan_for_half_width, goal, sensitivity, support, plus_minus, delta, level, progress)
        return within(MOST_WORK, within_width)
    if delta is not None:
        raise ArgumentError("delta", delta, "goes with plus_minus; otherwise it is part of the goal")
    if goal is None:
        raise ArgumentError("goal", goal, "must be PureDP, ProbabilisticDP or ApproxDP, or give plus_minus")
    sought = checked_measure(measure, level, cells, sensitivity)
    notes = []
    if sought.cells is not None and cells is None and not sensitivity.has_fixed_dimension:
        notes.append(
            f"the largest error is taken over {sought.cells:,} cells, as many as can move; a query with more cells has "
            "a larger one, and maybe another best order: give their number as cells"
        )

    searched = partial(_plan_for_goal, goal, sensitivity.repeated(number), support, sought, notes, progress)
    found = within(MOST_WORK, searched)
    if number == 1:
        return found
    slack = goal.delta / number
    return replace(found, releases=number, each=calibration_of_law(found.calibration.law, sensitivity, delta=slack))


def _plan_for_goal(
    goal: Guarantee,
    sensitivity: Sensitivity,
    support: Support,
    measure: Measure,
    notes: list[str],
    progress: Callable[[int, int], None] | None,
) -> Plan:
    """Return the plan of the least error, over as many orders as the goal has a proof for."""
    proved = {LAPLACE: calibrate(goal, sensitivity, order=LAPLACE, support=support)}
    try:
        proved[GAUSSIAN] = calibrate(goal, sensitivity, order=GAUSSIAN, support=support)
    except (UnattainableError, UnprovedError) as refused:
        notes.append(f"order 1 is the only one, there was nothing to choose: {refused}")
        return _plan_among(proved, measure, [_trial_of(proved[LAPLACE], measure)], notes)
    except SearchError as missing:
        notes.append(f"order 2 is left out: {missing}")
    general = Question(goal=goal, sensitivity=sensitivity, order=GENERAL_ORDER, support=support)
    try:
        requirements = general.requirements()
    except UnprovedError as refused:
        notes.append(f"orders 1 and 2 are the only ones: {refused}")
        return _plan_among(proved, measure, [_trial_of(one, measure) for one in proved.values()], notes)
    resolution = RESOLUTIONS[support, is_convolved(general)]
    best, trials = _searched(goal, sensitivity, support, measure, list(proved.values()), resolution, progress)
    tried = [one for one in trials if math.isfinite(one.error)]
    notes.append(_search_note(resolution, len(trials), len(trials) - len(tried)))
    if all(requirement.note is not None for requirement in requirements):
        notes.append("for most orders only upper bounds of the scale are known here: some may be better than they look")
    for found in sorted({best, *tried}, key=lambda one: (one.law.order != best.law.order, one.rank)):
        # The best order found is proved now; a proof that fails, which none should, leaves the next best.
        order = found.law.order
        try:
            if order not in proved:
                proved[order] = calibrate(goal, sensitivity, order=order, support=support)
        except SearchError:
            continue
        break
    return _plan_among(proved, measure, tried, notes)


def estimated_best(goal: Guarantee, sensitivity: Sensitivity) -> Trial | None:
    """Return about the noise on the reals with the least root mean square error, of which nothing is proved.

    None where there are no orders to choose from but 1 and 2.
    """
    general = Question(goal=goal, sensitivity=sensitivity, order=GENERAL_ORDER, support="real")
    try:
        usual = [calibrate(goal, sensitivity, order=order) for order in USUAL]
        general.requirements()
    except (UnattainableError, UnprovedError):
        return None
    resolution = RESOLUTIONS["real", is_convolved(general)]
    return _searched(goal, sensitivity, "real", Measure(name="rmse"), usual, resolution, None)[0]


def _plan_for_half_width(
    goal: Guarantee | None,
    sensitivity: Sensitivity,
    support: Support,
    plus_minus: float,
    delta: float | None,
    level: float,
    progress: Callable[[int, int], None] | None,
) -> Plan:
    """Return the plan of the smallest epsilon that keeps a half-width."""
    if goal is not None:
        raise ArgumentError("goal", str(goal), "is what plus_minus looks for; give None, and the delta")
    width = _validate.positive(plus_minus=plus_minus)
    slack = 0.0 if delta is None else _validate.probability(delta=delta)
    _validate.choice(among=("real", "integer"), support=support)
    sought = checked_measure("quantile", level, None, sensitivity)
    best = calibration_for_half_width(slack, sensitivity, support, sought, width, progress)
    proved = {best.order: best}
    for order in USUAL:
        with suppress(UnattainableError, UnprovedError, SearchError):
            proved.setdefault(order, calibrate(best.goal, sensitivity, order=order, support=support))
    note = (
        f"epsilon = {best.goal.epsilon:.12g} is the smallest found that keeps plus or minus {width:.12g} at the level "
        f"{level:.12g}; that no other order needs less is a result of a search, that it is enough is proved"
    )
    return _plan_among(proved, sought, [], [note])


def _searched(
    goal: Guarantee,
    sensitivity: Sensitivity,
    support: Support,
    measure: Measure,
    proved: list[Calibration],
    resolution: Resolution,
    progress: Callable[[int, int], None] | None,
) -> tuple[Trial, list[Trial]]:
    """Return the best trial and all of them."""
    known = [_trial_of(calibration, measure) for calibration in proved]
    least = min(one.error for one in known)
    scale_of = scale_finder(goal, sensitivity, support)

    def trial(order: float) -> Trial:
        nonlocal least
        unit = NoiseLaw(order=order, scale=1.0, support=support)
        try:
            scale = scale_of(order, lambda: measure.scales_around(DROPPED_ABOVE * least, unit, HALVINGS)[1])
            found = Trial(unit, math.inf) if math.isinf(scale) else _trial(unit.with_scale(scale), measure)
        except SearchError:
            return Trial(unit, math.inf)
        least = min(least, found.error)
        return found

    return within(SEARCH_WORK, lambda: least_error(trial, resolution, known, progress))


def _search_note(resolution: Resolution, tried: int, dropped: int) -> str:
    """Return a note on how closely the orders were searched."""
    seen = f"; {dropped} were dropped when seen to have over {DROPPED_ABOVE:g} times the least error" if dropped else ""
    return (
        f"searched: {tried} orders in [{LOWEST_ORDER:g}, {HIGHEST_ORDER:g}], {resolution.points} of them evenly in log "
        f"order, the others in its lowest valleys (at most {resolution.valleys}){seen}. That no other order is better "
        "is a result of this search; that the scale keeps the goal is proved"
    )


def _trial(law: NoiseLaw, measure: Measure) -> Trial:
    # Quantiles on the integers are whole numbers, shared by many orders.
    shared = law.support == "integer" and measure.level is not None
    return Trial(law, measure.of(law), Measure(name="rmse").of(law) if shared else 0.0)


def _trial_of(calibration: Calibration, measure: Measure) -> Trial:
    # What is proved has an error, however much work the search for it took.
    return without_limit(lambda: _trial(calibration.law, measure))


def _plan_among(proved: dict[float, Calibration], measure: Measure, tried: list[Trial], notes: list[str]) -> Plan:
    """Return the plan of the best among proved calibrations."""
    trials = {order: _trial_of(calibration, measure) for order, calibration in proved.items()}
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

    outside = noise_outside(calibration.goal, calibration.sensitivity, calibration.support, measure, best.error)
    return Plan(
        outside=outside,
        each=calibration,
        best=choice("best", best.law.order),
        alternatives=tuple(choice(name, order) for order, name in NAMES.items()),
        calibration=calibration,
        measure=measure,
        curve=tuple(sorted(curve.items())),
        notes=(*notes, *calibration.notes),
    )
