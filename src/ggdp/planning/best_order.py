"""From a goal, a query and a measure of error to the best order."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from ggdp import _validate
from ggdp._work import within, without_limit
from ggdp.calibration import Calibration, calibrate
from ggdp.calibration.own_scale import calibration_of_law
from ggdp.errors import ArgumentError, ArgumentTypeError, SearchError, UnattainableError, UnprovedError
from ggdp.planning.half_width import calibration_for_half_width
from ggdp.planning.measures import Measure, MeasureName, checked_measure
from ggdp.planning.noise_outside_family import noise_outside
from ggdp.planning.order_plan import Choice, Plan
from ggdp.planning.order_search import HIGHEST_ORDER, LOWEST_ORDER, USUAL, Resolution, Trial, least_error
from ggdp.planning.scale_estimates import is_convolved, scale_finder
from ggdp.privacy import Sensitivity
from ggdp.proofs.noise_law import NoiseLaw
from ggdp.proofs.requirements import Question

if TYPE_CHECKING:
    from collections.abc import Callable

    from ggdp.privacy import Guarantee
    from ggdp.proofs.noise_law import Support

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
    if sought.cells is not None and cells is None and sensitivity.kind == "cells":
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
