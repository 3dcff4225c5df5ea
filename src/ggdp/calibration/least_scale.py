"""From a goal to the least scale that is proved to keep it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, get_args

import numpy as np

from ggdp import _validate
from ggdp._work import within
from ggdp.calibration.calibration import Calibration, Method, calibration_of
from ggdp.calibration.scale_for_bounds import scale_for_bounded, truncated_scale
from ggdp.calibration.scale_for_one_coordinate import (
    laplace_scale,
    scale_for_integer_gaussian,
    scale_for_integer_shift,
    scale_for_shift,
)
from ggdp.calibration.scale_for_several_coordinates import (
    absolute_sum_excess,
    corner_excess,
    least_for_absolute_sum,
    least_for_corner,
    scale_for_radial,
)
from ggdp.calibration.search import Proposal, raise_until_proved, scale_by_enclosures
from ggdp.errors import ArgumentError, ArgumentTypeError, GgdpError, SearchError
from ggdp.privacy import Guarantee, Sensitivity
from ggdp.privacy.guarantees import as_goal
from ggdp.proofs.bound import Bound
from ggdp.proofs.bounded import BoundedJointLoss, BoundedLoss
from ggdp.proofs.minkowski import MinkowskiLoss
from ggdp.proofs.noise_law import BOUNDINGS, SUPPORTS, Bounding, NoiseLaw, Support
from ggdp.proofs.norms import IntegerGaussianDelta, RadialDelta
from ggdp.proofs.one_coordinate import IntegerShiftDelta, LaplaceLoss, ShiftDelta
from ggdp.proofs.several_coordinates import AbsoluteSumDelta, CornerDelta
from ggdp.proofs.worst_case import Question, Requirement, norm_for

# Units of work of a calibration in all, and of the search for one requirement.
MOST_WORK, SEARCH_WORK = 6e6, 5e6


class Search(NamedTuple):
    """How the least scale of a bound is found."""

    # Of the bound, a law and a target: a scale that is still to be proved, or a law with its proof.
    least: Callable[[Any, NoiseLaw, float], float | Proposal] = scale_by_enclosures
    # log(bound / target) in floats, for bounds whose proof takes long.
    excess: Callable[..., float] | None = None
    # Whether on the integers smaller scales may pass again.
    wavy: bool = False


# A bound that is not named here is searched by its enclosures.
SEARCHES: dict[type[Bound], Search] = {
    LaplaceLoss: Search(lambda bound, _, target: laplace_scale(bound.sensitivity, target)),
    MinkowskiLoss: Search(lambda bound, _, target: laplace_scale(bound.sensitivity, target)),
    ShiftDelta: Search(scale_for_shift),
    IntegerShiftDelta: Search(scale_for_integer_shift),
    IntegerGaussianDelta: Search(scale_for_integer_gaussian),
    CornerDelta: Search(least_for_corner, excess=corner_excess, wavy=True),
    AbsoluteSumDelta: Search(least_for_absolute_sum, excess=absolute_sum_excess),
    RadialDelta: Search(scale_for_radial),
    BoundedLoss: Search(scale_for_bounded),
    BoundedJointLoss: Search(
        lambda bound, law, target: truncated_scale(law.order, bound.coordinates, bound.moving, target, bound.joint)
    ),
}


def search_for(bound: Bound) -> Search:
    """Return the search for the least scale of a bound."""
    return SEARCHES.get(type(bound), Search())


def calibrate(
    goal: Guarantee | float | None = None,
    sensitivity: Sensitivity | None = None,
    *,
    order: float,
    epsilon: float | None = None,
    delta: float | None = None,
    support: Support = "real",
    bounds: tuple[float, float] | Iterable[tuple[float, float]] | None = None,
    bounding: Bounding | None = None,
    method: Method = "tight",
) -> Calibration:
    """Return the least scale of generalized Gaussian noise that keeps a goal, with its certificate.

    Parameters
    ----------
    goal : PureDP, ProbabilisticDP, ApproxDP or float
        What must be promised; a number is the epsilon of pure DP.
    sensitivity : Sensitivity
        How far one person can move the query.
    order : float
        Order of the noise, at least 1: 1 is Laplace, 2 is Gaussian.
    epsilon, delta : float, optional
        In place of `goal`: pure DP, or with `delta` approximate DP.
    support : {"real", "integer"}, default "real"
        Where the noise lives. A scale for the reals is not valid on the integers.
    bounds : (lower, upper) or sequence of (lower, upper), optional
        Public bounds of query and output: one pair for all coordinates, or a sequence with one for each.
    bounding : {"truncated", "boundary-inflated"}, optional
        How the output is kept in `bounds`.
    method : {"tight", "paper"}, default "tight"
        The least scale, or the (corrected) formula of the paper.

    Returns
    -------
    Calibration
        The scale, what is proved of it, and the proof.

    Raises
    ------
    ArgumentError
        If an argument is wrong.
    UnattainableError
        If the goal does not exist for this noise, such as pure DP at an order above 1 without bounds.
    UnprovedError
        If nobody has proved a scale for what is asked.

    Notes
    -----
    Rounding: towards privacy. The scale returned is exactly the float that was proved.

    Examples
    --------
    >>> import ggdp
    >>> calibration = ggdp.calibrate(ggdp.PureDP(1.0), ggdp.Sensitivity.disjoint(1), order=1)
    >>> calibration.scale
    1.0
    """
    question = checked_question(as_goal(goal, epsilon, delta), sensitivity, order, support, bounds, bounding)
    if _validate.choice(among=get_args(Method), method=method) == "paper":
        from ggdp.calibration.paper import paper_calibration

        return paper_calibration(question)
    return calibration_of(question, *within(MOST_WORK, partial(least_proposal, question)), method="tight")


def minkowski_calibration(goal: Guarantee | float, sensitivity: Sensitivity, *, on_grid: bool = False) -> Calibration:
    """Return the least scale of noise of a norm for a query: pure DP, as `ggdp.MinkowskiMechanism` draws it."""
    # A joint norm of a box is not used.
    query = replace(sensitivity, joint=None) if sensitivity.is_per_coordinate else sensitivity
    norm = norm_for(query, on_grid=on_grid)
    support: Support = "real" if norm.kind == "lp" else "integer"
    question = replace(checked_question(as_goal(goal), query, 1.0, support, None, None), norm=norm)
    return calibration_of(question, *least_proposal(question), method="tight")


def least_proposal(question: Question) -> tuple[Requirement, Proposal]:
    """Return the least law of all requirements for which a search ends; where none does, of the fallbacks."""
    failed = None
    for requirements in (question.requirements, question.fallbacks):
        found = []
        for requirement in requirements():
            try:
                found.append((requirement, within(SEARCH_WORK, partial(least_law, question, requirement))))
            except SearchError as missing:
                failed = failed or missing
        if found:
            return min(found, key=lambda pair: pair[1].law.scale)
    assert failed is not None
    raise failed


def least_law(question: Question, requirement: Requirement) -> Proposal:
    """Return the least law found that is proved to meet a requirement; a SearchError where none is."""
    # The scale is what is searched for.
    law = NoiseLaw(
        order=question.order, scale=1.0, support=question.support, bounding=question.bounding, norm=question.norm
    )
    with in_floats(requirement):
        return propose(requirement.bound, law, requirement.target)


def propose(bound: Bound, law: NoiseLaw, target: float) -> Proposal:
    """Return the least law found, of any scale, at which a bound is proved to reach a target."""
    found = search_for(bound).least(bound, law, target)
    return found if isinstance(found, Proposal) else raise_until_proved(bound, law.with_scale(found), target)


@contextmanager
def in_floats(requirement: Requirement) -> Iterator[None]:
    """Run a search whose floats may overflow, without warnings; raise a SearchError for what Python's own floats raise.

    A search is not trusted: its floats decide whether there is an answer, never whether it is right.
    """
    try:
        with np.errstate(all="ignore"):
            yield
    except (ArithmeticError, ValueError) as left:
        # A search may propose a scale that is not a number; other errors of ggdp say themselves what to do.
        if isinstance(left, GgdpError) and not (isinstance(left, ArgumentError) and left.argument == "scale"):
            raise
        raise SearchError(
            f"the numbers of the bound {requirement.bound.name!r} for the target {requirement.target!r} leave the "
            "64-bit floats; use a less extreme order, epsilon, delta, sensitivity or width of bounds"
        ) from None


def checked_question(
    goal: Guarantee,
    sensitivity: object,
    order: object,
    support: Support,
    bounds: tuple[float, float] | Iterable[tuple[float, float]] | None,
    bounding: Bounding | None,
) -> Question:
    """Return the arguments of a calibration, checked."""
    if not isinstance(sensitivity, Sensitivity):
        raise ArgumentTypeError("sensitivity", sensitivity, "must be a Sensitivity, such as Sensitivity.disjoint(1)")
    if goal.neighbours is not None and goal.neighbours != sensitivity.neighbours:
        expected = f"the sensitivity is for {sensitivity.neighbours} neighbours; the two must agree"
        raise ArgumentError("goal", str(goal), expected)
    _validate.choice(among=SUPPORTS, support=support)
    pairs = None
    if bounds is not None:
        pairs = _validate.intervals(bounds=bounds)
        if bounding is None:
            raise ArgumentError("bounding", bounding, "bounds need it: 'truncated' or 'boundary-inflated'")
    if bounding is not None:
        _validate.choice(among=BOUNDINGS, bounding=bounding)
        if pairs is None:
            raise ArgumentError("bounds", bounds, f"bounding = {bounding!r} needs them: (lower, upper)")
    return Question(
        goal=goal,
        sensitivity=sensitivity,
        order=_validate.order(order=order),
        support=support,
        bounds=pairs,
        bounding=bounding,
    )
