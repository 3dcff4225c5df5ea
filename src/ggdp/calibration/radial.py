"""The scale when only the l_p norm of the move is known: the direction-free bound, solved for b.

With g = Q^-1(r/p, delta) the bound of `ggdp.proofs.radial` holds with equality at

    b = Delta_p / ((g + epsilon)^(1/p) - g^(1/p)).

References
----------
`ggdp.proofs.radial` has the claim and its proof.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ggdp.calibration.search import Proposal, log_excess, passing_end, proved_or_raised
from ggdp.errors import SearchError

if TYPE_CHECKING:
    from ggdp.proofs.noise_law import NoiseLaw
    from ggdp.proofs.radial import RadialDelta

TOLERANCE = 1e-10
# The closed form in floats is this close in every case tried; a scale farther away is not looked for.
WIDEST = 1e-3


def least_for_radial(bound: RadialDelta, law: NoiseLaw, target: float) -> Proposal:
    """Return the least law, up to 1e-9 in its scale, at which the direction-free bound reaches a target.

    Examples
    --------
    >>> from ggdp.proofs import NoiseLaw
    >>> from ggdp.proofs.radial import RadialDelta
    >>> bound = RadialDelta(sensitivity=1.0, dimension=2, epsilon=1.0)
    >>> print(f"{least_for_radial(bound, NoiseLaw(order=2, scale=1), 0.05).law.scale:.7f}")  # g = log 20
    3.7297512
    """
    start = bound.sensitivity / _reach(law.order, bound.dimension, bound.epsilon, target)
    excess = log_excess(bound, law, target)
    width = TOLERANCE
    while width <= WIDEST:
        failing, passing = start * (1.0 - width), start * (1.0 + width)
        above, below = excess(failing), excess(passing)
        if above > 0.0 >= below:
            scale = passing_end(
                excess,
                failing=failing,
                passing=passing,
                tolerance=TOLERANCE,
                failing_excess=above,
                passing_excess=below,
            )
            return proved_or_raised(bound, law.with_scale(scale), target)
        width *= 10.0
    message = f"no scale near {start!r} could be proved for dimension {bound.dimension} at order {law.order!r}"
    raise SearchError(message)


def _reach(order: float, dimension: int, epsilon: float, delta: float) -> float:
    """Return (g + epsilon)^(1/p) - g^(1/p)."""
    from scipy import special

    g = float(special.gammainccinv(dimension / order, delta))
    if g == 0.0:
        return float(epsilon ** (1.0 / order))
    return float(g ** (1.0 / order) * math.expm1(math.log1p(epsilon / g) / order))
