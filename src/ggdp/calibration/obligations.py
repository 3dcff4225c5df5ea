"""What has to be proved for a goal: from goal, sensitivity, order and support to bounds and their parameters.

==========================================  ================================================================
pure, or delta = 0                          order 1: Laplace with the l_1 norm; above 1 it does not exist
one coordinate moves                        the exact delta of the shift
order 2 on the reals                        the same with the l_2 norm: Gaussian noise is rotation invariant
order 2 on the integers, a joint norm       the l_2 norm, by comparison with continuous noise: an upper bound
several coordinates, approximate            the corner, by convolution; at order 1 pure DP where that is as good
several coordinates, probabilistic          the paper's sum of absolute losses, by convolution: an upper bound
only an l_q norm                            order 1, 2 as above; else the direction-free bound
bounds                                      pure loss of the bounded law
==========================================  ================================================================

References
----------
Liu, arXiv 1602.06028 v5, Claim 4 (no pure DP without bounds), Cor. GGMpDP. Corner for aDP: the trade-off function of a
product is the tensor product of its factors', and each factor's is monotone in its shift since the noise is log-concave
(Dong, Roth and Su, "Gaussian Differential Privacy", JRSS B 2022, Prop. D.1 and A.3).
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ggdp.calibration.attained import is_reached, joint_binds, most_l1
from ggdp.errors import ArgumentError, UnattainableError, UnprovedError

if TYPE_CHECKING:
    from ggdp.loss.bounded_vector import Coordinate
    from ggdp.privacy import Guarantee, Sensitivity

__all__ = ["Obligation", "bounded_obligation", "joint_obligation", "obligations", "paired"]

# An integer above it is not every float's neighbour any more: sums of such sensitivities would not be exact.
LARGEST_INTEGER = 2.0**53
MOST_MOVING = 1_000_000
WIDEST = 1e25
NOT_REACHED = (
    "upper bound: the {} norm of the change is bounded by way of its joint norm, and no change is known that reaches "
    "this bound"
)


@dataclass(frozen=True, slots=True)
class Obligation:
    """One bound that would do, its parameters without the scale, and the target for its quantity."""

    bound: str
    target: float
    parameters: dict[str, Any]
    note: str | None = field(default=None)


def obligations(goal: Guarantee, sensitivity: Sensitivity, order: float, support: str) -> list[Obligation]:
    """Return the bounds that would prove `goal` for unbounded noise; the one with the least scale wins."""
    if support == "integer":
        require_integers(sensitivity)
    if goal.delta == 0.0:
        if order != 1.0:
            message = (
                f"pure DP (delta = 0) does not exist for unbounded noise of order = {order!r} above 1: the loss grows "
                "without bound with the noise. Use order = 1 (Laplace), or a goal with delta above 0, or bounds with "
                "bounding = 'truncated' or 'boundary-inflated'"
            )
            raise UnattainableError(message)
        return [_laplace(goal, sensitivity, support)]
    if sensitivity.moving == 1 or (order == 2.0 and support == "real"):
        return [_shift(goal, sensitivity, order, support)]
    if order == 1.0:
        pure_only = sensitivity.kind == "norm" or goal.notion == "probabilistic"
        if pure_only or _pure_is_least(goal, sensitivity.moving):
            return [_laplace(goal, sensitivity, support)]
        return [_corner(goal, sensitivity, order, support), _laplace(goal, sensitivity, support)]
    found = []
    if sensitivity.kind != "norm":
        several = _corner if goal.notion == "approximate" else _absolute_sum
        found.append(several(goal, sensitivity, order, support))
    if sensitivity.joint is not None and support == "real":
        found.append(_radial(goal, sensitivity, order))
    if sensitivity.joint is not None and support == "integer" and order == 2.0 and goal.notion == "approximate":
        found.append(_integer_gaussian(goal, sensitivity))
    if not found:
        message = (
            f"on the integers no bound is known for {goal.notion} DP with noise of order = {order!r} when only an l_p "
            "norm of the change is. Give per-coordinate sensitivities (Sensitivity.box or Sensitivity.cells), or use "
            "order = 1, or an ApproxDP goal with order = 2"
        )
        raise UnprovedError(message)
    return found


def _pure_is_least(goal: Guarantee, moving: int) -> bool:
    """Tell whether at order 1 no scale 1e-4 below that of pure DP, Delta_1/eps, can keep an approximate goal.

    With probability 2^-r or more all r coordinates' noises are on the side where the loss is Delta_1/b, so delta is at
    least 2^-r (1 - e^(eps - Delta_1/b)), which falls as b grows. The corner is then not worth its convolution.
    """
    return -math.expm1(-1e-4 * goal.epsilon) * 0.5**moving > goal.delta


def require_integers(sensitivity: Sensitivity) -> None:
    """Refuse sensitivities of coordinates that are not whole numbers; a norm of whole numbers need not be one."""
    for size in sensitivity.sizes:
        if not (size.is_integer() or sensitivity.kind == "norm") or size > LARGEST_INTEGER:
            raise ArgumentError(
                "sensitivity",
                size,
                "on the integers it must be a whole number of at most 2^53; scale the query, or use support = 'real'",
            )


def _laplace(goal: Guarantee, sensitivity: Sensitivity, support: str) -> Obligation:
    note = None
    if goal.delta > 0.0:
        note = (
            "upper bound: at order 1 this is the scale of pure DP, which is more than the goal asks for; with several "
            "moving coordinates no smaller scale is known to be sound, or none is smaller by more than 1e-4"
        )
    elif not is_reached(sensitivity, 1.0, support):
        note = NOT_REACHED.format("l_1")
    return Obligation("laplace", goal.epsilon, {"sensitivity": most_l1(sensitivity, support)}, note)


def _shift(goal: Guarantee, sensitivity: Sensitivity, order: float, support: str) -> Obligation:
    size: float = sensitivity.largest if sensitivity.moving == 1 else sensitivity.lp(2)
    if support == "integer":
        size = int(size)
    name = "shift" if support == "real" else "integer-shift"
    parameters = {"notion": goal.notion, "order": order, "sensitivity": size, "epsilon": goal.epsilon}
    reached = sensitivity.moving == 1 or is_reached(sensitivity, 2.0, support)
    return Obligation(name, goal.delta, parameters, None if reached else NOT_REACHED.format("l_2"))


def _integer_gaussian(goal: Guarantee, sensitivity: Sensitivity) -> Obligation:
    parameters = {
        "sensitivity": sensitivity.lp(2),
        "dimension": sensitivity.moving,
        "epsilon": goal.epsilon,
    }
    note = (
        "upper bound: only the l_2 norm of the change is used, by comparison with continuous Gaussian noise; where the "
        "norm is many steps, the scale is larger than the least by a fraction of a percent"
    )
    return Obligation("integer-gaussian", goal.delta, parameters, note)


def _corner(goal: Guarantee, sensitivity: Sensitivity, order: float, support: str) -> Obligation:
    _require_few(sensitivity)
    parameters = {"order": order, "corner": sensitivity.corner, "epsilon": goal.epsilon, "support": support}
    return Obligation("corner", goal.delta, parameters)


def _require_few(sensitivity: Sensitivity) -> None:
    if sensitivity.moving > MOST_MOVING:
        raise ArgumentError(
            "sensitivity",
            str(sensitivity),
            f"more than {MOST_MOVING:,} coordinates that move at once are not convolved; use order = 2 on the reals, "
            "where the l_2 norm is enough, or order = 1 with a pure goal",
        )


def _absolute_sum(goal: Guarantee, sensitivity: Sensitivity, order: float, support: str) -> Obligation:
    _require_few(sensitivity)
    parameters = {
        "order": order,
        "corner": sensitivity.corner,
        "epsilon": goal.epsilon,
        "support": support,
        "joint": None if sensitivity.joint is None else sensitivity.lp(order),
    }
    note = (
        "upper bound: for probabilistic DP with several moving coordinates the worst direction is not known, so this "
        "is the paper's bound, not the least scale"
    )
    return Obligation("absolute-sum", goal.delta, parameters, note)


def _radial(goal: Guarantee, sensitivity: Sensitivity, order: float) -> Obligation:
    parameters = {
        "order": order,
        "sensitivity": sensitivity.lp(order),
        "dimension": sensitivity.moving,
        "epsilon": goal.epsilon,
    }
    note = (
        f"upper bound: with only an l_p norm of the change the worst direction at order {order:.12g} is not known, so "
        "this is the direction-free bound; per-coordinate sensitivities give a smaller scale"
    )
    return Obligation("radial", goal.delta, parameters, note)


def bounded_obligation(
    goal: Guarantee,
    sensitivity: Sensitivity,
    order: float,
    support: str,
    bounds: tuple[tuple[float, float], ...],
    bounding: str,
) -> Obligation:
    """Return what has to be proved for noise kept in bounds."""
    if goal.delta > 0.0:
        message = (
            f"bounded noise is calibrated for pure DP, not for {goal}. Ask for PureDP({goal.epsilon!r}), which implies "
            "it; or add unbounded noise for this goal and clip the result, which keeps approximate DP"
        )
        raise UnprovedError(message)
    if support == "integer":
        require_integers(sensitivity)
        for low, high in bounds:
            if not (low.is_integer() and high.is_integer()):
                raise ArgumentError("bounds", (low, high), "on the integers both ends must be whole numbers")
    parameters = {
        "bounding": bounding,
        "support": support,
        "order": order,
        "coordinates": paired(sensitivity, bounds),
        "moving": sensitivity.moving,
    }
    note = None
    if joint_binds(sensitivity):
        note = "upper bound: the joint norm is not used, each coordinate is taken to move as far as it can alone"
    return Obligation("bounded", goal.epsilon, parameters, note)


def joint_obligation(
    goal: Guarantee, sensitivity: Sensitivity, order: float, bounds: tuple[tuple[float, float], ...]
) -> Obligation:
    """Return the paper's bound for truncated noise with a joint norm, which may be far below the sum over the box."""
    parameters = {
        "order": order,
        "coordinates": paired(sensitivity, bounds),
        "moving": sensitivity.moving,
        "joint": sensitivity.lp(order),
    }
    note = "upper bound: the paper's Eqn b1 for a joint norm, not the least scale"
    return Obligation("bounded-joint", goal.epsilon, parameters, note)


def paired(sensitivity: Sensitivity, bounds: tuple[tuple[float, float], ...]) -> tuple[Coordinate, ...]:
    """Return (width, sensitivity, how many) of each kind of coordinate; one pair of bounds serves all coordinates."""
    from flint import arb

    from ggdp.distributions.enclosures import upper_float

    if sensitivity.kind == "norm":
        message = (
            "bounded noise needs per-coordinate sensitivities: use Sensitivity.box or Sensitivity.cells, not a norm"
        )
        raise UnprovedError(message)
    # Rounding up is safe: the loss grows with the width.
    widths = [upper_float(arb(high) - arb(low)) for low, high in bounds]
    sizes = list(sensitivity.sizes)
    if len(widths) == 1:
        widths *= len(sizes)
    if sensitivity.kind == "cells":
        sizes *= len(widths)
        copies = sensitivity.moving if len(bounds) == 1 else 1
        if len(bounds) > 1 and len(bounds) < sensitivity.moving:
            raise ArgumentError(
                "bounds", bounds, f"give one pair, or one for each of at least {sensitivity.moving} cells"
            )
    else:
        copies = 1
        if len(widths) != len(sizes):
            raise ArgumentError("bounds", bounds, f"give one pair, or one for each of the {len(sizes)} coordinates")
    for width, size in zip(widths, sizes, strict=True):
        if width > WIDEST * size:
            raise ArgumentError(
                "bounds", bounds, f"a width of more than {WIDEST:g} times the sensitivity {size!r} is not supported"
            )
        if width < size:
            raise ArgumentError(
                "bounds",
                bounds,
                f"a width of {width!r} is narrower than the sensitivity {size!r}: a query inside the bounds cannot "
                "move farther than their width, so lower the sensitivity or widen the bounds",
            )
    return tuple((width, size, copies * n) for (width, size), n in Counter(zip(widths, sizes, strict=True)).items())
