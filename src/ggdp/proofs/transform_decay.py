"""How fast the characteristic function of a tilted sum of losses falls: bounds for all frequencies from one on.

=========  ====================================================================================================
phi_i      the characteristic function of a loss L under its tilted law, M(theta + i omega) / M(theta)
D          the difference of two independent such losses: |phi_i|^2 = E cos(omega D)
F(z)       density of the tilted law in the noise z, G = F / L' where L' > 0
=========  ====================================================================================================

Claim (low frequencies). |phi_i(omega)|^2 <= 1 - A omega^2 + B omega^4 for every A <= E D^2 / 2 and B >= E D^4 / 24, as
cos y <= 1 - y^2/2 + y^4/24. Since 1 - cos y <= y^2/2, A = (1 - |phi_i(omega_1)|^2) / omega_1^2 will do; and since
cosh y >= 1 + y^2/2 + y^4/24, so will B = (E cosh(s D) - 1 - A s^2) / s^4 with
E cosh(s D) = M(theta + s) M(theta - s) / M(theta)^2. The bound is convex in omega^2: between two frequencies it is at
most what it is at one of them.

Claim (high frequencies). For noise on the reals of an order above 1, and any a < e,
|phi_i(omega)| <= 1 - m + v / omega, with m the tilted probability of noise between a and e or in the mirror image of
that about -d/2, and v the sum of G(a) + G(e) + (total variation of G between them) for both. Proof: between a and e
the integral of F e^(i omega L) = G (e^(i omega L))' / (i omega) is taken by parts; elsewhere it is at most the
probability. In the mirror image the loss is -L, and F is that of the tilt -1 - theta. Gaussian noise has
|phi_i| = exp(-(d omega)^2), by its transform.

Where (log G)' = -p z^(p-1) + theta L' - L'' / L' has one sign between two points, the variation of G between them is
the difference of its values; F likewise is between two of its values where (log F)' has one sign, so that m and 1 - m
are bounded by sums, for a tilt above 0. Between 0 and the first point exp(theta L) is at most what it is there, in the
mirror image of that it is at most 1, and between -d and 0 the loss is at most d^p. Beyond the last point e, with
lambda = theta p d (1 + d/e)^(p-1) / e < 1, exp(-z^p + theta L) is at most exp(-(1 - lambda) z^p). Derivatives are
enclosed by mean values: L' = p (p - 1) d x^(p-2) and L'' = p (p - 1) (p - 2) d y^(p-3) for some x and y from z to
z + d, so that L'' / L' is (p - 2) / y times (y / x)^(p-2).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import accumulate, count, pairwise
from typing import TYPE_CHECKING, NamedTuple

from flint import arb

from ggdp._balls import hull
from ggdp.proofs.total_loss import CoordinateLoss

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ggdp.proofs.total_loss import Loss
    from ggdp.proofs.transform_blocks import Transform

# Frequencies are looked at in so many ranges whose ends have this ratio, and all beyond them together.
_RATIO, _RANGES = 1.12, 100
# Logarithm of a bound that need not be smaller; a bound of |phi_i|^2 is not taken as smaller than this.
_ENOUGH, _LEAST = -60.0, 2.0**-200
# Where the variation of the density is followed: from the first point on, at points in this ratio.
_FIRST, _STEP, _NUMBER = 0.01, 1.05, 128
# For every so many of them as a.
_EACH = 8


@dataclass(frozen=True, slots=True)
class TiltedLoss:
    """A loss, how many there are, and its transform on a line; its last two real points are theta + s and theta - s."""

    loss: Loss
    count: int
    transform: Transform
    s: float


@dataclass(frozen=True, slots=True)
class _Bound:
    """Bounds of log |phi_i|, times the number of losses, as functions of omega."""

    count: int
    low: tuple[arb, arb] | None
    high: tuple[tuple[arb, arb], ...]
    gaussian: arb

    def between(self, first: arb, second: arb | None) -> arb:
        """Bound the logarithm between two frequencies, or from the first on."""
        found = -self.gaussian * first**2
        if second is not None and self.low is not None:
            a, b = self.low
            most = (1 - (a - b * first**2) * first**2).max(1 - (a - b * second**2) * second**2)
            found = found.min(most.max(_LEAST).log() / 2)
        for outside, variation in self.high:
            most = outside + variation / first
            if 0 < most < 1:
                found = found.min(most.log())
        return self.count * found


class Range(NamedTuple):
    """Frequencies from one to another, or from one on, and a bound of |phi| there."""

    first: arb
    last: arb | None
    bound: arb


def decay(losses: Sequence[TiltedLoss], tilt: float, spacing: arb, start: arb) -> list[Range]:
    """Bound |phi| of the sum of all losses for all frequencies from `start` on, in ranges."""
    # Losses whose density is known first: a few of them are often enough, and none can make a bound larger.
    remaining = sorted(losses, key=lambda one: (is_smooth(one.loss), one.count))
    bounds: list[_Bound] = []
    found = []
    ends = [start * arb(_RATIO) ** k for k in range(_RANGES + 1)]
    for first, second in [*pairwise(ends), (ends[-1], None)]:
        total = arb(0)
        for i in count():
            if i == len(bounds):
                if not remaining:
                    break
                bounds.append(_bound(remaining.pop(), tilt, spacing))
            total += bounds[i].between(first, second)
            if total < _ENOUGH:
                break
        found.append(Range(first, second, total.upper().exp()))
    return found


def is_smooth(loss: Loss) -> bool:
    """Say whether the loss has a density that the claim bounds."""
    return isinstance(loss, CoordinateLoss) and loss.law.support == "real" and loss.law.order != 1.0


def _bound(tilted: TiltedLoss, tilt: float, spacing: arb) -> _Bound:
    loss, (values, reals) = tilted.loss, tilted.transform
    whole = values[0].real
    a = (1 - (abs(values[1]) / whole) ** 2) / spacing**2
    s = arb(tilted.s)
    b = (reals[-2] * reals[-1] / whole**2 - 1 - a.lower() * s**2) / s**4
    low = (a.lower(), b.upper()) if a > 0 and b.is_finite() else None
    return _Bound(tilted.count, low, *high_frequencies(loss, tilt, whole))


def high_frequencies(loss: Loss, tilt: float, whole: arb) -> tuple[tuple[tuple[arb, arb], ...], arb]:
    """Return pairs of 1 - m and v, and g with |phi_i| <= exp(-g omega^2), for a loss with M(theta) = whole."""
    if not is_smooth(loss):
        return (), arb(0)
    assert isinstance(loss, CoordinateLoss)
    p, d = arb(loss.law.order), arb(loss.size) / arb(loss.law.scale)
    if p == 2:
        return (), (d**2).lower()
    return _variations(p, d, arb(tilt), whole * 2 * (1 + 1 / p).gamma()), arb(0)


def _variations(p: arb, d: arb, tilt: arb, whole: arb) -> tuple[tuple[arb, arb], ...]:
    """Return pairs of 1 - m and v, for several a."""
    points = [arb(_FIRST * _STEP**i) for i in range(_NUMBER)]
    inside, between, variations = ([arb(0)] * (_NUMBER - 1) for _ in range(3))
    ends, first = [arb(0)] * _NUMBER, points[0]
    # Noise below the first point, and beyond the last one.
    near = d * (tilt * d**p).exp() + first * (tilt * ((first + d) ** p - first**p)).exp() + first
    outside = (near + _beyond(p, d, points[-1], tilt) + _beyond(p, d, points[-1], arb(0))) / whole
    for theta in (tilt, -1 - tilt):
        densities, ratios = [], []
        for z in points:
            here, there = z**p, (z + d) ** p
            density = (theta * (there - here) - here).exp() / whole
            densities.append(density)
            ratios.append(density / (p * (there / (z + d) - here / z)))
        for i, (low, high) in enumerate(pairwise(points)):
            z, beside, apart = hull(low, high), hull(low, high + d), (1 + d / low) ** abs(p - 2)
            apart = hull(1 / apart, apart)
            # theta L' / (p z^(p-1)) - 1 first: it is narrower than the difference of both.
            rise = p * z ** (p - 1) * (theta * (p - 1) * d / z * apart - 1)
            bend = rise - (p - 2) / beside * apart
            if rise < 0 or rise > 0:
                inside[i] += (high - low) * densities[i].min(densities[i + 1])
                between[i] += (high - low) * densities[i].max(densities[i + 1])
            else:
                between[i] += (high - low) * densities[i] * (abs(rise) * (high - low)).exp()
            if bend < 0 or bend > 0:
                variations[i] += abs(ratios[i + 1] - ratios[i])
            else:
                # exp of the integral of (log G)' bounds G between the points.
                most = ratios[i] * (abs(bend) * (high - low)).exp()
                variations[i] += abs(bend) * most * (high - low)
        ends = [end + ratio for end, ratio in zip(ends, ratios, strict=True)]
    found, mass, variation = [], arb(0), ends[-1]
    below = list(accumulate(between, initial=outside))
    for i in reversed(range(_NUMBER - 1)):
        mass, variation = mass + inside[i], variation + variations[i]
        if i % _EACH == 0:
            found.append(((1 - mass).min(below[i]).upper(), (variation + ends[i]).upper()))
    return tuple(found)


def _beyond(p: arb, d: arb, end: arb, tilt: arb) -> arb:
    """Bound the integral of exp(-z^p + tilt L) beyond a point, for a tilt of at least 0."""
    share = tilt * p * d * (1 + d / end) ** (p - 1) / end
    if not share < 1:
        return arb(math.inf)
    return (-(1 - share) * end**p).exp() / ((1 - share) * p * end ** (p - 1))
