"""Sums of independent variables on a grid, in balls, by one transform on a circle.

=========  ====================================================================================
h          step of the grid; masses lie on the knots (low + j) h
window     the N knots that a sum keeps; it is computed on a circle of N knots
=========  ====================================================================================

Claim. A circular sum brings what leaves the window back at its other end. Masses are not negative, so that at every
knot of the window the circular mass is at least the true one. What is below the window comes back at a larger value,
and what is above it is bounded by Chernoff, P(sum >= t) <= E e^(s (sum - t)) for s > 0, and counted as infinite; the
total may be above 1. So the mean of a function that is not negative and rises is never lowered.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from flint import acb, arb, ctx

from ggdp._work import spend

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ggdp.proofs.layouts import Window

# Units of work of a point of a transform.
_POINT = 1.5


@dataclass(frozen=True, slots=True)
class GridLaw:
    """Masses at the values (low + j) * step, and the mass at infinity."""

    step: arb
    low: int
    masses: list[arb]
    infinite: arb

    @property
    def high(self) -> int:
        """Index of the last knot."""
        return self.low + len(self.masses) - 1


def sum_of(parts: Sequence[tuple[GridLaw, int]], window: Window) -> GridLaw:
    """Add `count` independent copies of each part on the window; all parts have the same step."""
    step, points = parts[0][0].step, window.points
    half = points // 2 + 1
    spend(_POINT * points * (len(parts) + 1), ctx.prec)
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
    return GridLaw(step, low, masses, infinite)


def _mass_beyond(parts: Sequence[tuple[GridLaw, int]], knot: int, s: arb) -> arb:
    """Bound the mass of finite sums at or above a knot by Chernoff, with s > 0."""
    exponent = sum((count * _log_moment(part, s) for part, count in parts), arb(0))
    return (exponent - s * knot * parts[0][0].step).exp()


def _log_moment(part: GridLaw, s: arb) -> arb:
    """Enclose log E e^(s l) over the finite values of the part."""
    ratio = (s * part.step).exp()
    # Horner's rule in e^(s h) takes the powers of one base only.
    total = arb(0)
    for mass in reversed(part.masses):
        total = total * ratio + mass
    return total.log() + s * part.low * part.step
