"""Privacy-loss distributions on a grid, in balls: sums of independent losses, and the delta of a sum.

=========  ====================================================================================
h          step of the grid; masses lie on the knots (low + j) h
window     the N knots that a sum keeps; it is computed on a circle of N knots
delta      E (1 - e^(epsilon - loss))_+, the delta of approximate DP at epsilon
=========  ====================================================================================

A distribution is either never below the truth, for an upper bound of delta, or never above it, for a lower bound.

Claim (sums). A circular sum brings what leaves the window back at its other end. Masses are not negative, so that at
every knot of the window the circular mass is at least the true one. Upper version: what is below the window comes back
at a larger loss, and what is above it is bounded by Chernoff, P(sum >= t) <= E e^(s (sum - t)) for s > 0, and counted
as an infinite loss; the total may be above 1. Lower version: what is above the window comes back at a smaller loss,
and a Chernoff bound of what is below it is subtracted by the caller (`mass_below`).

Claim (coarser grids). Splitting a loss between the two neighbouring knots so that the mass and the mean of e^(-loss)
are kept does not lower the mean of any function that is convex in e^(-loss), such as (1 - e^(epsilon - loss))_+. Moving
it to the lower knot does not raise the mean of any function that rises with the loss.

References
----------
Doroshenko, Ghazi, Kamath, Kumar, Manurangsi, "Connect the Dots: Tighter Discrete Approximations of Privacy Loss
Distributions", PETS 2022, Section 3 (the splitting).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flint import acb, arb

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ggdp.proofs.layouts import Window

__all__ = [
    "LossDistribution",
    "coarser",
    "coarser_below",
    "delta_above",
    "delta_below",
    "mass_below",
    "sum_of",
]

# Tilts of the Chernoff bound below a window, in units of the spread of the sum; the least bound is taken.
_TILTS = (10, 20, 30, 40, 50, 60, 70, 80, 100, 130, 180, 300)


@dataclass(frozen=True, slots=True)
class LossDistribution:
    """Masses at the losses (low + j) * step, and the mass at an infinite loss."""

    step: arb
    low: int
    masses: list[arb]
    infinite: arb

    @property
    def high(self) -> int:
        """Index of the last knot."""
        return self.low + len(self.masses) - 1


def sum_of(parts: Sequence[tuple[LossDistribution, int]], window: Window) -> LossDistribution:
    """Add `count` independent copies of each part on the window; all parts have the same step."""
    step, points = parts[0][0].step, window.points
    half = points // 2 + 1
    product: list[acb] | None = None
    for part, count in parts:
        circular = [arb(0)] * points
        for j, mass in enumerate(part.masses):
            circular[(part.low + j) % points] += mass
        # The input is real, so one half of the spectrum gives the other.
        spectrum = acb.dft(circular)[:half]
        if count > 1:
            spectrum = [value**count for value in spectrum]
        product = spectrum if product is None else [x * y for x, y in zip(product, spectrum, strict=True)]
    assert product is not None
    product += [value.conjugate() for value in reversed(product[1 : points - half + 1])]
    result = acb.dft(product, inverse=True)
    low = window.top - points + 1
    masses = [result[index % points].real for index in range(low, window.top + 1)]
    finite = arb(1)
    for part, count in parts:
        finite *= (1 - part.infinite) ** count
    infinite = 1 - finite
    if sum(count * part.high for part, count in parts) > window.top:
        infinite += _mass_beyond(parts, window.top + 1, arb(window.tilt))
    return LossDistribution(step, low, masses, infinite)


def mass_below(parts: Sequence[tuple[LossDistribution, int]], low: int) -> arb:
    """Bound the mass of finite sums below the knot `low`, which a circular sum brings back at its other end."""
    if sum(count * part.low for part, count in parts) >= low:
        return arb(0)
    spread = max(part.step * len(part.masses) * math.sqrt(count) for part, count in parts)
    return min((_mass_beyond(parts, low - 1, -tilt / spread) for tilt in _TILTS), key=float)


def _mass_beyond(parts: Sequence[tuple[LossDistribution, int]], knot: int, s: arb) -> arb:
    """Bound the mass of finite sums at or above a knot for s > 0, at or below it for s < 0, by Chernoff."""
    exponent = sum((count * _log_moment(part, s) for part, count in parts), arb(0))
    return (exponent - s * knot * parts[0][0].step).exp()


def _log_moment(part: LossDistribution, s: arb) -> arb:
    """Enclose log E e^(s l) over the finite losses of the part."""
    ratio = (s * part.step).exp()
    # Horner's rule in e^(s h) takes the powers of one base only.
    total = arb(0)
    for mass in reversed(part.masses):
        total = total * ratio + mass
    return total.log() + s * part.low * part.step


def coarser(part: LossDistribution, factor: int) -> LossDistribution:
    """Move an upper version to a grid `factor` times as coarse, keeping every mass and its mean of e^(-loss)."""
    if factor == 1:
        return part
    step = part.step * factor
    low = part.low // factor
    masses = [arb(0)] * (part.high // factor - low + 2)
    # The share that goes to the upper knot, by the distance from the lower one; only distances that occur are computed.
    shares: dict[int, arb] = {}
    for j, mass in enumerate(part.masses):
        knot, over = divmod(part.low + j, factor)
        if over not in shares:
            shares[over] = (-over * part.step).expm1() / (-step).expm1()
        moved = mass * shares[over]
        masses[knot - low] += mass - moved
        masses[knot - low + 1] += moved
    return LossDistribution(step, low, masses, part.infinite)


def coarser_below(part: LossDistribution, factor: int) -> LossDistribution:
    """Move a lower version down to a grid that is `factor` times as coarse."""
    low = part.low // factor
    masses = [arb(0)] * (part.high // factor - low + 1)
    for j, mass in enumerate(part.masses):
        masses[(part.low + j) // factor - low] += mass
    return LossDistribution(part.step * factor, low, masses, arb(0))


def delta_above(total: LossDistribution, epsilon: arb) -> arb:
    """Bound delta from above: the mean of (1 - e^(epsilon - l))_+, and all of the mass at an infinite loss."""
    size = len(total.masses)
    first = next((j for j in range(size) if not (total.low + j) * total.step <= epsilon), size)
    above, weighted = arb(0), arb(0)
    fall = (-total.step).exp()
    # Horner's rule in e^-h, from the largest loss down.
    for mass in reversed(total.masses[first:]):
        above += mass
        weighted = weighted * fall + mass
    return above - weighted * (epsilon - (total.low + first) * total.step).exp() + total.infinite


def delta_below(total: LossDistribution, epsilon: arb) -> arb:
    """Bound delta from below: a loss that is not certainly above epsilon adds nothing."""
    value = arb(0)
    for j, mass in enumerate(total.masses):
        excess = (total.low + j) * total.step - epsilon
        if excess > 0:
            value -= mass * (-excess).expm1()
    return value
