"""The delta of a corner: several coordinates move at once, each by its own known amount.

=========  =========================================================================
corner     ((D_1, n_1), (D_2, n_2), ...): n_j coordinates that move by D_j
L          the loss of one coordinate, |x + d|^p - |x|^p with d = D/b
delta      E (1 - e^(epsilon - sum of the losses))_+
=========  =========================================================================

Claim: among all moves with |d_k| <= D_k the corner is the worst for approximate DP. The law is log-concave, so the
trade-off function of one coordinate falls as its shift grows, and the trade-off function of a product falls with
its factors; hence so does delta.

The losses are laid on a grid (`ggdp.loss.dominating`), added by a transform in balls (`ggdp.loss.convolution`), sizes
that are far smaller than the rest first on a finer grid of their own; no step can lower delta.

References
----------
Liu, arXiv 1602.06028 v5, Cor. GGMpDP, bounds the same sums for pDP; Doroshenko et al., PETS 2022.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING

from flint import arb

from ggdp import _validate
from ggdp.distributions.enclosures import BALLS, upper_float, working_precision
from ggdp.errors import SearchError
from ggdp.loss.convolution import coarsened, convolved
from ggdp.loss.corner_plan import checked_corner, plan
from ggdp.loss.dominating import integer_coordinate, real_coordinate
from ggdp.loss.enclosed import EXACT, Enclosed

if TYPE_CHECKING:
    from ggdp.loss.corner_plan import Corner, Plan
    from ggdp.loss.dominating import OnGrid

__all__ = ["delta_of_corner", "delta_of_plan"]


def delta_of_corner(*, order: float, scale: float, corner: Corner, epsilon: float, support: str) -> Enclosed:
    """Bound from above the delta of noise of this order and scale when all coordinates of the corner move.

    Parameters
    ----------
    order, scale : float
        Order (at least 1) and scale of the noise.
    corner : tuple of (size, count)
        Distinct sizes and how many coordinates move by each; integers where the support is integer.
    epsilon : float
        The epsilon of the guarantee.
    support : {"real", "integer"}
        Where the noise lives.

    Returns
    -------
    Enclosed
        `upper` is proved; `lower` is 0. `grid` and `truncation` say which grid was used and how much mass went to an
        infinite loss.

    Notes
    -----
    Rounding: every step moves losses up. The grid is chosen from the arguments alone, so a call can be repeated.

    Examples
    --------
    >>> delta = delta_of_corner(order=2, scale=2.66567, corner=((1, 2),), epsilon=1, support="real")
    >>> 0.04999 < delta.upper < 0.05
    True
    """
    _validate.order(order=order)
    _validate.positive(scale=scale)
    _validate.positive(epsilon=epsilon)
    checked_corner(corner, support)
    if order == 1.0 and sum(count * Fraction(size) for size, count in corner) <= Fraction(epsilon) * Fraction(scale):
        # At p = 1 the losses add up to at most the l_1 norm over the scale.
        return Enclosed(lower=0.0, upper=0.0, precision=EXACT)
    chosen = plan(order=float(order), scale=float(scale), corner=corner, epsilon=float(epsilon), support=support)
    if chosen is None:
        return Enclosed(lower=0.0, upper=1.0, precision=EXACT)
    _require_all(chosen, corner)
    return delta_of_plan(chosen, order=float(order), scale=float(scale), epsilon=float(epsilon), support=support)


def _require_all(chosen: Plan, corner: Corner) -> None:
    """Check that a plan, which is not trusted, has every coordinate of the corner once."""
    laid, given = Counter[float](), Counter[float]()
    for size in chosen.sizes:
        laid[size.size] += size.count * size.copies
    for value, count in corner:
        given[value] += count
    if laid != given:
        message = "the plan of a convolution does not have the coordinates of the corner"
        raise SearchError(message)


def delta_of_plan(chosen: Plan, *, order: float, scale: float, epsilon: float, support: str) -> Enclosed:
    """Bound delta from above along a plan; the bound holds for any plan of all coordinates, good or bad."""
    with BALLS, working_precision(chosen.precision):
        parts = []
        for size in chosen.sizes:
            lay = integer_coordinate if support == "integer" else real_coordinate
            single = lay(size, order=order, scale=scale)
            if size.window is None:
                parts.append((coarsened(single, 1 << size.halvings), size.count))
            else:
                composed = convolved([(single, size.count)], size.window)
                parts.append((coarsened(composed, 1 << size.halvings), size.copies))
        total = convolved(parts, chosen.window)
        value = _hockey_stick(total, arb(epsilon)) + total.infinite
        return Enclosed(
            lower=0.0,
            upper=min(upper_float(value), 1.0),
            precision=chosen.precision,
            grid=chosen.step,
            truncation=min(upper_float(total.infinite), 1.0),
        )


def _hockey_stick(total: OnGrid, epsilon: arb) -> arb:
    """Enclose the sum of (1 - e^(epsilon - l))_+ over the finite losses l."""
    size = len(total.masses)
    first = next((j for j in range(size) if not (total.low + j) * total.step <= epsilon), size)
    above, weighted = arb(0), arb(0)
    fall = (-total.step).exp()
    # Horner's rule in e^-h, from the largest loss down.
    for mass in reversed(total.masses[first:]):
        above += mass
        weighted = weighted * fall + mass
    return above - weighted * (epsilon - (total.low + first) * total.step).exp()
