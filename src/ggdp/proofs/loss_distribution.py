"""Privacy-loss distributions on a grid, and the sums of independent losses.

=========  ====================================================================================================
L          a privacy loss, log(P/Q) of an output under P; S is the sum of independent ones
f_x(l)     (1 - e^(x - l))_+, so that delta(x) = E f_x(S), with f_x(infinity) = 1
h          step of the grid: masses lie on the knots l_j = (low + j) h
theta      tilt: weights are masses times e^(theta l_j), so that those which decide a small delta keep their digits
w_j        weight of a knot, an integer: its mass is at most w_j 2^-50 e^(level - theta l_j)
=========  ====================================================================================================

Weights are integers that are rounded up, and their products are exact, so that there is no error of a transform. What
the weights and the infinite mass bound, knot by knot, is a probability law: so infinite masses are combined as those of
two probability laws, and none is above 1.

Claim (upper bound). No operation lowers the mean of a function that rises with the loss and is convex in e^(-loss);
f_x is one, for every x. A loss is *split* between two knots so that its mass and its mean of e^(-loss) are kept, which
does not lower the mean of a convex function of e^(-loss); else a loss is only raised, and a mass only rounded up. What
is cut off at the top becomes an infinite loss, what is cut off at the bottom is raised to the lowest knot. For
independent losses one may be replaced after the other: with the others fixed, f_x(l + rest) is again such a function.

What separates a distribution from the truth is counted in its `Slack`. With that, `ggdp.proofs.loss_bounds` bounds
delta from below by the same distribution.

References
----------
Doroshenko, Ghazi, Kamath, Kumar, Manurangsi, "Connect the Dots: Tighter Discrete Approximations of Privacy Loss
Distributions", PETS 2022, Section 3 (the splitting).
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace
from typing import NamedTuple

from flint import arb, ctx, fmpz_poly

from ggdp._balls import upper_float
from ggdp._work import spend
from ggdp.errors import CertificateError

# Weights have 50 bits: what rounding up adds to a sum of a thousand losses is a share of 1e-5 or less.
BITS = 50
ONE = 1 << BITS
# Bits after the point of weights in geometric progression, while they are multiplied.
_FRACTION = 128
# Shares of a split are rounded up to so many bits.
SHARE = 1 << 60
# A cut that shortens a distribution by less than this part is not made.
WORTH_CUTTING = 1 / 64
# So few knots may have as many on every second place: -1, 0 and 1 become -2, 0 and 2.
FEWEST = 3
# How much of the weight may be raised to the lowest knot at a cut.
FLOOR = 2.0**-40
# Floats have no larger exponentials.
LARGEST = 700.0
# Units of work of a knot of a sum.
_POINT = 0.5


class Split(NamedTuple):
    """Losses that were split between two knots: the distance of the knots, and the most by which the mean loss rose."""

    gap: float
    spread: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Slack:
    """How far a distribution may be above the truth.

    Attributes
    ----------
    excess : int
        Weight on each knot that may not be there.
    lost : int
        Weight in all that may not be there, beside the excess.
    raised : arb
        By how much the losses of a sum were raised at most.
    splits : tuple of (Split, count)
        The kinds of splits, and how many there are of each.
    """

    excess: int
    lost: int
    raised: arb
    splits: tuple[tuple[Split, int], ...]


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

    def tilted(self, slope: arb) -> GeometricMasses:
        """Return the masses times e^(slope index)."""
        return self._replace(top=self.top * (slope * self.high).exp(), fall=self.fall + slope)

    def total(self) -> arb:
        """Return the sum of all masses."""
        return self.top * (-(self.high - self.low + 1) * self.fall).expm1() / (-self.fall).expm1()


@dataclass(frozen=True, slots=True, kw_only=True)
class Masses:
    """Masses of one loss on knots, multiples of a step, which dominate it.

    Attributes
    ----------
    step : float
        Step of the grid.
    masses : dict of arb
        Mass on each knot that has any, by its index.
    infinite, certain : arb
        Mass at an infinite loss: at most, and at least.
    spread : arb
        By how much a split raised the mean loss at most.
    misplaced : list of (index, mass)
        Masses that were not split between neighbouring knots, but moved in another way.
    raised : arb
        By how much losses were raised, beside that.
    run : GeometricMasses, optional
        Further masses, on many knots.
    """

    step: float
    masses: dict[int, arb]
    infinite: arb
    certain: arb
    spread: arb
    misplaced: list[tuple[int, arb]]
    raised: arb
    run: GeometricMasses | None = None


def tilted(found: Masses, tilt: float) -> LossDistribution:
    """Return masses as weights that are rounded up."""
    step = arb(found.step) * arb(tilt)
    tilted_masses = {index: mass * (step * index).exp() for index, mass in found.masses.items()}
    run = found.run.tilted(step) if found.run else None
    level = arb(sum(tilted_masses.values(), run.total() if run else arb(0)).log().mid())
    unit = ONE * (-level).exp()
    units = {index: mass * unit for index, mass in tilted_masses.items()}
    low, high = min(units), max(units)
    surplus = 0
    if run:
        low, high = min(low, run.low), max(high, run.high)
    weights = [0] * (high - low + 1)
    if run:
        weights[run.low - low : run.high - low + 1], surplus = _run_weights(run, unit)
    for index, weight in units.items():
        weights[index - low] += _ceil(weight)
    lost = sum((mass * (step * index).exp() for index, mass in found.misplaced), arb(0)) * unit
    widest = arb(0)
    for weight in units.values():
        widest = widest.max(weight.rad())
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
        message = f"a weight is too large for a grid with {ctx.prec} bits"
        raise CertificateError(message)
    return max(int(least), 0)


def added(first: LossDistribution, second: LossDistribution, *, tail: float, points: int) -> LossDistribution:
    """Return the sum of two independent losses, with at most so many knots, or three.

    e^tail is a mass that may be cut off.
    """
    while first.step < second.step:
        first = coarser(first)
    while second.step < first.step:
        second = coarser(second)
    if (first.step, first.tilt) != (second.step, second.tilt):
        message = f"losses on grids with steps {first.step!r} and {second.step!r} cannot be added"
        raise CertificateError(message)
    spend(_POINT * (first.points + second.points))
    totals = first.total, second.total
    mine, other = first.slack, second.slack
    splits = Counter(dict(mine.splits))
    splits.update(dict(other.splits))
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
    total = replace(total, weights=_divided(total.weights, ONE))
    while total.points > max(points, FEWEST):
        total = coarser(total)
    return total


def _either(first: arb, second: arb) -> arb:
    """Return the mass of pairs of which one is infinite; 1 where rounding up made more of one than there can be."""
    return first + second * (1 - first) if first <= 1 and second <= 1 else arb(1)


def repeated(loss: LossDistribution, count: int, *, tail: float, points: int) -> LossDistribution:
    """Return the sum of `count` independent copies, by repeated doubling."""
    total = None
    while True:
        count, odd = divmod(count, 2)
        if odd:
            total = loss if total is None else added(total, loss, tail=tail, points=points)
        if not count:
            assert total is not None
            return total
        loss = added(loss, loss, tail=tail, points=points)


def _divided(weights: fmpz_poly, by: int) -> fmpz_poly:
    """Divide all weights, none of which is below 0, rounded up."""
    # Not by the floor of the negated weights: flint divides coefficients below the divisor to 0, whatever their sign.
    return (weights + fmpz_poly([by - 1] * weights.length())) // by


def _ratio(numerator: int, denominator: int) -> int:
    return -(-numerator // denominator)


def coarser(loss: LossDistribution) -> LossDistribution:
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
        weights=kept + _divided(moved * down, SHARE) + _divided(moved * up, SHARE).left_shift(1),
        slack=replace(
            slack,
            # The weights are rounded up twice, and so are the shares.
            excess=_ratio(slack.excess * (SHARE + up + down), SHARE) + 3,
            lost=_ratio(slack.lost * max(SHARE, up + down), SHARE) + 1,
            splits=tuple(splits.items()),
        ),
    )


def _cut(loss: LossDistribution, tail: float, unit: int = ONE) -> LossDistribution:
    """Cut off knots at both ends that hardly matter, of weights of which `unit` makes 1.

    Floats propose where; what is cut is counted in balls.
    """
    weights = loss.weights.coeffs()
    last = _last(loss, weights, tail, unit)
    first = min(_first(loss, weights, unit), last)
    if len(weights) - (last - first + 1) < WORTH_CUTTING * len(weights):
        return loss
    rise = (arb(loss.tilt) * arb(loss.step)).exp()
    beyond, below = arb(0), arb(0)
    for weight in reversed(weights[last + 1 :]):
        beyond = beyond / rise + weight
    for weight in weights[:first]:
        below = (below + weight) * rise
    raised = _ceil(below)
    weights[first] += raised
    place = arb(loss.tilt) * arb(loss.step) * (loss.low + last + 1)
    return replace(
        loss,
        low=loss.low + first,
        weights=fmpz_poly(weights[first : last + 1]),
        infinite=loss.infinite + beyond * (loss.level - place).exp() / unit,
        slack=replace(loss.slack, lost=loss.slack.lost + _ratio(raised * ONE, unit)),
    )


def _first(loss: LossDistribution, weights: list[int], unit: int) -> int:
    """Return the first knot to keep: what is below it would be a small weight on it."""
    rise, most, total = math.exp(min(loss.tilt * loss.step, LARGEST)), FLOOR * unit, 0.0
    for j, weight in enumerate(weights):
        total = (total + _about(weight)) * rise
        if total > most:
            return j
    return len(weights) - 1


def _last(loss: LossDistribution, weights: list[int], tail: float, unit: int) -> int:
    """Return the last knot to keep: what is above it has a mass below e^tail."""
    slope = loss.tilt * loss.step
    fall, total = math.exp(-slope), 0.0
    # The mass of all knots from j on is `total` times e^place.
    place = float(loss.level) - math.log(unit) - slope * (loss.low + len(weights))
    for j in range(len(weights) - 1, 0, -1):
        total, place = total * fall + _about(weights[j]), place + slope
        if total > 0.0 and math.log(total) + place > tail:
            return j
    return 0


def _about(weight: int) -> float:
    """Return a weight as a float; infinity where it is beyond the floats, as a steep tilt on a coarse grid makes it."""
    try:
        return float(weight)
    except OverflowError:
        return math.inf
