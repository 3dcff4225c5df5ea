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

__all__ = ["Floats", "crossings", "loss_estimates"]

Floats: TypeAlias = "NDArray[np.float64]"

# Newton's method takes about five steps; bisection, where it is not taken, halves 60 times.
NEWTON_STEPS = 200


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
    """Return the roots z of L(z) = level, for rising levels between L(-shift - largest) and L(largest)."""
    levels = np.asarray(levels, dtype=np.float64)
    low = np.full_like(levels, -shift - largest)
    high = np.full_like(levels, largest)
    z = np.clip((levels / shift - shift) / 2.0, low, high) if order == 2.0 else 0.5 * (low + high)
    last = np.full_like(levels, np.inf)
    for _ in range(NEWTON_STEPS):
        value = loss_estimates(order, z, shift)
        above = value > levels
        high = np.where(above, z, high)
        low = np.where(above, low, z)
        with np.errstate(all="ignore"):
            a, c = np.abs(z + shift), np.abs(z)
            slope = order * (np.sign(z + shift) * a ** (order - 1.0) - np.sign(z) * c ** (order - 1.0))
            step = z - (value - levels) / slope
        # Newton's step is taken while it at least halves the miss, otherwise the bracket is halved.
        miss = np.abs(value - levels)
        newton = (step > low) & (step < high) & (miss <= 0.5 * last)
        last = miss
        new = np.where(newton, step, 0.5 * (low + high))
        settled = np.abs(new - z) <= 1e-14 * np.abs(new)
        z = new
        if settled.all():
            break
    return z
