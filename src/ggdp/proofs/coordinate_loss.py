"""The loss of one coordinate on a grid, in balls: an upper version that dominates it, and a lower one.

=========  ==========================================================================================
h          step of the grid; the knots l_i are multiples of h, some of them left out far from 0
P, Q       laws of the noise and of the shifted noise; dQ = e^(-L) dP
t_i        a point at or just below which the loss L passes the knot l_i (on the integers: an integer)
m          log(P / Q) of a cell of noises, the loss of whoever sees only the cell
=========  ==========================================================================================

Claim (upper version). Let the masses of `dominating` be the law of a loss L'. Then E f(L) <= E f(L') for every f that
rises with the loss and is convex in u = e^(-loss). For such an f and independent coordinates, replacing one loss after
the other gives the same for the sum, since (with the other losses fixed) f(l + rest) is again such a function; and
(1 - e^(eps - l))_+ is one, whose mean is delta. Proof: cell i holds the noise between t_i and t_(i+1), whose losses are
between L(t_i) and l_(i+1). Raising a loss below l_i to l_i raises f. Splitting a loss between its two knots so that the
mass and the mean of u are kept raises the mean of a convex function of u. A smaller Q-mass of a cell moves mass to the
upper knot, and so raises the mean again, down to all of the cell's mass on the upper knot. Mass below the lowest t_i is
raised to the first knot that is certainly not below its losses, mass above the highest to infinity.

Claim (lower version). Publishing only the cell in which each noise lies is post-processing, which does not raise delta,
whatever the cells are. Lowering a cell's loss m to a point of the grid, or leaving a cell out, lowers
E (1 - e^(epsilon - sum of the losses))_+. How tight: cells of the size of a step lose a share of about h^2 of delta,
and the lowering as little where the losses of most cells have one distance from the grid, which is then the offset. On
the integers with a small scale they have not, and the lowering costs up to h for each coordinate.

References
----------
Doroshenko, Ghazi, Kamath, Kumar, Manurangsi, "Connect the Dots: Tighter Discrete Approximations of Privacy Loss
Distributions", PETS 2022, Section 3 (the splitting).
"""

from __future__ import annotations

import math
from bisect import bisect_right
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from flint import arb

from ggdp._balls import power
from ggdp.proofs.circular_sum import LossDistribution
from ggdp.proofs.crossing import at_most, crossing_estimates, loss, loss_estimate
from ggdp.proofs.integer_sums import normaliser, partial_sum, tail_sum
from ggdp.proofs.survival import survivals

if TYPE_CHECKING:
    from ggdp.proofs.noise_law import NoiseLaw

__all__ = ["Lowered", "dominated", "dominating", "integer_tails"]

# Noise beyond |x|^p = 220 has a probability below e^-220, and is not told apart.
_FAR = 220.0
# A knot within this relative distance of the one loss of all noise above 0, at order 1, belongs at 0.
_ON_KNOT = 1e-12
# Tails at points so close share their far part; a sum afresh costs as much as some dozens of terms.
_NEAR = 100
# Offsets have a few bits only, so that places and offsets add without rounding.
_OFFSETS = 2.0**16


class Lowered(NamedTuple):
    """A lower version on the grid; all its losses are larger by `offset` than the grid says."""

    law: LossDistribution
    offset: arb


def dominating(law: NoiseLaw, shift: float, knots: list[int], step: arb) -> LossDistribution:
    """Lay the loss of a coordinate that moves by `shift` on the knots, never below the truth."""
    if law.support == "integer":
        return _integer_dominating(law, int(shift), knots, step)
    p, d = arb(law.order), arb(shift) / arb(law.scale)
    guesses = _thresholds(law, shift, knots, step)
    points, least = [], []
    # Near order 1 no noise of any weight has a loss as low as the lowest knot: the noise is cut off instead.
    bottom = guesses[0] - 1.0
    z = math.inf
    for index, guess in zip(reversed(knots), reversed(guesses), strict=True):
        # Thresholds fall with the knots, whatever the rounding of the guesses.
        z = min(z, max(at_most(p, d, index * step, guess), bottom))
        points.append(arb(z))
        least.append(loss(p, arb(z), d))
    first, second = survivals(p, points), survivals(p, [z + d for z in points])
    return _on_knots(knots, step, first[::-1], second[::-1], least[::-1])


def _integer_dominating(law: NoiseLaw, shift: int, knots: list[int], step: arb) -> LossDistribution:
    p, unit = arb(law.order), arb(law.scale) ** arb(law.order)

    def loss_at(k: int) -> arb:
        return (power(arb(abs(k + shift)), p) - power(arb(abs(k)), p)) / unit

    guesses = _first_above(law, shift, knots, step)
    bottom = min(guesses) - 2 * shift - 2
    cuts: list[int] = []
    for index, guess in zip(reversed(knots), reversed(guesses), strict=True):
        k, jump = min(guess, cuts[-1]) if cuts else guess, 1
        # All losses below the cut are at most the knot; an undecided tie is counted as above it.
        while k > bottom and not loss_at(k - 1) <= index * step:
            k, jump = k - jump, 4 * jump
        cuts.append(max(k, bottom))
    cuts.reverse()
    tail = integer_tails(law, {*cuts, *(k + shift for k in cuts)})
    return _on_knots(knots, step, [tail[k] for k in cuts], [tail[k + shift] for k in cuts], [loss_at(k) for k in cuts])


def dominated(law: NoiseLaw, shift: float, knots: list[int], step: arb) -> Lowered:
    """Lay the loss of a coordinate that moves by `shift` on a grid, never above the truth."""
    cells = (
        _integer_cells(law, int(shift), knots, step) if law.support == "integer" else _cells(law, shift, knots, step)
    )
    losses, masses = [], []
    for (here, there), (next_here, next_there) in pairwise(cells):
        P, Q = here - next_here, there - next_there
        # A cell that is not certainly seen under both laws is left out.
        if P > 0 and Q > 0:
            losses.append((P / Q).log() / step)
            masses.append(P)
    low = knots[0] - 1
    lowest = [float(cell.lower()) for cell in losses]
    share = _offset(lowest, [float(mass) for mass in masses])
    kept = [
        (cell, mass, place)
        for cell, mass, at in zip(losses, masses, lowest, strict=True)
        if low < (place := math.floor(at - share))
    ]
    lowered = [arb(0)] * (max((place for _, _, place in kept), default=low) - low + 1)
    for cell, mass, place in kept:
        # Floats propose the place; it counts only if the ball agrees.
        below = place if place + arb(share) <= cell else place - 1
        if below >= low and below + arb(share) <= cell:
            lowered[below - low] += mass
    return Lowered(LossDistribution(step, low, lowered, arb(0)), arb(share) * step)


def _offset(places: list[float], masses: list[float]) -> float:
    """Return the part of a step by which to raise the grid so that losses are lowered least, on average."""
    total, passed, best, least = math.fsum(masses), 0.0, 0.0, math.inf
    for above, mass in sorted((place % 1.0, mass) for place, mass in zip(places, masses, strict=True)):
        # With the offset here, all before it fall to the next lower point.
        lowering = passed - above * total
        if lowering < least:
            best, least = above, lowering
        passed += mass
    return math.floor(best * _OFFSETS) / _OFFSETS


def _cells(law: NoiseLaw, shift: float, knots: list[int], step: arb) -> list[tuple[arb, arb]]:
    """Enclose P and Q of the noise from each threshold on; the last one is infinite."""
    p, d = arb(law.order), arb(shift) / arb(law.scale)
    points = [arb(z) for z in _thresholds(law, shift, knots, step)]
    return [*zip(survivals(p, points), survivals(p, [z + d for z in points]), strict=True), (arb(0), arb(0))]


def _integer_cells(law: NoiseLaw, shift: float, knots: list[int], step: arb) -> list[tuple[arb, arb]]:
    """The same on the integers, where a threshold is the least noise of its cell."""
    cuts, moved = sorted({math.ceil(z * law.scale) for z in _thresholds(law, shift, knots, step)}), int(shift)
    tail = integer_tails(law, {*cuts, *(k + moved for k in cuts)})
    return [(tail[k], tail[k + moved]) for k in cuts] + [(arb(0), arb(0))]


def _thresholds(law: NoiseLaw, shift: float, knots: list[int], step: arb) -> list[float]:
    """Return about where the loss passes each knot, in units of the scale, in floats."""
    d, h = shift / law.scale, float(step)
    found = crossing_estimates(law.order, d, [h * index for index in knots], far=_FAR ** (1.0 / law.order))
    if law.order == 1.0:
        found = [0.0 if abs(h * index / d - 1.0) < _ON_KNOT else z for index, z in zip(knots, found, strict=True)]
    return found


def _first_above(law: NoiseLaw, shift: int, knots: list[int], step: arb) -> list[int]:
    """Return about the least integer noise whose loss is above each knot."""
    reach = math.ceil(_FAR ** (1.0 / law.order) * law.scale) + 1
    if reach > len(knots):
        return [math.floor(z * law.scale) + 1 for z in _thresholds(law, float(shift), knots, step)]
    d, h = shift / law.scale, float(step)
    noises = range(-reach - shift, reach + 1)
    losses = [loss_estimate(law.order, k / law.scale, d) for k in noises]
    return [noises[0] + bisect_right(losses, h * index) for index in knots]


def integer_tails(law: NoiseLaw, points: set[int]) -> dict[int, arb]:
    """Enclose P(K >= k) at each of the points."""
    p, b = law.order, law.scale
    last, total = 0, arb(0)
    sums: dict[int, arb] = {}
    normal = normaliser(p, b)
    for k in sorted({k if k > 0 else 1 - k for k in points}, reverse=True):
        near = last - k <= _NEAR and bool(sums)
        total = total + partial_sum(p, b, k, last - 1) if near else tail_sum(p, b, k)
        sums[k], last = total, k
    return {k: sums[k] / normal if k > 0 else 1 - sums[1 - k] / normal for k in points}


def _on_knots(knots: list[int], step: arb, first: list[arb], second: list[arb], least: list[arb]) -> LossDistribution:
    """Split every cell between its knots; `first` and `second` are P and Q of the noise from t_i on, `least` L(t_i)."""
    low = knots[0]
    masses = [arb(0)] * (knots[-1] - low + 1)
    infinite = first[-1]
    # The losses of the noise below t_0 are at most L(t_0).
    reached = next((index for index in knots if least[0] <= index * step), None)
    if reached is None:
        infinite += 1 - first[0]
    else:
        masses[reached - low] += 1 - first[0]
    for i, (lower, upper) in enumerate(pairwise(knots)):
        if first[i] is first[i + 1] and second[i] is second[i + 1]:
            # An empty cell, as most are on the integers.
            continue
        here, there = first[i] - first[i + 1], second[i] - second[i + 1]
        knot = lower * step
        short = knot - least[i]
        moved = here - knot.exp() * there
        if not short <= 0:
            moved += here * short.upper().expm1()
        moved /= -((lower - upper) * step).expm1()
        # Where it is not certain that the split is one, all goes up.
        if not moved <= here:
            moved = here
        masses[lower - low] += here - moved
        masses[upper - low] += moved
    return LossDistribution(step, low, masses, infinite)
