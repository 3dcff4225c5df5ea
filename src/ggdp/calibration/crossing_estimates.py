"""Where the loss of a shift crosses many levels at once, in floats.

=====  ==========================================================================
p      order, at least 1
d      shift in units of the scale, D / b
L(z)   (|z + d|^p - |z|^p), the privacy loss of the standard law at z; it rises with z
=====  ==========================================================================

Nothing here is used as evidence: a proof decides in balls (`ggdp.proofs.crossing`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

Floats: TypeAlias = "NDArray[np.float64]"

# Points of the table on each side of a bend, from so close to it, relative to the whole range.
NODES = 600
CLOSEST = 1e-12
# From a table as fine as that two or three steps are the rule; where L is flat, more halve the bracket.
NEWTON_STEPS = 12
# The error of a step of Newton's method is about the square of the step.
SETTLED = 1e-8


def loss_estimates(order: float, z: Floats, shift: float) -> Floats:
    """Return L(z), without cancellation where z is much larger than the shift."""
    with np.errstate(all="ignore"):
        # Mirroring about -d/2 changes the sign of the loss only, and leaves z >= -d/2 to be dealt with.
        mirrored = z < -0.5 * shift
        x = np.where(mirrored, -shift - z, z)
        far = x**order * np.expm1(order * np.log1p(shift / x))
        near = (x + shift) ** order - np.abs(x) ** order
        value = np.where(x > shift, far, near)
    return np.where(mirrored, -value, value)


def crossings(order: float, shift: float, levels: Floats, *, largest: float) -> Floats:
    """Return the roots z of L(z) = level, for levels between L(-shift - largest) and L(largest).

    A table of L, which rises, gives brackets and starts; a few steps of Newton's method, kept in the brackets, give the
    digits.
    """
    levels = np.asarray(levels, dtype=np.float64)
    if order == 2.0:
        return np.clip((levels / shift - shift) / 2.0, -shift - largest, largest)
    nodes = _nodes(shift, largest)
    table = np.maximum.accumulate(loss_estimates(order, nodes, shift))
    above = np.clip(np.searchsorted(table, levels), 1, len(nodes) - 1)
    low, high = nodes[above - 1], nodes[above]
    with np.errstate(all="ignore"):
        share = (levels - table[above - 1]) / (table[above] - table[above - 1])
        z = low + np.where((share >= 0.0) & (share <= 1.0), share, 0.5) * (high - low)
        for _ in range(NEWTON_STEPS):
            miss = loss_estimates(order, z, shift) - levels
            low, high = np.where(miss > 0.0, low, z), np.where(miss > 0.0, z, high)
            far, near = np.abs(z + shift), np.abs(z)
            slope = order * (np.sign(z + shift) * far ** (order - 1.0) - np.sign(z) * near ** (order - 1.0))
            step = z - miss / slope
            new = np.where((step >= low) & (step <= high), step, 0.5 * (low + high))
            settled = np.abs(new - z) <= SETTLED * np.abs(new)
            z = new
            if settled.all():
                break
    return np.clip(z, -shift - largest, largest)


def _nodes(shift: float, largest: float) -> Floats:
    """Return points from -shift - largest to largest, close together around 0 and -shift, where L bends."""
    side = np.concatenate([[0.0], np.geomspace(CLOSEST * (shift + largest), largest, NODES)])
    between = 0.5 * shift * (side / largest)
    middle = np.concatenate([-shift + between, -between[::-1]])
    return np.concatenate([-shift - side[:0:-1], middle, side[1:]])
