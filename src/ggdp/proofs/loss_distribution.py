"""Privacy-loss distributions on a grid, the sums of independent losses, and bounds of delta by them from both sides.

=========  ====================================================================================================
L          a privacy loss, log(P/Q) of an output under P
S, S'      the sum of independent losses, and the same on the grid, with all that was done to it
f_x(l)     (1 - e^(x - l))_+, so that delta(x) = E f_x(S), with f_x(infinity) = 1
h          step of the grid: masses lie on the knots l_j = (low + j) h
theta      tilt: weights are masses times e^(theta l_j), so that those which decide a small delta keep their digits
w_j        weight of a knot, an integer: its mass is at most w_j 2^-50 e^(level - theta l_j)
s          smoothing length of a lower bound
A          the operator A phi = phi'' + phi', which takes 1 and e^(-l) to 0
=========  ====================================================================================================

Weights are integers that are rounded up, and their products are exact, so that there is no error of a transform. What
the weights and the infinite mass bound, knot by knot, is a probability law: so infinite masses are combined as those of
two probability laws, and none is above 1.

Claim (upper bound). delta(x) <= E f_x(S'). Proof: no operation lowers the mean of a function that rises with the loss
and is convex in e^(-loss); f_x is one, for every x. A loss is *split* between two knots so that its mass and its mean
of e^(-loss) are kept, which does not lower the mean of a convex function of e^(-loss); else a loss is only raised, and
a mass only rounded up. What is cut off at the top becomes an infinite loss, what is cut off at the bottom is raised to
the lowest knot. For independent losses one may be replaced after the other: with the others fixed, f_x(l + rest) is
again such a function.

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

Claim (lower bound, one split). Where a sum was split at most once, and between neighboring knots of its own grid, f_x
itself may take the place of phi. Proof: E f_x(S') is the mean of a function of the sum before the split that is
interpolated between the knots, linearly in e^(-l). That is f_x but for the cell of x, where it is above f_x by at most
its value at x, (1 - e^(l_j - x)) (1 - e^(x - l_(j+1))) / (1 - e^(-h)). All that was in this cell is on its two knots.
Where x is a knot nothing is lost at all. Weights that may not be there are not counted; of the lost weight, which is on
the grid, f_x is at most the maximum of f_x(l) e^(-theta (l - x)) over the grid, times e^(theta (l - x)).

References
----------
Doroshenko, Ghazi, Kamath, Kumar, Manurangsi, "Connect the Dots: Tighter Discrete Approximations of Privacy Loss
Distributions", PETS 2022, Section 3 (the splitting). The lower bounds are new, to our knowledge.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from flint import arb, arb_poly, ctx, fmpz_poly

from ggdp._balls import upper_float
from ggdp._work import spend
from ggdp.errors import CertificateError

# Weights have 50 bits: what rounding up adds to a sum of a thousand losses is a share of 1e-5 or less.
ONE = 1 << 50
# Bits after the point of weights in geometric progression, while they are multiplied.
_FRACTION = 128
# Shares of a split are rounded up to so many bits.
SHARE = 1 << 60


class Split(NamedTuple):
    """Losses that were split between two knots: the distance of the knots, and the most by which the mean loss rose."""

    gap: float
    spread: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Slack:
    """How far a distribution may be above the truth."""

    excess: int  # weight on each knot that may not be there
    lost: int  # weight in all that may not be there, in addition to the excess
    raised: arb  # by how much the losses of a sum were raised at most
    splits: tuple[tuple[Split, int], ...]  # the kinds of splits, and how many there are of each


@dataclass(frozen=True, slots=True, kw_only=True)
class LossDistribution:
    """Weights on the knots (low + j) * step, and the mass at an infinite loss."""

    step: float
    tilt: float
    low: int
    weights: fmpz_poly
    level: arb
    infinite: arb
    certain: arb
    slack: Slack

    @property
    def points(self) -> int:
        """Number of knots."""
        return int(self.weights.length())

    @property
    def total(self) -> int:
        """Sum of all weights."""
        return int(self.weights(1))


class GeometricMasses(NamedTuple):
    """Masses on the knots from `low` to `high` that fall from `top`, on the highest, by e^(-fall) from knot to knot."""

    low: int
    high: int
    top: arb
    fall: arb

    def total(self) -> arb:
        """Return the sum of all masses."""
        return self.top * (-(self.high - self.low + 1) * self.fall).expm1() / (-self.fall).expm1()


@dataclass(frozen=True, slots=True, kw_only=True)
class Masses:
    """Masses of one loss on knots, multiples of a step, which dominate it."""

    step: float  # step of the grid
    masses: dict[int, arb]  # mass on each knot that has any, by its index
    spread: arb  # by how much a split raised the mean loss at most
    misplaced: list[tuple[int, arb]]  # masses that were not split between neighboring knots, but moved in another way
    raised: arb  # by how much losses were raised, in addition to that
    # Mass at an infinite loss: at most, and at least.
    infinite: arb = field(default_factory=arb)
    certain: arb = field(default_factory=arb)
    run: GeometricMasses | None = None  # further masses, on many knots


def weigh(found: Masses, tilt: float) -> LossDistribution:
    """Return masses as weights that are rounded up."""
    step = arb(found.step) * arb(tilt)
    tilted_masses = {index: mass * (step * index).exp() for index, mass in found.masses.items()}
    run = found.run
    if run:
        run = run._replace(top=run.top * (step * run.high).exp(), fall=run.fall + step)
    level = arb(sum(tilted_masses.values(), run.total() if run else arb(0)).log().mid())
    unit = ONE * (-level).exp()
    units = {index: mass * unit for index, mass in tilted_masses.items()}
    knots = [*units, run.low, run.high] if run else [*units]
    low, surplus = min(knots), 0
    weights = [0] * (max(knots) - low + 1)
    if run:
        weights[run.low - low : run.high - low + 1], surplus = _run_weights(run, unit)
    for index, weight in units.items():
        weights[index - low] += _ceil(weight)
    lost = sum((mass * (step * index).exp() for index, mass in found.misplaced), arb(0)) * unit
    widest = max(weight.rad() for weight in units.values())
    return LossDistribution(
        step=found.step,
        tilt=tilt,
        low=low,
        weights=fmpz_poly(weights),
        level=level,
        infinite=found.infinite,
        certain=found.certain,
        slack=Slack(
            excess=1 + _ceil(2 * widest) + surplus,
            lost=_ceil(lost),
            raised=found.raised,
            splits=((Split(found.step, upper_float(found.spread)), 1),) if found.spread > 0 else (),
        ),
    )


def _run_weights(run: GeometricMasses, unit: arb) -> tuple[list[int], int]:
    """Return masses times a unit, rounded up, and by how much each may be too large.

    From the highest knot down, integers x_n times 2^-_FRACTION: x_(n+1) is x_n times a factor a that is rounded up,
    rounded up. So they are not below the truth. As a <= 1, n roundings add up to at most n to x_0 a^n. With R the lower
    end of e^(-fall), the truth is at least X R^n for the lower end X of the first one, and
    x_0 a^n - X R^n <= x_0 - X (R / a)^n, since a^n is at most 1.
    """
    one, count = 1 << _FRACTION, run.high - run.low + 1
    top, ratio = run.top * unit, (-run.fall).exp()
    factor, x = min(_ceil(ratio * one), one), _ceil(top * one)
    over = arb(x) / one - top.lower() * (ratio.lower() * one / factor) ** count
    found = []
    for _ in range(count):
        found.append((x >> _FRACTION) + 1)
        x = (x * factor >> _FRACTION) + 1
    return found[::-1], 1 + _ceil(over + arb(count) / one)


def _ceil(x: arb) -> int:
    """Return the least integer that no point of a ball is above, or the next one; at least 0."""
    least = x.upper().ceil().unique_fmpz()
    if least is None:
        raise CertificateError(f"a weight is too large for a grid with {ctx.prec} bits")
    return max(int(least), 0)


def add(first: LossDistribution, second: LossDistribution, *, tail: float, points: int) -> LossDistribution:
    """Return the sum of independent losses, with at most so many knots, or three; a mass of e^tail may be cut off."""
    while first.step < second.step:
        first = coarsen(first)
    while second.step < first.step:
        second = coarsen(second)
    if (first.step, first.tilt) != (second.step, second.tilt):
        raise CertificateError(f"losses on grids with steps {first.step!r} and {second.step!r} cannot be added")
    spend(0.5 * (first.points + second.points))
    totals = first.total, second.total
    mine, other = first.slack, second.slack
    splits = Counter(dict(mine.splits)) + Counter(dict(other.splits))
    total = LossDistribution(
        step=first.step,
        tilt=first.tilt,
        low=first.low + second.low,
        weights=first.weights * second.weights,
        level=first.level + second.level,
        infinite=_either(first.infinite, second.infinite),
        certain=_either(first.certain, second.certain),
        slack=Slack(
            excess=_ratio(mine.excess * totals[1] + other.excess * totals[0], ONE) + 1,
            lost=_ratio(mine.lost * totals[1] + other.lost * totals[0], ONE),
            raised=mine.raised + other.raised,
            splits=tuple(splits.items()),
        ),
    )
    # Cut before weights are rounded up, which would make a unit of every one that is far below it.
    total = _cut(total, tail, unit=ONE * ONE)
    total = replace(total, weights=_divide(total.weights, ONE))
    # Three knots may have as many on every second place: -1, 0 and 1 become -2, 0 and 2.
    while total.points > max(points, 3):
        total = coarsen(total)
    return total


def _either(first: arb, second: arb) -> arb:
    """Return the mass of pairs of which one is infinite; 1 where rounding up made more of one than there can be."""
    return first + second * (1 - first) if first <= 1 and second <= 1 else arb(1)


def repeat(loss: LossDistribution, count: int, *, tail: float, points: int) -> LossDistribution:
    """Return the sum of `count` independent copies, by repeated doubling."""
    total = None
    while True:
        count, odd = divmod(count, 2)
        if odd:
            total = loss if total is None else add(total, loss, tail=tail, points=points)
        if not count:
            assert total is not None
            return total
        loss = add(loss, loss, tail=tail, points=points)


def _divide(weights: fmpz_poly, by: int) -> fmpz_poly:
    """Divide all weights, none of which is below 0, rounded up."""
    # Not by the floor of the negated weights: flint divides coefficients below the divisor to 0, whatever their sign.
    return (weights + fmpz_poly([by - 1] * weights.length())) // by


def _ratio(numerator: int, denominator: int) -> int:
    return -(-numerator // denominator)


def coarsen(loss: LossDistribution) -> LossDistribution:
    """Return the distribution on every second knot; the others are split between their neighbours."""
    step, slack = arb(loss.step), loss.slack
    share = (-step).expm1() / (-2 * step).expm1()
    tilt = (arb(loss.tilt) * step).exp()
    up, down = _ceil(SHARE * share * tilt), _ceil(SHARE * (1 - share) / tilt)
    weights = loss.weights.coeffs()
    low, odd = divmod(loss.low, 2)
    if odd:
        weights.insert(0, 0)
    kept, moved = fmpz_poly(weights[::2]), fmpz_poly(weights[1::2])
    splits = Counter(dict(slack.splits))
    # Every second knot is half-way: it goes up by a step with the probability `share`, else down by one.
    splits[Split(2 * loss.step, upper_float((2 * share - 1) * step))] += 1
    return replace(
        loss,
        step=2 * loss.step,
        low=low,
        weights=kept + _divide(moved * down, SHARE) + _divide(moved * up, SHARE).left_shift(1),
        slack=replace(
            slack,
            # The weights are rounded up twice, and so are the shares.
            excess=_ratio(slack.excess * (SHARE + up + down), SHARE) + 3,
            lost=_ratio(slack.lost * max(SHARE, up + down), SHARE) + 1,
            splits=tuple(splits.items()),
        ),
    )


def _cut(loss: LossDistribution, tail: float, unit: int = ONE) -> LossDistribution:
    """Cut off knots at the ends that hardly matter, of weights of which `unit` makes 1; floats propose, balls count."""
    weights, slope = loss.weights.coeffs(), loss.tilt * loss.step
    # The mass of all knots from the last one to keep on, `total` times e^place, is above e^tail.
    fall, total = math.exp(-slope), 0.0
    place = float(loss.level) - math.log(unit) - slope * (loss.low + len(weights))
    for last in range(len(weights) - 1, -1, -1):
        total, place = total * fall + _about(weights[last]), place + slope
        if total > 0.0 and math.log(total) + place > tail:
            break
    # What is below the first knot to keep would be a small weight on it.
    # Floats have no exponentials much above e^700.
    rise, total = math.exp(min(slope, 700.0)), 0.0
    for first in range(last + 1):
        total = (total + _about(weights[first])) * rise
        if total > 2.0**-40 * unit:
            break
    # A cut that shortens it by less is not worth its time.
    if len(weights) - (last - first + 1) < len(weights) / 64:
        return loss
    growth = (arb(loss.tilt) * arb(loss.step)).exp()
    beyond, below = arb(0), arb(0)
    for weight in reversed(weights[last + 1 :]):
        beyond = beyond / growth + weight
    for weight in weights[:first]:
        below = (below + weight) * growth
    raised = _ceil(below)
    weights[first] += raised
    end = arb(loss.tilt) * arb(loss.step) * (loss.low + last + 1)
    return replace(
        loss,
        low=loss.low + first,
        weights=fmpz_poly(weights[first : last + 1]),
        infinite=loss.infinite + beyond * (loss.level - end).exp() / unit,
        slack=replace(loss.slack, lost=loss.slack.lost + _ratio(raised * ONE, unit)),
    )


def _about(weight: int) -> float:
    """Return a weight as a float; infinity where it is beyond the floats, as a steep tilt on a coarse grid makes it."""
    try:
        return float(weight)
    except OverflowError:
        return math.inf


# So many multiples of s away from x the functions phi and b are bounded rather than computed.
FAR = 60
# At a larger multiple of 1 / (1 + theta) the smoothing length s would not be small against the tilt.
WIDEST = 0.25


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
    """Bound delta from below, with any smoothing length s; 0, without smoothing, for a sum split at most once."""
    if s == 0.0:
        return _below_unsmoothed(loss, epsilon) if _split_at_most_once(loss) else loss.certain
    smooth, tilt, step = arb(s), arb(loss.tilt), arb(loss.step)
    rate = 1 / smooth + 1
    decline = 1 / (2 * smooth**2) + arb(1) / 6
    # The product of 1 / (1 - lambda w) over all splits is e^growth.
    growth = arb(0)
    for (gap, spread), count in loss.slack.splits:
        lowered = decline * arb(spread) * (arb(gap) * rate).exp()
        if not lowered < 1:
            return loss.certain
        growth -= count * (1 - lowered).log()
    if not s * (1.0 + loss.tilt) <= WIDEST:
        return loss.certain
    penalty = growth.expm1() / decline
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
    # The maximum of (1 - e^(-y)) e^(-theta y) over y > 0.
    height = (tilt * tilt.log() - (1 + tilt) * (1 + tilt).log()).exp() if loss.tilt > 0.0 else arb(1)
    lost = _lost(loss, x) * (height + 1 + 2 * penalty / smooth)
    return total - missing - beyond - lost + loss.certain


def _split_at_most_once(loss: LossDistribution) -> bool:
    """Say whether the sum was split at most once, between neighboring knots."""
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
    lengths = [math.sqrt(ratio * spread) for ratio in (0.8, 1.25, 2.0, 4.0, 10.0)]
    lengths += [gap * share for share in (0.01, 0.05, 0.2)]
    return [min(length, WIDEST / (1.0 + loss.tilt)) for length in lengths if length > 0.0]


def _lost(loss: LossDistribution, x: arb) -> arb:
    """Return the mean of e^(theta (l - x)) over the lost weight."""
    return loss.slack.lost * (loss.level - arb(loss.tilt) * x).exp() / ONE
