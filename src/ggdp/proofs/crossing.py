"""Where the loss of a shift crosses a level: a float on the safe side of the root, proved in balls.

=====  ==========================================================================
p      order, at least 1
d      shift in units of the scale, D / b
L(z)   (|z + d|^p - |z|^p), the privacy loss of the standard law at z; it rises with z
=====  ==========================================================================

Estimates in floats only say where to look: a proof uses `at_most` and `at_least`, which decide in balls.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from flint import arb, ctx

from ggdp._balls import power
from ggdp._work import spend

if TYPE_CHECKING:
    from collections.abc import Iterable

# Newton's method takes about five steps from a nearby start; bisection, where it is not taken, halves 60 times.
_MOST_STEPS = 200
_RELATIVE_WIDTH = 1e-14
# The error of a step of Newton's method is about the square of the step.
_SETTLED = 1e-8
# Units of work of a loss.
POWERS = 2


def loss(p: arb, z: arb, d: arb) -> arb:
    """Enclose L(z) for any z and any d >= 0."""
    return power(abs(z + d), p) - power(abs(z), p)


def loss_estimate(order: float, z: float, shift: float) -> float:
    """Return L(z) in floats, without cancellation where z is much larger than the shift; infinite beyond the floats."""
    # Mirroring about -d/2 changes only the sign of the loss.
    if z < -0.5 * shift:
        return -loss_estimate(order, -shift - z, shift)
    try:
        if z > shift:
            return float(z**order * math.expm1(order * math.log1p(shift / z)))
        return float((z + shift) ** order - abs(z) ** order)
    except OverflowError:
        return math.inf


def crossing_estimate(
    order: float, shift: float, level: float, *, low: float, high: float, start: float | None = None
) -> float:
    """Return the root z of L(z) = level between `low` and `high` in floats, or the end that is nearest to it.

    Newton's method from `start`, and a bisection whenever a step leaves the bracket or does not halve the distance to
    the level.
    """
    if order == 2.0:
        return min(max((level / shift - shift) / 2.0, low), high)
    if order == 1.0:
        # The loss is 2 z + d from -d to 0, and constant beyond.
        return low if level <= -shift else high if level >= shift else (level - shift) / 2.0
    z, last = 0.5 * (low + high) if start is None else min(max(start, low), high), math.inf
    for _ in range(_MOST_STEPS):
        miss = loss_estimate(order, z, shift) - level
        low, high = (low, z) if miss > 0.0 else (z, high)
        new = 0.5 * (low + high)
        if abs(miss) <= 0.5 * last:
            slope = _slope(order, z, shift)
            step = z - miss / slope if 0.0 < slope < math.inf else math.nan
            if low < step < high:
                new = step
                if abs(step - z) <= _SETTLED * abs(step):
                    return step
        last = abs(miss)
        if abs(new - z) <= _RELATIVE_WIDTH * abs(new):
            return new
        z = new
    return z


def crossing_estimates(order: float, shift: float, levels: Iterable[float], *, far: float) -> list[float]:
    """Return the roots of L(z) = level between -shift - far and far, for levels in rising order, in floats.

    Each search starts from the parabola through the last three roots: for levels that are equally far apart one step of
    Newton's method is then enough.
    """
    found: list[float] = []
    low, high = -shift - far, far
    for level in levels:
        start = found[-1] if found else None
        if len(found) >= 3:
            start = found[-3] + 3.0 * (found[-1] - found[-2])
        found.append(crossing_estimate(order, shift, level, low=low, high=high, start=start))
    return found


def _slope(order: float, z: float, shift: float) -> float:
    """Return L'(z) in floats."""
    try:
        near, far = abs(z) ** (order - 1.0), abs(z + shift) ** (order - 1.0)
    except OverflowError:
        return math.inf
    return order * (math.copysign(far, z + shift) - math.copysign(near, z))


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
        spend(POWERS, ctx.prec)
        z += direction * step
        step *= 4.0
    return z
