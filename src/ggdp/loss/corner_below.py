"""A lower bound of the delta of a corner: how much is certainly lost when several coordinates move at once.

=========  =================================================================================
P, Q       laws of the noise of one coordinate and of the shifted noise
h          step of the grid; a coordinate's losses are laid on i h + o, with one offset o
m          log(P / Q) of a cell of noises, the loss of whoever sees the cell alone
=========  =================================================================================

Claim: the bound is not above the exact delta of the corner. Proof: to tell only the cell in which each noise lies is
post-processing, which does not raise delta, whatever the cells are. Lowering a cell's loss m to a point of the grid, or
leaving a cell out, lowers E (1 - e^(epsilon - sum of the losses))_+. In the circular sum what is above the window comes
back at a smaller loss; what is below it comes back at a larger one, and a Chernoff bound of its mass is subtracted.

How tight: cells of the size of a step lose a share of about h^2 of delta, and the lowering as little where the losses
of most cells have one distance from the grid, which is then the offset. On the integers with a small scale they have
not, and the lowering costs up to h for each coordinate.

References
----------
Doroshenko et al., PETS 2022 (the upper bound that this accompanies, `ggdp.loss.corner`).
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from flint import arb

from ggdp import _validate
from ggdp.distributions.enclosures import BALLS, lower_float, survival, working_precision
from ggdp.loss.convolution import convolved, log_moment
from ggdp.loss.corner_plan import TILTS, checked_corner, plan, thresholds
from ggdp.loss.dominating import OnGrid, integer_tails

if TYPE_CHECKING:
    from ggdp.loss.corner_plan import Corner, Plan, SizePlan

__all__ = ["least_delta_of_corner"]

BITS = 2.0**16


class Lowered(NamedTuple):
    """A law on the grid, and by how much all its losses are larger than the grid says."""

    law: OnGrid
    offset: arb


def least_delta_of_corner(*, order: float, scale: float, corner: Corner, epsilon: float, support: str) -> float:
    """Bound from below the delta of noise of this order and scale when all coordinates of the corner move.

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

    Notes
    -----
    Rounding: down, at every step. The grid is that of the upper bound, `ggdp.loss.corner.delta_of_corner`.

    Examples
    --------
    >>> least = least_delta_of_corner(order=2, scale=2.66567, corner=((1, 2),), epsilon=1, support="real")
    >>> 0.04998 < least < 0.05
    True
    """
    _validate.order(order=order)
    _validate.positive(scale=scale)
    _validate.positive(epsilon=epsilon)
    checked_corner(corner, support)
    p, b = float(order), float(scale)
    chosen = plan(order=p, scale=b, corner=corner, epsilon=float(epsilon), support=support)
    if chosen is None:
        return 0.0
    with BALLS, working_precision(chosen.precision):
        parts, offset, lost = _parts(chosen, p, b, support)
        total = convolved(parts, chosen.window)
        value = _hockey_stick(total, arb(epsilon) - offset) - lost - _mass_below(parts, total.low)
        return max(lower_float(value), 0.0)


def _parts(chosen: Plan, order: float, scale: float, support: str) -> tuple[list[tuple[OnGrid, int]], arb, arb]:
    """Return the laws to add up, the offset of their sum, and what the sums made beforehand may have gained."""
    parts, offset, lost = [], arb(0), arb(0)
    for size in chosen.sizes:
        single = _lowered(size, order, scale, support)
        offset += size.count * single.offset
        if size.window is None:
            parts.append((single.law, size.count))
            continue
        composed = convolved([(single.law, size.count)], size.window)
        lost += _mass_below([(single.law, size.count)], composed.low)
        parts.append((_coarsened(composed, 1 << size.halvings), 1))
    return parts, offset, lost


def _lowered(size: SizePlan, order: float, scale: float, support: str) -> Lowered:
    """Lay the loss of one coordinate on the grid, each cell at or below its loss."""
    step = arb(size.step)
    cells = _integer_cells(size, order, scale) if support == "integer" else _real_cells(size, order, scale)
    losses, masses = [], []
    for (here, there), (next_here, next_there) in pairwise(cells):
        P, Q = here - next_here, there - next_there
        # A cell that is not certainly seen under both laws is left out.
        if P > 0 and Q > 0:
            losses.append((P / Q).log() / step)
            masses.append(P)
    low = size.low - 1
    lowest = [float(loss.lower()) for loss in losses]
    share = _offset(lowest, [float(mass) for mass in masses])
    places = [math.floor(at - share) for at in lowest]
    kept = [(loss, mass, place) for loss, mass, place in zip(losses, masses, places, strict=True) if place > low]
    law = [arb(0)] * (max((place for _, _, place in kept), default=low) - low + 1)
    for loss, mass, place in kept:
        # Floats chose the place; it counts only if the ball agrees.
        below = place if place + arb(share) <= loss else place - 1
        if below >= low and below + arb(share) <= loss:
            law[below - low] += mass
    return Lowered(OnGrid(step, low, law, arb(0)), arb(share) * step)


def _offset(places: list[float], masses: list[float]) -> float:
    """Return the part of a step by which to raise the grid so that losses are lowered least, on average."""
    if not places:
        return 0.0
    above = np.array(places) % 1.0
    order = np.argsort(above)
    above, weights = above[order], np.array(masses)[order]
    # With the offset at one of these parts, those below it fall to the next lower point.
    lowering = -above * weights.sum() + np.cumsum(weights) - weights
    # A few bits only, so that places and offsets are exact.
    return math.floor(float(above[np.argmin(lowering)]) * BITS) / BITS


def _real_cells(size: SizePlan, order: float, scale: float) -> list[tuple[arb, arb]]:
    """Enclose P and Q of the noise from each threshold on; the last one is infinite."""
    p, d = arb(order), arb(size.size) / arb(scale)
    cuts = thresholds(size, order=order, scale=scale)
    points = [arb(float(z)) for z in cuts if math.isfinite(z)]
    return [(survival(p, z), survival(p, z + d)) for z in points] + [(arb(0), arb(0))]


def _integer_cells(size: SizePlan, order: float, scale: float) -> list[tuple[arb, arb]]:
    """The same on the integers, where a threshold is the least noise of its cell."""
    shift = int(size.size)
    cuts = sorted({math.ceil(float(z) * scale) for z in thresholds(size, order=order, scale=scale)})
    tail = integer_tails(order, scale, {*cuts, *(k + shift for k in cuts)})
    return [(tail[k], tail[k + shift]) for k in cuts] + [(arb(0), arb(0))]


def _coarsened(part: OnGrid, factor: int) -> OnGrid:
    """Move the law down to a grid that is `factor` times as coarse."""
    low = part.low // factor
    masses = [arb(0)] * ((part.low + len(part.masses) - 1) // factor - low + 1)
    for j, mass in enumerate(part.masses):
        masses[(part.low + j) // factor - low] += mass
    return OnGrid(part.step * factor, low, masses, arb(0))


def _mass_below(parts: list[tuple[OnGrid, int]], low: int) -> arb:
    """Bound the mass of sums below the knot `low`, which a circular sum brings back at its other end."""
    if sum(count * part.low for part, count in parts) >= low:
        return arb(0)
    step = parts[0][0].step
    spread = max(part.step * len(part.masses) * math.sqrt(count) for part, count in parts)
    bounds = []
    for tilt in TILTS:
        s = -10 * tilt / spread
        exponent = sum((count * log_moment(part, s) for part, count in parts), arb(0))
        bounds.append((exponent - s * (low - 1) * step).exp())
    return min(bounds, key=float)


def _hockey_stick(total: OnGrid, epsilon: arb) -> arb:
    """Enclose the sum of (1 - e^(epsilon - l))_+ over the losses l; a loss not certainly above epsilon adds nothing."""
    value = arb(0)
    for j, mass in enumerate(total.masses):
        excess = (total.low + j) * total.step - epsilon
        if excess > 0:
            value -= mass * (-excess).expm1()
    return value
