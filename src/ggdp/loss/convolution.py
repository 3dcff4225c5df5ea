"""Sums of independent losses on a grid, by a discrete Fourier transform in balls.

The transform is circular: a sum that leaves the window of N knots comes back at its other end. Masses are not
negative, so at every knot of the window the circular result is at least the true mass there; what is above the window
is bounded by Chernoff, P(sum >= t) <= E e^(s (sum - t)) for s > 0, and counted as an infinite loss. So the result is a
law that is never below the truth (its total may be above 1).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flint import acb, arb

from ggdp.loss.dominating import OnGrid

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ggdp.loss.corner_plan import Window

__all__ = ["coarsened", "convolved", "log_moment", "tail_above"]


def convolved(parts: Sequence[tuple[OnGrid, int]], window: Window) -> OnGrid:
    """Add `count` independent copies of each part; all parts have the same step."""
    step, points = parts[0][0].step, window.points
    half = points // 2 + 1
    product: list[acb] | None = None
    for part, count in parts:
        circular = [arb(0)] * points
        for j, mass in enumerate(part.masses):
            circular[(part.low + j) % points] += mass
        # The input is real, so one half of the spectrum tells the other.
        spectrum = acb.dft(circular)[:half]
        if count > 1:
            spectrum = [value**count for value in spectrum]
        product = spectrum if product is None else [x * y for x, y in zip(product, spectrum, strict=True)]
    if product is None:
        product = [acb(1)] * half
    product += [value.conjugate() for value in reversed(product[1 : points - half + 1])]
    result = acb.dft(product, inverse=True)
    low = window.top - points + 1
    masses = [result[index % points].real for index in range(low, window.top + 1)]
    finite = arb(1)
    for part, count in parts:
        finite *= (1 - part.infinite) ** count
    infinite = 1 - finite
    if sum(count * (part.low + len(part.masses) - 1) for part, count in parts) > window.top:
        infinite += tail_above(parts, window.top, window.tilt)
    return OnGrid(step, low, masses, infinite)


def log_moment(part: OnGrid, s: arb) -> arb:
    """Enclose log E e^(s l) over the finite losses of the part."""
    ratio = (s * part.step).exp()
    # Horner's rule in e^(s h); the powers of one base are all it takes.
    total = arb(0)
    for mass in reversed(part.masses):
        total = total * ratio + mass
    return total.log() + s * part.low * part.step


def tail_above(parts: Sequence[tuple[OnGrid, int]], top: int, tilt: float) -> arb:
    """Bound the probability that the sum of the finite losses is above the knot `top`."""
    s = arb(tilt)
    exponent = sum((count * log_moment(part, s) for part, count in parts), arb(0))
    return (exponent - s * (top + 1) * parts[0][0].step).exp()


def coarsened(part: OnGrid, factor: int) -> OnGrid:
    """Move the law to a grid that is `factor` times as coarse, keeping every mass and its mean of e^(-loss)."""
    if factor == 1:
        return part
    step = part.step * factor
    low = part.low // factor
    masses = [arb(0)] * ((part.low + len(part.masses) - 1) // factor - low + 2)
    up = [(-j * part.step).expm1() / (-step).expm1() for j in range(factor)]
    for j, mass in enumerate(part.masses):
        knot, over = divmod(part.low + j, factor)
        moved = mass * up[over]
        masses[knot - low] += mass - moved
        masses[knot - low + 1] += moved
    return OnGrid(step, low, masses, part.infinite)
