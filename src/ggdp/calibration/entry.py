"""From a goal to a certified scale."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ggdp import _validate
from ggdp.calibration.paper import paper_calibration
from ggdp.calibration.record import Bounding, Calibration, Method, Request, Support, certified, searched
from ggdp.errors import ArgumentError, ArgumentTypeError
from ggdp.privacy import ApproxDP, Guarantee, ProbabilisticDP, PureDP, Sensitivity

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["calibrate"]

SUPPORTS = ("real", "integer")
BOUNDINGS = ("truncated", "boundary-inflated")
METHODS = ("tight", "paper")


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
    request = _checked(goal, sensitivity, order, support, bounds, bounding)
    if _validate.choice(among=METHODS, method=method) == "paper":
        return paper_calibration(request)
    scale, duty = min(((searched(duty), duty) for duty in request.obligations()), key=lambda found: found[0])
    return certified(request, duty, scale, method="tight")


def _checked(
    goal: object,
    sensitivity: object,
    order: object,
    support: Support,
    bounds: tuple[float, float] | Iterable[tuple[float, float]] | None,
    bounding: Bounding | None,
) -> Request:
    """Return the arguments of `calibrate` as a request."""
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
    return Request(
        goal=goal,
        sensitivity=sensitivity,
        order=_validate.order(order=order),
        support=support,
        bounds=pairs,
        bounding=bounding,
    )
