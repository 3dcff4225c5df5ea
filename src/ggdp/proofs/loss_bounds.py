"""Bounds of delta from both sides, by the distribution of a sum of losses.

=========  ====================================================================================================
S          the sum of independent losses, S' the same on the grid, with all that was done to it
f_x(l)     (1 - e^(x - l))_+, so that delta(x) = E f_x(S), with f_x(infinity) = 1
s          smoothing length
A          the operator A phi = phi'' + phi', which takes 1 and e^(-l) to 0
=========  ====================================================================================================

Claim (upper bound). delta(x) <= E f_x(S'), see `ggdp.proofs.loss_distribution`.

Claim (lower bound). What separates the upper distribution from the truth is counted, so that the truth is bounded from
below by the same distribution. `Slack` holds: `raised`, by how much losses were raised in all; `excess` and `lost`,
weights that may not be there, on each knot and in all; and `splits`, how many splits over which gap g, with their
spread. Proof:

1. A split moves l by eta with E e^(-eta) = 1, between two knots that are g apart. Taylor's formula for A gives
   E phi(l + eta) - phi(l) = integral of G (A phi), where G >= 0 lies between the knots and integrates to E eta, the
   spread v of the split; and E eta <= g^2 / 8, by Hoeffding's lemma for log E e^(-(eta - E eta)) = E eta.
2. Let sigma(y) = 1 / (1 + e^(-y/s)) and phi(l) = (1 - e^(-y)) sigma(y) with y = l - x. Then phi <= f_x, since the first
   factor has the sign of y. As A(1 - e^(-y)) = 0, A phi = 2 e^(-y) sigma' + (1 - e^(-y)) (sigma'' + sigma')
   <= (1 + e^(-y)) sigma' =: b, since sigma'' has the sign of -y.
3. A b >= -lambda b with lambda = 1/(2 s^2) + 1/6: with T = tanh(y / 2s), sigma''' +- sigma'' is sigma' times
   (-1/2 + 3/2 T^2 -+ s T) / s^2 >= -1/(2 s^2) - 1/6. Also |b'| <= (1/s + 1) b. So a split over a gap g lowers the mean
   of b at most by the factor 1 - lambda w with w = v e^(g (1/s + 1)), and raises that of phi by at most w b(l).
4. Undo the splits one after the other. Each lowers E phi by at most w E b, where E b is at most that of all splits
   divided by the product of 1 - lambda w over those that are undone. The sum of these is at most Lambda E b(S') with
   Lambda = (product of 1 / (1 - lambda w) over all splits - 1) / lambda. Hence
   delta(x) = E f_x(S) >= E phi(S) >= E phi(S') - Lambda E b(S'), S' being the split sum.
5. Where losses were raised by at most r in all, x + r takes the place of x. A weight that may not be there is not
   counted where phi > 0, and counted where phi < 0 and in b. What was cut off may count against us where it really is:
   by at most 1 + 2 Lambda / s where it went to infinity, since phi >= -1 and b <= 2/s. Of what was raised to the lowest
   knot, and of all lost weight, phi <= f_x <= c e^(theta y) with c = theta^theta / (1 + theta)^(1 + theta), and
   phi >= -e^(theta y) and b <= (2/s) e^(theta y), since s (1 + theta) <= 1/4. Only mass that is `certain` to be at an
   infinite loss is added. The bound holds for every such s > 0.

Claim (lower bound, one split). Where a sum was split at most once, and between neighbouring knots of its own grid, f_x
itself may take the place of phi. Proof: E f_x(S') is the mean of a function of the sum before the split that is
interpolated between the knots, linearly in e^(-l). That is f_x but for the cell of x, where it is above f_x by at most
its value at x, (1 - e^(l_j - x)) (1 - e^(x - l_(j+1))) / (1 - e^(-h)). All that was in this cell is on its two knots.
Where x is a knot nothing is lost at all. Weights that may not be there are not counted; of the lost weight, which is on
the grid, f_x is at most the maximum of f_x(l) e^(-theta (l - x)) over the grid, times e^(theta (l - x)).

The lower bounds are new, to our knowledge.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from flint import arb, arb_poly, fmpz_poly

from ggdp.proofs.loss_distribution import ONE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ggdp.proofs.loss_distribution import LossDistribution, Split

# So many multiples of s away from x the functions phi and b are bounded rather than computed.
FAR = 60
# At a larger multiple of 1 / (1 + theta) the smoothing length s would not be small against the tilt.
WIDEST = 0.25
# Smoothing lengths to try, relative to the square root of the spread of all splits, and to the largest gap.
RATIOS, SHARES = (0.8, 1.25, 2.0, 4.0, 10.0), (0.01, 0.05, 0.2)


def delta_above(loss: LossDistribution, epsilon: arb) -> arb:
    """Bound delta from above: the mean of (1 - e^(epsilon - l))_+, and all of the mass at an infinite loss."""
    mass, weighted = _sums_from(loss, _first_above(loss, epsilon))
    return mass - weighted * epsilon.exp() + loss.infinite


def _first_above(loss: LossDistribution, x: arb) -> int:
    """Return the first knot that is above x; where that is undecided, it is counted as above."""
    step = arb(loss.step)
    first = min(max(math.floor(float(x) / loss.step) - loss.low, 0), loss.points)
    while first < loss.points and (loss.low + first) * step <= x:
        first += 1
    while first and not (loss.low + first - 1) * step <= x:
        first -= 1
    return first


def _sums_from(loss: LossDistribution, first: int) -> tuple[arb, arb]:
    """Return the mass on the knots from one on, and the sum of mass times e^(-loss)."""
    step, tilt, weights = arb(loss.step), arb(loss.tilt), arb_poly(loss.weights.right_shift(first))
    place, fall = (loss.low + first) * step, (-tilt * step).exp()
    unit = (loss.level - tilt * place).exp() / ONE
    return weights(fall) * unit, weights(fall * (-step).exp()) * unit * (-place).exp()


def delta_below(loss: LossDistribution, epsilon: arb, s: float) -> arb:
    """Bound delta from below, with the smoothing length s (see the module's claims); a good one makes it tight.

    With a length of 0 nothing is smoothed, which is allowed for a sum that was split at most once.
    """
    if s == 0.0:
        return _below_unsmoothed(loss, epsilon) if _split_at_most_once(loss) else loss.certain
    smooth, tilt, step = arb(s), arb(loss.tilt), arb(loss.step)
    rate = 1 / smooth + 1
    decline = 1 / (2 * smooth**2) + arb(1) / 6
    growth = _growth(loss.slack.splits, decline, rate)
    if growth is None or not s * (1.0 + loss.tilt) <= WIDEST:
        return loss.certain
    penalty = growth / decline
    x = epsilon + loss.slack.raised
    low = max(math.floor(float((x - FAR * smooth) / step)) - loss.low, 0)
    high = max(min(math.ceil(float((x + FAR * smooth) / step)) - loss.low, loss.points - 1), low - 1)
    # Near x term by term.
    total, missing = arb(0), arb(0)
    unit = (loss.level - tilt * (loss.low + low) * step).exp() / ONE
    fall = (-tilt * step).exp()
    for j, weight in enumerate(loss.weights.coeffs()[low : high + 1], start=low):
        y = (loss.low + j) * step - x
        falling, logistic = (-y).exp(), 1 / (1 + (-y / smooth).exp())
        excess = (1 - falling) * logistic
        total += unit * weight * (excess - penalty * (1 + falling) * logistic * (1 - logistic) / smooth)
        if not excess <= 0:
            missing += unit * excess
        unit *= fall
    missing *= loss.slack.excess
    if high < loss.points - 1:
        # sigma >= 1 - e^(-y/s), and b <= (2/s) e^(-y/s).
        place = (loss.low + high + 1) * step
        near = (-(place - x) / smooth).exp()
        mass, weighted = _sums_from(loss, high + 1)
        ones = replace(loss, weights=fmpz_poly([1] * loss.points))
        total += (mass - weighted * x.exp()) * (1 - near) - penalty * 2 / smooth * near * mass
        missing += _sums_from(ones, high + 1)[0] * loss.slack.excess
    if low > 0:
        # phi >= -e^(-y) e^(y/s), and b <= (2/s) e^(-y) e^(y/s).
        y = x - (loss.low + low - 1) * step
        most = loss.total * (loss.level - tilt * x).exp() / ONE
        total -= most * (-y * (1 / smooth - tilt - 1)).exp() * (1 + 2 * penalty / smooth)
    beyond = (loss.infinite - loss.certain) * (1 + 2 * penalty / smooth)
    lost = _lost(loss, x) * (_height(loss.tilt) + 1 + 2 * penalty / smooth)
    return total - missing - beyond - lost + loss.certain


def _split_at_most_once(loss: LossDistribution) -> bool:
    """Say whether the sum was split at most once, between neighbouring knots."""
    splits = loss.slack.splits
    return not splits or (len(splits) == 1 and splits[0][1] == 1 and splits[0][0].gap == loss.step)


def _below_unsmoothed(loss: LossDistribution, epsilon: arb) -> arb:
    """Bound delta from below for a sum that was split at most once."""
    # An exact number, since delta falls with x: whether a knot is above it is then decided.
    step, tilt, x = arb(loss.step), arb(loss.tilt), (epsilon + loss.slack.raised).upper()
    first = _first_above(loss, x)
    if first == loss.points or not (loss.low + first) * step > x:
        return loss.certain
    mass, weighted = _sums_from(loss, first)
    ones = _sums_from(replace(loss, weights=fmpz_poly([1] * loss.points)), first)
    rise = x.exp()
    total = mass - weighted * rise - loss.slack.excess * (ones[0] - ones[1] * rise)
    if loss.slack.splits:
        above, near = (loss.low + first) * step - x, x - (loss.low + first - 1) * step
        over = (-near).expm1() * (-above).expm1() / -(-step).expm1()
        cell = loss.weights[first] + (loss.weights[first - 1] * (tilt * step).exp() if first else 0)
        total -= over.max(arb(0)) * cell * (loss.level - tilt * (loss.low + first) * step).exp() / ONE
    top = (loss.low + loss.points - 1) * step - x
    highest = (1 + 1 / tilt).log() if loss.tilt > 0.0 else top
    place = highest.min(top)
    return total + loss.certain - _lost(loss, x) * -(-place).expm1() * (-tilt * place).exp()


def smoothings(loss: LossDistribution) -> list[float]:
    """Return smoothing lengths to try: one of them makes the lower bound of delta about as tight as it can be."""
    if _split_at_most_once(loss):
        return [0.0]
    spread = math.fsum(count * split.spread for split, count in loss.slack.splits)
    gap = max(split.gap for split, _ in loss.slack.splits)
    lengths = [*(math.sqrt(ratio * spread) for ratio in RATIOS), *(gap * share for share in SHARES)]
    return [min(length, WIDEST / (1.0 + loss.tilt)) for length in lengths if length > 0.0]


def _growth(splits: Iterable[tuple[Split, int]], decline: arb, rate: arb) -> arb | None:
    """Return the product of 1 / (1 - lambda w) over all splits, less 1; None where a factor is not positive."""
    exponent = arb(0)
    for (gap, spread), count in splits:
        loss = decline * arb(spread) * (arb(gap) * rate).exp()
        if not loss < 1:
            return None
        exponent -= count * (1 - loss).log()
    return exponent.expm1()


def _lost(loss: LossDistribution, x: arb) -> arb:
    """Return the mean of e^(theta (l - x)) over the lost weight."""
    return loss.slack.lost * (loss.level - arb(loss.tilt) * x).exp() / ONE


def _height(theta: float) -> arb:
    """Return the maximum of (1 - e^(-y)) e^(-theta y) over y > 0."""
    if theta == 0.0:
        return arb(1)
    tilt = arb(theta)
    return (tilt * tilt.log() - (1 + tilt) * (1 + tilt).log()).exp()
