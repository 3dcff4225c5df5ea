"""From a goal to the least scale that is proved to keep it."""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

import numpy as np

from ggdp import _validate
from ggdp._work import within
from ggdp.calibration.calibration import Calibration, Method, calibration_of
from ggdp.calibration.scale_for_absolute_losses import absolute_sum_excess, least_for_absolute_sum
from ggdp.calibration.scale_for_bounds import least_for_bounded, least_for_bounded_joint
from ggdp.calibration.scale_for_one_coordinate import (
    least_for_integer_gaussian,
    least_for_integer_shift,
    least_for_laplace,
    least_for_shift,
)
from ggdp.calibration.scale_for_several_coordinates import corner_excess, least_for_corner, least_for_radial
from ggdp.calibration.search import least_by_enclosures
from ggdp.errors import ArgumentError, ArgumentTypeError, GgdpError, SearchError
from ggdp.privacy import ApproxDP, Guarantee, ProbabilisticDP, PureDP, Sensitivity
from ggdp.proofs.bounded import BoundedJointLoss, BoundedLoss
from ggdp.proofs.noise_law import BOUNDINGS, SUPPORTS, Bounding, NoiseLaw, Support
from ggdp.proofs.norms import IntegerGaussianDelta, RadialDelta
from ggdp.proofs.one_coordinate import IntegerShiftDelta, LaplaceLoss, ShiftDelta
from ggdp.proofs.several_coordinates import AbsoluteSumDelta, CornerDelta
from ggdp.proofs.worst_case import Question

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from ggdp.calibration.search import Proposal
    from ggdp.proofs.bound import Bound
    from ggdp.proofs.worst_case import Requirement

# Units of work of a calibration in all, and of the search for one requirement.
MOST_WORK, SEARCH_WORK = 6e6, 5e6


class Search(NamedTuple):
    """How the least scale of a bound is found."""

    least: Callable[[Any, NoiseLaw, float], Proposal] = least_by_enclosures
    # log(bound / target) in floats, for bounds whose proof takes long.
    excess: Callable[..., float] | None = None
    # Whether on the integers smaller scales may pass again.
    wavy: bool = False


# A bound that is not named here is searched by its enclosures.
SEARCHES: dict[type[Bound], Search] = {
    LaplaceLoss: Search(least_for_laplace),
    ShiftDelta: Search(least_for_shift),
    IntegerShiftDelta: Search(least_for_integer_shift),
    IntegerGaussianDelta: Search(least_for_integer_gaussian),
    CornerDelta: Search(least_for_corner, excess=corner_excess, wavy=True),
    AbsoluteSumDelta: Search(least_for_absolute_sum, excess=absolute_sum_excess),
    RadialDelta: Search(least_for_radial),
    BoundedLoss: Search(least_for_bounded),
    BoundedJointLoss: Search(least_for_bounded_joint),
}


def search_for(bound: Bound) -> Search:
    """Return the search for the least scale of a bound."""
    return SEARCHES.get(type(bound), Search())


def calibrate(
    goal: Guarantee,
    sensitivity: Sensitivity,
    *,
    order: float,
    support: Support = "real",
    bounds: tuple[float, float] | Iterable[tuple[float, float]] | None = None,
    bounding: Bounding | None = None,
    method: Method = "tight",
) -> Calibration:
    """Return the least scale of generalized Gaussian noise that keeps a goal, with its certificate.

    Parameters
    ----------
    goal : PureDP, ProbabilisticDP or ApproxDP
        What must be promised.
    sensitivity : Sensitivity
        How far one person can move the query.
    order : float
        Order of the noise, at least 1: 1 is Laplace, 2 is Gaussian.
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
    question = _checked(goal, sensitivity, order, support, bounds, bounding)
    if _validate.choice(among=get_args(Method), method=method) == "paper":
        from ggdp.calibration.paper import paper_calibration

        return paper_calibration(question)
    found, failed = within(MOST_WORK, partial(_found, question))
    if failed is not None and not found:
        raise failed
    proposal, requirement = min(found, key=lambda pair: pair[0].law.scale)
    return calibration_of(question, requirement, proposal, method="tight")


def _found(question: Question) -> tuple[list[tuple[Proposal, Requirement]], SearchError | None]:
    """Return the least law for each requirement for which a search ends, and why another one did not.

    Where none ends, the remaining work goes to the fallbacks.
    """
    found, failed = [], None
    for requirements in (question.requirements(), question.fallbacks()):
        for requirement in requirements:
            try:
                found.append((within(SEARCH_WORK, partial(least_law, question, requirement)), requirement))
            except SearchError as missing:
                failed = failed or missing
        if found:
            break
    return found, failed


def least_law(question: Question, requirement: Requirement) -> Proposal:
    """Return the least law found that is proved to meet a requirement.

    Raises
    ------
    SearchError
        If none is found, or the numbers of the search leave the floats.
    """
    # The scale is what is searched for.
    law = NoiseLaw(order=question.order, scale=1.0, support=question.support, bounding=question.bounding)
    with in_floats(requirement):
        return search_for(requirement.bound).least(requirement.bound, law, requirement.target)


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


def _checked(
    goal: object,
    sensitivity: object,
    order: object,
    support: Support,
    bounds: tuple[float, float] | Iterable[tuple[float, float]] | None,
    bounding: Bounding | None,
) -> Question:
    """Return the arguments of `calibrate`, checked."""
    if not isinstance(goal, PureDP | ProbabilisticDP | ApproxDP):
        raise ArgumentTypeError("goal", goal, "must be PureDP, ProbabilisticDP or ApproxDP")
    if not isinstance(sensitivity, Sensitivity):
        raise ArgumentTypeError("sensitivity", sensitivity, "must be a Sensitivity, such as Sensitivity.disjoint(1)")
    if goal.neighbours is not None and goal.neighbours != sensitivity.neighbours:
        raise ArgumentError(
            "goal", str(goal), f"the sensitivity is for {sensitivity.neighbours} neighbours; the two must agree"
        )
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
