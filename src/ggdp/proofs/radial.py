"""The direction-free delta: only the l_p norm of the whole move is known, not how it is spread.

=====  ================================================================
r      dimension, how many coordinates the query has
t      Delta_p / b, the l_p norm of the move in units of the scale
G      sum of |x_k|^p over the r standard noises, a Gamma(r/p, 1) variable
g      root of (g^(1/p) + t)^p - g = epsilon
Q      regularised upper incomplete gamma function
=====  ================================================================

Claim: independent noise of order p > 1 is (epsilon, Q(r/p, g))-pDP, hence aDP, for every move of l_p norm at most
Delta_p. Proof: by Minkowski ||x + d||_p <= ||x||_p + t, so the loss ||x + d||_p^p - ||x||_p^p is at most
(G^(1/p) + t)^p - G. Its negative is at most G - (G^(1/p) - t)_+^p, which is no more, by convexity. That bound rises
with G, so it exceeds epsilon only where G > g.

The bound is loose: it pays for the worst direction at every noise vector at once. At t^p >= epsilon it is 1.

References
----------
Liu, arXiv 1602.06028 v5, Cor. GGMpDP, is the bound with known per-coordinate sensitivities; this one needs none.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from flint import arb

from ggdp import _validate
from ggdp._balls import BALLS, working_precision
from ggdp.errors import ArgumentError
from ggdp.proofs.bound import Bound, Quantity, require_unbounded
from ggdp.proofs.crossing import at_least, at_most, crossing_estimate, loss_estimate
from ggdp.proofs.enclosures import Enclosure, enclosed

if TYPE_CHECKING:
    from ggdp.proofs.noise_law import NoiseLaw

# Roots beyond it are not looked for: the bound is then the trivial one, 1.
_FARTHEST = 1e100


@dataclass(frozen=True, slots=True, kw_only=True)
class RadialDelta(Bound):
    """An upper bound of delta when only the l_p norm of the move is known, p being the order of the noise.

    Attributes
    ----------
    sensitivity : float
        The l_p norm of the move.
    dimension : int
        How many coordinates the query has.
    epsilon : float
        The epsilon of the guarantee.

    Notes
    -----
    Rounding: `upper` is never below the bound of the Claim above, which is itself an upper bound of the true delta.
    The root is replaced by floats on either side of it, and the side is decided in balls.

    Examples
    --------
    >>> from ggdp.proofs import NoiseLaw
    >>> delta = RadialDelta(sensitivity=1.0, dimension=2, epsilon=1.0).enclose(NoiseLaw(order=2, scale=5.0))
    >>> round(delta.upper, 12), round(delta.lower, 12)  # Q(1, 5.76) = exp(-5.76)
    (0.003151111598, 0.003151111598)
    """

    name: ClassVar[str] = "radial"
    quantity: ClassVar[Quantity] = "delta"
    statement: ClassVar[str] = "an upper bound, free of direction: Minkowski's inequality for the l_p norm of the noise"
    exact: ClassVar[bool] = False

    sensitivity: float
    dimension: int
    epsilon: float

    def __post_init__(self) -> None:
        _validate.positive(sensitivity=self.sensitivity)
        _validate.integer(dimension=self.dimension, at_least=1)
        _validate.positive(epsilon=self.epsilon)

    def precisions(self, law: NoiseLaw) -> tuple[int, ...]:  # noqa: ARG002 - the same for every law
        """Return precisions that are enough for the gamma function at great dimensions."""
        return 256, 512, 1024, 2048, 4096

    def at_precision(self, law: NoiseLaw, bits: int) -> Enclosure:
        """Enclose the bound with so many bits."""
        require_unbounded(law, "real")
        if law.order == 1.0:
            raise ArgumentError("order", law.order, "must be above 1 here; at order 1 an l_1 norm gives pure DP")
        with BALLS, working_precision(bits):
            p, eps, t = arb(law.order), arb(self.epsilon), arb(self.sensitivity) / arb(law.scale)
            if not t**p < eps:
                return Enclosure(lower=0.0, upper=1.0, precision=bits, exhausted=True)
            guess = _radius_estimate(law.order, self.sensitivity / law.scale, self.epsilon)
            low, high = max(at_most(p, t, eps, guess), 0.0), at_least(p, t, eps, guess)
            a = self.dimension / p
            upper = enclosed((arb(low) ** p).gamma_upper(a, regularized=1)).upper
            lower = enclosed((arb(high) ** p).gamma_upper(a, regularized=1)).lower if math.isfinite(high) else 0.0
        # The root is only known to a float, so the gamma function decides whether more bits help.
        decided = math.isfinite(upper) and upper <= 1.0
        return Enclosure(lower=max(lower, 0.0), upper=min(upper, 1.0), precision=bits, exhausted=decided)


def _radius_estimate(order: float, t: float, epsilon: float) -> float:
    """Solve (u + t)^p - u^p = epsilon for u >= 0 in floats."""
    largest = 1.0
    while loss_estimate(order, largest, t) < epsilon and largest < _FARTHEST:
        largest *= 8.0
    return max(crossing_estimate(order, t, epsilon, low=-t - largest, high=largest), 0.0)
