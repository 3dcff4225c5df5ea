"""The scale when only the l_p norm of the move is known: the direction-free bound, solved for b.

With g = Q^-1(r/p, delta) the bound of `ggdp.loss.radial` holds with equality at

    b = Delta_p / ((g + epsilon)^(1/p) - g^(1/p)).

References
----------
`ggdp.loss.radial` has the claim and its proof.
"""

from __future__ import annotations

import math

from ggdp.calibration.search import passing_end
from ggdp.errors import SearchError
from ggdp.loss.radial import delta_of_radial

__all__ = ["scale_for_radial"]

TOLERANCE = 1e-10
WIDEST = 1e-3


def scale_for_radial(*, order: float, sensitivity: float, dimension: int, epsilon: float, delta: float) -> float:
    """Return the least scale, up to 1e-9, at which the direction-free bound keeps (epsilon, delta).

    Parameters
    ----------
    order : float
        Order of the noise, above 1.
    sensitivity : float
        The l_p norm of the move, p being the order.
    dimension : int
        How many coordinates the query has.
    epsilon, delta : float
        The guarantee to keep, as pDP and so as aDP.

    Notes
    -----
    Rounding: the scale returned was itself proved to pass by `delta_of_radial`.

    Examples
    --------
    >>> scale = scale_for_radial(order=2, sensitivity=1.0, dimension=2, epsilon=1.0, delta=0.05)
    >>> print(f"{scale:.7f}")  # g = log 20
    3.7297512
    """
    start = sensitivity / _reach(order, dimension, epsilon, delta)

    def excess(scale: float) -> float:
        upper = delta_of_radial(
            order=order, scale=scale, sensitivity=sensitivity, dimension=dimension, epsilon=epsilon
        ).upper
        return math.log(upper / delta) if upper > 0.0 else -math.inf

    width = TOLERANCE
    while width <= WIDEST:
        failing, passing = start * (1.0 - width), start * (1.0 + width)
        above, below = excess(failing), excess(passing)
        if above > 0.0 >= below:
            return passing_end(
                excess,
                failing=failing,
                passing=passing,
                tolerance=TOLERANCE,
                failing_excess=above,
                passing_excess=below,
            )
        width *= 10.0
    message = f"no scale near {start!r} could be certified for dimension {dimension} at order {order!r}"
    raise SearchError(message)


def _reach(order: float, dimension: int, epsilon: float, delta: float) -> float:
    """(g + epsilon)^(1/p) - g^(1/p) in floats."""
    from scipy import special

    g = float(special.gammainccinv(dimension / order, delta))
    if g == 0.0:
        return float(epsilon ** (1.0 / order))
    return float(g ** (1.0 / order) * math.expm1(math.log1p(epsilon / g) / order))
