"""The delta of generalized Gaussian noise when one coordinate moves, on the reals.

Noise of order p and scale b is added to a number that moves by at most D. In units of b, with d = D/b and the standard
law's survival function S, the loss at noise x is |x + d|^p - |x|^p, which rises with x and passes epsilon at z:

=======  ======================================================
z        root of (z + d)^p - |z|^p = epsilon, above -d/2
W        z + d = (|z|^p + epsilon)^(1/p)
aDP      delta = S(z) - e^epsilon S(W)
pDP      delta = S(z) + S(W)
=======  ======================================================

Claim: |shift| = D is the worst shift. With W' = dW/dz = sgn(z) (|z|/W)^(p-1), which is below 1 in absolute value,
dz/dd is -1/(1 - W'), and so d(delta)/dd is f(z) > 0 for aDP and f(z) (1 + e^-epsilon W') / (1 - W') > 0 for pDP.

References
----------
Liu, arXiv 1602.06028 v5, Cor. disjoint (the bound this replaces); Balle and Wang, "Improving the Gaussian Mechanism
for Differential Privacy", ICML 2018, Theorem 8 (p = 2, aDP).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias

from flint import arb, ctx

from ggdp import _validate
from ggdp._balls import BALLS, hull, power, working_precision
from ggdp.proofs.bound import Bound, Quantity, require_unbounded
from ggdp.proofs.enclosures import EXACT, Enclosure, enclosed
from ggdp.proofs.survival import survival

if TYPE_CHECKING:
    from ggdp.proofs.noise_law import NoiseLaw

Notion: TypeAlias = Literal["approximate", "probabilistic"]
NOTIONS = ("approximate", "probabilistic")

# Beyond |x|^p = 5000, S is below e^-5000, less than the least positive float, e^-744.
_FAR = 5000.0
_LEAST_FLOAT = 5e-324
# Newton's method needs about ten steps from the right asymptote; more means that it does not converge.
_MOST_STEPS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class ShiftDelta(Bound):
    """The exact delta of noise on the reals when one coordinate moves.

    Attributes
    ----------
    notion : {"approximate", "probabilistic"}
        Which delta.
    sensitivity : float
        How far the coordinate can move; at order 2 the l_2 norm of the move of all coordinates.
    epsilon : float
        The epsilon of the guarantee.

    Notes
    -----
    Rounding: `upper` is never below the exact delta. The root z is enclosed by a sign change that is checked in ball
    arithmetic, so nothing depends on how it was found.

    Examples
    --------
    >>> from ggdp.proofs import NoiseLaw
    >>> delta = ShiftDelta(notion="approximate", sensitivity=1, epsilon=1)
    >>> delta.enclose(NoiseLaw(order=1, scale=1)).upper  # pure Laplace
    0.0
    """

    name: ClassVar[str] = "shift"
    quantity: ClassVar[Quantity] = "delta"
    statement: ClassVar[str] = (
        "one coordinate moves by at most the sensitivity (at order 2: the l_2 norm): the exact delta"
    )
    exact: ClassVar[bool] = True

    notion: Notion
    sensitivity: float
    epsilon: float

    def __post_init__(self) -> None:
        _validate.choice(among=NOTIONS, notion=self.notion)
        _validate.positive(sensitivity=self.sensitivity)
        _validate.positive(epsilon=self.epsilon)

    def at_precision(self, law: NoiseLaw, bits: int) -> Enclosure:
        """Enclose delta with so many bits."""
        require_unbounded(law, "real")
        # At order 1 the loss is at most D/b, exactly: a comparison of rationals decides.
        if law.order == 1.0 and Fraction(self.sensitivity) <= Fraction(self.epsilon) * Fraction(law.scale):
            return Enclosure(lower=0.0, upper=0.0, precision=EXACT)
        with BALLS, working_precision(bits):
            p, d, eps = arb(law.order), arb(self.sensitivity) / arb(law.scale), arb(self.epsilon)
            if law.order == 1.0:
                return enclosed(_laplace(self.notion, d, eps))
            if _loss(p, arb(_FAR) ** (1 / p), d) < eps:
                return Enclosure(lower=0.0, upper=_LEAST_FLOAT, precision=bits)
            return enclosed(delta_at_threshold(self.notion, p, eps, _threshold(p, eps, d)))


def upper_threshold(p: arb, epsilon: arb, z: arb) -> arb:
    """Enclose W = (|z|^p + epsilon)^(1/p)."""
    return (power(abs(z), p) + epsilon) ** (1 / p)


def delta_at_threshold(notion: str, p: arb, epsilon: arb, z: arb) -> arb:
    """Enclose the delta of the shift whose loss passes epsilon at z."""
    W = upper_threshold(p, epsilon, z)
    if notion == "approximate":
        return survival(p, z) - epsilon.exp() * survival(p, W)
    return survival(p, z) + survival(p, W)


def _laplace(notion: str, d: arb, epsilon: arb) -> arb:
    """Enclose delta at p = 1 for d > epsilon, where z = (epsilon - d)/2 is below 0."""
    if notion == "approximate":
        return -((epsilon - d) / 2).expm1()
    return 1 - ((epsilon - d) / 2).exp() / 2 + (-(epsilon + d) / 2).exp() / 2


def _loss(p: arb, z: arb, d: arb) -> arb:
    """Enclose (z + d)^p - |z|^p for z >= -d/2."""
    return power(z + d, p) - power(abs(z), p)


def _threshold(p: arb, epsilon: arb, d: arb) -> arb:
    """Enclose z, the root of (z + d)^p - |z|^p = epsilon, for p > 1.

    Newton's method on the logarithms in u = z + d/2: the loss is odd and increasing in u, with slope 1 near 0 and p - 1
    far out, so that started from the right asymptote it comes from one side. The result is then checked.
    """
    linear = epsilon / (2 * p * (d / 2) ** (p - 1))
    tail = ((epsilon / (p * d)).log() / (p - 1)).exp()
    u = (min if p >= 2 else max)(linear.mid(), tail.mid())
    for _ in range(_MOST_STEPS):
        loss = _loss(p, u - d / 2, d)
        slope = p * u * ((u + d / 2) ** (p - 1) - (u - d / 2).sgn() * power(abs(u - d / 2), p - 1)) / loss
        step = ((epsilon / loss).log() / slope).mid()
        if not step.is_finite():
            break
        u = (u * max(min(step, arb(50)), arb(-50)).exp()).mid()
        if abs(step) < arb(2) ** (-ctx.prec // 2):
            break
    margin = arb(2) ** (12 - ctx.prec)
    while margin < 1:
        low, high = u * (1 - margin) - d / 2, u * (1 + margin) - d / 2
        if _loss(p, low, d) <= epsilon <= _loss(p, high, d):
            return hull(low, high)
        margin *= 1024
    return arb(math.nan)
