"""The least scale for one moving coordinate on the reals, for probabilistic and approximate DP.

One unknown z, the noise (in units of the scale) at which the loss passes epsilon: W = (|z|^p + epsilon)^(1/p) and
b = D / (W - z). Delta falls strictly as z rises, and b rises with z, so the least scale is at the least z that passes.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

from flint import arb

from ggdp._balls import BALLS, upper_float, working_precision
from ggdp._rounding import rounded_up
from ggdp.calibration.search import Proposal, passing_end, proved_or_raised
from ggdp.proofs.enclosures import accurate
from ggdp.proofs.shift import ShiftDelta, delta_at_threshold, upper_threshold

if TYPE_CHECKING:
    from ggdp.proofs.laplace import LaplaceLoss
    from ggdp.proofs.noise_law import NoiseLaw

_PRECISION = 96
_TOLERANCE = 1e-14
# Above t = z^p = 1/16 the search goes by t, below it by z itself, whose powers would be lost in an underflow.
_TURN = 0.0625


def laplace_scale(sensitivity: float, epsilon: float) -> float:
    """Return the least float b with D <= b epsilon, exactly: the scale of pure DP at order 1.

    Epsilon is the float and the decimal that was typed for it, whichever is less, so that the loss of ten releases of
    0.1 is not above 1: as a float, 0.1 is above 1/10.

    Examples
    --------
    >>> laplace_scale(1.0, 0.1)
    10.0
    """
    least = min(Fraction(epsilon), Fraction(repr(float(epsilon))))
    return rounded_up(Fraction(sensitivity) / least, of="scale")


def least_for_laplace(bound: LaplaceLoss, law: NoiseLaw, target: float) -> Proposal:
    """Return the least law of order 1 whose pure loss is at most the target."""
    return proved_or_raised(bound, law.with_scale(laplace_scale(bound.sensitivity, target)), target)


def least_for_shift(bound: ShiftDelta, law: NoiseLaw, target: float) -> Proposal:
    """Return the least law found whose delta is at most the target."""
    return proved_or_raised(bound, law.with_scale(scale_for_shift(bound, law.order, target)), target)


def scale_for_shift(bound: ShiftDelta, order: float, delta: float) -> float:
    """Return the least scale found for a delta, to be proved by the bound.

    Examples
    --------
    >>> b = scale_for_shift(ShiftDelta(notion="approximate", sensitivity=1, epsilon=0.5), 1.5, 0.01)
    >>> print(f"{b:.11f}")
    3.20136815487
    """
    notion, sensitivity, epsilon = bound.notion, bound.sensitivity, bound.epsilon
    if order == 1.0:
        return _laplace(notion, sensitivity, epsilon, delta)
    with BALLS, working_precision(_PRECISION):
        p, eps = arb(order), arb(epsilon)

        def excess_at(z: arb) -> float:
            # Near p = 1 the two terms of delta nearly cancel.
            value = accurate(lambda: delta_at_threshold(notion, p, eps, z))
            return float((value / arb(delta)).log().mid())

        def least(failing: float, passing: float) -> arb:
            # W is at least epsilon^(1/p): a finer z than an ulp of that leaves W - z as it is.
            resolution = 1e-16 * epsilon ** (1.0 / order)
            found = passing_end(
                lambda z: excess_at(arb(z)),
                failing=failing,
                passing=passing,
                tolerance=_TOLERANCE,
                resolution=resolution,
            )
            return arb(found)

        turn = (arb(_TURN) ** (1 / p)).mid()
        if excess_at(turn) > 0.0:
            # log delta is nearly linear in t = z^p, and Q(a, t) <= e^-t for a <= 1 gives a passing end.
            passing = -math.log(2.0 * delta if notion == "approximate" else delta) + 1e-9
            t = passing_end(
                lambda t: excess_at((arb(t) ** (1 / p)).mid()),
                failing=_TURN,
                passing=passing,
                tolerance=_TOLERANCE,
            )
            z = arb(t) ** (1 / p)
            gap = z * ((eps / arb(t)).log1p() / p).expm1()
        else:
            failing = -1.0
            while excess_at(arb(failing)) <= 0.0:
                failing *= 2.0
            z = least(failing, float(turn))
            gap = upper_threshold(p, eps, z) - z
        return upper_float(arb(sensitivity) / gap)


def _laplace(notion: str, sensitivity: float, epsilon: float, delta: float) -> float:
    """Return the closed form at p = 1."""
    with BALLS, working_precision(_PRECISION):
        eps, slack = arb(epsilon), arb(delta)
        if notion == "approximate":
            return upper_float(arb(sensitivity) / (eps - 2 * (-slack).log1p()))
        if slack < (1 + (-eps).exp()) / 2:
            return laplace_scale(sensitivity, epsilon)
        z = (2 * (1 - slack) / -(-eps).expm1()).log()
        return upper_float(arb(sensitivity) / (eps - 2 * z))
