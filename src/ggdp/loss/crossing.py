"""Where the loss of a shift crosses a level: a float on the safe side of the root, proved in balls.

=====  ==========================================================================
p      order, at least 1
d      shift in units of the scale, D / b
L(z)   (|z + d|^p - |z|^p), the privacy loss of the standard law at z; it rises with z
=====  ==========================================================================

Floats may be wrong here without harm: what is used in a proof is `at_most` or `at_least`, which decide in balls.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from flint import arb

from ggdp.distributions.enclosures import power

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Floats", "at_least", "at_most", "crossings", "loss", "loss_estimate"]

Floats: TypeAlias = "NDArray[np.float64]"

NEWTON_STEPS = 200


def loss(p: arb, z: arb, d: arb) -> arb:
    """Enclose L(z) for any z and any d >= 0."""
    return power(abs(z + d), p) - power(abs(z), p)


def loss_estimate(order: float, z: Floats, shift: float) -> Floats:
    """L(z) in floats, without cancellation where z is much larger than the shift."""
    with np.errstate(all="ignore"):
        # Mirroring about -d/2 changes the sign of the loss only, and leaves z >= -d/2 to be dealt with.
        mirrored = z < -0.5 * shift
        x = np.where(mirrored, -shift - z, z)
        far = x**order * np.expm1(order * np.log1p(shift / x))
        near = (x + shift) ** order - np.abs(x) ** order
        value = np.where(x > shift, far, near)
    return np.where(mirrored, -value, value)


def crossings(order: float, shift: float, levels: Floats, *, largest: float) -> Floats:
    """Roots z of L(z) = level in floats, for rising levels between L(-shift - largest) and L(largest)."""
    levels = np.asarray(levels, dtype=np.float64)
    low = np.full_like(levels, -shift - largest)
    high = np.full_like(levels, largest)
    z = np.clip((levels / shift - shift) / 2.0, low, high) if order == 2.0 else 0.5 * (low + high)
    last = np.full_like(levels, np.inf)
    for _ in range(NEWTON_STEPS):
        value = loss_estimate(order, z, shift)
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


def at_most(p: arb, d: arb, level: arb, guess: float) -> float:
    """Return a float z, as near to `guess` as the proof allows, with L(z) <= level for certain; or minus infinity."""
    return _moved(p, d, level, guess, -1.0)


def at_least(p: arb, d: arb, level: arb, guess: float) -> float:
    """Return a float z, as near to `guess` as the proof allows, with L(z) >= level for certain; or infinity."""
    return _moved(p, d, level, guess, 1.0)


def _moved(p: arb, d: arb, level: arb, guess: float, direction: float) -> float:
    z, step = guess, 2.0 * math.ulp(guess)
    while math.isfinite(z):
        gap = loss(p, arb(z), d) - level
        if (gap <= 0) if direction < 0 else (gap >= 0):
            return z
        z += direction * step
        step *= 4.0
    return z
