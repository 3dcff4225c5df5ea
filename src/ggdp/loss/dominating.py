"""The loss of one coordinate on a grid, never below the truth: connect the dots, in balls.

=========  ==========================================================================================
h          step of the grid; the knots l_i are multiples of h, sparser far from 0
P, Q       laws of the noise and of the shifted noise; dQ = e^(-L) dP
t_i        a point at or just below which the loss L passes the knot l_i (on the integers: an integer)
=========  ==========================================================================================

Claim: let the masses of `on_knots` be the law of a loss L'. Then E f(L) <= E f(L') for every f that rises with the
loss and is convex in u = e^(-loss). For such an f and independent coordinates, replacing one loss after the other gives
the same for the sum, since (with the other losses fixed) f(l + rest) is again such a function; and (1 - e^(eps - l))_+
is one, whose mean is delta. Proof: cell i holds the noise between t_i and t_(i+1), whose losses are between L(t_i) and
l_(i+1). Raising a loss below l_i to l_i raises f. Splitting a loss between its two knots so that the mass and the mean
of u are kept raises the mean of a convex function of u. A smaller Q-mass of a cell moves mass to the upper knot, and
so raises the mean again, down to all of the cell's mass on the upper knot. Mass below the lowest t_i is raised to the
first knot that is certainly not below its losses, mass above the highest to infinity.

References
----------
Doroshenko, Ghazi, Kamath, Kumar, Manurangsi, "Connect the Dots: Tighter Discrete Approximations of Privacy Loss
Distributions", PETS 2022, Section 3 (the splitting).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from flint import arb

from ggdp.distributions.enclosures import power, survival
from ggdp.distributions.integer_sums import normaliser, partial_sum, tail_sum
from ggdp.loss.corner_plan import thresholds
from ggdp.loss.crossing import at_most, loss

if TYPE_CHECKING:
    from ggdp.loss.corner_plan import SizePlan

__all__ = ["OnGrid", "integer_coordinate", "integer_tails", "on_knots", "real_coordinate"]


NEAR = 100


@dataclass(frozen=True, slots=True)
class OnGrid:
    """Masses at the losses (low + j) * step, and the mass at an infinite loss."""

    step: arb
    low: int
    masses: list[arb]
    infinite: arb


def real_coordinate(size: SizePlan, *, order: float, scale: float) -> OnGrid:
    """Lay the loss of one coordinate with noise on the reals on the grid of `size`."""
    p, d, step = arb(order), arb(size.size) / arb(scale), arb(size.step)
    knots = size.knots().tolist()
    guesses = thresholds(size, order=order, scale=scale)
    first, second, least = [], [], []
    # Near order 1 no noise of any weight has a loss as low as the lowest knot: the noise is cut off instead.
    bottom = float(guesses[0]) - 1.0
    z = math.inf
    for index, guess in zip(knots[::-1], guesses[::-1], strict=True):
        # Thresholds fall with the knots even where rounding would have it otherwise.
        z = min(z, max(at_most(p, d, index * step, float(guess)), bottom))
        first.append(survival(p, arb(z)))
        second.append(survival(p, arb(z) + d))
        least.append(loss(p, arb(z), d))
    return on_knots(knots, step, first[::-1], second[::-1], least[::-1])


def integer_coordinate(size: SizePlan, *, order: float, scale: float) -> OnGrid:
    """Lay the loss of one coordinate with noise on the integers on the grid of `size`."""
    p, unit, step, shift = arb(order), arb(scale) ** arb(order), arb(size.step), int(size.size)

    def loss_at(k: int) -> arb:
        return (power(arb(abs(k + shift)), p) - power(arb(abs(k)), p)) / unit

    knots = size.knots().tolist()
    guesses = thresholds(size, order=order, scale=scale)
    bottom = math.floor(float(guesses.min()) * scale) - 2 * shift - 2
    cuts: list[int] = []
    for index, guess in zip(knots[::-1], guesses[::-1], strict=True):
        k = math.floor(float(guess) * scale) + 1
        k, jump = min(k, cuts[-1]) if cuts else k, 1
        # All losses below the cut are at most the knot; an undecided tie is counted as above it.
        while k > bottom and not loss_at(k - 1) <= index * step:
            k, jump = k - jump, 4 * jump
        cuts.append(max(k, bottom))
    cuts.reverse()
    tail = integer_tails(order, scale, {*cuts, *(k + shift for k in cuts)})
    return on_knots(
        knots,
        step,
        [tail[k] for k in cuts],
        [tail[k + shift] for k in cuts],
        [loss_at(k) for k in cuts],
    )


def integer_tails(order: float, scale: float, points: set[int]) -> dict[int, arb]:
    """Enclose P(K >= k) at each of the points."""
    last, total = 0, arb(0)
    sums: dict[int, arb] = {}
    normal = normaliser(order, scale)
    for k in sorted({k if k > 0 else 1 - k for k in points}, reverse=True):
        # Near points share their far tail; far ones are summed afresh, which costs as much as some dozens of terms.
        near = last - k <= NEAR and bool(sums)
        total = total + partial_sum(order, scale, k, last - 1) if near else tail_sum(order, scale, k)
        sums[k], last = total, k
    return {k: sums[k] / normal if k > 0 else 1 - sums[1 - k] / normal for k in points}


def on_knots(knots: list[int], step: arb, first: list[arb], second: list[arb], least: list[arb]) -> OnGrid:
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
    return OnGrid(step, low, masses, infinite)
